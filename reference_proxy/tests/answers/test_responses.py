from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.answers.timing import ClientGoneError, ClientState
from wireproof_surfaces.answers.kept import Store
from wireproof_surfaces.answers.responses import Responses
from wireproof_surfaces.conversation import AssistantCall, Message, TextPart, ToolResult
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    TextAdded,
)
from wireproof_surfaces.surfaces.responses_request import ResponsesRequest, parse

if TYPE_CHECKING:
    from flask import Response
    from reference_proxy.tests.conftest import MakeRunner, ScriptedBackend

    from wireproof_proxy.answers.turn_runner import TurnRunner

TOOL = {"type": "function", "name": "f"}
CALLED = [
    TextAdded(text="Well.\n"),
    CallBegan(id="c", name="f"),
    ArgumentsAdded(id="c", text="{ }"),
    CallClosed(id="c"),
    ChoiceFinished(reason="tool_calls"),
]


class Answering(Responses):
    """Plans and runs."""

    runner: TurnRunner

    def answer(self, request: ResponsesRequest, client: ClientState) -> Response:
        return self.runner.run(self.plan(request), client)


@pytest.fixture
def make_responses(make_runner: MakeRunner) -> Any:
    def make(**values: Any) -> Answering:
        runner = make_runner(**values)
        made = Answering(settings=runner.settings, store=Store(8))
        object.__setattr__(made, "runner", runner)
        return made

    return make


@pytest.fixture
def responses(make_responses: Any) -> Answering:
    made: Answering = make_responses()
    return made


def stay() -> bool:
    return False


def answer(responses: Answering, sent: Any = "hi", headers: dict[str, str] | None = None, **more: Any) -> Any:
    """The response object, whole or from the end of the stream."""
    body = {"model": "codex", "input": sent, **more}
    made = responses.answer(parse(body, headers or {}), ClientState(gone=stay, keep_open=True))
    data = made.get_data(as_text=True)
    made.close()
    return json.loads(data.rsplit("data: ", 1)[1])["response"] if body.get("stream") else json.loads(data)


def error(responses: Answering, *sent: Any, **more: Any) -> ApiError:
    with pytest.raises(ApiError) as raised:
        answer(responses, *sent, **more)
    assert responses.runner.gate.taken == 0
    return raised.value


def said(text: str, role: Any = "user") -> Message:
    return Message(role=role, parts=(TextPart(text),))


def alike(response: Any) -> Any:
    """A response without what is different in each."""
    return json.loads(json.dumps({**response, "created_at": 0}).replace(response["id"][5:], "…"))


@pytest.mark.parametrize("headers", [{}, {"x-proxy-output-mode": "obsidian-xml"}])
def test_a_stream_ends_in_the_whole_answer(
    responses: Answering, backend: ScriptedBackend, headers: dict[str, str]
) -> None:
    backend.events = CALLED
    whole = answer(responses, headers=headers, tools=[TOOL])
    streamed = answer(responses, headers=headers, tools=[TOOL], stream=True)
    assert alike(streamed) == alike(whole)
    assert responses.runner.gate.taken == 0
    assert [item["type"] for item in whole["output"]] == (["message"] if headers else ["message", "function_call"])


def test_the_headers_say_how_calls_are_sent(responses: Answering) -> None:
    def sent(headers: dict[str, str]) -> tuple[str, str, str]:
        made = responses.answer(
            parse({"model": "codex", "input": "hi"}, headers), ClientState(gone=stay, keep_open=True)
        )
        names = ("x-proxy-output-mode", "x-proxy-tool-arguments", "x-proxy-stop-after-tools")
        return made.headers[names[0]], made.headers[names[1]], made.headers[names[2]]

    assert sent({}) == ("openai-json", "incremental", "burst")
    assert sent({"x-proxy-output-mode": "obsidian-xml", "x-proxy-stop-after-tools": "first"}) == (
        "obsidian-xml",
        "incremental",
        "first",
    )


def test_instructions_are_developer_text_and_the_schema_goes_along(
    responses: Answering, backend: ScriptedBackend
) -> None:
    schema = {"type": "object"}
    answer(
        responses,
        [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}],
        instructions="Be brief.",
        text={"format": {"type": "json_schema", "name": "n", "schema": schema}},
    )
    (asked,) = backend.asked
    assert (asked.developer, asked.input, asked.schema) == ("Be brief.\n\ns", (TextPart("hi"),), schema)


def test_a_stored_response_is_continued_with_all_that_was_said(responses: Answering, backend: ScriptedBackend) -> None:
    backend.events = CALLED
    first = answer(responses, tools=[TOOL], instructions="Be brief.", stream=True)
    backend.events = [TextAdded(text="Done."), ChoiceFinished(reason="stop")]
    output = {"type": "function_call_output", "call_id": "c", "output": "yes"}
    second = answer(responses, [output], previous_response_id=first["id"])
    answer(responses, "and?", previous_response_id=second["id"])
    asked = backend.asked[-1]
    assert asked.history == (
        said("hi"),
        said("Well.\n", "assistant"),
        AssistantCall(id="c", name="f", arguments="{ }"),
        ToolResult(id="c", output="yes"),
        said("Done.", "assistant"),
    )
    assert (asked.input, asked.developer) == ((TextPart("and?"),), None)
    assert second["previous_response_id"] == first["id"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_function_in_a_namespace_is_called_by_both_names(
    responses: Answering, backend: ScriptedBackend, *, stream: bool
) -> None:
    backend.events = [
        CallBegan(id="c", name="crm__f"),
        ArgumentsAdded(id="c", text="{ }"),
        CallClosed(id="c"),
        ChoiceFinished(reason="stop"),
    ]
    first = answer(responses, tools=[{"type": "namespace", "name": "crm", "tools": [TOOL]}], stream=stream)
    (call,) = first["output"]
    assert (call["namespace"], call["name"], call["arguments"]) == ("crm", "f", "{ }")
    output = {"type": "function_call_output", "call_id": "c", "output": "yes"}
    answer(responses, [{"role": "user", "content": "hi"}, call, output])
    answer(responses, [output], previous_response_id=first["id"])
    assert [asked.history[1] for asked in backend.asked[1:]] == [
        AssistantCall(id="c", name="crm__f", arguments="{ }")
    ] * 2
    assert [tool.name for tool in backend.asked[0].tools] == ["crm__f"]


def test_items_of_stored_responses_can_be_referred_to(responses: Answering, backend: ScriptedBackend) -> None:
    first = answer(responses)
    listed = responses.input_items(first["id"], {})["data"]
    references = [{"type": "item_reference", "id": item["id"]} for item in (*listed, *first["output"])]
    answer(responses, [*references, {"role": "user", "content": "and?"}])
    assert backend.asked[-1].history == (said("hi"), said("Hello", "assistant"))
    unknown = {"type": "item_reference", "id": f"{first['output'][0]['id']}0"}
    assert error(responses, [unknown]).param == "input[0].id"


def test_a_response_that_was_not_stored_cannot_be_continued(responses: Answering) -> None:
    made = answer(responses, store=False)
    raised = error(responses, previous_response_id=made["id"])
    assert (raised.problem.status, raised.problem.code) == (404, "previous_response_not_found")
    assert raised.param == "previous_response_id"


def test_an_unknown_model_is_refused_before_an_unknown_response(responses: Answering) -> None:
    assert error(responses, model="x", previous_response_id="resp_x").problem.code == "model_not_found"


def test_an_output_answers_a_call_of_the_previous_response(responses: Answering) -> None:
    made = answer(responses)
    output = {"type": "function_call_output", "call_id": "x", "output": "yes"}
    assert error(responses, [output], previous_response_id=made["id"]).param == "input[0].call_id"


def test_stored_responses_are_retrieved_and_deleted(responses: Answering) -> None:
    made = answer(responses, metadata={"a": "b"})
    assert responses.retrieve(made["id"]) == made
    assert made["metadata"] == {"a": "b"}
    assert responses.delete(made["id"]) == {"id": made["id"], "object": "response", "deleted": True}
    for use in (responses.retrieve, responses.delete, lambda id_: responses.input_items(id_, {})):
        with pytest.raises(ApiError) as raised:
            use(made["id"])
        assert (raised.value.problem.status, raised.value.problem.code) == (404, "response_not_found")


def test_the_input_of_a_stored_response_is_listed(responses: Answering) -> None:
    made = answer(responses)
    (item,) = responses.input_items(made["id"], {})["data"]
    assert item["content"] == [{"type": "input_text", "text": "hi"}]


@pytest.mark.parametrize("stream", [False, True])
def test_a_failure_before_output_is_an_error_and_nothing_is_stored(
    responses: Answering,
    backend: ScriptedBackend,
    stream: bool,  # noqa: FBT001 - a case
) -> None:
    backend.events = [ChoiceFailed(FailureReason.CONTEXT)]
    raised = error(responses, stream=stream)
    assert (raised.problem.code, raised.param) == ("context_length_exceeded", "input")


def test_a_failure_after_output_ends_a_stream_as_failed(responses: Answering, backend: ScriptedBackend) -> None:
    backend.events = [TextAdded(text="a"), ChoiceFailed(FailureReason.UNAVAILABLE)]
    made = answer(responses, stream=True)
    assert (made["status"], made["error"]["code"]) == ("failed", "server_error")
    assert responses.retrieve(made["id"]) == made


def test_a_tool_that_was_not_declared_fails_a_strict_response(backend: ScriptedBackend, make_responses: Any) -> None:
    backend.events = CALLED
    strict = make_responses(tools_strict=True)
    assert answer(strict, tools=[TOOL])["status"] == "completed"
    assert answer(strict, stream=True)["status"] == answer(strict)["status"] == "failed"


def test_a_client_that_leaves_ends_its_turn_and_frees_its_slot(responses: Answering, backend: ScriptedBackend) -> None:
    backend.events = [TextAdded(text="Hello")]
    left = iter([False, True, True])
    request = parse({"model": "codex", "input": "hi", "stream": True}, {})
    made = responses.answer(request, ClientState(gone=lambda: next(left, True), keep_open=True))
    assert b"response.completed" not in made.get_data()
    made.close()
    assert responses.runner.gate.taken == 0
    assert backend.turns[0].closed.is_set()
    with pytest.raises(ClientGoneError):
        responses.answer(parse({"model": "codex", "input": "hi"}, {}), ClientState(gone=lambda: True, keep_open=True))
    assert responses.runner.gate.taken == 0
