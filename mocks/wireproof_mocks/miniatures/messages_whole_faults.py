"""Faults of whole Messages answers: their form, blocks, stop reasons and counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.fault import MESSAGES, OPENAI_JSON, Fault, FaultExample, Json
from wireproof_mocks.miniatures.messages_block_faults import (
    CHAT_REASONS,
    cached_counted_twice,
    cached_not_counted,
    chat_counts,
)
from wireproof_mocks.miniatures.messages_events import becomes
from wireproof_mocks.miniatures.messages_rewriting import (
    TEXT,
    TOOL_USE,
    each_block,
    in_body,
    with_members,
    with_usage,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def _calls(message: Json) -> bool:
    return any(block["type"] == TOOL_USE for block in message["content"])


def _empty_text_first(message: Json) -> Json:
    """A call has an empty text before it, which is refused when it is sent back."""
    empty = [{"type": TEXT, "text": ""}]
    return (
        {**message, "content": [*empty, *message["content"]]} if message["content"][:1] and _opens(message) else message
    )


def _opens(message: Json) -> bool:
    return bool(message["content"][0]["type"] == TOOL_USE)


def _trimmed(block: Json) -> Json:
    return {**block, "text": block["text"].strip()}


def _without_its_end(block: Json) -> Json:
    return {**block, "text": block["text"][:-1]}


def _as_text(block: Json) -> Json:
    # As chat has it: the tool runner for TypeScript hands the text to the tool.
    return {**block, "input": json.dumps(block["input"], ensure_ascii=False)}


def _one_id(message: Json) -> Json:
    """All calls of an answer have the id of the first."""
    calls = [block["id"] for block in message["content"] if block["type"] == TOOL_USE]
    return each_block(TOOL_USE, with_members(id=calls[0]))(message) if calls else message


def _reason(change: Callable[[str, Json], str | None]) -> Callable[[Json], Json]:
    return lambda message: {**message, "stop_reason": change(message["stop_reason"], message)}


def _only_a_turn_ends(reason: str, _: Json) -> str:
    """What is neither a call nor a limit is an ordinary end."""
    return reason if reason in {"tool_use", "max_tokens"} else "end_turn"


def _calls_end(reason: str, message: Json) -> str:
    return "end_turn" if _calls(message) else reason


def _ends_unnamed(message: Json) -> Json:
    """As behind a backend that does not say which of the stop sequences ended its text."""
    stopped = message["stop_reason"] == "stop_sequence"
    return {**message, "stop_reason": "end_turn", "stop_sequence": None} if stopped else message


def _whole(name: str, breaks: str, change: Callable[[Json], Json], *examples: FaultExample) -> Fault:
    row = f"messages.whole.{breaks}"
    return Fault(name=name, breaks=row, dialects=(MESSAGES,), whole=in_body(change), examples=examples)


def _message(*content: Json, **members: object) -> Json:
    return {"type": "message", "content": list(content), **members}


def _text(text: str) -> Json:
    return {"type": TEXT, "text": text}


def _call(**members: object) -> Json:
    return {"type": TOOL_USE, **members}


MESSAGES_WHOLE_FAULTS: tuple[Fault, ...] = (
    # In chat's dialect nothing is changed: it is what the other surface is compared with.
    Fault(name="one-surface-says-less", breaks="turn.surface-parity", dialects=(OPENAI_JSON, MESSAGES),
          scripts=("surfaces/text",), whole=in_body(each_block(TEXT, _without_its_end)),
          examples=(becomes(_message(_text("Hi.")), _message(_text("Hi"))),)),
    # Whoever asks for no stream reads JSON: Claude Code's second try after a stream that failed is such a request.
    Fault(name="stream-where-none-is-asked", breaks="messages.whole.envelope", dialects=(MESSAGES,), in_turns=True,
          request=lambda asked: asked if asked.get("stream") else {**asked, "stream": True},
          examples=(becomes({"max_tokens": 9}, {"max_tokens": 9, "stream": True}),)),
    _whole("answer-without-an-id", "envelope", without("id"), becomes(_message(id="msg_7"), _message())),
    _whole("one-id-for-all-messages", "envelope", with_members(id="msg_1"),
           becomes(_message(id="msg_7"), _message(id="msg_1"))),
    _whole("stop-sequence-left-out", "envelope", without("stop_sequence"),
           becomes(_message(stop_sequence=None), _message())),
    _whole("answer-of-no-role", "envelope", without("role"), becomes(_message(role="assistant"), _message())),
    _whole("message-text-trimmed", "text", each_block(TEXT, _trimmed),
           becomes(_message(_text(" Hi. ")), _message(_text("Hi.")))),
    _whole("empty-text-beside-a-call", "text", _empty_text_first,
           becomes(_message(_call()), _message(_text(""), _call()))),
    _whole("input-as-json-text", "calls", each_block(TOOL_USE, _as_text),
           becomes(_message(_call(input={"a": 1})), _message(_call(input='{"a": 1}')))),
    _whole("call-ids-with-dots-and-colons", "calls",
           each_block(TOOL_USE, lambda block: {**block, "id": f"functions.{block['name']}:{block['id']}"}),
           becomes(_message(_call(id="t", name="read")), _message(_call(id="functions.read:t", name="read")))),
    _whole("call-ids-empty", "calls", each_block(TOOL_USE, with_members(id="")),
           becomes(_message(_call(id="t")), _message(_call(id="")))),
    _whole("one-id-for-all-calls", "calls", _one_id,
           becomes(_message(_call(id="a"), _call(id="b")), _message(_call(id="a"), _call(id="a")))),
    _whole("first-call-alone", "calls",
           lambda message: {**message, "content": [
               block for number, block in enumerate(message["content"])
               if not (block["type"] == TOOL_USE and _calls(_message(*message["content"][:number])))
           ]},
           becomes(_message(_text("a"), _call(id="a"), _call(id="b")), _message(_text("a"), _call(id="a")))),
    _whole("call-ends-the-turn", "stop-reason", _reason(_calls_end),
           becomes(_message(_call(), stop_reason="tool_use"), _message(_call(), stop_reason="end_turn"))),
    _whole("every-other-end-is-end-turn", "stop-reason", _reason(_only_a_turn_ends),
           becomes(_message(stop_reason="refusal"), _message(stop_reason="end_turn"))),
    _whole("limits-of-chat", "stop-reason", _reason(lambda reason, _: CHAT_REASONS.get(reason, reason)),
           becomes(_message(stop_reason="max_tokens"), _message(stop_reason="length"))),
    _whole("stop-sequence-ends-the-turn", "stop-reason", _ends_unnamed,
           becomes(_message(stop_reason="stop_sequence", stop_sequence="."),
                   _message(stop_reason="end_turn", stop_sequence=None))),
    _whole("stop-sequence-null", "stop-reason", with_members(stop_sequence=None),
           becomes(_message(stop_reason="stop_sequence", stop_sequence="."),
                   _message(stop_reason="stop_sequence", stop_sequence=None))),
    _whole("message-usage-named-as-in-chat", "usage", with_usage(chat_counts),
           becomes(_message(usage={"input_tokens": 3, "output_tokens": 5}),
                   _message(usage={"prompt_tokens": 3, "completion_tokens": 5}))),
    _whole("cached-counted-as-input", "usage", with_usage(cached_counted_twice),
           becomes(_message(usage={"input_tokens": 3, "cache_read_input_tokens": 4}),
                   _message(usage={"input_tokens": 7, "cache_read_input_tokens": 4}))),
    _whole("caches-not-counted", "usage", with_usage(cached_not_counted),
           becomes(_message(usage={"cache_read_input_tokens": 4, "cache_creation_input_tokens": 2}),
                   _message(usage={"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}))),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in its whole Messages answers."""
