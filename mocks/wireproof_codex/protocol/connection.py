"""One client of a server. Over stdio there is one; a recorded session of a real server has two, and is replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.protocol.outputs import Output

# The only one seen; `availableDecisions` of approvals is experimental in the schema, and sent without the capability.
_EXPERIMENTAL = frozenset({"thread/readState/changed"})


# By identity: clients with equal capabilities are two, and they are keys of sets and mappings.
@dataclass(eq=False, kw_only=True, slots=True)
class ConnectedClient:
    """What is known of a client since its handshake."""

    capabilities: Mapping[str, Any] | None = None
    """`capabilities` of initialize; None before it."""
    muted: frozenset[str] = frozenset()
    """Notifications that it is not sent."""
    user_agent: str = ""
    """`userAgent` of the answer to initialize."""

    @property
    def experimental(self) -> bool:
        """Whether the client has the capability experimentalApi."""
        return bool(self.capabilities and self.capabilities.get("experimentalApi"))

    def receives(self, method: str) -> bool:
        """Whether it is sent this notification."""
        known = method not in self.muted and (self.experimental or method not in _EXPERIMENTAL)
        return self.capabilities is not None and known  # before its handshake a client is sent no notification


class Addressed(NamedTuple):
    """An output and the connection that it is for; None: for the process, or whoever is there."""

    to: ConnectedClient | None
    output: Output
