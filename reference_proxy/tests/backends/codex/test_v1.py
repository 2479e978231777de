from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.backends.codex.link import REQUEST_SECONDS
from wireproof_proxy.backends.codex.v1 import CodexV1
from wireproof_surfaces.conversation import Conversation, TextPart
from wireproof_surfaces.events import ChoiceFailed, ChoiceFinished, FailureReason, TextAdded

if TYPE_CHECKING:
    from reference_proxy.tests.conftest import Server

HELLO = Conversation(input=(TextPart("hi"),))


@pytest.fixture
def server(make_server: type[Server]) -> Server:
    return make_server(CodexV1, HELLO)


def listening(server: Server) -> None:
    server.answer(conversationId="t")
    server.answer(subscriptionId="s")


def send(server: Server, kind: str, **msg: Any) -> None:
    params = {"id": "0", "msg": {"type": kind, **msg}, "conversationId": "t"}
    server.send(method=f"codex/event/{kind}", params=params)


def test_a_turn_is_a_conversation_a_listener_and_a_message(server: Server) -> None:
    listening(server)
    assert server.methods == ["newConversation", "addConversationListener", "sendUserMessage"]
    assert server.sent[-1]["params"]["items"] == [{"type": "text", "data": {"text": "hi"}}]
    assert server.served == 1
    server.answer()
    send(server, "task_started")
    send(server, "agent_message_delta", delta="Hello")
    send(server, "task_complete", last_agent_message="Hello")
    assert server.events() == [TextAdded(text="Hello"), ChoiceFinished(reason="stop")]
    server.turn.close()
    assert server.methods[3:] == ["removeConversationListener"]
    assert server.sent[-1]["params"] == {"subscriptionId": "s"}
    assert not server.link._listeners


def test_a_conversation_that_is_on_the_disk_is_archived(server: Server) -> None:
    server.answer(conversationId="t", rolloutPath="/sessions/t.jsonl")
    server.turn.close()
    assert server.methods[2:] == ["archiveConversation"]
    assert server.sent[-1]["params"] == {"conversationId": "t", "rolloutPath": "/sessions/t.jsonl"}


def test_the_answer_to_the_message_may_end_the_turn(server: Server) -> None:
    listening(server)
    server.send(method="agentMessageDelta", params={"conversation_id": "t", "delta": "Hello"})
    server.answer(finish_reason="length")
    assert server.events() == [TextAdded(text="Hello"), ChoiceFinished(reason="length")]


def test_a_message_that_is_answered_late_is_no_failure(server: Server) -> None:
    listening(server)
    server.now = REQUEST_SECONDS
    server.link.expire()
    assert server.events() == []


def test_a_turn_that_runs_is_interrupted_first(server: Server) -> None:
    listening(server)
    server.answer()
    server.turn.close()
    server.turn.close()
    assert server.methods[3:] == ["interruptConversation"]
    server.answer(abortReason="interrupted")
    assert server.methods[3:] == ["interruptConversation", "removeConversationListener"]
    assert not server.link._listeners


def test_a_turn_closed_before_its_conversation_is_there_starts_nothing(server: Server) -> None:
    server.turn.close()
    server.answer(conversationId="t")
    assert server.methods == ["newConversation"]
    assert not server.link._listeners


def test_a_turn_closed_before_it_is_listened_to_is_not_sent(server: Server) -> None:
    server.answer(conversationId="t")
    server.turn.close()
    server.answer(subscriptionId="s")
    assert "sendUserMessage" not in server.methods


@pytest.mark.parametrize("step", [0, 1, 2])
def test_every_step_may_be_refused(server: Server, step: int) -> None:
    for answer in [{"conversationId": "t"}, {"subscriptionId": "s"}][:step]:
        server.answer(**answer)
    server.refuse()
    assert server.events() == [ChoiceFailed(FailureReason.FAILED)]
    server.turn.close()
    assert "interruptConversation" not in server.methods


def test_an_answer_without_a_conversation_is_unreadable(server: Server) -> None:
    server.answer()
    assert server.events() == [ChoiceFailed(FailureReason.GARBLED)]


def test_a_schema_is_refused_before_anything_is_sent(make_server: type[Server]) -> None:
    server = make_server(CodexV1, Conversation(input=(TextPart("hi"),), schema={"type": "object"}))
    assert server.methods == []
    assert server.events() == [ChoiceFailed(FailureReason.SCHEMA_UNKNOWN)]
