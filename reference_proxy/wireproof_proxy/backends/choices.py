"""The turns of one answer, one for each choice, read through one mailbox.

They start in order of choice: the next one begins when the one before has been sent, or cannot be any more. So a
backend sees the choices of a request in their order, and a scripted one can answer them in that order.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from wireproof_proxy.backends.mailbox import PATIENCE, Mailbox

if TYPE_CHECKING:
    from wireproof_surfaces.events import Event, Texts


class ChoiceTurn(Protocol):
    """The turn of one choice. Its events go into the mailbox that it was begun with."""

    def close(self) -> None:
        """Interrupt the turn if it still runs. Never blocks; may be called again."""

    def on_silence(self) -> None:
        """The reader has waited and got nothing: the turn may look whether the backend waits for something."""


Begin = Callable[["Choices", Mailbox, int], ChoiceTurn]
"""Starts the turn of the choice with this index, which reports `served` and `started` on its way."""


class Choices:
    """`count` turns, each started by `begin`; `on_served` is called when the backend has answered.

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
        self.started()

    def next(self, timeout: float) -> Event | Texts | None:
        """The next event of any choice, or pieces of its text; None when `timeout` seconds pass without one."""
        event = self._mailbox.get(timeout)
        if event is None:
            with self._lock:
                turns = list(self._turns)
            for turn in turns:
                turn.on_silence()
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

    def started(self) -> None:
        """The turn that was begun last has been sent, or cannot be any more: begin the next one."""
        index = self._claim()
        if index is not None:
            # Without the lock: a turn that cannot start begins the next one, by `started`, before it returns.
            turn = self._begin(self, self._mailbox, index)
            if not self._keep(turn):
                turn.close()

    def _claim(self) -> int | None:
        """The index of the turn to begin; None when all have begun or the answer is closed."""
        with self._lock:
            if self._closed or self._begun == self._count:
                return None
            self._begun += 1
            return self._begun - 1

    def _keep(self, turn: ChoiceTurn) -> bool:
        """Remember a turn, to be closed; False when the answer was closed while the turn was being started."""
        with self._lock:
            self._turns.append(turn)
            return not self._closed
