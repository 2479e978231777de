"""What a chunk says: its choices' deltas, and the signs they are to the grammar.

`content` that is null or "" is no text; `role`, `finish_reason`, `id` or `name` that is null is absent, and so is
an `id` or `name` that is "" (real servers repeat a call's head so, and every client copes). What has a wrong type
is absent too: the JSON Schema names it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.wire.fields import JsonObject, integer_of, list_of, object_of, text_of
from assay.wire.grammar import CallSign, ChoiceSign

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

FUNCTION_CALL = "function_call"
"""The id under which a legacy call is known; none is told."""
_OPEN, _CLOSE = "<use_tool>", "</use_tool>"
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True, slots=True)
class CallDelta:
    """One entry of `tool_calls`, or a `function_call` as if it were the only one.

    `arguments` is None when absent, `textual` tells whether it is a string if present. A `function_call` has no id: it
    stands under the name of its member.
    """

    index: int | None
    id: str | None
    name: str | None
    function: bool
    arguments: str | None
    textual: bool

    def sign(self, ids: Collection[str]) -> CallSign:
        """What it says, when the calls opened so far have these ids (numbered from 0 in that order)."""
        opened = len(ids)
        if self.index is None or not 0 <= self.index <= opened or (self.index == opened and self.id in ids):
            return CallSign.ASTRAY
        if not self.textual:
            return CallSign.NO_TEXT
        if self.id and self.name and self.function:
            return CallSign.HEAD
        if self.id or self.name:
            return CallSign.PART
        return CallSign.GROWTH if self.arguments else CallSign.SAME


@dataclass(frozen=True, kw_only=True, slots=True)
class Delta:
    """One entry of `choices`; `finished` tells whether it has a finish_reason."""

    index: int
    role: str | None
    text: str | None
    calls: tuple[CallDelta, ...]
    finished: bool
    finish: str | None

    def signs(self, *, blocks: bool = False) -> list[ChoiceSign]:
        """What it says to its choice, in the order in which it is judged; never empty. `blocks`: see `ChatStream`."""
        signs = self._said(blocks=blocks)
        if self.finished:
            signs.append(ChoiceSign.FULL if signs else ChoiceSign.FINISH)
        return signs or [ChoiceSign.EMPTY]

    def _said(self, *, blocks: bool) -> list[ChoiceSign]:
        called = bool(self.calls)
        text = bool(self.text) and not called
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
    legacy = object_of(delta.get("function_call"))
    if legacy:
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
