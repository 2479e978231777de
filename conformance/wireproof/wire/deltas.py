"""What a chunk says: the deltas of its choices, and the signs that these are to the grammar.

`content` that is null or "" is no text. `role`, `finish_reason`, `id` or `name` that is null counts as absent, and so
does an `id` or `name` that is "": real servers repeat a call's head with empty strings, and every client copes. A value
of the wrong type counts as absent too: the JSON Schema names it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import JsonObject, integer_of, list_of, object_of, text_of
from wireproof.wire.grammar import CallSign, ChoiceSign

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FUNCTION_CALL = "function_call"
"""The id under which a legacy call is known here. On the wire it has none."""
_OPEN, _CLOSE = "<use_tool>", "</use_tool>"
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
    """Whether it has a finish_reason, of whatever type."""
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
        # Content beside a call is one fault (MIXED): it is not also judged as content and as a call.
        text = bool(self.text) and not called
        # In a dialect without blocks the tag is text like any other.
        block, piece = (ends_block(self.text), piece_of_block(self.text)) if blocks else (False, False)
        signs = {
            ChoiceSign.ROLE: self.role == "assistant",
            ChoiceSign.STRANGER: self.role not in {None, "assistant"},
            ChoiceSign.TORN: self._torn(),
            ChoiceSign.MIXED: bool(self.text) and called,
            ChoiceSign.TEXT: text and not block and not piece,
            ChoiceSign.BLOCK: text and block,
            ChoiceSign.PIECE: text and piece,
            ChoiceSign.CALL: called and not self.text,
        }
        return [sign for sign, said in signs.items() if said]

    def _torn(self) -> bool:
        texts = (self.text, *(call.arguments for call in self.calls))
        return any(text and _SURROGATE.search(text) for text in texts)


def ends_block(text: str | None) -> bool:
    """Whether a text ends with a complete `<use_tool>` block."""
    # Not `startswith`: text that came before the call may share its delta.
    return text is not None and text.endswith(_CLOSE) and _OPEN in text


def piece_of_block(text: str | None) -> bool:
    """Whether a text begins a block without ending it, or ends one that it did not begin."""
    return text is not None and not ends_block(text) and (_OPEN in text or text.endswith(_CLOSE))


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
        finished=finish is not None,
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
