"""What was read of an answer so far, in order, and the steps that it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wireproof_scripts.kinds import MOST
from wireproof_scripts.steps import Call, Pause, Say, Think
from wireproof_scripts.steps.http import Refusal

if TYPE_CHECKING:
    from wireproof_scripts.steps import Step

Json = dict[str, Any]

SILENCE = 0.02
"""Seconds: what comes faster after another piece came at once."""


def tokens(count: object) -> int:
    """A count as an upstream sends it; 0 where it is none, as some send null and others text."""
    return int(count) if isinstance(count, int | float) and 0 <= count <= MOST else 0


@dataclass
class _TextSoFar:
    """Text, or a refusal, as it comes."""

    refuses: bool
    pieces: list[str] = field(default_factory=list)

    def step(self) -> Step:
        return Refusal("".join(self.pieces)) if self.refuses else Say(tuple(self.pieces))


@dataclass
class _ThoughtSoFar:
    """A thought as it comes; each of an answer has a `key` of its own."""

    key: object
    summary: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    chat: list[str] = field(default_factory=list)
    """What a chat answer shows."""
    encrypted: str = ""

    def step(self) -> Step:
        # Of a chat answer one text is known, and not whether it is a summary: as that it is sent on both surfaces.
        summary = self.chat or self.summary
        return Think(
            "".join(summary),
            pieces=tuple(summary) if len(summary) > 1 else (),
            raw=tuple(self.raw),
            encrypted=self.encrypted,
            in_chat=bool(self.chat),
        )


@dataclass
class _CallSoFar:
    """A call as it comes."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    def step(self) -> Step:
        pieces = tuple(self.pieces) if len(self.pieces) > 1 else ()
        return Call(id=self.id, name=self.name, arguments="".join(self.pieces), pieces=pieces)


@dataclass
class AnswerSoFar:
    """What was read so far, in order; the last item goes on as long as more of its kind comes."""

    paced: bool
    items: list[_TextSoFar | _ThoughtSoFar | _CallSoFar | Pause] = field(default_factory=list)
    calls: dict[object, _CallSoFar] = field(default_factory=dict)
    ends: list[Step] = field(default_factory=list)
    counted: Json = field(default_factory=dict)
    """Counts that come in parts."""
    id: str = ""
    """Of the answer, by which a later request may go on from it."""
    _last: float = 0.0

    def named(self, id_: object) -> None:
        """The id of the answer, where it is one."""
        self.id = id_ if isinstance(id_, str) and id_ else self.id

    def say(self, text: str, at: float, *, refuses: bool = False) -> None:
        """More text, or more of a refusal."""
        self._wait(at)
        match self.items:
            case [*_, _TextSoFar(refuses=same) as speech] if same is refuses:
                speech.pieces.append(text)
            case _:
                self.items.append(_TextSoFar(refuses, [text]))

    def thought(self, key: object, at: float) -> _ThoughtSoFar:
        """The thought of this key, of which more has come."""
        self._wait(at)
        match self.items:
            case [*_, _ThoughtSoFar() as thought] if thought.key == key:
                pass
            case _:
                self.items.append(thought := _ThoughtSoFar(key))
        return thought

    def call(self, key: object, id_: str, name: str, arguments: str, at: float) -> None:
        """A call, or more of its arguments."""
        if key not in self.calls:
            self._wait(at)
            self.items.append(self.calls.setdefault(key, _CallSoFar()))
        call = self.calls[key]
        call.id, call.name = call.id or id_, call.name or name
        call.pieces += [arguments] if arguments else []

    def _wait(self, at: float) -> None:
        if self.paced and at - self._last >= SILENCE:
            self.items.append(Pause(round(at - self._last, 3)))
        self._last = at

    def steps(self) -> tuple[Step, ...]:
        """All of it as steps."""
        return (*(item if isinstance(item, Pause) else item.step() for item in self.items), *self.ends)
