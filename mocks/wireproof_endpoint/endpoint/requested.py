"""A request, as the edge has read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_endpoint.journal.entry import NOT_KEPT, JournalEntry

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(kw_only=True, slots=True, eq=False)
class EndpointRequest:
    """A request."""

    method: str
    path: str
    """Without its query, percent signs resolved."""
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower-case names."""
    body: bytes = b""
    """As far as it was read."""
    entry: JournalEntry = field(default=NOT_KEPT, repr=False)
    """Where the journal notes it."""
