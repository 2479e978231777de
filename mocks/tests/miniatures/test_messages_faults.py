"""What the faults of Messages do that no example shows; and which of them are bugs that users of gateways reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof_mocks.miniatures.fault import MESSAGES, FaultHead, FaultReply, SentRequest
from wireproof_mocks.miniatures.messages_block_faults import MESSAGES_BLOCK_FAULTS, MESSAGES_THOUGHT_FAULTS
from wireproof_mocks.miniatures.messages_http_faults import MESSAGES_HTTP_FAULTS
from wireproof_mocks.miniatures.messages_input_faults import MESSAGES_INPUT_FAULTS
from wireproof_mocks.miniatures.messages_order_faults import MESSAGES_ORDER_FAULTS
from wireproof_mocks.miniatures.messages_rewriting import STOPPED, closed, fragment, opened
from wireproof_mocks.miniatures.messages_whole_faults import MESSAGES_WHOLE_FAULTS
from wireproof_mocks.miniatures.rewriting import written

Json = dict[str, Any]
PINGED: Json = {"type": "ping"}
OF_MESSAGES = (
    *MESSAGES_ORDER_FAULTS, *MESSAGES_BLOCK_FAULTS, *MESSAGES_WHOLE_FAULTS, *MESSAGES_INPUT_FAULTS,
    *MESSAGES_HTTP_FAULTS, *MESSAGES_THOUGHT_FAULTS,
)  # fmt: skip
NAMED = {fault.name: fault for fault in OF_MESSAGES}
REPORTED = {
    "BerriAI/litellm#25321": "arguments-beside-the-name-lost",
    "BerriAI/litellm#33224": "thoughts-in-a-text-block",
    "musistudio/claude-code-router#1725": "later-thoughts-in-the-block-before",
    "musistudio/claude-code-router#1397": "text-in-the-block-before",
    "BerriAI/litellm#13373": "blocks-never-started",
    "decolua/9router#2248": "deltas-of-another-block",
    "BerriAI/litellm#32357": "message-started-twice",
    "BerriAI/litellm#34692": "calls-end-the-turn",
    "BerriAI/litellm#34692, beside it": "empty-text-before-a-call",
    "router-for-me/CLIProxyAPI#3748": "tool-use-without-a-call",
    "anthropics/claude-code#46932": "start-without-usage",
    "Alishahryar1/free-claude-code#121": "end-without-usage",
    "BerriAI/litellm#14315": "message-whole-where-a-stream-is-asked",
    "BerriAI/litellm#13252": "tokens-not-counted",
    "vllm-project/vllm#44000": "system-among-messages-refused",
    "decolua/9router#1468": "context-management-refused",
    "QuantumNous/new-api#2975": "betas-passed-on-and-refused",
    "router-for-me/CLIProxyAPI#1872": "call-ids-with-dots-and-colons",
    "cc-switch#1786": "call-ids-empty",
    "anthropics/claude-code#21083": "one-id-for-all-calls",
    "decolua/9router#2227": "thoughts-not-signed",
    "ogx-ai/ogx#6367": "text-put-before-results",
    "ericc-ch/copilot-api#261": "prefill-refused-by-the-backend",
    "MAXeaglet/commandcode-proxy#25": "cached-counted-as-input",
    "BerriAI/litellm#36091": "caches-not-counted",
    "BerriAI/litellm#36024": "silence-without-pings",
    "vllm-project/vllm#51572": "bearer-not-looked-at",
    "vllm-project/vllm#51572, the other way round": "x-api-key-not-looked-at",
    "router-for-me/CLIProxyAPI#3133": "open-block-left-when-cut-short",
    "Alishahryar1/free-claude-code#43": "done-with-a-name",
    "makecindy/cindy#2351": "stream-where-none-is-asked",
}
"""Where a bug was reported → the fault that has it."""


def asked(body: Json | None = None, path: str = "/v1/messages", **headers: str) -> SentRequest:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return SentRequest(method="POST", path=path, body=json.dumps(body or {}).encode(), key="", headers=sent)


def head(status: str = "200 OK", *headers: tuple[str, str]) -> FaultHead:
    return FaultHead(status=status, headers=list(headers))


def test_they_show_in_messages_alone() -> None:
    besides = {fault.name for fault in OF_MESSAGES if fault.dialects != (MESSAGES,)}
    assert besides == {"one-surface-says-less"}, "whose answer is compared with that of chat"


def test_each_bug_that_was_reported_is_a_fault() -> None:
    assert set(REPORTED.values()) - {fault.name for fault in OF_MESSAGES} == set()


def test_a_stream_that_is_held_back_is_one_piece() -> None:
    change = NAMED["messages-held-back"].frames
    assert change is not None
    assert [*change((PINGED, STOPPED), asked())] == [written(PINGED) + written(STOPPED)]


def test_the_last_fragment_is_lost_whatever_comes_between() -> None:
    change = NAMED["last-arguments-lost"].frames
    assert change is not None
    call = opened(0, "tool_use", input={}), fragment(0, '{"a"'), b": keep-alive\n\n", fragment(0, ":1}")
    # A fragment is held until it is known whether another follows; a comment passes it.
    kept = call[0], call[2], call[1]
    assert [*change((*call, closed(0)), asked())] == [*kept, closed(0)]
    assert [*change(call, asked())] == [*kept]
    # Where the call is sent in a block of text, something of it stays.
    merge = NAMED["calls-in-the-block-before"].frames
    assert merge is not None
    calls = opened(0, text=""), closed(0), opened(1, "tool_use", input={}), fragment(1, "{}"), closed(1)
    for first, second in ((merge, change), (change, merge)):
        assert [*second(first(calls, asked()), asked())] == [opened(0, text=""), fragment(0, ""), closed(0)]


ERROR: Json = {"type": "error", "error": {"type": "not_found_error", "message": "model: m"}, "request_id": "req_1"}
LACKING: Json = {**ERROR, "error": {"type": "invalid_request_error", "message": "max_tokens: Field required"}}


@pytest.mark.parametrize(
    ("name", "status", "changed"),
    [
        ("refusals-name-no-path", "400 Bad Request", ERROR),
        ("refusals-name-no-path", "404 Not Found", ERROR),
        ("errors-of-one-type", "404 Not Found",
         {**ERROR, "error": {"type": "invalid_request_error", "message": "model: m"}}),
        ("errors-of-one-type", "400 Bad Request", ERROR),
        ("refusals-as-detail", "400 Bad Request", ERROR),
        ("refusals-as-detail", "404 Not Found", ERROR),
    ],
)  # fmt: skip
def test_an_error_is_changed_by_its_status(name: str, status: str, changed: Json) -> None:
    change = NAMED[name].whole
    assert change is not None
    assert change(ERROR, asked(), head(status)) == changed


def test_a_refusal_of_what_is_missing_names_no_path() -> None:
    change = NAMED["refusals-name-no-path"].whole
    assert change is not None
    named = {**ERROR, "error": {"type": "invalid_request_error", "message": "Invalid request."}}
    assert change(LACKING, asked(), head("400 Bad Request")) == named


def test_a_refusal_of_what_is_missing_is_one_of_a_framework() -> None:
    change = NAMED["refusals-as-detail"].whole
    assert change is not None
    assert change(LACKING, asked(), head("400 Bad Request")) == {"detail": "max_tokens: Field required"}


@pytest.mark.parametrize(
    ("name", "status", "becomes"),
    [("early-failure-as-message-stream", "529 Overloaded", "200 OK"),
     ("early-failure-as-message-stream", "400 Bad Request", "400 Bad Request"),
     ("refusals-as-streams", "400 Bad Request", "200 OK"),
     ("refusals-as-streams", "529 Overloaded", "529 Overloaded")],
)  # fmt: skip
def test_errors_of_streams_are_streams(name: str, status: str, becomes: str) -> None:
    fault = NAMED[name]
    assert fault.head is not None
    assert fault.salvage is not None
    assert fault.head(head(status), asked({"stream": True})).status == becomes
    assert fault.head(head(status), asked({"stream": False})).status == status
    assert fault.salvage(ERROR) == [ERROR]


def test_headers_are_forgotten() -> None:
    sent = head("200 OK", ("X-Accel-Buffering", "no"), ("request-id", "req_1"))
    for name, left in (("messages-may-be-buffered", "request-id"), ("answers-without-request-id", "X-Accel-Buffering")):
        change = NAMED[name].head
        assert change is not None
        assert [header for header, _ in change(sent, asked()).headers] == [left]


def refusal(name: str, body: Json, **headers: str) -> str | None:
    """What a request is refused with; None if it is not."""
    instead = NAMED[name].instead
    assert instead is not None
    reply = instead(asked(body, **headers), 1)
    if reply is None:
        return None
    assert isinstance(reply, FaultReply)
    assert reply.head.code == 400
    error = json.loads(reply.body)
    assert error["error"]["type"] == "invalid_request_error"
    return str(error["error"]["message"])


def said(role: str, *blocks: Json | str) -> Json:
    return {"role": role, "content": [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]}


QUESTION = said("user", "Hi")
RESULT: Json = {"type": "tool_result", "tool_use_id": "t", "content": "c"}
REFUSED: dict[str, tuple[Json, Json]] = {
    "context-management-refused": ({"context_management": {}}, {}),
    "metadata-refused": ({"metadata": {}}, {}),
    "adaptive-thinking-refused": ({"thinking": {"type": "adaptive"}}, {"thinking": {"type": "disabled"}}),
    "many-message-tokens-refused": ({"max_tokens": 32000}, {"max_tokens": 4096}),
    "system-among-messages-refused": ({"messages": [QUESTION, said("system", "S")]}, {}),
    "text-put-before-results": ({"messages": [said("user", RESULT, "and")]}, {"messages": [said("user", RESULT)]}),
    "prefill-refused-by-the-backend": ({"messages": [QUESTION, said("assistant", "I")]}, {}),
    "results-need-content": (
        {"messages": [said("user", {**RESULT, "content": ""})]}, {"messages": [said("user", RESULT)]},
    ),
    "roles-in-a-row-refused": ({"messages": [said("assistant"), said("assistant")]}, {}),
    "thoughts-need-a-known-signature": ({"messages": [said("assistant", {"type": "thinking"})]}, {}),
    "redacted-thoughts-refused": ({"messages": [said("assistant", {"type": "redacted_thinking"})]}, {}),
}  # fmt: skip
"""Fault → what it makes the proxy refuse, and what is still taken."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_should_be_taken_is_refused(name: str) -> None:
    right = {"messages": [QUESTION]}
    refused, taken = REFUSED[name]
    assert refusal(name, {**right, **refused})
    assert refusal(name, {**right, **taken}) is None
    assert refusal(name, {"messages": "Hi"}) is None, "which the proxy refuses by itself"


def test_versions_and_betas_are_refused_by_their_headers() -> None:
    right = {"messages": [QUESTION]}
    assert refusal("newer-version-refused", right, anthropic_version="2026-10-21")
    assert refusal("newer-version-refused", right, anthropic_version="2023-06-01") is None
    assert refusal("betas-passed-on-and-refused", right, anthropic_beta="message-threads-2026-08-12, a-b")
    assert refusal("betas-passed-on-and-refused", right, anthropic_beta="message-threads-2026-08-12") is None


def environ(name: str, **given: str) -> dict[str, Any]:
    """The environment of a request for models, as a fault leaves it."""
    change = NAMED[name].environ
    assert change is not None
    environ: dict[str, Any] = {"wireproof.key": "k", "PATH_INFO": "/v1/models", **given}
    change(environ)
    return environ


def test_keys_and_queries_are_read_wrongly() -> None:
    assert environ("query-is-part-of-the-path", QUERY_STRING="beta=true")["PATH_INFO"] == "/v1/models?beta=true"
    assert environ("query-is-part-of-the-path")["PATH_INFO"] == "/v1/models"
    assert "HTTP_X_API_KEY" not in environ("x-api-key-not-looked-at", HTTP_X_API_KEY="k")
    assert "HTTP_AUTHORIZATION" not in environ("bearer-not-looked-at", HTTP_AUTHORIZATION="Bearer k")
    assert environ("any-key-for-messages", HTTP_X_API_KEY="wrong")["HTTP_AUTHORIZATION"] == "Bearer k"
    listed = environ("models-as-for-chat", HTTP_ANTHROPIC_VERSION="2023-06-01", HTTP_X_API_KEY="k")
    assert "HTTP_ANTHROPIC_VERSION" not in listed
    assert listed["HTTP_AUTHORIZATION"] == "Bearer k"


def test_tokens_are_not_counted_where_they_are_asked_for() -> None:
    fault = NAMED["tokens-not-counted"]
    counting = asked(path="/v1/messages/count_tokens")
    assert fault.head is not None
    assert fault.whole is not None
    assert fault.head(head(), counting).code == 404
    assert fault.head(head(), asked()).code == 200
    assert fault.whole({"input_tokens": 1}, counting, head())["error"]["type"] == "not_found_error"
    assert fault.whole({"input_tokens": 1}, asked(), head()) == {"input_tokens": 1}


def test_comments_pass() -> None:
    kept = b": comment\n\n"
    start = {"type": "message_start", "message": {"type": "message", "usage": {"input_tokens": 1}, "model": "m"}}
    of_streams = [fault for fault in OF_MESSAGES if fault.frames]
    assert len(of_streams) > 50
    for fault in of_streams:
        assert fault.frames is not None
        changed = fault.frames((start, kept), asked())
        # Comments keep a stream open, too.
        assert kept in b"".join(map(written, changed)) or "silence" in fault.name, fault.name
