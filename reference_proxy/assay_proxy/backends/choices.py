"""The turns of one answer, one for each choice, heard through one mailbox.

They start in order of choice: the next one begins when the one before has been sent, or cannot be any more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from assay_proxy.backends.mailbox import PATIENCE, Mailbox

if TYPE_CHECKING:
    from assay_proxy.backends.codex.turn import CodexTurn
    from assay_proxy.events import Event

Begin = Callable[["Choices", Mailbox, int], "CodexTurn"]


class Choices:
    """`count` turns, each begun by `begin` with its index; `on_served` is called when the backend has answered.

    A reader that takes nothing for `patience` seconds while much waits for it loses them.
    """

    def __init__(self, begin: Begin, count: int, on_served: Callable[[], None], patience: float = PATIENCE) -> None:
        self._begin = begin
        self._count = count
        self._on_served = on_served
        self._mailbox = Mailbox(patience=patience)
        self._lock = threading.RLock()
        self._turns: list[CodexTurn] = []
        self._begun = 0
        self._closed = False
        self._next()

    def next(self, timeout: float) -> Event | None:
        """The next event of any of them; None when `timeout` seconds pass without one."""
        event = self._mailbox.get(timeout)
        if event is None:
            with self._lock:
                turns = list(self._turns)
            for turn in turns:
                turn.nudge()
        return event

    def close(self) -> None:
        """Interrupt those that run, and begin no more."""
        with self._lock:
            self._closed = True
            turns = list(self._turns)
        self._mailbox.close()
        for turn in turns:
            turn.close()

    def served(self) -> None:
        """The backend is alive."""
        self._on_served()

    def started(self) -> None:
        """The turn that was begun last has been sent."""
        self._next()

    def _next(self) -> None:
        index = self._claim()
        if index is not None:
            turn = self._begin(self, self._mailbox, index)
            if not self._keep(turn):
                turn.close()

    def _claim(self) -> int | None:
        """The index of the turn to begin; None when there is none."""
        with self._lock:
            if self._closed or self._begun == self._count:
                return None
            self._begun += 1
            return self._begun - 1

    def _keep(self, turn: CodexTurn) -> bool:
        """Remember a turn, to be closed; False when it is too late for that."""
        with self._lock:
            self._turns.append(turn)
            return not self._closed
