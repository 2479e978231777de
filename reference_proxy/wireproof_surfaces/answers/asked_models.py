"""The models that were asked for although they are not listed: `PROXY_ANY_MODEL` serves them all.

A client that has asked for a model finds it in the list then, as do the clients of a gateway that passes the list on.
"""

from __future__ import annotations

from threading import Lock

KEPT = 64
"""How many names are kept. Clients name a few; one that makes names up is not to fill the memory."""


class AskedModels:
    """The names of the models that were asked for last."""

    def __init__(self) -> None:
        """None has been asked for."""
        self._lock = Lock()
        self._names: dict[str, None] = {}
        self._latest: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names, that of the latest request last."""
        with self._lock:
            return tuple(self._names)

    def note(self, name: str) -> None:
        """Keep the name of a model that was asked for, and is served."""
        if name == self._latest:
            return
        with self._lock:
            self._latest = name
            self._names.pop(name, None)
            self._names[name] = None
            if len(self._names) > KEPT:
                del self._names[next(iter(self._names))]
