from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion

from wireproof.wire.events import CallOpened, Failed, Finished, Fragment, Role, TokenUsage, ToolCall
from wireproof.wire.message import read_error, read_whole
from wireproof.wire.violation import Place

ENVELOPE = "chat.whole.envelope"
CALLS = "chat.whole.calls-all-in-order"
JSON = "application/json"

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1.50}'}}


def message(**changes: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "Hi", **changes}


def body(*messages: Any, **changes: Any) -> bytes:
    choices = [
        {"index": index, "message": said, "finish_reason": "stop", "logprobs": None}
        for index, said in enumerate(messages)
    ]
    envelope = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "codex", "choices": choices}
    return json.dumps({**envelope, **changes}).encode()


def found(whole: bytes) -> list[tuple[str, str]]:
    return [(violation.requirement, violation.seen) for violation in read_whole(whole).violations]


def test_an_answer_says_the_events_of_a_stream() -> None:
    whole = body(
        message(content=None, tool_calls=[CALL, CALL | {"id": "b"}]),
        usage={"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8},
    )
    reading = read_whole(whole)
    assert reading.violations == ()
    assert reading.events == (
        Role(frame=0, choice=0, role="assistant"),
        CallOpened(frame=0, choice=0, index=0, id="a", name="f"),
        Fragment(frame=0, choice=0, index=0, text='{"x": 1.50}'),
        CallOpened(frame=0, choice=0, index=1, id="b", name="f"),
        Fragment(frame=0, choice=0, index=1, text='{"x": 1.50}'),
        Finished(frame=0, choice=0, reason="stop"),
        TokenUsage(frame=0, prompt=5, completion=3, total=8),
    )
    assert reading.answer.choices[0].calls == tuple(ToolCall(id=i, name="f", arguments='{"x": 1.50}') for i in "ab")


def test_the_payload_is_the_whole_body_as_one_frame() -> None:
    whole = body(message())
    reading = read_whole(whole)
    ((frame, payload),) = reading.payloads
    assert reading.frames == ()
    assert payload == json.loads(whole)
    assert (frame.number, frame.offset, frame.raw, frame.data) == (0, 0, whole, whole.decode())


def test_empty_content_is_text_and_null_content_is_none() -> None:
    assert read_whole(body(message(content=""))).answer.choices[0].text == ""
    assert read_whole(body(message(content=None))).answer.choices[0].text is None


def test_choices_are_kept_apart() -> None:
    reading = read_whole(body(message(content="a"), message(content="b")))
    assert [(choice.index, choice.text) for choice in reading.answer.choices] == [(0, "a"), (1, "b")]


def test_a_choice_without_an_index_has_that_of_its_place() -> None:
    choices = [{"message": message(content="a")}, {"message": message(content="b")}]
    assert [choice.index for choice in read_whole(body(choices=choices)).answer.choices] == [0, 1]


def test_what_is_missing_is_not_reported_as_an_event() -> None:
    assert read_whole(body(choices=[{"message": {}}])).events == ()


UNREADABLE = {
    "nothing": b"",
    "a word": b"Internal Server Error",
    "html": b"<html></html>",
    "not utf-8": b'{"choices": "\xff"}',
    "a list": b"[]",
    "null": b"null",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("whole", UNREADABLE.values(), ids=UNREADABLE)
def test_a_body_that_is_no_object_breaks_the_envelope(whole: bytes) -> None:
    reading = read_whole(whole)
    (violation,) = reading.violations
    assert violation.requirement == ENVELOPE
    assert violation.place == Place(offset=0, length=len(whole))
    assert (reading.events, reading.payloads) == ((), ())


@pytest.mark.parametrize("choices", [None, {}, "x"])
def test_a_body_without_choices_breaks_the_envelope(choices: Any) -> None:
    assert found(body(choices=choices)) == [(ENVELOPE, "the body has no list of choices")]


@pytest.mark.parametrize("said", [None, "Hi", []])
def test_a_choice_without_a_message_breaks_the_envelope(said: Any) -> None:
    assert found(body(said)) == [(ENVELOPE, "choice 0 has no message object")]


@pytest.mark.parametrize("choice", [None, "x", 3])
def test_a_choice_that_is_no_object_breaks_the_envelope(choice: Any) -> None:
    assert found(body(choices=[choice])) == [(ENVELOPE, "choice 0 has no message object")]


@pytest.mark.parametrize("content", [["Hi"], {"text": "Hi"}, 3, False])
def test_content_that_is_no_text_breaks_the_envelope(content: Any) -> None:
    assert found(body(message(content=content))) == [(ENVELOPE, "choice 0: content is neither a string nor null")]


# A list of calls that is broken, what is said of it, and its neighbour that is right.
BROKEN_CALLS: dict[str, tuple[Any, str, Any]] = {
    "no list": ({}, "tool_calls is no list", []),
    "no id": ([CALL | {"id": None}], "call 0 has no id", [CALL]),
    "an empty id": ([CALL | {"id": ""}], "call 0 has no id", [CALL]),
    "no type": ([CALL, CALL | {"id": "b", "type": None}], "call 1 is not of type function", [CALL, CALL | {"id": "b"}]),
    "no name": (
        [CALL | {"function": {"arguments": ""}}],
        "call 0 has no function.name",
        [CALL | {"function": {"name": "f", "arguments": ""}}],
    ),
    "no arguments": (
        [CALL | {"function": {"name": "f"}}],
        "call 0 has no function.arguments that is a string",
        [CALL | {"function": {"name": "f", "arguments": "not JSON"}}],
    ),
    "arguments as an object": (
        [CALL | {"function": {"name": "f", "arguments": {}}}],
        "call 0 has no function.arguments that is a string",
        [CALL | {"function": {"name": "f", "arguments": "{}"}}],
    ),
    "an id twice": ([CALL, CALL], '2 calls have the id "a"', [CALL, CALL | {"id": "b"}]),
    "two faults": ([CALL | {"id": 3, "type": 4}], "call 0 has no id; call 0 is not of type function", None),
}


@pytest.mark.parametrize(("calls", "seen", "neighbour"), BROKEN_CALLS.values(), ids=BROKEN_CALLS)
def test_a_call_that_lacks_something_is_reported_once(calls: Any, seen: str, neighbour: Any) -> None:
    assert found(body(message(tool_calls=calls))) == [(CALLS, f"choice 0: {seen}")]
    assert found(body(message(tool_calls=neighbour))) == []


def test_a_call_that_is_no_object_lacks_everything() -> None:
    ((requirement, seen),) = found(body(message(tool_calls=[None])))
    assert requirement == CALLS
    assert seen.count("call 0") == 4


def test_a_legacy_call_is_a_call_without_an_id() -> None:
    reading = read_whole(body(message(content=None, function_call={"name": "f", "arguments": '{"x": 1.50}'})))
    assert reading.violations == ()
    assert reading.answer.choices[0].calls == (ToolCall(id="", name="f", arguments='{"x": 1.50}'),)
    assert read_whole(body(message(function_call=None))).answer.choices[0].calls == ()


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        ({"arguments": "{}"}, "has no function.name"),
        ({"name": "f"}, "has no function.arguments that is a string"),
        ({"name": "f", "arguments": {}}, "has no function.arguments that is a string"),
    ],
)
def test_a_legacy_call_that_lacks_something_is_reported_once(call: Any, seen: str) -> None:
    assert found(body(message(content=None, function_call=call))) == [(CALLS, f"choice 0: function_call {seen}")]


def test_an_error_in_place_of_an_answer_is_reported() -> None:
    error = {"message": "m", "type": "t", "param": None, "code": None}
    reading = read_whole(json.dumps({"error": error}).encode())
    assert reading.events == (Failed(frame=0, message="m", type="t", code=None, param=None),)
    assert [violation.requirement for violation in reading.violations] == [ENVELOPE]


texts = st.none() | st.text(st.characters(exclude_categories=["Cs"]))
calls = st.lists(st.tuples(st.text("abc", min_size=1), st.text(st.characters(exclude_categories=["Cs"]))), max_size=3)


@given(text=texts, calls=calls, spelling=st.sampled_from([{"ensure_ascii": False}, {"indent": 1}]))
def test_the_openai_package_reads_the_same(
    text: str | None, calls: list[tuple[str, str]], spelling: dict[str, Any]
) -> None:
    entries = [
        {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for index, (name, arguments) in enumerate(calls)
    ]
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    payload = json.loads(body(message(content=text, tool_calls=entries or None), usage=usage))
    whole = json.dumps(payload, **spelling).encode()
    theirs = ChatCompletion.model_validate_json(whole)
    answer = read_whole(whole).answer
    (choice,) = answer.choices
    assert choice.text == theirs.choices[0].message.content == text
    assert choice.finish == theirs.choices[0].finish_reason
    assert [(call.id, call.name, call.arguments) for call in choice.calls] == [
        (call.id, call.function.name, call.function.arguments)
        for call in theirs.choices[0].message.tool_calls or []
        if call.type == "function"
    ]
    assert answer.usage is not None
    assert theirs.usage is not None
    assert answer.usage.total == theirs.usage.total_tokens


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "tool_calls", "function", "id", "error", "usage"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(value=json_values)
def test_no_body_makes_it_raise(value: Any) -> None:
    whole = json.dumps({"choices": [{"message": value}, value], "usage": value, "error": value}).encode()
    assert read_whole(whole).payloads[0][1] == json.loads(whole)
    read_error(whole, JSON)


ERROR = {"message": "m", "type": "t", "param": "p", "code": "c"}


@pytest.mark.parametrize("content_type", [JSON, "application/json; charset=utf-8", "Application/JSON ;x=y"])
@pytest.mark.parametrize("changes", [{}, {"param": None}, {"code": None}, {"type": ""}, {"more": 1}])
def test_an_error_envelope_is_read(content_type: str, changes: dict[str, Any]) -> None:
    error = ERROR | changes
    failed, violations = read_error(json.dumps({"error": error}).encode(), content_type)
    assert violations == ()
    assert failed == Failed(frame=0, message="m", type=error["type"], code=error["code"], param=error["param"])


# An error body, its content type, and what is said of it.
BROKEN_ERRORS: dict[str, tuple[Any, str | None, str]] = {
    "no param": ({k: v for k, v in ERROR.items() if k != "param"}, JSON, "error.param is missing"),
    "no members": (
        {"x": 1},
        JSON,
        "error.message is missing; error.type is missing; error.param is missing; error.code",
    ),
    "an empty message": (ERROR | {"message": ""}, JSON, 'error.message is "", not a non-empty string'),
    "a message that is null": (ERROR | {"message": None}, JSON, "error.message is null, not a non-empty string"),
    "a type that is null": (ERROR | {"type": None}, JSON, "error.type is null, not a string"),
    "a code that is a number": (ERROR | {"code": 404}, JSON, "error.code is 404, not a string or null"),
    "a param that is a list": (ERROR | {"param": []}, JSON, "error.param is [], not a string or null"),
    "a bare string": ("broken", JSON, "the body has no error object"),
    "null": (None, JSON, "the body has no error object"),
    "no content type": (ERROR, None, "there is no Content-Type, it should be application/json"),
    "another content type": (ERROR, "text/html", 'the Content-Type is "text/html", it should be application/json'),
}


@pytest.mark.parametrize(("error", "content_type", "seen"), BROKEN_ERRORS.values(), ids=BROKEN_ERRORS)
def test_what_is_wrong_with_an_error_is_reported_at_once(error: Any, content_type: str | None, seen: str) -> None:
    whole = json.dumps({"error": error}).encode()
    failed, (violation,) = read_error(whole, content_type)
    assert violation.requirement == "http.error.envelope"
    assert violation.seen.startswith(seen)
    assert violation.place == Place(offset=0, length=len(whole))
    assert (failed is None) == (error is None)


def test_an_error_page_is_one_violation() -> None:
    failed, (violation,) = read_error(b"<html>Bad Gateway</html>", "text/html; charset=utf-8")
    assert failed is None
    assert violation.seen.startswith(
        'the Content-Type is "text/html; charset=utf-8", it should be application/json; the body is not'
    )
