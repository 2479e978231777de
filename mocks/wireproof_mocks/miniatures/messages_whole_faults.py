"""Faults of whole Messages answers: their form, blocks, stop reasons and counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.fault import MESSAGES, OPENAI_JSON, Fault
from wireproof_mocks.miniatures.messages_block_faults import (
    CHAT_REASONS,
    cached_counted_twice,
    cached_not_counted,
    chat_counts,
    stop_unnamed,
)
from wireproof_mocks.miniatures.messages_rewriting import each_block
from wireproof_mocks.miniatures.rewriting import at, in_body, of_type, with_members, without

if TYPE_CHECKING:
    from wireproof_mocks.miniatures.fault import Json
    from wireproof_mocks.miniatures.rewriting import Change


def _are_calls(blocks: list[Json]) -> bool:
    return any(block["type"] == "tool_use" for block in blocks)


def _empty_text_first(blocks: list[Json]) -> list[Json]:
    """A call has an empty text before it, which is refused when it is sent back."""
    return [{"type": "text", "text": ""}, *blocks] if _are_calls(blocks[:1]) else blocks


def _first_call(blocks: list[Json]) -> list[Json]:
    return [one for i, one in enumerate(blocks) if one["type"] != "tool_use" or not _are_calls(blocks[:i])]


def _one_id(blocks: list[Json]) -> list[Json]:
    """All calls of an answer have the id of the first."""
    ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
    return [{**block, "id": ids[0]} if block["type"] == "tool_use" else block for block in blocks]


def _calls_end(message: Json) -> Json:
    return {**message, "stop_reason": "end_turn"} if _are_calls(message["content"]) else message


def _only_a_turn_ends(reason: str) -> str:
    """What is neither a call nor a limit is an ordinary end."""
    return reason if reason in {"tool_use", "max_tokens"} else "end_turn"


def _whole(name: str, breaks: str, change: Change) -> Fault:
    row, whole = f"messages.whole.{breaks}", in_body(of_type("message", change))
    return Fault(name=name, breaks=row, dialects=(MESSAGES,), whole=whole)


MESSAGES_WHOLE_FAULTS: tuple[Fault, ...] = (
    # In chat's dialect nothing is changed: it is what the other surface is compared with.
    Fault(name="one-surface-says-less", breaks="turn.surface-parity", dialects=(OPENAI_JSON, MESSAGES),
          scripts=("surfaces/text",),
          whole=in_body(of_type("message", each_block("text", at("text", lambda text: text[:-1]))))),
    # Whoever asks for no stream reads JSON: Claude Code's second try after a stream that failed is such a request.
    Fault(name="stream-where-none-is-asked", breaks="messages.whole.envelope", dialects=(MESSAGES,), in_turns=True,
          request=with_members(stream=True)),
    _whole("answer-without-an-id", "envelope", without("id")),
    _whole("one-id-for-all-messages", "envelope", with_members(id="msg_1")),
    _whole("stop-sequence-left-out", "envelope", without("stop_sequence")),
    _whole("answer-of-no-role", "envelope", without("role")),
    _whole("message-text-trimmed", "text", each_block("text", at("text", str.strip))),
    _whole("empty-text-beside-a-call", "text", at("content", _empty_text_first)),
    # As chat has it: the tool runner for TypeScript hands the text to the tool.
    _whole("input-as-json-text", "calls",
           each_block("tool_use", at("input", lambda given: json.dumps(given, ensure_ascii=False)))),
    _whole("call-ids-with-dots-and-colons", "calls",
           each_block("tool_use", lambda block: {**block, "id": f"functions.{block['name']}:{block['id']}"})),
    _whole("call-ids-empty", "calls", each_block("tool_use", with_members(id=""))),
    _whole("one-id-for-all-calls", "calls", at("content", _one_id)),
    _whole("first-call-alone", "calls", at("content", _first_call)),
    _whole("call-ends-the-turn", "stop-reason", _calls_end),
    _whole("every-other-end-is-end-turn", "stop-reason", at("stop_reason", _only_a_turn_ends)),
    _whole("limits-of-chat", "stop-reason", at("stop_reason", lambda reason: CHAT_REASONS.get(reason, reason))),
    _whole("stop-sequence-ends-the-turn", "stop-reason", stop_unnamed),
    _whole("stop-sequence-null", "stop-reason", with_members(stop_sequence=None)),
    _whole("message-usage-named-as-in-chat", "usage", at("usage", chat_counts)),
    _whole("cached-counted-as-input", "usage", at("usage", cached_counted_twice)),
    _whole("caches-not-counted", "usage", at("usage", cached_not_counted)),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in its whole Messages answers."""
