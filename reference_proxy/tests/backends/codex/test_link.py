from __future__ import annotations

import json
from typing import Any

import pytest

from assay_proxy.backends.codex.link import CAP, CLOSED, REQUEST_SECONDS, Link
from assay_proxy.backends.codex.rpc import Answer, Asked, Garbled, Notice, Refusal


class Wire:
    """A link whose lines are kept instead of sent."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sent: list[Any] = []
        self.link = Link(send=lambda line: self.sent.append(json.loads(line)), clock=lambda: self.now)
        self.heard: list[Any] = []

    def tell(self, **message: Any) -> None:
        self.link.feed(json.dumps(message).encode() + b"\n")


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_an_answer_reaches_whoever_asked(wire: Wire) -> None:
    wire.link.request("a", {"x": 1}, wire.heard.append)
    wire.link.request("b", {}, wire.heard.append)
    assert wire.sent == [{"id": 1, "method": "a", "params": {"x": 1}}, {"id": 2, "method": "b", "params": {}}]
    wire.tell(id=2, result={"ok": True})
    wire.tell(error={"code": -32600, "message": "no"}, id=1)
    assert wire.heard == [Answer(2, {"ok": True}), Refusal(1, -32600, "no")]


def test_answers_nobody_waits_for_are_ignored(wire: Wire) -> None:
    wire.tell(id=7, result={})
    wire.tell(id="seven", result={})
    assert wire.sent == []


def test_requests_beyond_the_cap_wait_their_turn(wire: Wire) -> None:
    for _ in range(CAP + 2):
        wire.link.request("a", {}, wire.heard.append)
    assert len(wire.sent) == CAP
    wire.tell(id=1, result={})
    assert len(wire.sent) == CAP + 1


def test_an_overdue_request_is_refused_and_makes_room(wire: Wire) -> None:
    for _ in range(CAP + 1):
        wire.link.request("a", {}, wire.heard.append)
    wire.link.expire()
    assert wire.heard == []
    wire.now = REQUEST_SECONDS
    wire.link.expire()
    assert wire.heard == [Refusal(id_, None, "timed out") for id_ in range(1, CAP + 1)]
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
    wire.tell(method="before")
    wire.now = 1.0
    wire.link.request(method, {}, wire.heard.append)
    assert wire.link.expire()
    for word in words:
        wire.link.feed(word)
    wire.now += REQUEST_SECONDS
    assert wire.link.expire() is answers
    assert wire.link.expire()


def test_a_thread_is_heard_until_it_is_forgotten(wire: Wire) -> None:
    wire.link.listen("t", wire.heard.append)
    assert wire.link.listeners == 1
    wire.tell(method="a", params={"threadId": "t"})
    wire.tell(method="a", params={"threadId": "other"})
    wire.link.forget("t")
    wire.tell(method="a", params={"threadId": "t"})
    assert wire.heard == [Notice("a", {"threadId": "t"})]


def test_a_tool_call_is_heard_and_not_answered(wire: Wire) -> None:
    wire.link.listen("t", wire.heard.append)
    wire.tell(method="item/tool/call", id=1, params={"threadId": "t"})
    assert wire.heard == [Asked(1, "item/tool/call", {"threadId": "t"})]
    assert wire.sent == []


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
    wire.tell(method=method, id=1, params={"threadId": "t"})
    assert wire.sent == [{"id": 1, "result": result}]


@pytest.mark.parametrize("method", ["no/such", "item/tool/call"])
def test_other_requests_get_an_error_under_their_own_id(wire: Wire, method: str) -> None:
    wire.link.request("mine", {}, wire.heard.append)
    wire.tell(method=method, id=1, params={"threadId": "gone"})
    assert wire.sent[1]["id"] == 1
    assert wire.sent[1]["error"]["code"] == -32601
    assert wire.heard == []


def test_a_line_that_cannot_be_read_is_told_to_the_thread_it_names(wire: Wire) -> None:
    wire.link.listen("t", wire.heard.append)
    wire.link.feed(b'{"method":"a","params":{"threadId": "t","delta":"\xff"}}\n')
    assert [type(message) for message in wire.heard] == [Garbled]


def test_a_line_that_cannot_be_read_and_names_no_thread_is_told_to_the_one_heard_last(wire: Wire) -> None:
    wire.link.feed(b"nonsense\n")
    heard: list[Any] = []
    wire.link.listen("t", wire.heard.append)
    wire.link.listen("other", heard.append)
    wire.tell(method="a", params={"threadId": "other"})
    wire.link.feed(b"nonsense\n")
    assert [type(message) for message in heard] == [Notice, Garbled]
    assert wire.heard == []


@pytest.mark.parametrize("name", ["threadId", "conversationId", "conversation_id"])
def test_a_thread_has_several_names(wire: Wire, name: str) -> None:
    wire.link.listen("t", wire.heard.append)
    wire.tell(method="a", params={name: "t"})
    wire.link.feed(f'{{"method":"a","params":{{"{name}":"t",\n'.encode())
    assert [type(message) for message in wire.heard] == [Notice, Garbled]


def test_a_fatal_error_of_no_thread_is_everybodys(wire: Wire) -> None:
    heard: list[Any] = []
    wire.link.listen("t", wire.heard.append)
    wire.link.listen("other", heard.append)
    wire.tell(method="error", params={"willRetry": True})
    wire.tell(method="error", params={"error": {}})
    assert wire.heard == heard == [Notice("error", {"error": {}})]


def test_the_end_of_the_process_refuses_what_is_asked_and_tells_who_listens(wire: Wire) -> None:
    wire.link.listen("t", wire.heard.append)
    for _ in range(CAP + 1):
        wire.link.request("a", {}, wire.heard.append)
    wire.link.close()
    assert wire.heard == [Refusal(0, None, "closed")] * (CAP + 1) + [Notice(CLOSED, {})]
    wire.link.request("late", {}, wire.heard.append)
    assert wire.heard[-1] == Refusal(0, None, "closed")
    assert wire.link.listeners == 0


def test_a_notification_has_no_id(wire: Wire) -> None:
    wire.link.notify("initialized")
    assert wire.sent == [{"method": "initialized"}]
