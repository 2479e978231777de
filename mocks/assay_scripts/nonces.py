"""What the turns under one nonce share: open gates, who has played what, and who waits for a change."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from typing import Literal

State = Literal["running", "completed", "interrupted", "failed"]

KEPT_NONCES = 4096
KEPT_TURNS = 256


@dataclass(slots=True)
class Record:
    """One turn as `reflect/turns` tells it."""

    script: str
    part: int
    state: State = "running"


@dataclass(slots=True)
class Nonce:
    """The state under one nonce.

    `played` counts the turns per script, `refused` those that were not begun; `turns` keeps the last turns in order.
    """

    gates: set[str] = field(default_factory=set)
    played: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    turns: deque[Record] = field(default_factory=lambda: deque(maxlen=KEPT_TURNS))

    def begin(self, script: str, part: int) -> Record:
        """Note a new turn."""
        record = Record(script, part)
        self.played[script] += 1
        self.turns.append(record)
        return record

    def others(self, record: Record) -> list[Record]:
        """Every turn but this one, in order."""
        return [other for other in self.turns if other is not record]


class Nonces:
    """The last `KEPT_NONCES` nonces, the one used longest ago forgotten first."""

    def __init__(self, kept: int = KEPT_NONCES) -> None:
        self._kept = kept
        self._nonces: OrderedDict[str, Nonce] = OrderedDict()

    def __len__(self) -> int:
        return len(self._nonces)

    def get(self, name: str) -> Nonce:
        """The state under `name`, fresh when it is new or was forgotten."""
        nonce = self._nonces.setdefault(name, Nonce())
        self._nonces.move_to_end(name)
        if len(self._nonces) > self._kept:
            self._nonces.popitem(last=False)
        return nonce
