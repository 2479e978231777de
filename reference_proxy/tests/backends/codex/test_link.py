from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_proxy.backends.codex.link import CAP, CLOSED, REQUEST_SECONDS, CodexLink
from wireproof_proxy.backends.codex.rpc import ErrorReply, Garbled, Notice, ResultReply, ServerRequest


class Wire:
    """A link whose lines are kept instead of sent."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sent: list[Any] = []
        self.link = CodexLink(send=lambda line: self.sent.append(json.loads(line)), clock=lambda: self.now)
        self.received: list[Any] = []

    def send(self, **message: Any) -> None:
        self.link.feed(json.dumps(message).encode() + b"\n")


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_an_answer_reaches_whoever_asked(wire: Wire) -> None:
    wire.link.request("a", {"x": 1}, wire.received.append)
    wire.link.request("b", {}, wire.received.append)
    assert wire.sent == [{"id": 1, "method": "a", "params": {"x": 1}}, {"id": 2, "method": "b", "params": {}}]
    wire.send(id=2, result={"ok": True})
    wire.send(error={"code": -32600, "message": "no"}, id=1)
    assert wire.received == [ResultReply(2, {"ok": True}), ErrorReply(1, -32600, "no")]


def test_answers_no_one_waits_for_are_ignored(wire: Wire) -> None:
    wire.send(id=7, result={})
    wire.send(id="seven", result={})
    assert wire.sent == []


def test_requests_beyond_the_cap_wait_their_turn(wire: Wire) -> None:
    for _ in range(CAP + 2):
        wire.link.request("a", {}, wire.received.append)
    assert len(wire.sent) == CAP
    wire.send(id=1, result={})
    assert len(wire.sent) == CAP + 1


def test_an_overdue_request_is_refused_and_makes_room(wire: Wire) -> None:
    for _ in range(CAP + 1):
        wire.link.request("a", {}, wire.received.append)
    wire.link.expire()
    assert wire.received == []
    wire.now = REQUEST_SECONDS
    wire.link.expire()
    assert wire.received == [ErrorReply(id_, None, "timed out") for id_ in range(1, CAP + 1)]
    assert wire.sent[-1]["id"] == CAP + 1


@pytest.mark.parametrize(
    ("method", "words", "answers"),
    [
        ("thread/start", [], False),
        ("thread/start", [b"\n"], True),
        ("sendUserMessage", [], True),
    ],
    ids=["silent", "one lost answer", "a turn"],
)
def test_a_process_that_is_silent_since_it_was_asked_for_a_thread_hangs(
    wire: Wire, method: str, words: list[bytes], answers: Any
) -> None:
    wire.send(method="before")
    wire.now = 1.0
    wire.link.request(method, {}, wire.received.append)
    assert wire.link.expire()
    for word in words:
        wire.link.feed(word)
    wire.now += REQUEST_SECONDS
    assert wire.link.expire() is answers
    assert wire.link.expire()


def test_a_listener_gets_a_threads_messages_until_it_is_forgotten(wire: Wire) -> None:
    wire.link.listen("t", wire.received.append)
    assert len(wire.link._listeners) == 1
    wire.send(method="a", params={"threadId": "t"})
    wire.send(method="a", params={"threadId": "other"})
    wire.link.forget("t")
    wire.send(method="a", params={"threadId": "t"})
    assert wire.received == [Notice("a", {"threadId": "t"})]


def test_a_tool_call_is_received_and_not_answered(wire: Wire) -> None:
    wire.link.listen("t", wire.received.append)
    wire.send(method="item/tool/call", id=1, params={"threadId": "t"})
    assert wire.received == [ServerRequest(1, "item/tool/call", {"threadId": "t"})]
    assert wire.sent == []


def test_a_request_of_the_backend_is_none_of_our_answers_though_their_ids_are_the_same(wire: Wire) -> None:
    wire.link.listen("t", wire.received.append)
    wire.link.request("answered", {}, wire.received.append)
    wire.send(id=1, result={})
    wire.link.request("waiting", {}, wire.received.append)
    for id_ in (1, 2):
        wire.send(id=id_, method="item/tool/call", params={"threadId": "t"})
    wire.send(id=2, result={"ours": True})
    asked = [ServerRequest(id_, "item/tool/call", {"threadId": "t"}) for id_ in (1, 2)]
    assert wire.received == [ResultReply(1, {}), *asked, ResultReply(2, {"ours": True})]


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("item/commandExecution/requestApproval", {"decision": "decline"}),
        ("item/fileChange/requestApproval", {"decision": "decline"}),
        ("execCommandApproval", {"decision": "denied"}),
        ("applyPatchApproval", {"decision": "denied"}),
    ],
)
def test_approvals_are_declined(wire: Wire, method: str, result: Any) -> None:
    wire.send(method=method, id=1, params={"threadId": "t"})
    assert wire.sent == [{"id": 1, "result": result}]


@pytest.mark.parametrize("method", ["no/such", "item/tool/call"])
def test_other_requests_get_an_error_under_their_own_id(wire: Wire, method: str) -> None:
    wire.link.request("mine", {}, wire.received.append)
    wire.send(method=method, id=1, params={"threadId": "gone"})
    assert wire.sent[1]["id"] == 1
    assert wire.sent[1]["error"]["code"] == -32601
    assert wire.received == []


def test_a_line_that_cannot_be_read_is_sent_to_the_thread_it_names(wire: Wire) -> None:
    wire.link.listen("t", wire.received.append)
    wire.link.feed(b'{"method":"a","params":{"threadId": "t","delta":"\xff"}}\n')
    assert [type(message) for message in wire.received] == [Garbled]


def test_a_line_that_cannot_be_read_and_names_no_thread_is_sent_to_the_one_received_last(wire: Wire) -> None:
    wire.link.feed(b"nonsense\n")
    received: list[Any] = []
    wire.link.listen("t", wire.received.append)
    wire.link.listen("other", received.append)
    wire.send(method="a", params={"threadId": "other"})
    wire.link.feed(b"nonsense\n")
    assert [type(message) for message in received] == [Notice, Garbled]
    assert wire.received == []


@pytest.mark.parametrize("name", ["threadId", "conversationId", "conversation_id"])
def test_a_thread_has_several_names(wire: Wire, name: str) -> None:
    wire.link.listen("t", wire.received.append)
    wire.send(method="a", params={name: "t"})
    wire.link.feed(f'{{"method":"a","params":{{"{name}":"t",\n'.encode())
    assert [type(message) for message in wire.received] == [Notice, Garbled]


def test_a_fatal_error_of_no_thread_is_everybodys(wire: Wire) -> None:
    received: list[Any] = []
    wire.link.listen("t", wire.received.append)
    wire.link.listen("other", received.append)
    wire.send(method="error", params={"willRetry": True})
    wire.send(method="error", params={"error": {}})
    assert wire.received == received == [Notice("error", {"error": {}})]


def test_the_end_of_the_process_refuses_what_is_asked_and_reaches_every_listener(wire: Wire) -> None:
    wire.link.listen("t", wire.received.append)
    for _ in range(CAP + 1):
        wire.link.request("a", {}, wire.received.append)
    wire.link.close()
    assert wire.received == [ErrorReply(0, None, "closed")] * (CAP + 1) + [Notice(CLOSED, {})]
    wire.link.request("late", {}, wire.received.append)
    assert wire.received[-1] == ErrorReply(0, None, "closed")
    assert not wire.link._listeners


def test_a_notification_has_no_id(wire: Wire) -> None:
    wire.link.notify("initialized")
    assert wire.sent == [{"method": "initialized"}]


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(["turn/completed", "item/agentMessage/delta", "initialize", "error", "item/tool/call"])
PARAMS = st.dictionaries(st.sampled_from(["threadId", "turnId", "item", "delta", "turn"]), ANY)
MESSAGES = st.fixed_dictionaries(
    {}, optional={"id": ANY, "method": METHODS | ANY, "params": PARAMS | ANY, "result": ANY, "error": ANY}
)
LINES = st.lists(MESSAGES.map(lambda one: json.dumps(one).encode()) | st.binary(max_size=40), max_size=5)


@given(lines=LINES, size=st.integers(1, 60))
def test_whatever_comes_a_right_answer_behind_it_is_read(lines: list[bytes], size: int) -> None:
    wire, data = Wire(), b"\n".join([*lines, b""])
    wire.link.listen("t", wire.received.append)
    for at in range(0, len(data), size):
        wire.link.feed(data[at : at + size])
    answers: list[Any] = []
    wire.link.request("a", {}, answers.append)
    wire.send(id=1, result={"ok": True})
    assert answers == [ResultReply(1, {"ok": True})]
