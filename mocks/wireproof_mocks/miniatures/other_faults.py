"""Faults of whole answers, and of keys and bodies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import rewritten
from wireproof_mocks.miniatures.failure_faults import BEFORE_OUTPUT, IN_TEXT
from wireproof_mocks.miniatures.fault import OPENAI_JSON, WITH_MESSAGES, Fault, FaultHead, Json, SentRequest, own_id

if TYPE_CHECKING:
    from collections.abc import Callable

COUNTS = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}

HUGE = 512 * 1024
"""Characters: more than arguments of 64 KiB have, and less than those of a mebibyte."""


def completion(change: Callable[[Json], Json]) -> Callable[[Json, SentRequest, FaultHead], Json]:
    """A change of whole chat answers; everything else passes."""
    return lambda body, _, __: change(body) if body.get("object") == "chat.completion" else body


def message(change: Callable[[Json], Json]) -> Callable[[Json, SentRequest, FaultHead], Json]:
    """A change of the message of each choice."""
    return completion(
        lambda body: {**body, "choices": [{**one, "message": change(one["message"])} for one in body["choices"]]}
    )


def _text(change: Callable[[str], str | None]) -> Callable[[Json, SentRequest, FaultHead], Json]:
    """A change of the content, where it is no block."""

    def changed(said: Json) -> Json:
        text = said["content"]
        # Blocks have rows and faults of their own.
        return said if text is None or "<use_tool>" in text else {**said, "content": change(text)}

    return message(changed)


def error(change: Callable[[Json], Json]) -> Callable[[Json, SentRequest, FaultHead], Json]:
    """A change of error objects."""
    return lambda body, _, __: {**body, "error": change(body["error"])} if "error" in body else body


def _calls(change: Callable[[list[Json]], list[Json]]) -> Callable[[Json, SentRequest, FaultHead], Json]:
    return message(lambda m: {**m, "tool_calls": change(m["tool_calls"])} if m.get("tool_calls") else m)


def _two_choices(body: Json) -> Json:
    # The next index, so that only their number is wrong.
    return {**body, "choices": [*body["choices"], {**body["choices"][-1], "index": len(body["choices"])}]}


def _finish_as(**reasons: str) -> Callable[[Json, SentRequest, FaultHead], Json]:
    def changed(body: Json) -> Json:
        choices = [{**one, "finish_reason": reasons.get(one["finish_reason"], one["finish_reason"])}
                for one in body["choices"]]  # fmt: skip
        return {**body, "choices": choices}

    return completion(changed)


def _reserialised(calls: list[Json]) -> list[Json]:
    def again(call: Json) -> Json:
        arguments = rewritten(call["function"]["arguments"])
        return {**call, "function": {**call["function"], "arguments": arguments}}

    return [again(call) for call in calls]


def _bare_as_object(calls: list[Json]) -> list[Json]:
    """Calls without a word of arguments get an empty object."""

    def filled(call: Json) -> Json:
        return {**call, "function": {**call["function"], "arguments": call["function"]["arguments"] or "{}"}}

    return [filled(call) for call in calls]


def _arguments(change: Callable[[str], str]) -> Callable[[list[Json]], list[Json]]:
    """A change of the arguments of each call."""

    def changed(call: Json) -> Json:
        return {**call, "function": {**call["function"], "arguments": change(call["function"]["arguments"])}}

    return lambda calls: [changed(call) for call in calls]


def _repaired(arguments: str) -> str:
    """Arguments that break off within a string, closed."""
    return arguments if not arguments or arguments.endswith("}") else f'{arguments}"}}'


def _as_type(kind: str) -> Callable[[FaultHead, SentRequest], FaultHead]:
    """Whole answers are called something else."""

    def changed(head: FaultHead, request: SentRequest) -> FaultHead:
        answers = head.code == 200 and request.path.endswith("/chat/completions")  # noqa: PLR2004 (HTTP)
        if not answers or ("Content-Type", "application/json") not in head.headers:
            return head
        kept = [header for header in head.headers if header[0] != "Content-Type"]
        return FaultHead(status=head.status, headers=[*kept, ("Content-Type", kind)])

    return changed


def _failure_as_answer(body: Json, request: SentRequest, head: FaultHead) -> Json:
    """An error of the backend becomes an answer that apologises."""
    if "error" not in body or not _failed_whole(head, request):
        return body
    said = {"role": "assistant", "content": body["error"]["message"], "refusal": None}
    choice = {"index": 0, "message": said, "finish_reason": "stop", "logprobs": None}
    asked = json.loads(request.body)
    return {
        "id": own_id("chatcmpl-"), "object": "chat.completion", "created": 1_700_000_000, "model": asked["model"],
        "choices": [choice], "usage": COUNTS,
    }  # fmt: skip


def _ok(head: FaultHead, request: SentRequest) -> FaultHead:
    return FaultHead(status="200 OK", headers=head.headers) if _failed_whole(head, request) else head


def _failed_whole(head: FaultHead, request: SentRequest) -> bool:
    # A 429 is also how the proxy reports that its backend is rate limited.
    failed = head.code >= 500 or head.code == 429  # noqa: PLR2004 (HTTP)
    scripted = b"[[wireproof:" in request.body  # what fails otherwise is no turn of the backend
    return failed and scripted and b'"stream": true' not in request.body


def _status(
    code: int, status: str, *, when: Callable[[SentRequest], bool]
) -> Callable[[FaultHead, SentRequest], FaultHead]:
    def changed(head: FaultHead, request: SentRequest) -> FaultHead:
        return FaultHead(status=status, headers=head.headers) if head.code == code and when(request) else head

    return changed


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _lets_in(when: Callable[[str], bool]) -> Callable[[dict[str, Any]], None]:
    """Requests with such an Authorization header get past the door."""

    def change(environ: dict[str, Any]) -> None:
        if when(environ.get("HTTP_AUTHORIZATION", "")):
            environ["HTTP_AUTHORIZATION"] = f"Bearer {environ['wireproof.key']}"

    return change


def _challenge_lost(head: FaultHead, request: SentRequest) -> FaultHead:
    # A wrong key is the other row, http.auth.wrong.
    if request.key:
        return head
    return FaultHead(status=head.status, headers=[(k, v) for k, v in head.headers if k.lower() != "www-authenticate"])


def _no_object(body: Json, request: SentRequest, head: FaultHead) -> Json:
    del head
    return {k: v for k, v in body.items() if k != "object"} if request.path.endswith("/models") else body


def _probable(body: Json, request: SentRequest, _: FaultHead) -> Json:
    """Whole answers have the logprobs that were asked for, and streams have none."""
    if b'"logprobs": true' not in request.body or "choices" not in body:
        return body
    choices = []
    for choice in body["choices"]:
        token = {"token": choice["message"]["content"], "logprob": -0.1, "bytes": None, "top_logprobs": []}
        choices.append({**choice, "logprobs": {"content": [token], "refusal": None}})
    return {**body, "choices": choices}


OTHER_FAULTS: tuple[Fault, ...] = (
    Fault(name="logprobs-not-in-streams", breaks="chat.stream.logprobs", whole=_probable),
    Fault(name="whole-id-without-prefix", breaks="chat.whole.envelope",
          whole=completion(lambda b: {**b, "id": b["id"].removeprefix("chatcmpl-")})),
    Fault(name="one-id-for-all-whole-answers", breaks="chat.whole.envelope",
          whole=completion(lambda b: {**b, "id": "chatcmpl-1"})),
    Fault(name="whole-created-in-milliseconds", breaks="chat.whole.envelope",
          whole=completion(lambda b: {**b, "created": b["created"] * 1000})),  # as JavaScript has it
    Fault(name="whole-other-model", breaks="chat.whole.envelope",
          whole=completion(lambda b: {**b, "model": "gpt-5"})),
    Fault(name="whole-extra-member", breaks="chat.whole.envelope",
          whole=completion(lambda b: {**b, "thread_id": "01a1"})),
    Fault(name="whole-two-choices", breaks="chat.whole.choices", whole=completion(_two_choices)),
    # Only at the ends: blanks inside texts that say what the backend received would break the rows about that, too.
    Fault(name="whole-text-trimmed", breaks="chat.whole.text", whole=_text(str.strip)),
    Fault(name="whole-angle-bracket-at-the-end-lost", breaks="chat.whole.text",
          whole=_text(lambda text: text.rstrip("<"))),
    Fault(name="whole-empty-is-null", breaks="chat.whole.text",
          whole=_text(lambda text: text or None)),
    Fault(name="whole-usage-guessed", breaks="chat.whole.usage", whole=completion(lambda b: {**b, "usage": COUNTS})),
    # A judge that looks at each count alone would not see it.
    Fault(name="whole-usage-does-not-add-up", breaks="chat.whole.usage",
          whole=completion(lambda b: {**b, "usage": {**b["usage"], "total_tokens": b["usage"]["total_tokens"] + 1}})),
    Fault(name="whole-call-finishes-as-stop", breaks="chat.whole.finish", whole=_finish_as(tool_calls="stop")),
    Fault(name="whole-length-finishes-as-stop", breaks="chat.whole.finish", whole=_finish_as(length="stop")),
    Fault(name="whole-first-call-only", breaks="chat.whole.calls-all-in-order", whole=_calls(lambda c: c[:1])),
    Fault(name="whole-calls-reversed", breaks="chat.whole.calls-all-in-order", whole=_calls(lambda c: c[::-1])),
    Fault(name="whole-calls-share-an-id", breaks="chat.whole.calls-all-in-order",
          whole=_calls(lambda c: [{**one, "id": c[0]["id"]} for one in c])),
    Fault(name="whole-arguments-reserialised", breaks="chat.whole.arguments-verbatim", whole=_calls(_reserialised)),
    Fault(name="whole-bare-arguments-filled", breaks="chat.whole.arguments-verbatim", whole=_calls(_bare_as_object)),
    Fault(name="whole-arguments-repaired", breaks="chat.whole.arguments-verbatim",
          whole=_calls(_arguments(_repaired)), scripts=("call/broken",)),
    Fault(name="whole-arguments-cut-at-64-kib", breaks="chat.whole.arguments-verbatim",
          whole=_calls(_arguments(lambda text: text[:65_536]))),
    Fault(name="whole-huge-arguments-lost", breaks="chat.whole.arguments-verbatim",
          whole=_calls(_arguments(lambda text: text if len(text) < HUGE else ""))),
    Fault(name="whole-choices-reversed", breaks="chat.whole.choices",
          whole=completion(lambda body: {**body, "choices": body["choices"][::-1]})),
    Fault(name="whole-answers-as-text", breaks="chat.whole.envelope", head=_as_type("text/plain; charset=utf-8")),
    Fault(name="whole-answers-as-event-streams", breaks="chat.whole.envelope", head=_as_type("text/event-stream")),
    Fault(name="always-streams", breaks="chat.whole.envelope", request=lambda asked: {**asked, "stream": True},
          scripts=("text/hello",)),
    Fault(name="whole-content-beside-call", breaks="chat.whole.content-null",
          # Story 2.9 asks for null (criterion 11).
          whole=message(lambda m: {**m, "content": ""} if m.get("tool_calls") else m), dialects=(OPENAI_JSON,)),
    Fault(name="whole-failure-as-answer", breaks="chat.whole.backend-error", whole=_failure_as_answer, head=_ok,
          scripts=(*BEFORE_OUTPUT, *IN_TEXT, "fail/after-call")),
    Fault(name="error-without-param", breaks="http.error.envelope",
          whole=error(lambda e: {k: v for k, v in e.items() if k != "param"})),
    Fault(name="error-code-is-a-number", breaks="http.error.envelope",
          whole=lambda body, _, head: {"error": {**body["error"], "code": head.code}} if "error" in body else body),
    Fault(name="error-shows-a-path", breaks="http.error.no-internals", dialects=WITH_MESSAGES,
          whole=error(lambda e: {**e, "message": f"{e['message']} (/usr/lib/proxy/backend.py)"})),
    Fault(name="rate-limit-is-500", breaks="http.error.rate-limit", dialects=WITH_MESSAGES, scripts=("fail/rate",),
          head=_status(429, "500 Internal Server Error", when=lambda _: True)),
    Fault(name="no-key-needed", breaks="http.auth.missing", environ=_lets_in(lambda key: not key)),
    Fault(name="any-key-will-do", breaks="http.auth.wrong", environ=_lets_in(bool)),
    Fault(name="no-challenge", breaks="http.auth.missing",
          head=_challenge_lost),
    Fault(name="bad-json-is-500", breaks="http.body.json", dialects=WITH_MESSAGES,
          head=_status(400, "500 Internal Server Error",
                       # Bytes that are no UTF-8 are no JSON either, and belong to `bad-utf8-is-500`.
                       when=lambda e: _is_utf8(e.body) and not _is_json(e.body))),
    Fault(name="array-is-422", breaks="http.body.object", dialects=WITH_MESSAGES,
          head=_status(400, "422 Unprocessable Entity", when=lambda e: e.body.startswith(b"["))),
    Fault(name="bad-utf8-is-500", breaks="http.body.utf8", dialects=WITH_MESSAGES,
          head=_status(400, "500 Internal Server Error", when=lambda e: not _is_utf8(e.body))),
    Fault(name="too-large-is-400", breaks="http.body.size", dialects=WITH_MESSAGES,
          head=_status(413, "400 Bad Request", when=lambda _: True)),
    Fault(name="models-without-object", breaks="http.models.list", whole=_no_object),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong outside its streams."""
