from __future__ import annotations

import copy
from typing import Any
from unittest.mock import ANY

import pytest

from wireproof_mocks.miniatures.chunks import COUNTS
from wireproof_mocks.miniatures.fault import FaultHead, SentRequest
from wireproof_mocks.miniatures.other_faults import OTHER_FAULTS

USAGE = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
SCRIPTED = b'{"model": "m", "user": "[[wireproof:text/hello#n]]"}'
CHAT, MODELS = "/v1/chat/completions", "/v1/models"


def completion(message: Any, finish: str = "stop", **changes: Any) -> dict[str, Any]:
    said = {"role": "assistant", **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 100,
        "model": "codex",
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
        "usage": USAGE,
        **changes,
    }


def call(id_: str, arguments: str = '{"a": 1.50}') -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "f", "arguments": arguments}}


def error(**changes: Any) -> dict[str, Any]:
    return {"error": {"message": "No.", "type": "t", "param": None, "code": "c", **changes}}


TEXT = completion({"content": " One\ntwo "})
EMPTY = completion({"content": ""})
LENGTH = completion({"content": "cut"}, "length")
CALLS = completion({"content": None, "tool_calls": [call("call_a"), call("call_b")]}, "tool_calls")
LIST = {"object": "list", "data": []}
NO_PARAM = {"error": {"message": "No.", "type": "t", "code": "c"}}
BARE = completion({"content": None, "tool_calls": [call("call_a", "")]}, "tool_calls")
BODIES = {"bare": BARE, "text": TEXT, "empty": EMPTY, "length": LENGTH, "calls": CALLS, "list": LIST, "error": error()}


def of_all_answers(**changes: Any) -> dict[str, dict[str, Any]]:
    return {name: {**body, **changes} for name, body in BODIES.items() if body.get("object") == "chat.completion"}


def with_calls(*calls: Any) -> dict[str, Any]:
    return completion({"content": None, "tool_calls": list(calls)}, "tool_calls")


SPOILED: dict[str, dict[str, dict[str, Any]]] = {
    "whole-id-without-prefix": of_all_answers(id="1"),
    "one-id-for-all-whole-answers": of_all_answers(id="chatcmpl-1"),
    "whole-created-in-milliseconds": of_all_answers(created=100_000),
    "whole-other-model": of_all_answers(model="gpt-5"),
    "whole-extra-member": of_all_answers(thread_id="01a1"),
    "whole-two-choices": {
        name: {**body, "choices": [body["choices"][0], {**body["choices"][0], "index": 1}]}
        for name, body in of_all_answers().items()
    },
    "whole-text-trimmed": {"text": completion({"content": "One\ntwo"})},
    "whole-empty-is-null": {"empty": completion({"content": None})},
    "whole-usage-guessed": of_all_answers(usage=COUNTS),
    "whole-usage-does-not-add-up": of_all_answers(usage={**USAGE, "total_tokens": 9}),
    "whole-call-finishes-as-stop": {
        "bare": completion(BARE["choices"][0]["message"]),
        "calls": completion(CALLS["choices"][0]["message"]),
    },
    "whole-length-finishes-as-stop": {"length": completion({"content": "cut"})},
    "whole-first-call-only": {"calls": with_calls(call("call_a"))},
    "whole-calls-reversed": {"calls": with_calls(call("call_b"), call("call_a"))},
    "whole-calls-share-an-id": {"calls": with_calls(call("call_a"), call("call_a"))},
    "whole-arguments-reserialised": {"calls": with_calls(call("call_a", '{"a": 1.5}'), call("call_b", '{"a": 1.5}'))},
    "whole-bare-arguments-filled": {"bare": with_calls(call("call_a", "{}"))},
    "whole-content-beside-call": {
        "bare": completion({"content": "", "tool_calls": [call("call_a", "")]}, "tool_calls"),
        "calls": completion({"content": "", "tool_calls": [call("call_a"), call("call_b")]}, "tool_calls"),
    },
    "whole-failure-as-answer": {
        "error": {
            "id": ANY,
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": "No.", "refusal": None},
                    "finish_reason": "stop",
                    "logprobs": None,
                }
            ],
            "usage": COUNTS,
        }
    },
    "error-without-param": {"error": NO_PARAM},
    "error-code-is-a-number": {"error": error(code=502)},
    "error-shows-a-path": {"error": error(message="No. (/usr/lib/proxy/backend.py)")},
    "models-without-object": {"list": {"data": []}},
}
"""Fault → body → what becomes of it; a body that is not named stays as it is."""
FAULTS = {fault.name: fault for fault in OTHER_FAULTS}
ANSWERED, FAILED = FaultHead(status="200 OK", headers=[]), FaultHead(status="502 Bad Gateway", headers=[])


def request(path: str = CHAT, body: bytes = SCRIPTED, key: str = "Bearer k") -> SentRequest:
    return SentRequest(method="POST", path=path, body=body, key=key)


def test_logprobs_that_were_asked_for_are_in_whole_answers() -> None:
    change = FAULTS["logprobs-not-in-streams"].whole
    assert change is not None
    asked = request(body=b'{"logprobs": true}')
    (choice,) = change(TEXT, asked, ANSWERED)["choices"]
    assert choice["logprobs"]["content"][0]["token"] == TEXT["choices"][0]["message"]["content"]
    assert change(TEXT, request(), ANSWERED) == TEXT
    assert change(NO_PARAM, asked, FAILED) == NO_PARAM


TWO = {**TEXT, "choices": [{**TEXT["choices"][0], "index": index} for index in range(2)]}
RARE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("whole-arguments-repaired", with_calls(call("a", '{"a": "b')), with_calls(call("a", '{"a": "b"}'))),
    ("whole-arguments-cut-at-64-kib", with_calls(call("a", "a" * 70_000)), with_calls(call("a", "a" * 65_536))),
    ("whole-huge-arguments-lost", with_calls(call("a", "a" * 600_000)), with_calls(call("a", ""))),
    ("whole-choices-reversed", TWO, {**TWO, "choices": TWO["choices"][::-1]}),
    ("whole-angle-bracket-at-the-end-lost", completion({"content": "a <"}), completion({"content": "a "})),
]
"""Faults that show only in bodies of a rare kind: fault, body, what becomes of it."""


@pytest.mark.parametrize(("name", "body", "then"), RARE, ids=[name for name, _, _ in RARE])
def test_a_fault_of_rare_bodies_leaves_the_others(name: str, body: dict[str, Any], then: dict[str, Any]) -> None:
    change = FAULTS[name].whole
    assert change is not None
    assert change(body, request(), ANSWERED) == then
    for other in (TEXT, CALLS, BARE, error()):
        assert change(other, request(), ANSWERED) == other


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("whole-answers-as-text", "text/plain; charset=utf-8"),
        ("whole-answers-as-event-streams", "text/event-stream"),
    ],
)
def test_whole_answers_are_called_something_else(name: str, kind: str) -> None:
    change = FAULTS[name].head
    assert change is not None
    head = FaultHead(status="200 OK", headers=[("X-One", "1"), ("Content-Type", "application/json")])
    assert change(head, request()).headers == [("X-One", "1"), ("Content-Type", kind)]
    assert change(head, request(MODELS)) == head
    assert change(FAILED, request()) == FAILED
    stream = FaultHead(status="200 OK", headers=[("Content-Type", "text/event-stream")])
    assert change(stream, request()) == stream


def test_a_stream_comes_where_none_was_asked_for() -> None:
    change = FAULTS["always-streams"].request
    assert change is not None
    assert change({"n": 1}) == {"n": 1, "stream": True}


def test_every_fault_of_bodies_stands_in_the_table() -> None:
    named = {name for name, fault in FAULTS.items() if fault.whole}
    assert named == {*SPOILED, *(name for name, _, _ in RARE), "logprobs-not-in-streams"}


def test_no_fault_here_changes_streams() -> None:
    assert not [name for name, fault in FAULTS.items() if fault.frames or fault.salvage or fault.ignores_disconnect]


@pytest.mark.each("body", list(BODIES))
@pytest.mark.parametrize("name", list(SPOILED))
def test_a_fault_changes_what_it_says_and_nothing_else(name: str, body: str) -> None:
    change = FAULTS[name].whole
    assert change is not None
    before = copy.deepcopy(BODIES[body])
    head = FAILED if body == "error" else ANSWERED
    asked = request(MODELS if body == "list" else CHAT)
    assert change(BODIES[body], asked, head) == SPOILED[name].get(body, before)
    assert BODIES[body] == before, "the proxy's own answer is not touched"


@pytest.mark.parametrize(
    ("status", "body", "path", "then"),
    [
        ("502 Bad Gateway", SCRIPTED, CHAT, "200 OK"),
        ("429 Too Many Requests", SCRIPTED, CHAT, "200 OK"),
        ("400 Bad Request", b'{"model": "m"}', CHAT, "400 Bad Request"),
        ("502 Bad Gateway", b'{"model": "m", "stream": true}', CHAT, "502 Bad Gateway"),
        ("502 Bad Gateway", b'{"model": "m"}', CHAT, "502 Bad Gateway"),
        ("503 Unavailable", b"", MODELS, "503 Unavailable"),
    ],
)
def test_only_a_failed_whole_answer_becomes_an_apology(status: str, body: bytes, path: str, then: str) -> None:
    fault = FAULTS["whole-failure-as-answer"]
    assert fault.head is not None
    assert fault.whole is not None
    head, asked = FaultHead(status=status, headers=[]), request(path, body)
    assert fault.head(head, asked).status == then
    assert (fault.whole(error(), asked, head) != error()) is (then == "200 OK")


@pytest.mark.parametrize(
    ("name", "status", "body", "then"),
    [
        ("rate-limit-is-500", "429 Too Many Requests", b"{}", "500 Internal Server Error"),
        ("rate-limit-is-500", "502 Bad Gateway", b"{}", "502 Bad Gateway"),
        ("bad-json-is-500", "400 Bad Request", b"{", "500 Internal Server Error"),
        ("bad-json-is-500", "400 Bad Request", b"{}", "400 Bad Request"),
        ("bad-json-is-500", "400 Bad Request", b'"\xff"', "400 Bad Request"),
        ("bad-json-is-500", "401 Unauthorized", b"{", "401 Unauthorized"),
        ("array-is-422", "400 Bad Request", b"[1]", "422 Unprocessable Entity"),
        ("array-is-422", "400 Bad Request", b"{}", "400 Bad Request"),
        ("bad-utf8-is-500", "400 Bad Request", b'"\xff"', "500 Internal Server Error"),
        ("bad-utf8-is-500", "400 Bad Request", b"{", "400 Bad Request"),
        ("too-large-is-400", "413 Content Too Large", b"{}", "400 Bad Request"),
        ("too-large-is-400", "404 Not Found", b"{}", "404 Not Found"),
    ],
)
def test_one_status_is_another(name: str, status: str, body: bytes, then: str) -> None:
    change = FAULTS[name].head
    assert change is not None
    headers = [("X-One", "1")]
    assert change(FaultHead(status=status, headers=headers), request(body=body)) == FaultHead(
        status=then, headers=headers
    )


@pytest.mark.parametrize(("key", "kept"), [("", False), ("Bearer wrong", True)])
def test_the_challenge_is_lost_where_no_key_came(key: str, *, kept: bool) -> None:
    change = FAULTS["no-challenge"].head
    assert change is not None
    headers = [("WWW-Authenticate", "Bearer"), ("X-One", "1")]
    head = FaultHead(status="401 Unauthorized", headers=headers)
    assert change(head, request(key=key)).headers == (headers if kept else headers[1:])


@pytest.mark.parametrize(
    ("name", "sent", "received"),
    [
        ("no-key-needed", None, "Bearer right"),
        ("no-key-needed", "Bearer wrong", "Bearer wrong"),
        ("any-key-will-do", None, None),
        ("any-key-will-do", "Bearer wrong", "Bearer right"),
    ],
)
def test_the_door_stands_open(name: str, sent: str | None, received: str | None) -> None:
    change = FAULTS[name].environ
    assert change is not None
    environ = {"wireproof.key": "right"} | ({"HTTP_AUTHORIZATION": sent} if sent else {})
    change(environ)
    assert environ.get("HTTP_AUTHORIZATION") == received
