"""One choice of a chat stream: its deltas in, its events and at most one violation out, and notes (`table.Note`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.wire.deltas import FUNCTION_CALL
from wireproof.wire.events import CallOpened, ChatEvent, Finished, Fragment, Role, Text
from wireproof.wire.grammar import CALL, CHOICE, CallSign, CallState, ChoiceSign, ChoiceState
from wireproof.wire.quoting import quoted
from wireproof.wire.table import Note
from wireproof.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.wire.deltas import CallDelta, Delta
    from wireproof.wire.sse import Frame


SHOWN = 60
"""Characters of a value that a violation shows."""


class ChoiceReader:
    """Reads the deltas of choice `index` against the grammar.

    Where the grammar is broken it still gives events, as lenient clients read them: a call's delta without a usable
    index belongs to the call opened last, and a call without id or name has it empty.
    """

    def __init__(self, index: int, *, blocks: bool = False) -> None:
        self.index = index
        self._blocks = blocks
        self.violation: Violation | None = None
        self.notes: list[Violation] = []
        """What every client copes with, each requirement once; empty after a violation."""
        self._state = ChoiceState.NEW
        self._ids: dict[str, None] = {}  # an ordered set: calls are opened in the order of their index
        self._opened: set[int] = set()
        self._last = 0  # the call of a delta that has no index

    @property
    def finished(self) -> bool:
        """Whether it had its finish, and broke nothing before."""
        return self._state is ChoiceState.FINISHED and self.violation is None

    @property
    def settled(self) -> bool:
        """Whether nothing more is expected of it: it is finished, or broken and judged no more."""
        return self.finished or self.violation is not None

    def read(self, delta: Delta, frame: Frame) -> Iterator[ChatEvent]:
        """The events of a delta in this frame."""
        for sign in delta.signs(blocks=self._blocks):
            self._judge(sign, frame.place)
        number, choice = frame.number, self.index
        if delta.role is not None:
            yield Role(frame=number, choice=choice, role=delta.role)
        # OpenAI's role chunk has `content: ""`: that says nothing.
        if delta.text:
            yield Text(frame=number, choice=choice, text=delta.text)
        for call in delta.calls:
            self._judge_call(call, frame.place)
            yield from self._call_events(call, number)
        if delta.finish is not None:
            yield Finished(frame=number, choice=choice, reason=delta.finish)

    def close(self, place: Place) -> bool:
        """End the answer at this place; False if that is what breaks this choice."""
        # Asked before the end is judged: a choice that was broken earlier is not broken by the end.
        settled = self.settled
        self._judge(ChoiceSign.END, place)
        return settled or self.violation is None

    def _judge(self, sign: ChoiceSign, place: Place) -> None:
        seen = f"choice {self.index}: {sign.value}, {self._state.value}"
        match CHOICE[self._state, sign]:
            case str(requirement):
                self._break(requirement, seen, place)
            case Note(requirement=requirement, then=state):
                self._note(requirement, seen, place)
                self._state = state
            case state:
                self._state = state

    def _judge_call(self, call: CallDelta, place: Place) -> None:
        sign = call.sign(self._ids.keys())
        # Calls count from 0 without gaps: openai-python's and openai-node's `.stream` raise at an only call of index 1.
        known = call.index is not None and call.index < len(self._ids)
        state = CallState.OPENED if known else CallState.UNKNOWN
        cell = CALL[state, sign]
        which = f"choice {self.index}, call {'?' if call.index is None else call.index}"
        seen = f"{which}: {self._of_call(call, sign, state)}"
        if isinstance(cell, str):
            self._break(cell, seen, place)
        elif isinstance(cell, Note):
            self._note(cell.requirement, seen, place)
        # Accepted and with an id: only the head of a call is both.
        elif call.id:
            self._ids[call.id] = None

    def _of_call(self, call: CallDelta, sign: CallSign, state: CallState) -> str:
        """What a delta of a call says, and when."""
        match sign:
            case CallSign.ASTRAY:
                return _astray(call, len(self._ids))
            case CallSign.PART if state is CallState.UNKNOWN:
                return f"its first delta lacks its {' and its '.join(_lacking(call))}"
            case CallSign.PART:
                return f"a later delta repeats its {'id' if call.id else 'name'}"
            case CallSign.HEAD if state is CallState.OPENED:
                return "a delta opens it once more, with id, type and name"
            case _:
                return f"{sign.value}, {state.value}"

    def _break(self, requirement: str, seen: str, place: Place) -> None:
        # The first only: what follows is relative to a state that is unknown.
        if self.violation is None:
            self.violation = Violation(requirement=requirement, seen=seen, place=place)

    def _note(self, requirement: str, seen: str, place: Place) -> None:
        known = {one.requirement for one in self.notes}
        if self.violation is None and requirement not in known:
            self.notes.append(Violation(requirement=requirement, seen=seen, place=place, strict_only=True))

    def _call_events(self, call: CallDelta, frame: int) -> Iterator[ChatEvent]:
        index = self._last if call.index is None else call.index
        # Not `_ids`, which holds what the grammar accepted: clients open a call whose head is wrong, too.
        if index not in self._opened:
            # The id of a legacy call is for the tables alone; no client gets one.
            id_ = "" if call.id == FUNCTION_CALL else call.id or ""
            yield CallOpened(frame=frame, choice=self.index, index=index, id=id_, name=call.name or "")
        if call.arguments is not None:
            yield Fragment(frame=frame, choice=self.index, index=index, text=call.arguments)
        self._opened.add(index)
        self._last = index


def _astray(call: CallDelta, opened: int) -> str:
    """What is wrong with the index of a delta when this many calls have been opened."""
    if call.index is None:
        return "a delta whose index is missing or no integer"
    if call.index == opened:
        return f"a call is opened under the id of an earlier one, {quoted(call.id, SHOWN)}"
    return f"a delta of index {call.index}, when {_counted(opened)} been opened"


def _counted(calls: int) -> str:
    return "one call has" if calls == 1 else f"{calls or 'no'} calls have"


def _lacking(call: CallDelta) -> list[str]:
    """What the first delta of a call must have and this one has not."""
    members = {"id": bool(call.id), "type function": call.function, "name": bool(call.name)}
    return [member for member, there in members.items() if not there]
