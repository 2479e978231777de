"""What the proxy asks of a backend, and the turns of one answer.

Each backend has a folder beside this file and a line in `table.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from wireproof_proxy.backends.mailbox import PATIENCE, Mailbox
from wireproof_surfaces.events import ChoiceFailed, Event, FailureReason, Texts, Working

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

    # All choices at once, not a call for each: they share a mailbox and start in order (`Choices`).
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


class ChoiceTurn(Protocol):
    """The turn of one choice. Its events go into the mailbox that it was begun with."""

    def close(self) -> None:
        """Interrupt the turn if it still runs. Never blocks; may be called again."""

    def on_silence(self) -> bool:
        """The reader has waited and got nothing; whether the backend waited for something, and has been given it."""


Begin = Callable[["Choices", Mailbox, int], ChoiceTurn]
"""Starts the turn of the choice with this index, which reports `served` and `started` on its way."""


class Choices:
    """`count` turns, one for each choice, started by `begin`; `on_served` is called when the backend has answered.

    They start in order of choice: the next one begins when the one before has been sent, or cannot be any more. So a
    backend sees the choices of a request in their order, and a scripted one can answer them in that order.

    A reader that takes nothing for `patience` seconds while much waits for it loses them.
    """

    def __init__(self, begin: Begin, count: int, on_served: Callable[[], None], patience: float = PATIENCE) -> None:
        self._begin = begin
        self._count = count
        self.served = on_served
        """The backend has answered at all: it is alive."""
        self._mailbox = Mailbox(patience=patience)
        self._lock = threading.RLock()  # re-entrant: `begin` may report `started` before it returns
        self._turns: list[ChoiceTurn] = []
        self._begun = 0
        self._closed = False
        self.started(-1)

    def next(self, timeout: float) -> Event | Texts | None:
        """The next event of any choice, or pieces of its text; None when `timeout` seconds pass without one."""
        event = self._mailbox.get(timeout)
        if event is None:
            with self._lock:
                turns = list(self._turns)
            given = [turn.on_silence() for turn in turns]  # all of them are asked
            # What the backend was given it needs time for, so that its silence begins again.
            return Working() if any(given) else None
        return event

    def close(self) -> None:
        """Interrupt the turns that run, and begin no more."""
        with self._lock:
            self._closed = True
            turns = list(self._turns)
        # First, so that what the turns still send is dropped.
        self._mailbox.close()
        for turn in turns:
            turn.close()

    def started(self, choice: int) -> None:
        """The turn of this choice has been sent, or cannot be any more: begin the next one, unless it has begun."""
        index = choice + 1
        with self._lock:
            begins = not self._closed and self._begun == index < self._count
            self._begun += begins
        if not begins:
            return
        # Without the lock: a turn that cannot start begins the next one, by `started`, before it returns.
        turn = self._begin(self, self._mailbox, index)
        with self._lock:
            self._turns.append(turn)
            closed = self._closed
        if closed:  # while the turn was being started
            turn.close()
