"""What the runs of a service share: their conditions, the choice of their scripts, the journal."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.nonces import Nonces
from wireproof_scripts.selection import Selection, rejected, select

if TYPE_CHECKING:
    from wireproof_cursor.runs.conversation import RunConversation
    from wireproof_scripts.steps import Library

Json = dict[str, Any]
Note = Callable[[Json], None]
"""Takes an entry of the journal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunConditions:
    """Under what conditions a service plays."""

    lenient: bool = False
    """Whether appends are taken as they come, whatever their numbers."""
    patience: float = 2.0
    """Seconds that a client has to answer `request_context_args`."""
    beat: float = 5.0
    """Seconds between the heartbeats of a run that waits for its client."""


@dataclass(eq=False, kw_only=True)
class Context:
    """The service, as its runs see it."""

    library: Library | Callable[[], Library | ScriptError]
    conditions: RunConditions
    note: Note | None
    """Takes the entries of the journal; None: nothing does."""
    wake: Callable[[], None]
    """Lets every run look whether it still has to wait."""
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    """Those of what the service names."""
    _nonces: Nonces = field(default_factory=Nonces)

    def call_id(self) -> str:
        """An id for a call of the default answer."""
        return f"call_{next(self.numbers):04}"

    def select(self, talk: RunConversation) -> Selection:
        """What answers a conversation."""
        library = self.library() if callable(self.library) else self.library
        if isinstance(library, ScriptError):
            return rejected(str(library))
        return select(
            library,
            self._nonces,
            history=talk.items(),
            given=[],  # the calls and results that are written into the user's text follow it
            tools=talk.declared(),
            call_id=self.call_id(),
            developer=talk.instructions,
            own_ids=True,  # what the service calls an id need not be what its client's client gets
        )

    def journal(self, request_id: str, rpc: str, entry: Json) -> None:
        """Write an entry of the journal."""
        if self.note is not None:
            self.note({"rpc": rpc, "request_id": request_id, **entry})
