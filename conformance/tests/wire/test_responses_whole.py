from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from wireproof.wire.events import Failed, Finished, TokenUsage, ToolCall
from wireproof.wire.fields import RESPONSES_COUNTS, usage_of
from wireproof.wire.responses_whole import ends, read_response
from wireproof.wire.violation import MemberFault, Members

Json = dict[str, Any]
Make = Callable[..., Json]


def body(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode()


def broken(data: object) -> list[str]:
    return [violation.requirement for violation in read_response(body(data)).violations]


def test_a_right_body_says_what_its_stream_would(
    response: Make, message_item: Make, call_item: Make, response_events: Callable[..., list[Json]]
) -> None:
    output = [message_item("Hi, wörld."), call_item("call_a", "f", "{ }", 1)]
    data = response("completed", output, usage={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3})
    reading = read_response(body(data))
    assert reading.violations == ()
    (choice,) = reading.answer.choices
    assert (choice.text, choice.finish) == ("Hi, wörld.", "tool_calls")
    assert choice.calls == (ToolCall(id="call_a", name="f", arguments="{ }"),)
    assert reading.answer.usage == TokenUsage(frame=0, prompt=1, completion=2, total=3)
    assert reading.payloads[0][1] == data
    assert response_events(data)[-1]["response"] == data


@pytest.mark.parametrize("text", [b"", b"\xff", b"[]", b"<html>", b'{"output": 7}', b'{"object": "response"}'])
def test_what_is_no_response_is_one_violation(text: bytes) -> None:
    assert [violation.requirement for violation in read_response(text).violations] == ["responses.whole.envelope"]


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ({"role": "user"}, ["responses.whole.message"]),
        ({"content": [{"type": "output_text"}]}, ["responses.whole.message"]),
        ({"content": [{"type": "text", "text": "Hi."}]}, ["responses.whole.message"]),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, []),
        ({"content": []}, []),
        ({"content": [{"type": "output_text", "text": ""}]}, []),
    ],
)
def test_a_message_holds_texts_of_the_assistant(
    change: Json, row: list[str], response: Make, message_item: Make
) -> None:
    assert broken(response("completed", [{**message_item("Hi."), **change}])) == row


@pytest.mark.parametrize(
    "change", [{"call_id": None}, {"call_id": ""}, {"id": None}, {"name": ""}, {"arguments": {}}, {"arguments": None}]
)
def test_a_call_has_what_its_result_needs(change: Json, response: Make, call_item: Make) -> None:
    data = response("completed", [{**call_item("call_a", "f", ""), **change}])
    assert broken(data) == ["responses.whole.call-items"]


def test_calls_without_a_member_are_one_fault_wherever_they_come(response: Make, call_item: Make) -> None:
    item = call_item("call_a", "f", "")
    del item["call_id"]
    (violation,) = read_response(body(response("completed", [item]))).violations
    assert violation.about == Members(fault=MemberFault.MISSING, names=("call_id",))


def test_calls_have_ids_of_their_own(response: Make, call_item: Make) -> None:
    same = response("completed", [call_item("call_a", "f", "", 0), call_item("call_a", "g", "", 1)])
    assert broken(same) == ["responses.whole.call-items"]
    assert broken(response("completed", [call_item("a", "f", ""), call_item("b", "g", "")])) == [
        "responses.whole.call-items"
    ]


def test_items_of_other_kinds_say_nothing_here(response: Make) -> None:
    reading = read_response(body(response("completed", [{"type": "reasoning", "id": "rs", "summary": []}])))
    assert (reading.violations, reading.answer.choices[0].text) == ((), None)


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ({"status": "completed"}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({"status": "incomplete", "incomplete_details": {"reason": "odd"}}, "odd"),
        ({"status": "incomplete"}, "incomplete"),
    ],
)
def test_the_status_is_reported_in_the_words_of_chat(response: Json, reason: str) -> None:
    assert list(ends(response, 3, called=False)) == [Finished(frame=3, choice=0, reason=reason)]


def test_a_failure_has_an_error_and_no_counts() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    failed = {"status": "failed", "error": {"code": "server_error", "message": "No."}, "usage": usage}
    assert list(ends(failed, 0, called=True)) == [
        Failed(frame=0, message="No.", type="", code="server_error", param=None)
    ]
    assert list(ends({"status": "in_progress"}, 0, called=False)) == []


def test_usage_needs_its_three_counts() -> None:
    counts = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    details = {"input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 5}}
    assert usage_of({**counts, **details}, 9, RESPONSES_COUNTS) == TokenUsage(
        frame=9, prompt=1, completion=2, total=3, cached=4, reasoning=5
    )
    for name in counts:
        assert usage_of({**counts, name: "1"}, 0, RESPONSES_COUNTS) is None
    assert usage_of({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}, 0, RESPONSES_COUNTS) is None
