"""One client of a server: over stdio there is one, over WebSocket there may be many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay_codex.protocol.outputs import Output

_EXPERIMENTAL = frozenset({"thread/readState/changed"})


@dataclass(eq=False, kw_only=True, slots=True)
class Connection:
    """What a client said at the handshake; `capabilities` is None before it. `muted`: notifications it is not sent."""

    capabilities: Mapping[str, Any] | None = None
    muted: frozenset[str] = frozenset()
    user_agent: str = ""

    @property
    def experimental(self) -> bool:
        """Whether the client has the capability experimentalApi."""
        return bool(self.capabilities and self.capabilities.get("experimentalApi"))

    def hears(self, method: str) -> bool:
        """Whether it is sent this notification."""
        known = method not in self.muted and (self.experimental or method not in _EXPERIMENTAL)
        return self.capabilities is not None and known


class Addressed(NamedTuple):
    """An output and the connection that it is for; None: for the process, or whoever is there."""

    to: Connection | None
    output: Output
