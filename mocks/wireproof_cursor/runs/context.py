"""What a run needs of the service that it runs in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from wireproof_cursor.runs.conversation import RunConversation
    from wireproof_scripts.selection import Selection


@dataclass(frozen=True, kw_only=True, slots=True)
class RunConditions:
    """Under what conditions a service plays."""

    lenient: bool = False
    """Whether appends are taken as they come, whatever their numbers."""
    patience: float = 2.0
    """Seconds that a client has to answer `request_context_args`."""
    beat: float = 5.0
    """Seconds between the heartbeats of a run that waits for its client."""


class Context(Protocol):
    """The service, as its runs see it."""

    conditions: RunConditions

    def call_id(self) -> str:
        """An id for a call of the default answer."""

    def select(self, talk: RunConversation) -> Selection:
        """What answers a conversation."""

    def wake(self) -> None:
        """Let every run look whether it still has to wait."""

    def journal(self, request_id: str, rpc: str, entry: dict[str, Any]) -> None:
        """Write an entry of the journal."""
