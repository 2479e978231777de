"""What the turns under one nonce share: open gates, how often each script was played, and how each turn ended.

Memory is bounded: a client may use a fresh nonce for every request of a long run.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

State = Literal["running", "completed", "interrupted", "failed"]

KEPT_NONCES = 4096
"""How many nonces are remembered."""

KEPT_TURNS = 256
"""How many turns of each nonce are remembered."""


@dataclass(slots=True)
class TurnRecord:
    """One turn as a `reflect` of turns reports it."""

    script: str
    part: int
    """The index of the part that it plays, or played last."""
    state: State = "running"
    faults: list[str] = field(default_factory=list)
    """What its client did wrong, as far as the backend holds clients to its protocol."""


@dataclass(slots=True)
class Conversations:
    """The conversations of which turns have begun, each by a text that only the same conversation has.

    A gateway may send a request again that was answered already. That is no new turn of the client's, so the same
    conversation keeps its number. After a failure it is one: a client asks again, and a script may answer then.
    """

    _last: OrderedDict[str, tuple[int, TurnRecord]] = field(default_factory=OrderedDict)
    """Conversation → its number, and its last turn."""
    _seen: int = 0

    def number(self, conversation: str) -> int:
        """How many others have begun before this one."""
        number, record = self._last.get(conversation, (self._seen, None))
        # Not an interrupted one: that is how a proxy ends a turn whose calls it has passed on.
        return self._seen if record is not None and record.state == "failed" else number

    def begin(self, conversation: str, record: TurnRecord) -> None:
        """Note that a turn of this conversation has begun."""
        number = self.number(conversation)
        self._last[conversation] = number, record
        self._seen = max(self._seen, number + 1)
        if len(self._last) > KEPT_TURNS:
            self._last.popitem(last=False)


# Each request without a nonce has a fresh one, so these are made without a function of Python's.
_Counts: partial[defaultdict[str, int]] = partial(defaultdict, int)


@dataclass(slots=True)
class Nonce:
    """The state under one nonce."""

    name: str = ""
    """The nonce itself; "" where a request had none."""
    gates: set[str] = field(default_factory=set)
    """The names of the gates that are open."""
    played: defaultdict[str, int] = field(default_factory=_Counts)
    """How many turns have begun, by script."""
    conversations: defaultdict[str, Conversations] = field(default_factory=partial(defaultdict, Conversations))
    """Those of the turns that have begun, by script."""
    refused: defaultdict[str, int] = field(default_factory=_Counts)
    """How many turns an `overload` step has refused, by script."""
    asked: defaultdict[str, int] = field(default_factory=_Counts)
    """How many requests have come, by script; for scripts whose parts are a sequence."""
    turns: list[TurnRecord] = field(default_factory=list)
    """The last turns, in order."""

    def begin(self, script: str, part: int, conversation: str) -> TurnRecord:
        """Count and record a new turn, of a conversation as `Selection.conversation` has it."""
        record = TurnRecord(script, part)
        self.played[script] += 1
        # Only those that a marker ties together have a name.
        if conversation:
            self.conversations[script].begin(conversation, record)
        # No deque with a limit: an empty one is half a KiB, and each request without a nonce has a fresh one.
        self.turns.append(record)
        if len(self.turns) > KEPT_TURNS:
            del self.turns[0]
        return record

    def others(self, record: TurnRecord) -> list[TurnRecord]:
        """Every turn but this one, in order."""
        return [other for other in self.turns if other is not record]  # two turns may be equal

    def others_running(self, record: TurnRecord) -> bool:
        """Whether another turn than this one still runs."""
        return any(other.state == "running" for other in self.others(record))


class Nonces:
    """The nonces used last, `KEPT_NONCES` of them."""

    def __init__(self, kept: int = KEPT_NONCES) -> None:
        self._kept = kept
        self._nonces: OrderedDict[str, Nonce] = OrderedDict()
        self.asked = _Counts()
        """How many requests have come, by script, under any nonce."""

    def __len__(self) -> int:
        return len(self._nonces)

    def get(self, name: str) -> Nonce:
        """The state under `name`; fresh if the name is new or was used too long ago."""
        nonce = self._nonces.get(name)
        if nonce is None:
            nonce = self._nonces[name] = Nonce(name)
        self._nonces.move_to_end(name)  # by its last use: a conversation that goes on is never forgotten
        if len(self._nonces) > self._kept:
            self._nonces.popitem(last=False)
        return nonce
