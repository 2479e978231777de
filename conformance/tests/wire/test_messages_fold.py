"""A stream of Messages folded to its message."""

from __future__ import annotations

from typing import Any

from wireproof.wire.messages_whole import fold

LAST: dict[str, Any] = {"output_tokens": 9, "input_tokens": None}
USAGE: dict[str, Any] = {"input_tokens": 3, "output_tokens": 1}
START: dict[str, Any] = {
    "type": "message_start",
    "message": {"id": "msg_1", "content": [], "usage": USAGE},
}


def block(index: int, **head: object) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": head}


def delta(index: int, type_: str, **said: object) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": type_, **said}}


def test_blocks_add_up_and_the_last_counts_count() -> None:
    events = [
        START, {"type": "ping"},
        block(0, type="thinking", thinking="", signature=""), delta(0, "thinking_delta", thinking="H"),
        delta(0, "thinking_delta", thinking="m"), delta(0, "signature_delta", signature="s"),
        block(1, type="text", text=""), delta(1, "text_delta", text="Hi"), delta(1, "text_delta", text="!"),
        block(2, type="tool_use", id="t", name="f", input={}), delta(2, "input_json_delta", partial_json='{"a":'),
        delta(2, "input_json_delta", partial_json="1}"),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": LAST},
    ]  # fmt: skip
    assert fold(events) == {
        "id": "msg_1",
        "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "s"},
            {"type": "text", "text": "Hi!"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 9},
        "stop_reason": "tool_use",
    }


def test_what_never_starts_is_no_message_and_no_fragments_leave_the_input() -> None:
    assert fold([delta(0, "text_delta", text="Hi")]) == {}
    assert fold([START, block(0, type="tool_use", input={})])["content"] == [{"type": "tool_use", "input": {}}]
