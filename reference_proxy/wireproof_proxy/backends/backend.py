"""What the proxy asks of a backend. Each backend has a folder beside this file and a line in `table.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from wireproof_surfaces.events import ChoiceFailed, Event, FailureReason, Texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof_surfaces.conversation import Conversation


@runtime_checkable
class BackendTurn(Protocol):
    """One turn under way, read by one thread."""

    def next(self, timeout: float) -> Event | Texts | None:
        """The next event, or pieces of text that are ready together; None when `timeout` seconds pass without one.

        Each choice ends with Finished, CallsEnded or Failed.
        """

    def close(self) -> None:
        """Stop reading: interrupt the turn if it still runs. Never blocks; may be called again."""


class BackendCount(NamedTuple):
    """A number that only grows, shown by `/metrics` as `wireproof_proxy_backend_<name>`."""

    name: str
    help: str
    value: int


@runtime_checkable
class AgentBackend(Protocol):
    """The agent that answers turns: a process, or a service elsewhere."""

    def start(self) -> None:
        """Get ready to answer turns; returns at once, and raises nothing when the agent cannot be reached."""

    def stop(self) -> None:
        """End every turn, and wait until nothing of the backend runs any more."""

    @property
    def alive(self) -> bool:
        """False once the backend has given up on its agent: only a request, or a repair, will bring it back."""

    def counts(self) -> Iterable[BackendCount]:
        """What `/metrics` shows besides; a backend with nothing to count returns ()."""

    def await_ready(self, timeout: float) -> bool:
        """Whether turns can be opened, waiting for it up to `timeout` seconds."""

    # All choices at once, not a call for each: they share a mailbox and start in order (`choices`).
    def open(self, conversation: Conversation, choices: int = 1) -> BackendTurn:
        """Start a turn that answers `choices` times, each in a session of its own.

        Never blocks; whatever goes wrong arrives as a Failed event.
        """


class FailedTurn:
    """A turn that could not begin: its only event is the failure."""

    def __init__(self, cause: FailureReason) -> None:
        self._cause = cause

    def next(self, timeout: float) -> Event | None:  # noqa: ARG002 - the protocol's signature
        """The failure."""
        return ChoiceFailed(self._cause)

    def close(self) -> None:
        """Nothing is open."""
