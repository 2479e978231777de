from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.answers.timing import ClientGoneError, ClientState
from wireproof_surfaces.answers.chat import Chat
from wireproof_surfaces.conversation import Message, TextPart
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    TextAdded,
    UsageReported,
)
from wireproof_surfaces.surfaces.chat_dialect import FormatOptions
from wireproof_surfaces.surfaces.chat_request import ChatRequest

if TYPE_CHECKING:
    from flask import Response
    from reference_proxy.tests.conftest import MakeRunner, ScriptedBackend

    from wireproof_proxy.answers.turn_runner import TurnRunner

ITEMS = (Message(role="user", parts=(TextPart("hi"),)),)
WHOLE = ChatRequest(model="codex", items=ITEMS)
STREAM = ChatRequest(model="codex", items=ITEMS, stream=True)


@dataclass(frozen=True)
class Answering:
    """Plans and runs."""

    chat: Chat
    runner: TurnRunner

    def answer(self, request: ChatRequest, client: ClientState) -> Response:
        return self.runner.run(self.chat.plan(request), client)


@pytest.fixture
def make_chat(make_runner: MakeRunner) -> Any:
    def make(**values: Any) -> Answering:
        runner = make_runner(**values)
        return Answering(Chat(settings=runner.settings), runner)

    return make


@pytest.fixture
def chat(make_chat: Any) -> Answering:
    made: Answering = make_chat(ready_wait_ms=20)
    return made


def stay() -> bool:
    return False


def leave() -> bool:
    return True


def test_a_whole_answer_frees_its_slot(chat: Answering, backend: ScriptedBackend) -> None:
    answer = chat.answer(WHOLE, ClientState(gone=stay, keep_open=True))
    assert answer.get_json()["choices"][0]["message"]["content"] == "Hello"
    assert answer.headers["x-proxy-output-mode"] == "obsidian-xml"
    assert chat.runner.gate.taken == 0
    assert backend.turns[0].closed.is_set()


def test_a_stream_keeps_its_slot_until_it_is_closed(chat: Answering, backend: ScriptedBackend) -> None:
    answer = chat.answer(STREAM, ClientState(gone=stay, keep_open=True))
    assert chat.runner.gate.taken == 1
    assert b"Hello" in answer.get_data()
    answer.close()
    answer.close()
    assert chat.runner.gate.taken == 0
    assert backend.turns[0].closed.is_set()


def test_a_stream_that_is_closed_before_it_is_read_frees_its_slot(chat: Answering) -> None:
    chat.answer(STREAM, ClientState(gone=stay, keep_open=True)).close()
    assert chat.runner.gate.taken == 0


@pytest.mark.parametrize("keep_open", [True, False])
def test_only_http_1_1_is_asked_to_keep_the_connection(chat: Answering, keep_open: bool) -> None:  # noqa: FBT001 - a case
    answer = chat.answer(STREAM, ClientState(gone=stay, keep_open=keep_open))
    assert ("Connection" in answer.headers) is keep_open


def test_the_default_model_is_the_backends_own(backend: ScriptedBackend, make_chat: Any) -> None:
    chat = make_chat(models=("codex", "gpt"))
    for model in ("codex", "gpt"):
        chat.answer(ChatRequest(model=model, items=ITEMS), ClientState(gone=stay, keep_open=True))
    assert [conversation.model for conversation in backend.asked] == [None, "gpt"]


def test_an_unknown_model_is_refused_before_a_slot_is_taken(chat: Answering) -> None:
    chat.runner.gate.enter()
    with pytest.raises(ApiError) as raised:
        chat.answer(ChatRequest(model="other", items=ITEMS), ClientState(gone=stay, keep_open=True))
    assert raised.value.problem.code == "model_not_found"


def test_too_many_are_turned_away_before_the_backend_is_looked_at(chat: Answering, backend: ScriptedBackend) -> None:
    backend.ready = False
    chat.runner.gate.enter()
    with pytest.raises(ApiError) as raised:
        chat.answer(WHOLE, ClientState(gone=stay, keep_open=True))
    assert raised.value.problem.status == 429


def test_a_backend_that_does_not_come_up_is_unavailable(chat: Answering, backend: ScriptedBackend) -> None:
    backend.ready = False
    with pytest.raises(ApiError) as raised:
        chat.answer(WHOLE, ClientState(gone=stay, keep_open=True))
    assert raised.value.problem.code == "backend_unavailable"
    assert chat.runner.gate.taken == 0


def test_a_client_that_leaves_while_the_backend_comes_up_frees_its_slot(
    chat: Answering, backend: ScriptedBackend
) -> None:
    backend.ready = False
    with pytest.raises(ClientGoneError):
        chat.answer(WHOLE, ClientState(gone=leave, keep_open=True))
    assert chat.runner.gate.taken == 0


@pytest.mark.parametrize("request_", [WHOLE, STREAM])
def test_a_failure_before_any_output_is_an_error_and_frees_the_slot(
    chat: Answering, backend: ScriptedBackend, request_: ChatRequest
) -> None:
    backend.events = [ChoiceFailed(FailureReason.CONTEXT)]
    with pytest.raises(ApiError) as raised:
        chat.answer(request_, ClientState(gone=stay, keep_open=True))
    assert raised.value.problem.code == "context_length_exceeded"
    assert chat.runner.gate.taken == 0
    assert backend.turns[0].closed.is_set()


def test_a_client_that_leaves_a_whole_answer_frees_its_slot(chat: Answering, backend: ScriptedBackend) -> None:
    backend.events = [TextAdded(text="Hello")]
    with pytest.raises(ClientGoneError):
        chat.answer(WHOLE, ClientState(gone=leave, keep_open=True))
    assert chat.runner.gate.taken == 0
    assert backend.turns[0].closed.is_set()


def test_a_client_that_leaves_a_stream_ends_it(chat: Answering, backend: ScriptedBackend) -> None:
    backend.events, left = [TextAdded(text="Hello")], iter([False])
    answer = chat.answer(STREAM, ClientState(gone=lambda: next(left, True), keep_open=True))
    data = answer.get_data()
    assert b"Hello" in data
    assert b"[DONE]" not in data


def ask(chat: Answering, **more: Any) -> Any:
    return chat.answer(ChatRequest(model="codex", items=ITEMS, **more), ClientState(gone=stay, keep_open=True))


def call(id_: str) -> list[Any]:
    return [CallBegan(id=id_, name="f"), ArgumentsAdded(id=id_, text="{}"), CallClosed(id=id_)]


CALLS = [TextAdded(text="Let me see."), *call("a"), *call("b"), *call("c"), ChoiceFinished(reason="stop")]


def ids(answer: Any) -> list[str]:
    """The ids of the calls in an answer, whole or streamed."""
    return re.findall(r'"id":"([abc])"', answer.get_data(as_text=True))


@pytest.mark.parametrize(
    ("asked", "set_", "effective"),
    [
        ({}, {}, ("obsidian-xml", "cumulative", "first")),
        ({}, {"output_mode": "openai-json"}, ("openai-json", "incremental", "first")),
        ({}, {"stop_after_tools": False}, ("obsidian-xml", "cumulative", "burst")),
        ({}, {"tool_arguments": "incremental"}, ("obsidian-xml", "incremental", "first")),
        ({"options": FormatOptions(output_mode="openai-json")}, {}, ("openai-json", "incremental", "first")),
        (
            {"options": FormatOptions(arguments="cumulative", output_mode="openai-json")},
            {},
            ("openai-json", "cumulative", "first"),
        ),
        ({"options": FormatOptions(stop_policy="burst")}, {}, ("obsidian-xml", "cumulative", "burst")),
        (
            {"legacy": True, "options": FormatOptions(output_mode="obsidian-xml")},
            {},
            ("openai-json", "incremental", "first"),
        ),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_what_is_in_effect_is_sent_in_the_headers(
    make_chat: Any, asked: Any, set_: Any, effective: Any, stream: Any
) -> None:
    chat = make_chat(**set_)
    with ask(chat, stream=stream, **asked) as answer:
        names = ("x-proxy-output-mode", "x-proxy-tool-arguments", "x-proxy-stop-after-tools")
        assert tuple(answer.headers[name] for name in names) == effective


@pytest.mark.parametrize(
    ("set_", "asked", "sent"),
    [
        ({}, {"stream": True}, ["a"]),
        ({}, {"stream": True, "options": FormatOptions(stop_policy="burst")}, ["a", "b", "c"]),
        ({}, {}, ["a", "b", "c"]),
        ({"tool_block_max": 2}, {"stream": True, "options": FormatOptions(stop_policy="burst")}, ["a", "b"]),
        ({"tool_block_max": 2}, {}, ["a", "b"]),
        ({"tool_block_max": 2}, {"stream": True}, ["a"]),
    ],
)
def test_so_many_calls_are_sent_as_policy_and_cap_say(
    backend: ScriptedBackend, make_chat: Any, set_: Any, asked: Any, sent: Any
) -> None:
    backend.events = CALLS
    chat = make_chat(**set_)
    assert ids(ask(chat, **asked)) == sent


@pytest.mark.parametrize("stream", [True, False])
def test_a_legacy_request_gets_one_call(chat: Answering, backend: ScriptedBackend, stream: Any) -> None:
    backend.events = CALLS
    data = ask(chat, stream=stream, legacy=True, options=FormatOptions(stop_policy="burst")).get_data(as_text=True)
    assert data.count('"name":"f"') == 1
    assert '"finish_reason":"function_call"' in data
    assert "tool_calls" not in data


def test_a_whole_answer_waits_for_usage_that_is_sent_after_the_end(chat: Answering, backend: ScriptedBackend) -> None:
    backend.events = [TextAdded(text="a"), ChoiceFinished(reason="stop"), UsageReported(prompt=1, completion=2)]
    assert ask(chat).get_json()["usage"]["total_tokens"] == 3


def test_several_choices_are_asked_of_the_backend_and_sent(chat: Answering, backend: ScriptedBackend) -> None:
    backend.events = [
        TextAdded(choice=1, text="one"),
        TextAdded(text="zero"),
        ChoiceFinished(reason="stop"),
        ChoiceFinished(choice=1, reason="stop"),
    ]
    sent = ask(chat, n=2).get_json()["choices"]
    assert [choice["message"]["content"] for choice in sent] == ["zero", "one"]


def test_without_calls_a_block_is_text(chat: Answering, backend: ScriptedBackend) -> None:
    block = "<use_tool><name>f</name></use_tool>"
    backend.events = [TextAdded(text=block), *call("a"), ChoiceFinished(reason="stop")]
    (choice,) = ask(chat, calls=False).get_json()["choices"]
    assert choice["message"]["content"] == block
    assert choice["finish_reason"] == "stop"


def test_calls_are_logged_with_their_source(
    chat: Answering, backend: ScriptedBackend, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    backend.events = CALLS
    ask(chat)
    assert "call tool=f source=structured" in caplog.text
    backend.events = [TextAdded(text="<use_tool><name>g</name></use_tool>"), ChoiceFinished(reason="stop")]
    ask(chat)
    assert "call tool=g source=textual" in caplog.text
