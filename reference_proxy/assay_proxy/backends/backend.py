"""What the proxy asks of a backend; tests put a scripted one in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from assay_proxy.conversation import Conversation
    from assay_proxy.events import Event


@runtime_checkable
class Turn(Protocol):
    """One turn under way, heard by one thread."""

    def next(self, timeout: float) -> Event | None:
        """The next event; None when `timeout` seconds pass without one.

        Each choice ends with Finished, CallsEnded or Failed.
        """

    def close(self) -> None:
        """Hear no more: interrupt the turn if it still runs. Never blocks; may be called again."""


@runtime_checkable
class Backend(Protocol):
    """Whoever answers turns."""

    @property
    def gave_up(self) -> bool:
        """Whether it is down for longer than a restart takes."""

    @property
    def restarts(self) -> int:
        """How often it was started again so far."""

    def await_ready(self, timeout: float) -> bool:
        """Whether turns can be opened, waiting for it up to `timeout` seconds."""

    def open(self, conversation: Conversation, choices: int = 1) -> Turn:
        """Start a turn that answers so often, in sessions of its own.

        Never blocks; what goes wrong comes as a Failed event.
        """
