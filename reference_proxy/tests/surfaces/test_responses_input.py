from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.conversation import AssistantCall, ImagePart, Message, TextPart, ToolResult
from wireproof_surfaces.errors import INVALID_PARAM, MISSING_PARAM, ApiError
from wireproof_surfaces.surfaces import responses_input

CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{ }"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "done"}
IMAGE = {"type": "input_image", "image_url": "data:x"}


def said(content: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": content}


def text(words: str, kind: str = "input_text") -> dict[str, Any]:
    return {"type": kind, "text": words}


def faults(sent: Any, **more: Any) -> list[Any]:
    try:
        responses_input.given({"input": sent, **more})
    except ApiError as fault:
        return [fault]
    return []


def test_a_text_is_what_the_user_says() -> None:
    assert faults("hi") == []
    assert list(responses_input.items("hi")) == [Message(role="user", parts=(TextPart("hi"),))]


@pytest.mark.parametrize("role", responses_input.ROLES)
def test_messages_keep_their_roles(role: str) -> None:
    sent = [said("hi", role), {**said([text("ho")], role), "type": "message"}]
    assert faults(sent) == []
    assert list(responses_input.items(sent)) == [
        Message(role=role, parts=(TextPart("hi"),)),  # type: ignore[arg-type]  # one of the roles
        Message(role=role, parts=(TextPart("ho"),)),  # type: ignore[arg-type]  # one of the roles
    ]


def test_parts_are_texts_images_and_refusals() -> None:
    sent = [
        said([text("see"), IMAGE]),
        said([text("I", "output_text"), {"type": "refusal", "refusal": "No."}], "assistant"),
    ]
    assert faults(sent) == []
    assert list(responses_input.items(sent)) == [
        Message(role="user", parts=(TextPart("see"), ImagePart("data:x"))),
        Message(role="assistant", parts=(TextPart("I"), TextPart("No."))),
    ]


def test_calls_and_their_outputs_are_paired_by_id() -> None:
    sent = [said("go"), CALL, {**OUTPUT, "output": [text("a"), IMAGE, text("b", "output_text")]}]
    assert faults(sent) == []
    assert list(responses_input.items(sent))[1:] == [
        AssistantCall(id="c", name="f", arguments="{ }"),
        ToolResult(id="c", output="ab", images=(ImagePart("data:x"),)),
    ]
    assert list(responses_input.items([CALL, OUTPUT]))[1] == ToolResult(id="c", output="done")
    assert faults([CALL, {**OUTPUT, "output": []}]) == []


def test_what_was_reasoned_is_dropped() -> None:
    sent = [{"type": "reasoning", "id": "rs_1", "summary": []}, said("hi")]
    assert faults(sent) == []
    assert len(list(responses_input.items(sent))) == 1


@pytest.mark.parametrize(
    ("sent", "param", "problem"),
    [
        (None, "input", MISSING_PARAM),
        ("", "input", INVALID_PARAM),
        ([], "input", INVALID_PARAM),
        (1, "input", INVALID_PARAM),
        ({}, "input", INVALID_PARAM),
        (["x"], "input[0]", INVALID_PARAM),
        ([{}], "input[0].type", MISSING_PARAM),
        ([{"type": "web_search_call"}], "input[0].type", INVALID_PARAM),
        ([said("a"), said("b", "tool")], "input[1].role", INVALID_PARAM),
        ([{"type": "message", "content": "a"}], "input[0].role", MISSING_PARAM),
        ([said(None)], "input[0].content", MISSING_PARAM),
        ([said(1)], "input[0].content", INVALID_PARAM),
        ([said([])], "input[0].content", INVALID_PARAM),
        ([said([text("a", "output_text")])], "input[0].content", INVALID_PARAM),
        ([said([text("a", "text")])], "input[0].content", INVALID_PARAM),
        ([said([{"type": "input_image"}])], "input[0].content", INVALID_PARAM),
        ([said([{**IMAGE, "image_url": ""}])], "input[0].content", INVALID_PARAM),
        ([said([{"type": "input_file", "file_data": "data:x"}])], "input[0].content", INVALID_PARAM),
        ([said([IMAGE], "assistant")], "input[0].content", INVALID_PARAM),
        ([said([{"type": "refusal", "refusal": "x"}])], "input[0].content", INVALID_PARAM),
        ([{**CALL, "call_id": None}], "input[0].call_id", MISSING_PARAM),
        ([{**CALL, "call_id": 1}], "input[0].call_id", INVALID_PARAM),
        ([{**CALL, "name": ""}], "input[0].name", INVALID_PARAM),
        ([{**CALL, "arguments": {}}], "input[0].arguments", INVALID_PARAM),
        ([{**CALL, "arguments": None}], "input[0].arguments", MISSING_PARAM),
        ([OUTPUT], "input[0].call_id", INVALID_PARAM),
        ([CALL, {**OUTPUT, "call_id": None}], "input[1].call_id", MISSING_PARAM),
        ([CALL, {**OUTPUT, "output": None}], "input[1].output", MISSING_PARAM),
        ([CALL, {**OUTPUT, "output": 1}], "input[1].output", INVALID_PARAM),
        ([{"type": "item_reference"}], "input[0].id", INVALID_PARAM),
    ],
)
def test_the_first_fault_is_named(sent: Any, param: str, problem: Any) -> None:
    fault = faults(sent)[0]
    assert (fault.param, fault.problem) == (param, problem)


def test_calls_of_a_previous_response_are_known_later() -> None:
    assert faults([OUTPUT], previous_response_id="resp_1") == []
    responses_input.check_answered([said("a"), OUTPUT], {"c"})
    responses_input.check_answered([CALL, OUTPUT], ())
    responses_input.check_answered("hi", ())
    with pytest.raises(ApiError) as raised:
        responses_input.check_answered([OUTPUT], {"d"})
    assert raised.value.param == "input[0].call_id"


@pytest.mark.parametrize("reference", [{"type": "item_reference", "id": "msg_1"}, {"type": None, "id": "msg_1"}])
def test_references_stand_for_stored_items(reference: Any) -> None:
    found = said("earlier", "assistant")
    stored: dict[str, Any] = {"msg_1": found}
    assert faults([reference, OUTPUT]) == []
    assert responses_input.resolved([reference, said("hi")], stored.get) == [found, said("hi")]
    assert responses_input.resolved("hi", lambda _: None) == "hi"
    with pytest.raises(ApiError) as raised:
        responses_input.resolved([said("hi"), reference], lambda _: None)
    assert (raised.value.problem.status, raised.value.param) == (400, "input[1].id")
