"""Whole answers of Messages: each way of being wrong, one violation each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof.wire.events import Failed
from wireproof.wire.messages_whole import read_message

Json = dict[str, Any]

TEXT: Json = {"type": "text", "text": "Hi"}
CALL: Json = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}


def body(*content: object, **change: object) -> bytes:
    made = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(content),
        "stop_reason": "tool_use" if CALL in content else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }  # fmt: skip
    return json.dumps({**made, **change}).encode()


CASES: dict[str, tuple[bytes, list[str]]] = {
    "text": (body(TEXT), []),
    "text and call": (body(TEXT, CALL), []),
    "nothing": (body(), []),
    "a sequence": (body(TEXT, stop_reason="stop_sequence", stop_sequence="END"), []),
    "no JSON": (b"{", ["envelope"]),
    "content is a text": (body(content="Hi"), ["envelope"]),
    "content is null": (body(content=None), ["envelope"]),
    "an error": (b'{"type": "error", "error": {"type": "api_error", "message": "no"}}', ["envelope"]),
    "a block of another type": (body(TEXT, {"type": "magic"}), ["envelope"]),
    "a block whose type is no text": (body(TEXT, {"type": {}}), ["envelope"]),
    "an empty text": (body(TEXT, {"type": "text", "text": ""}), ["~text"]),
    "a text without text": (body({"type": "text"}), ["text"]),
    "no id": (body({**CALL, "id": ""}, stop_reason="tool_use"), ["calls"]),
    "an id of other characters": (body({**CALL, "id": "a.b:0"}, stop_reason="tool_use"), ["calls"]),
    "two ids alike": (body(CALL, CALL), ["calls"]),
    "no name": (body({**CALL, "name": None}, stop_reason="tool_use"), ["calls"]),
    "input is a text": (body({**CALL, "input": "{}"}, stop_reason="tool_use"), ["calls"]),
    "no input": (body({k: v for k, v in CALL.items() if k != "input"}, stop_reason="tool_use"), ["calls"]),
    "end_turn beside a call": (body(CALL, stop_reason="end_turn"), ["stop-reason"]),
    "tool_use without a call": (body(TEXT, stop_reason="tool_use"), ["stop-reason"]),
    "a reason of chat": (body(TEXT, stop_reason="stop"), ["stop-reason"]),
    "no reason": (body(TEXT, stop_reason=None), ["stop-reason"]),
    "a sequence that did not fire": (body(TEXT, stop_sequence="END"), ["~stop-reason"]),
    "a sequence that is not named": (body(TEXT, stop_reason="stop_sequence"), ["~stop-reason"]),
    # That the member is missing is for the schema to say.
    "a sequence that is left out": (
        body(TEXT, stop_reason="stop_sequence").replace(b'"stop_sequence": null, ', b""),
        [],
    ),
}


@pytest.mark.each(("said", "wanted"), CASES.values(), ids=CASES)
def test_a_fault_breaks_its_row_and_no_other(said: bytes, wanted: list[str]) -> None:
    found = read_message(said).violations
    assert [f"{'~' if one.strict_only else ''}{one.requirement.rpartition('.')[2]}" for one in found] == wanted


def test_the_error_in_a_success_is_read() -> None:
    said = read_message(b'{"type": "error", "error": {"type": "api_error", "message": "no"}}')
    assert said.answer.error == Failed(frame=0, message="no", type="api_error", code=None, param=None)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"input_tokens": 1, "output_tokens": 2}, (1, 2, None)),
        ({"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 4}, (5, 2, 4)),
        ({"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 4}, (5, 2, None)),
        ({"prompt_tokens": 1, "completion_tokens": 2}, None),
        ({"input_tokens": "1", "output_tokens": 2}, None),
        (None, None),
    ],
)
def test_cached_tokens_are_tokens_of_the_request(usage: object, counted: tuple[int, int, int | None] | None) -> None:
    found = read_message(body(TEXT, usage=usage)).answer.usage
    assert (found and (found.prompt, found.completion, found.cached)) == counted
