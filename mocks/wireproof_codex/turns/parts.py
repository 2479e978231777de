"""What the parts of one turn share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof_codex.context import ServerContext
    from wireproof_codex.notifications.notifier import Notifier
    from wireproof_codex.threads.thread import Running, Thread
    from wireproof_codex.turns.results import Results


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """The turn and what it is made of, for those of its parts that send something."""

    turn: Running
    """Takes the client's answers to what the parts request."""
    context: ServerContext
    thread: Thread
    notifier: Notifier
    """The turn's own; a compaction has another one."""
    results: Results
