"""A program as a client: started for each scenario, watched while it asks, and ended in time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.clients.program import LOOK, ClientCommand, RunningProgram
from wireproof.clients.running import ClientEnding
from wireproof.clients.stages import MOST

if TYPE_CHECKING:
    from wireproof.clients.journal import FirstRequests
    from wireproof.clients.stages import Played
    from wireproof.model.client_scenario import ClientScenario

LEAVING = 3.0
"""Seconds that a program has to go when its person leaves."""
TIMEOUT = 60.0
IDLE = 20.0
HASTE = 4.0
"""Seconds without a request after which a program is ended that did not end by itself before: it waits for more."""


@dataclass(kw_only=True)
class ProgramClient:
    """Starts a command for each scenario. Times are in seconds."""

    command: ClientCommand
    timeout: float = TIMEOUT
    """How long a scenario may take."""
    idle: float = IDLE
    """How long a program may go on without a request, once its last one is answered."""
    _stays: bool = False
    """Whether it has been found to stay when all is said."""

    @property
    def name(self) -> str:
        """Its command."""
        return str(self.command)

    def ask(self, played: Played, scenario: ClientScenario) -> ClientEnding:
        """Start the program, and end it.

        Raises:
            ProgramError: it cannot be started.
        """
        places = {
            "base_url": played.base_url, "key": played.key, "model": played.model, "prompt": scenario.prompts[0],
        }  # fmt: skip
        takes = self.command.takes_prompt
        lines = None if takes else "".join(f"{prompt}\n" for prompt in scenario.prompts)
        with RunningProgram(self.command, places, lines) as running:
            ended, left = self._watch(running, played.journal, leaves=scenario.leaves)
        return ClientEnding(ended=ended, left=left, said=running.said)

    def _watch(self, running: RunningProgram, journal: FirstRequests, *, leaves: bool) -> tuple[str, float | None]:
        """Why it was ended, "" if it ended by itself, and when its person left."""
        left: float | None = None
        until = time.monotonic() + self.timeout
        while running.status is None:
            now = time.monotonic()
            if journal.came > MOST:
                return f"it was ended after {MOST} requests", left
            if now >= until:
                return f"it was ended {'after its user had left' if left else f'after {self.timeout:g} s'}", left
            if _silent(journal, now) > (HASTE if self._stays else self.idle):
                self._stays = True
                return "it was ended when it asked nothing more", left
            if leaves and left is None and _streams(journal):
                left = time.monotonic()
                running.interrupt()
                until = left + LEAVING
            time.sleep(LOOK)
        return "", left


def _silent(journal: FirstRequests, now: float) -> float:
    """How long nothing has been asked or answered; 0 before the first request."""
    ends = [one.began + one.seconds for one in journal.first if one.seconds is not None]
    return now - max(ends) if ends and journal.idle else 0.0


def _streams(journal: FirstRequests) -> bool:
    """Whether a stream is under way that has sent more than its head."""
    return any(one.ended is None and len(one.pieces) > 1 for one in journal.first)
