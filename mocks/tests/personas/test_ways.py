"""How clients read answers: what they understand, and what stops them."""

from __future__ import annotations

from typing import Any

import pytest

from wireproof_mocks.personas.answer import CallResult, ClientCall, NotServedError, UnderstoodAnswer
from wireproof_mocks.personas.ways import Blocks, FunctionCall, ResponsesWay, ToolCalls, Way, calls_in

CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a"'}}
REST = {"index": 0, "function": {"arguments": ": 1}"}}


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


ROLE = chunk(role="assistant", content="")


def whole(finish: str = "stop", **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": None, **message}
    return {"choices": [{"index": 0, "message": said, "finish_reason": finish}]}


def done(status: str = "completed", **kind: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, **kind}}


FUNCTION = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"a": 1}'}
MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "a"}]}
READ: list[tuple[Way, list[dict[str, Any]], UnderstoodAnswer]] = [
    (
        ToolCalls(needs_role=True),
        [ROLE, chunk(content="a"), chunk(content="b"), {"choices": []}, chunk("stop")],
        UnderstoodAnswer(text="ab", finish="stop"),
    ),
    (
        ToolCalls(),
        [ROLE, chunk(tool_calls=[CALL]), chunk(tool_calls=[REST]), chunk("tool_calls")],
        UnderstoodAnswer(
            calls=(ClientCall(name="f", arguments={"a": 1}, id="call_1", raw='{"a": 1}'),),
            finish="tool_calls",
        ),
    ),
    (
        FunctionCall(),
        [
            chunk(function_call={"name": "f", "arguments": ""}),
            chunk(function_call={"arguments": "{}"}),
            chunk("function_call"),
        ],
        UnderstoodAnswer(calls=(ClientCall(name="f", arguments={}, raw="{}"),), finish="function_call"),
    ),
    (
        ResponsesWay(),
        [
            {"type": "response.output_text.delta", "delta": "a"},
            {"type": "response.output_item.done", "item": FUNCTION},
            {"type": "response.output_item.done", "item": {"type": "reasoning"}},
            done(),
        ],
        UnderstoodAnswer(
            text="a", calls=(ClientCall(name="f", arguments={"a": 1}, id="call_1", raw='{"a": 1}'),), finish="completed"
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("way", "frames", "answer"), READ)
def test_a_stream_is_understood(way: Way, frames: list[dict[str, Any]], answer: UnderstoodAnswer) -> None:
    assert way.streamed(frames) == answer


DEEP = "[" * 100_000 + "]" * 100_000
FAILS: list[tuple[Way, list[dict[str, Any]], str]] = [
    (ToolCalls(), [chunk(content="a")], "without a finish_reason"),
    (ToolCalls(), [chunk("tool_calls")], "it finished with tool_calls, and there are none"),
    (ToolCalls(), [chunk(tool_calls=[CALL]), chunk(tool_calls=[REST]), chunk("stop")], "finished with stop although"),
    (ToolCalls(needs_role=True), [chunk(tool_calls=[CALL]), chunk("tool_calls")], "no role came before the calls"),
    (ToolCalls(), [chunk(tool_calls=[{**CALL, "index": "0"}])], "has no index"),
    (ToolCalls(), [chunk(tool_calls=[{**CALL, "id": ""}])], "call 0 opens without its id"),
    (ToolCalls(), [chunk(tool_calls=[{**CALL, "function": {"arguments": ""}}])], "call 0 opens without its name"),
    (ToolCalls(), [chunk(tool_calls=[{**CALL, "function": {"name": "f", "arguments": {"a": 1}}}])], "are no text"),
    (ToolCalls(), [chunk(tool_calls=[CALL]), chunk("tool_calls")], "the arguments of f are no JSON"),
    (ToolCalls(), [chunk(tool_calls=[{**CALL, "function": {"name": "f", "arguments": "[]"}}]), chunk("tool_calls")],
     "no JSON object"),
    (ToolCalls(), [chunk(tool_calls=[{**CALL, "function": {"name": "f", "arguments": DEEP}}]), chunk("tool_calls")],
     "the arguments of f are no JSON"),
    (ToolCalls(), [{"id": "x"}], "no choices in"),
    (FunctionCall(), [chunk(function_call={"name": "f", "arguments": "{}"}), chunk("stop")], "a function_call with"),
    (FunctionCall(), [chunk("function_call")], "no function_call with the finish_reason 'function_call'"),
    (Blocks(), [chunk(tool_calls=[CALL]), chunk("tool_calls")], "came as tool_calls alone"),
    (Blocks(), [chunk(content="<use_tool>\n<name>f</name>"), chunk("stop")], "is not closed or has no name"),
    (ResponsesWay(), [{"type": "response.output_text.delta", "delta": "a"}], "without response.completed"),
    (ResponsesWay(), [done("failed", error={"message": "broken"})], "the response failed: {'message': 'broken'}"),
    # What has another type than clients rely on, wherever it stands.
    (ToolCalls(), [{"choices": [7]}], "choices.0 is 7, not an object"),
    (ToolCalls(), [{"choices": [{"delta": []}]}], "choices.0.delta is [], not an object"),
    (Blocks(), [chunk(content=7)], "choices.0.delta.content is 7, not text"),
    (Blocks(), [{"choices": [{"finish_reason": {}}]}], "choices.0.finish_reason is {}, not text"),
    (ToolCalls(), [chunk(tool_calls={})], "choices.0.delta.tool_calls is {}, not a list"),
    (ToolCalls(), [chunk(tool_calls=["x"])], 'choices.0.delta.tool_calls.0 is "x", not an object'),
    (ToolCalls(), [chunk(tool_calls=[{**CALL, "id": 1}])], "choices.0.delta.tool_calls.0.id is 1, not text"),
    (ToolCalls(), [chunk(tool_calls=[{**CALL, "function": {"name": ["f"]}}])], 'function.name is ["f"], not text'),
    (FunctionCall(), [chunk(function_call={"arguments": {}})], "function_call.arguments is {}, not text"),
    (ResponsesWay(), [{"type": "response.output_text.delta", "delta": None}], "delta is null, not text"),
    (ResponsesWay(), [{"type": "response.output_item.done"}], "item is missing in"),
    (
            ResponsesWay(),
            [{"type": "response.output_item.done", "item": {**FUNCTION, "arguments": {}}}],
            "item.arguments is {}, not text",
        ),
    (ResponsesWay(), [{"type": "response.completed", "response": "done"}], 'response is "done", not an object'),
    (
            ResponsesWay(),
            [{"type": "response.output_item.done", "item": {**FUNCTION, "call_id": ""}}, done()],
            "has no call_id",
        ),
]  # fmt: skip


@pytest.mark.parametrize(("way", "frames", "why"), FAILS)
def test_what_stops_a_client_is_named(way: Way, frames: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(NotServedError) as failed:
        way.streamed(frames)
    assert why in str(failed.value)


WHOLE: list[tuple[Way, dict[str, Any], UnderstoodAnswer]] = [
    (ToolCalls(), whole(content="a"), UnderstoodAnswer(text="a", finish="stop")),
    (
        ToolCalls(),
        whole("tool_calls", tool_calls=[{"id": "call_1", "function": {"name": "f", "arguments": "{}"}}]),
        UnderstoodAnswer(calls=(ClientCall(name="f", arguments={}, id="call_1", raw="{}"),), finish="tool_calls"),
    ),
    (
        FunctionCall(),
        whole("function_call", function_call={"name": "f", "arguments": "{}"}),
        UnderstoodAnswer(calls=(ClientCall(name="f", arguments={}, raw="{}"),), finish="function_call"),
    ),
    (Blocks(), whole(content="a"), UnderstoodAnswer(text="a", finish="stop")),
    (
        ResponsesWay(),
        {"status": "completed", "output": [MESSAGE, FUNCTION]},
        UnderstoodAnswer(
            text="a", calls=(ClientCall(name="f", arguments={"a": 1}, id="call_1", raw='{"a": 1}'),), finish="completed"
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("way", "body", "answer"), WHOLE)
def test_a_whole_answer_is_understood(way: Way, body: dict[str, Any], answer: UnderstoodAnswer) -> None:
    assert way.whole(body) == answer


@pytest.mark.parametrize(
    ("way", "body", "why"),
    [
        (ToolCalls(), {"choices": []}, "no choice"),
        (FunctionCall(), {"choices": []}, "no choice"),
        (Blocks(), {"choices": []}, "no choice"),
        (Blocks(), whole("tool_calls", tool_calls=[CALL]), "came as tool_calls alone"),
        (ResponsesWay(), {"status": "completed"}, "the response has no output"),
        (ResponsesWay(), {"output": [None]}, "output.0 is null, not an object"),
        (ResponsesWay(), {"output": [{**MESSAGE, "content": "a"}]}, 'output.0.content is "a", not a list'),
        (ToolCalls(), {"choices": [{"index": 0}]}, "the answer has no message"),
    ],
)
def test_a_whole_answer_that_is_none(way: Way, body: dict[str, Any], why: str) -> None:
    with pytest.raises(NotServedError, match=why):
        way.whole(body)


def test_values_in_blocks_are_raw_but_for_lists_and_objects() -> None:
    text = (
        'Look:\n<use_tool>\n<name>f</name>\n<a> x &amp; y </a>\n<b>[1, "<two>"]</b>\n<c>{broken</c>\n<d></d>\n'
        "</use_tool>"
        " and <use_tool><name>g</name></use_tool> and <use_tool><b>1</b></use_tool>"
    )
    first, second = calls_in(text)
    assert (first.name, first.arguments) == ("f", {"a": "x &amp; y", "b": [1, "<two>"], "c": "{broken", "d": ""})
    assert (second.name, second.arguments) == ("g", {})


TOOL = {"name": "f", "description": "", "parameters": {}}
USER = {"role": "user", "content": "Hi."}
RESULT = CallResult(call=ClientCall(name="f", arguments={}, id="call_1", raw="{}"), text="done")


@pytest.mark.parametrize(
    ("way", "body"),
    [
        (ToolCalls(more={"n": 1}), {"messages": [USER], "tools": [{"type": "function", "function": TOOL}], "n": 1}),
        (FunctionCall(), {"messages": [USER], "functions": [TOOL]}),
        (Blocks(), {"messages": [USER]}),
        (
            ResponsesWay(),
            {"input": [USER], "tools": [{"type": "function", "strict": False, **TOOL}]},
        ),
    ],
)
def test_a_request_declares_tools_in_the_way_of_its_client(way: Way, body: dict[str, Any]) -> None:
    assert way.request([USER], [TOOL]) == body
    without = way.request([USER], [])
    assert not {"tools", "functions"} & without.keys()


def test_results_go_back_in_the_way_of_the_client() -> None:
    answer = UnderstoodAnswer(text="Look.", calls=(RESULT.call,))
    assert FunctionCall().history(answer, [RESULT])[-1] == {"role": "function", "name": "f", "content": "done"}
    assert Blocks().history(answer, [RESULT]) == [
        {"role": "assistant", "content": "Look."},
        {"role": "user", "content": "Tool 'f' result: done"},
    ]
    assert ResponsesWay().history(answer, [RESULT]) == [
        {"role": "assistant", "content": "Look."},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "done"},
    ]
