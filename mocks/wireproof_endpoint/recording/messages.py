"""The Messages API as it is recorded: its answers as steps, its requests as what they are in chat.

Signatures of thoughts are not kept: whoever plays the script signs them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wireproof_endpoint.recording.so_far import tokens
from wireproof_scripts.kinds import MOST
from wireproof_scripts.steps import Finish, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_endpoint.recording.so_far import AnswerSoFar

Json = dict[str, Any]

DONE = "message_stop"
"""The event that ends a stream."""
_EVENTS = frozenset({"content_block_start", "content_block_stop", "message_start", "message_delta"})


def event(value: Json, answer: AnswerSoFar, at: float) -> bool:
    """Take an event of a stream; whether it is one of this API."""
    match value:
        case {"type": "message_start", "message": message}:
            answer.named(message["id"])
            answer.counted.update(message.get("usage") or {})
        case {"type": "content_block_start", "index": index, "content_block": block}:
            _block(index, block, answer, at)
        case {"type": "content_block_delta", "index": index, "delta": delta}:
            _delta(index, delta, answer, at)
        case {"type": "message_delta", "delta": delta}:
            answer.counted.update(value.get("usage") or {})
            _end(delta, answer)
        case {"type": str(kind)}:
            return kind in _EVENTS
        case _:
            return False
    return True


def whole(value: Json, answer: AnswerSoFar, at: float) -> None:
    """Take a whole message."""
    answer.named(value["id"])
    for index, block in enumerate(value["content"]):
        _block(index, block, answer, at)
    answer.counted.update(value.get("usage") or {})
    _end(value, answer)


def _block(index: int, block: Json, answer: AnswerSoFar, at: float) -> None:
    """A block, whole or as it opens."""
    match block:
        case {"type": "text", "text": text} if text:
            answer.say(text, at)
        case {"type": "thinking", "thinking": text}:
            answer.thought(index, at).summary += filter(None, [text])
        case {"type": "redacted_thinking", "data": data}:
            answer.thought(index, at).encrypted = data
        case {"type": "tool_use", "id": id_, "name": name}:
            given = block.get("input")
            answer.call(index, id_, name, json.dumps(given, ensure_ascii=False) if given else "", at)


def _delta(index: int, delta: Json, answer: AnswerSoFar, at: float) -> None:
    match delta:
        case {"type": "text_delta", "text": text}:
            answer.say(text, at)
        case {"type": "thinking_delta", "thinking": text}:
            answer.thought(index, at).summary.append(text)
        case {"type": "input_json_delta", "partial_json": text}:
            answer.call(index, "", "", text, at)


def _end(stopped: Json, answer: AnswerSoFar) -> None:
    """Take why a message stopped, and the counts."""
    counts, reason = answer.counted, stopped.get("stop_reason")
    if counts:
        cached = tokens(counts.get("cache_read_input_tokens"))
        taken = tokens(counts.get("input_tokens")) + cached + tokens(counts.get("cache_creation_input_tokens"))
        reasoning = tokens((counts.get("output_tokens_details") or {}).get("thinking_tokens"))
        given = tokens(counts.get("output_tokens"))
        answer.ends = [Usage(input=min(taken, MOST), output=given, cached=cached, reasoning=reasoning)]
    match reason:
        case "max_tokens" | "model_context_window_exceeded":
            answer.ends.append(Finish("length"))
        case "refusal":
            answer.ends.append(Finish("content_filter"))
        case "stop_sequence" if isinstance(stopped.get("stop_sequence"), str) and not answer.calls:
            # The text that ended it is no part of the answer: whoever asks again says it again, and the answer ends
            # there again.
            answer.say(stopped["stop_sequence"], 0.0)


def as_chat(body: Json) -> Json:
    """A request with its messages as chat has them."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return body
    return {**body, "messages": [one for message in messages if isinstance(message, dict) for one in _chat(message)]}


def _chat(message: Json) -> Iterator[Json]:
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    results = [block for block in blocks if block.get("type") == "tool_result"]
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    rest = [block for block in blocks if block not in (*results, *calls)] if isinstance(content, list) else content
    for result in results:
        yield {"role": "tool", "tool_call_id": result.get("tool_use_id"), "content": result.get("content")}
    if calls:
        yield {"role": "assistant", "content": rest, "tool_calls": [_called(call) for call in calls]}
    elif rest or not results:
        yield {**message, "content": rest}


def _called(call: Json) -> Json:
    arguments = json.dumps(call.get("input") or {}, ensure_ascii=False)
    return {"id": call["id"], "function": {"name": call["name"], "arguments": arguments}}
