"""What an endpoint was asked, and which script answered: for the assertions of tests."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECRET = ("authorization", "api-key", "x-api-key", "cookie")
"""Headers that hold keys: a journal is printed when a test fails."""


@dataclass(kw_only=True)
class Entry:
    """A request, as far as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By lower-case names, keys masked."""
    sent: bytes = field(repr=False)
    """Its body."""
    script: str | None = None
    """The script that answered, `default` for the default answer; None where none was asked for."""
    part: int | None = None
    """Which part of it, from 0."""
    status: int | None = None
    """Of an answer that was refused or whole; a stream has 200 when it begins. None until then."""

    @property
    def body(self) -> Any:  # noqa: ANN401 - whatever JSON there is
        """The JSON in its body; None where there is none."""
        try:
            return json.loads(self.sent)
        except ValueError:
            return None


@dataclass
class Journal:
    """The last entries, oldest first; none are kept where `limit` is 0."""

    limit: int
    entries: deque[Entry] = field(init=False)

    def __post_init__(self) -> None:
        self.entries = deque(maxlen=self.limit)

    def begin(self, method: str, path: str, headers: Mapping[str, str], sent: bytes) -> Entry:
        """A new entry."""
        if not self.limit:
            return _NOT_KEPT
        shown = {name: "***" if name in _SECRET else value for name, value in headers.items()}
        entry = Entry(method=method, path=path, headers=shown, sent=sent)
        self.entries.append(entry)
        return entry


_NOT_KEPT = Entry(method="", path="", headers={}, sent=b"")
