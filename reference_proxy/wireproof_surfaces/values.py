"""A dataclass that is frozen for the type checker alone: for values that are made with every request or piece of text.

One that is frozen while the program runs, too, sets each of its fields by a call, and is three times as dear to make.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:
    from dataclasses import dataclass

    def value(*, frozen, **options):  # noqa: ANN001, ANN003, ANN201 - the type checker sees `dataclass`
        """`dataclass` with these options, and fields that nothing keeps from being set."""
        # Equal values stay one key of a mapping, as frozen ones are.
        return dataclass(unsafe_hash=frozen, **options)


__all__ = ["value"]
