"""One choice of a chat stream: its deltas in, its events and violations out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof.wire.deltas import FUNCTION_CALL, following
from wireproof.wire.events import CallOpened, ChatEvent, Finished, Fragment, Role, Text
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.grammar import CALL, CHOICE, TAIL, XML_SINGLE, CallSign, CallState, ChoiceSign, ChoiceState
from wireproof.wire.quoting import quoted
from wireproof.wire.table import Hole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.wire.deltas import CallDelta, Delta
    from wireproof.wire.sse import SseFrame
    from wireproof.wire.violation import Place, Violation


SHOWN = 60
"""Characters of a value that a violation shows."""


class ChoiceReader:
    """Reads the deltas of choice `index` against the grammar.

    Where the grammar is broken it gives events as lenient clients read them: a call's delta without a usable index
    opens a call if it has a name, else it belongs to the call opened last; a call without id or name has it empty.
    """

    def __init__(self, index: int, *, blocks: bool = False) -> None:
        self.index = index
        self._blocks = blocks
        self.violations: list[Violation] = []
        """What is wrong with it, each once, in the order in which it showed."""
        self.said = False
        """Whether it has said anything, in text or in a call."""
        self._state = ChoiceState.NEW
        self._supplied = False  # whether its role has been missed and not come yet
        self._ids: dict[int, str] = {}
        """Index → id of each call that was opened; "" for one without."""
        self._last = 0  # the call of a delta that has no index

    @property
    def finished(self) -> bool:
        """Whether it had its finish."""
        return self._state is ChoiceState.FINISHED

    def read(self, delta: Delta, frame: SseFrame) -> Iterator[ChatEvent]:
        """The events of a delta in this frame; behind the finish only another finish is one."""
        late = self.finished
        for sign in delta.signs(blocks=self._blocks):
            # A role that was missed before is late, not sent again.
            if sign is ChoiceSign.ROLE and self._supplied:
                self._supplied = False
            else:
                self._judge(sign, frame.place)
        if not late:
            yield from self._said(delta, frame)
        if delta.finish is not None:
            yield Finished(frame=frame.number, choice=self.index, reason=delta.finish)

    def _said(self, delta: Delta, frame: SseFrame) -> Iterator[ChatEvent]:
        number, choice = frame.number, self.index
        self.said = self.said or bool(delta.text or delta.calls)
        if delta.role is not None:
            yield Role(frame=number, choice=choice, role=delta.role)
        # OpenAI's role chunk has `content: ""`: that says nothing.
        if delta.text:
            yield Text(frame=number, choice=choice, text=delta.text)
        for call in delta.calls:
            index = self._call_of(call)
            self._judge_call(call, index, frame.place)
            yield from self._call_events(call, index, number)

    def close(self, place: Place) -> bool:
        """End the answer at this place; False if that is what breaks this choice."""
        known = len(self.violations)
        self._judge(ChoiceSign.END, place)
        return len(self.violations) == known

    def _judge(self, sign: ChoiceSign, place: Place) -> None:
        match CHOICE[self._state, sign]:
            case Hole() as hole:
                self._break(hole, f"{sign.value}, {self._state.value}", f"choice {self.index}", place, hole.spoils)
                self._state = hole.then
                if hole.again:
                    self._supplied = True
                    self._judge(sign, place)
            case state:
                self._state = state

    def _judge_call(self, call: CallDelta, index: int, place: Place) -> None:
        sign = call.sign(self._ids)
        state = CallState.OPENED if index in self._ids else CallState.UNKNOWN
        cell = CALL[state, sign]
        if isinstance(cell, Hole):
            which = f"choice {self.index}, call {'?' if call.index is None else call.index}"
            spoils = UNTOUCHED if cell.strict_only else call.spoils(self._ids, index)
            self._break(cell, self._of_call(call, sign, state), which, place, spoils)

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

    def _break(self, hole: Hole[Any], kind: str, where: str, place: Place, spoils: frozenset[Facet]) -> None:
        """Add a violation, unless this choice has it already, or this frame one of the same requirement."""
        for known in self.violations:
            # A block that came in pieces has text after a call in it.
            if (known.requirement, hole.requirement) == (XML_SINGLE, TAIL):
                return
            if known.requirement == hole.requirement and (known.kind == kind or known.place == place):
                return
        self.violations.append(hole.violation(kind, place, where=where, spoils=spoils))

    def _call_of(self, call: CallDelta) -> int:
        """The index of the call that a delta is taken to be of."""
        if call.index is not None:
            return call.index
        opens = call.name is not None and (call.id is None or call.id not in self._ids.values())
        return following(self._ids) if opens else self._last

    def _call_events(self, call: CallDelta, index: int, frame: int) -> Iterator[ChatEvent]:
        if index not in self._ids:
            # The id of a legacy call is for the tables alone; no client gets one.
            id_ = "" if call.id == FUNCTION_CALL else call.id or ""
            yield CallOpened(frame=frame, choice=self.index, index=index, id=id_, name=call.name or "")
        if call.arguments is not None:
            yield Fragment(frame=frame, choice=self.index, index=index, text=call.arguments)
        self._ids.setdefault(index, call.id or "")
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
