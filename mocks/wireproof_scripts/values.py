"""What is cheap to make, for values that are made with every request or piece of text.

`value` is a dataclass that is frozen for the type checker alone. One that is frozen while the program runs, too, sets
each of its fields by a call, and is three times as dear to make. `lazy` is `functools.cached_property` without the lock
that this takes before Python 3.12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as value
    from functools import cached_property as lazy
else:
    from dataclasses import dataclass

    def value(*, frozen, **options):  # noqa: ANN001, ANN003, ANN201 - the type checker sees `dataclass`
        """`dataclass` with these options, and fields that nothing keeps from being set."""
        # Equal values stay one key of a mapping, as frozen ones are.
        return dataclass(unsafe_hash=frozen, **options)

    class lazy:  # noqa: N801 - as `property`
        """A property that is computed when it is first asked for, and kept."""

        def __init__(self, compute) -> None:  # noqa: ANN001 - the type checker sees `cached_property`
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner, name) -> None:  # noqa: ANN001 - see above
            self._name = name

        def __get__(self, instance, owner=None):  # noqa: ANN001, ANN204 - see above
            if instance is None:
                return self
            # From now on the attribute is found before this is asked.
            found = instance.__dict__[self._name] = self._compute(instance)
            return found


__all__ = ["lazy", "value"]
