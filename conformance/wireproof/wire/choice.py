"""One choice of a chat stream: what its deltas say, as signs to the grammar, and what comes of them.

`content` that is null or "" is no text. `role`, `finish_reason`, `id` or `name` that is null counts as absent, and so
does one of the last three that is "": real servers repeat a call's head with empty strings, or end every chunk so, and
every client copes. A value of the wrong type counts as absent too: the JSON Schema names it, and such a finish.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof.wire.events import CallOpened, ChatEvent, Finished, Fragment, Role, Text
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import JsonObject, integer_of, list_of, object_of, text_of
from wireproof.wire.grammar import CALL, CHOICE, TAIL, XML_SINGLE, CallSign, CallState, ChoiceSign, ChoiceState
from wireproof.wire.quoting import short
from wireproof.wire.table import Hole
from wireproof.wire.textual import CLOSE, OPEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof.wire.sse import SseFrame
    from wireproof.wire.violation import Place, Violation

FUNCTION_CALL = "function_call"
"""The id under which a legacy call is known here. On the wire it has none."""
# JSON can carry half of a pair as an escape, but UTF-8 cannot encode it: what writes it out again fails.
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True, slots=True)
class CallDelta:
    """One entry of `tool_calls`, or a `function_call` read as the only entry."""

    index: int | None
    """Its index; None when it is missing or no integer."""
    id: str | None
    """Its id; None when absent. The first delta of a `function_call` has `FUNCTION_CALL`."""
    name: str | None
    """The tool's name; None when absent."""
    function: bool
    """Whether its type is `function`."""
    arguments: str | None
    """A fragment of the arguments; None when absent."""
    textual: bool
    """Whether its arguments are a string, or absent."""

    def sign(self, ids: Mapping[int, str]) -> CallSign:
        """What it says, when the calls with these indexes are open (index → id)."""
        # The index is judged first: without it nothing else can be said to belong to a call. One past the last opens a
        # call, but not under an id that another call has.
        opens = self.index not in ids
        if self.index is None or (opens and (self.index != following(ids) or self.id in ids.values())):
            return CallSign.ASTRAY
        # Arguments as an object: nearly every client raises, or runs the tool with wrong ones.
        if not self.textual:
            return CallSign.NO_TEXT
        if self.id and self.name and self.function:
            return CallSign.HEAD
        # Also a head without its type, at which openai-node's `.stream` raises.
        if self.id or self.name:
            return CallSign.PART
        # OpenAI's head has `arguments: ""`. A later delta that adds nothing is one too many (codex-story, criterion 7).
        return CallSign.GROWTH if self.arguments else CallSign.SAME

    def spoils(self, ids: Mapping[int, str], index: int) -> frozenset[Facet]:
        """What is lost by a delta that is wrong, when it is taken to be of the call with this index."""
        if not self.textual:
            return frozenset({Facet.ARGUMENTS})
        # Some clients go on with the open call, some open another: what they run is not known.
        if self.id is not None and self.id in ids.values() and self.id != ids.get(index):
            return _MIXED_UP
        if index in ids:
            return UNTOUCHED if self.id in {None, ids[index]} else _MIXED_UP
        lost = {Facet.CALL_ID: self.id is None, Facet.CALL: self.name is None}
        return frozenset(facet for facet, is_lost in lost.items() if is_lost)


_MIXED_UP = frozenset({Facet.CALL, Facet.ARGUMENTS, Facet.CALL_ID})


def following(ids: Mapping[int, str]) -> int:
    """The index of the call that is opened next."""
    return max(ids, default=-1) + 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Delta:
    """One entry of `choices`."""

    index: int
    """The index of its choice."""
    role: str | None
    """The role; None when absent."""
    text: str | None
    """The content; None when absent, and "" when it is that."""
    calls: tuple[CallDelta, ...]
    """Its calls' deltas, in order."""
    finished: bool
    """Whether it has a finish_reason, of whatever type, but for ""."""
    finish: str | None
    """The finish_reason; None when absent or no string."""

    def signs(self, *, blocks: bool = False) -> list[ChoiceSign]:
        """What it says to its choice, in the order in which it is judged; never empty. `blocks`: see `chat_stream`."""
        signs = self._said(blocks=blocks)
        if self.finished:
            # The finish has a chunk of its own, with an empty delta (codex-story, criteria 4 and 9).
            signs.append(ChoiceSign.FULL if signs else ChoiceSign.FINISH)
        return signs or [ChoiceSign.EMPTY]

    def _said(self, *, blocks: bool) -> list[ChoiceSign]:
        called = bool(self.calls)
        texts = (self.text, *(call.arguments for call in self.calls))
        torn = any(text and _SURROGATE.search(text) for text in texts)
        # Content beside a call is one fault (MIXED): it is not also judged as content and as a call.
        text = bool(self.text) and not called
        # In a dialect without blocks the tag is text like any other.
        block, piece = (ends_block(self.text), piece_of_block(self.text)) if blocks else (False, False)
        signs = {
            ChoiceSign.ROLE: self.role == "assistant",
            ChoiceSign.STRANGER: self.role not in {None, "assistant"},
            ChoiceSign.TORN: torn,
            ChoiceSign.MIXED: bool(self.text) and called,
            ChoiceSign.TEXT: text and not block and not piece,
            ChoiceSign.BLOCK: text and block,
            ChoiceSign.PIECE: text and piece,
            ChoiceSign.CALL: called and not self.text,
        }
        return [sign for sign, said in signs.items() if said]


def ends_block(text: str | None) -> bool:
    """Whether a text ends with a complete `<use_tool>` block."""
    # Not `startswith`: text that came before the call may share its delta.
    return text is not None and text.endswith(CLOSE) and OPEN in text


def piece_of_block(text: str | None) -> bool:
    """Whether a text begins a block without ending it, or ends one that it did not begin."""
    return text is not None and not ends_block(text) and (OPEN in text or text.endswith(CLOSE))


def read_deltas(chunk: JsonObject) -> tuple[Delta, ...]:
    """The deltas of a chunk, in order; an entry without an index counts as choice 0."""
    return tuple(_delta(object_of(choice)) for choice in list_of(chunk.get("choices")))


def _delta(choice: JsonObject) -> Delta:
    delta = object_of(choice.get("delta"))
    finish = choice.get("finish_reason")
    return Delta(
        index=integer_of(choice.get("index")) or 0,
        role=text_of(delta.get("role")),
        text=text_of(delta.get("content")),
        calls=tuple(_calls(delta)),
        finished=finish is not None and finish != "",
        finish=text_of(finish),
    )


def _calls(delta: JsonObject) -> Iterator[CallDelta]:
    yield from (_call(object_of(call)) for call in list_of(delta.get("tool_calls")))
    # Read beside `tool_calls`, not instead: a proxy that sends both opens call 0 twice (codex-story, criterion 19), and
    # openai-node's `.stream` drops the calls then.
    legacy = object_of(delta.get("function_call"))
    if legacy:
        # The name comes once, with the first delta; it alone opens the call, which has neither id nor index.
        named = {"id": FUNCTION_CALL, "type": "function"} if legacy.get("name") else {}
        yield _call({**named, "index": 0, "function": legacy})


def _call(call: JsonObject) -> CallDelta:
    function = object_of(call.get("function"))
    arguments = function.get("arguments")
    return CallDelta(
        index=integer_of(call.get("index")),
        id=text_of(call.get("id")) or None,
        name=text_of(function.get("name")) or None,
        function=call.get("type") == "function",
        arguments=text_of(arguments),
        textual=arguments is None or isinstance(arguments, str),
    )


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
                members = {"id": bool(call.id), "type function": call.function, "name": bool(call.name)}
                lacking = [member for member, there in members.items() if not there]
                return f"its first delta lacks its {' and its '.join(lacking)}"
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
        return f"a call is opened under the id of an earlier one, {short(call.id)}"
    known = "one call has" if opened == 1 else f"{opened or 'no'} calls have"
    return f"a delta of index {call.index}, when {known} been opened"
