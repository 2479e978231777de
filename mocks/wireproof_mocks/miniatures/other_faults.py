"""Faults of whole answers, of keys and bodies, of several choices, and of the choice of the output mode."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import COUNTS, WHOLE_CALLS, choice_of, each, finishing_as, outside_blocks
from wireproof_mocks.miniatures.fault import MODE_HEADER, OPENAI_JSON, WITH_MESSAGES, Fault, fault_below, own_id
from wireproof_mocks.miniatures.heads import SERVER_ERROR, forgetting, let_in, one_for_another, restated
from wireproof_mocks.miniatures.rewriting import at, having, in_body, rewritten, with_members, without
from wireproof_mocks.miniatures.stream_faults import BEFORE_OUTPUT, IN_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.miniatures.fault import Environ, FaultHead, Heads, Json, SentRequest
    from wireproof_mocks.miniatures.rewriting import Change

HUGE = 512 * 1024
"""Characters: more than arguments of 64 KiB have, and less than those of a mebibyte."""


def _completion(change: Change) -> Change:
    """A change of whole chat answers; everything else passes."""
    return having(change, object="chat.completion")


def _text(change: Callable[[str], str | None]) -> Change:
    """A change of the content, where it is no block: those have rows and faults of their own."""
    return at("choices[].message.content", outside_blocks(change))


def _arguments(change: Callable[[str], str]) -> Change:
    """A change of the arguments of each call."""
    return at(f"{WHOLE_CALLS}[].function.arguments", change)


def _two_choices(choices: list[Json]) -> list[Json]:
    # The next index, so that only their number is wrong.
    return [*choices, {**choices[-1], "index": len(choices)}]


def _repaired(arguments: str) -> str:
    """Arguments that break off within a string, closed."""
    return arguments if not arguments or arguments.endswith("}") else f'{arguments}"}}'


def _as_type(kind: str) -> Heads:
    """Whole answers are called something else."""

    def changed(head: FaultHead, request: SentRequest) -> FaultHead:
        answers = head.code == 200 and request.path.endswith("/chat/completions")  # noqa: PLR2004 (HTTP)
        as_json = ("Content-Type", "application/json") in head.headers
        return head.with_header("Content-Type", kind) if answers and as_json else head

    return changed


def _failure_as_answer(body: Json, request: SentRequest, head: FaultHead) -> Json:
    """An error of the backend becomes an answer that apologises."""
    if "error" not in body or not _failed_whole(head, request):
        return body
    said = {"role": "assistant", "content": body["error"]["message"], "refusal": None}
    choice = {"index": 0, "message": said, "finish_reason": "stop", "logprobs": None}
    return {
        "id": own_id("chatcmpl-"), "object": "chat.completion", "created": 1_700_000_000,
        "model": request.json["model"], "choices": [choice], "usage": COUNTS,
    }  # fmt: skip


def _failed_whole(head: FaultHead, request: SentRequest) -> bool:
    # A 429 is also how the proxy reports that its backend is rate limited.
    failed = head.code >= SERVER_ERROR or head.code == 429  # noqa: PLR2004 (HTTP)
    scripted = b"[[wireproof:" in request.body  # what fails otherwise is no turn of the backend
    return failed and scripted and not request.streamed


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


def _code_of_status(body: Json, _: SentRequest, head: FaultHead) -> Json:
    changed: Json = at("error", with_members(code=head.code))(body)
    return changed


def _probable(body: Json, request: SentRequest, _: FaultHead) -> Json:
    """Whole answers have the logprobs that were asked for, and streams have none."""

    def changed(choice: Json) -> Json:
        token = {"token": choice["message"]["content"], "logprob": -0.1, "bytes": None, "top_logprobs": []}
        return {**choice, "logprobs": {"content": [token], "refusal": None}}

    probable: Json = at("choices[]", changed)(body)
    return probable if b'"logprobs": true' in request.body else body


# choices, and the choice of the output mode

_VARIABLE = "HTTP_" + MODE_HEADER.upper().replace("-", "_")
_MODES = ("openai-json", "obsidian-xml")


def _other_default(environ: Environ) -> None:
    # As if the request named the mode: the proxy's default itself is not touched.
    environ.setdefault(_VARIABLE, OPENAI_JSON)


def _unknown_forgiven(environ: Environ) -> None:
    if environ.get(_VARIABLE, OPENAI_JSON) not in _MODES:
        del environ[_VARIABLE]  # without a mode, the default counts


def _whole(name: str, breaks: str, change: Change, **how: Any) -> Fault:  # noqa: ANN401 (the fields of Fault)
    return Fault(name=name, breaks=f"chat.whole.{breaks}", whole=in_body(change), **how)


_anywhere = partial(fault_below, "http.", dialects=WITH_MESSAGES)
"""A fault on chat's routes and on that of Messages."""


OTHER_FAULTS: tuple[Fault, ...] = (
    Fault(name="logprobs-not-in-streams", breaks="chat.stream.logprobs", whole=_probable),
    _whole("whole-id-without-prefix", "envelope", _completion(at("id", lambda id_: id_.removeprefix("chatcmpl-")))),
    _whole("one-id-for-all-whole-answers", "envelope", _completion(with_members(id="chatcmpl-1"))),
    # As JavaScript has it.
    _whole("whole-created-in-milliseconds", "envelope", _completion(at("created", lambda created: created * 1000))),
    _whole("whole-other-model", "envelope", _completion(with_members(model="gpt-5"))),
    _whole("whole-extra-member", "envelope", _completion(with_members(thread_id="01a1"))),
    _whole("whole-two-choices", "choices", at("choices", _two_choices)),
    # Only at the ends: blanks inside texts that say what the backend received would break the rows about that, too.
    _whole("whole-text-trimmed", "text", _text(str.strip)),
    _whole("whole-angle-bracket-at-the-end-lost", "text", _text(lambda text: text.rstrip("<"))),
    _whole("whole-empty-is-null", "text", _text(lambda text: text or None)),
    _whole("whole-usage-guessed", "usage", _completion(with_members(usage=COUNTS))),
    # A judge that looks at each count alone would not see it.
    _whole("whole-usage-does-not-add-up", "usage",
           _completion(at("usage.total_tokens", lambda count: count + 1))),
    _whole("whole-call-finishes-as-stop", "finish", finishing_as(tool_calls="stop")),
    _whole("whole-length-finishes-as-stop", "finish", finishing_as(length="stop")),
    _whole("whole-first-call-only", "calls-all-in-order", at(WHOLE_CALLS, lambda calls: calls[:1])),
    _whole("whole-calls-reversed", "calls-all-in-order", at(WHOLE_CALLS, lambda calls: calls[::-1])),
    _whole("whole-calls-share-an-id", "calls-all-in-order",
           at(WHOLE_CALLS, lambda calls: [{**one, "id": calls[0]["id"]} for one in calls])),
    _whole("whole-arguments-reserialised", "arguments-verbatim", _arguments(rewritten)),
    # Calls without a word of arguments get an empty object.
    _whole("whole-bare-arguments-filled", "arguments-verbatim", _arguments(lambda text: text or "{}")),
    _whole("whole-arguments-repaired", "arguments-verbatim", _arguments(_repaired), scripts=("call/broken",)),
    _whole("whole-arguments-cut-at-64-kib", "arguments-verbatim", _arguments(lambda text: text[:65_536])),
    _whole("whole-huge-arguments-lost", "arguments-verbatim",
           _arguments(lambda text: text if len(text) < HUGE else "")),
    _whole("whole-choices-reversed", "choices", at("choices", lambda choices: choices[::-1])),
    Fault(name="whole-answers-as-text", breaks="chat.whole.envelope", head=_as_type("text/plain; charset=utf-8")),
    Fault(name="whole-answers-as-event-streams", breaks="chat.whole.envelope", head=_as_type("text/event-stream")),
    Fault(name="always-streams", breaks="chat.whole.envelope", request=with_members(stream=True),
          scripts=("text/hello",)),
    # Story 2.9 asks for null (criterion 11).
    _whole("whole-content-beside-call", "content-null", dialects=(OPENAI_JSON,),
           change=at("choices[].message", lambda said: {**said, "content": ""} if said.get("tool_calls") else said)),
    Fault(name="whole-failure-as-answer", breaks="chat.whole.backend-error", whole=_failure_as_answer,
          head=restated("200 OK", _failed_whole), scripts=(*BEFORE_OUTPUT, *IN_TEXT, "fail/after-call")),
    Fault(name="error-without-param", breaks="http.error.envelope", whole=in_body(at("error", without("param")))),
    Fault(name="error-code-is-a-number", breaks="http.error.envelope", whole=_code_of_status),
    _anywhere("error-shows-a-path", "error.no-internals",
              whole=in_body(at("error.message", lambda text: f"{text} (/usr/lib/proxy/backend.py)"))),
    _anywhere("rate-limit-is-500", "error.rate-limit", scripts=("fail/rate",),
              head=one_for_another(429, "500 Internal Server Error")),
    Fault(name="no-key-needed", breaks="http.auth.missing", environ=let_in(lambda e: not e.get("HTTP_AUTHORIZATION"))),
    Fault(name="any-key-will-do", breaks="http.auth.wrong", environ=let_in(lambda e: e.get("HTTP_AUTHORIZATION"))),
    # A wrong key is the other row, http.auth.wrong.
    Fault(name="no-challenge", breaks="http.auth.missing",
          head=forgetting("www-authenticate", lambda _, request: not request.key)),
    _anywhere("bad-json-is-500", "body.json",
              # Bytes that are no UTF-8 are no JSON either, and belong to `bad-utf8-is-500`.
              head=one_for_another(400, "500 Internal Server Error",
                                   lambda request: _is_utf8(request.body) and not _is_json(request.body))),
    _anywhere("array-is-422", "body.object",
              head=one_for_another(400, "422 Unprocessable Entity", lambda request: request.body.startswith(b"["))),
    _anywhere("bad-utf8-is-500", "body.utf8",
              head=one_for_another(400, "500 Internal Server Error", lambda request: not _is_utf8(request.body))),
    _anywhere("too-large-is-400", "body.size", head=one_for_another(413, "400 Bad Request")),
    Fault(name="models-without-object", breaks="http.models.list",
          whole=lambda body, request, _: without("object")(body) if request.path.endswith("/models") else body),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong outside its streams."""

CHOICE_FAULTS: tuple[Fault, ...] = (
    # Both ways, so that each choice still has one role and one finish: it is the content that is wrong.
    Fault(
        name="choices-swapped",
        breaks="chat.stream.isolation",
        frames=each(at("choices[].index", lambda index: 1 - index)),
        scripts=("choices/text",),
    ),
    Fault(
        name="stream-has-one-choice-of-two",
        breaks="chat.stream.isolation",
        frames=each(lambda chunk: () if choice_of(chunk).get("index") else chunk),
        scripts=("choices/text", "choices/indexed", "choices/mixed", "choices/usage"),
    ),
    Fault(
        name="whole-one-choice-of-two",
        breaks="chat.whole.choices",
        whole=in_body(at("choices", lambda choices: choices[:1])),
    ),
    Fault(name="mode-set-up-ignored", breaks="mode.default", environ=_other_default),
    Fault(name="mode-not-echoed", breaks="mode.header", head=forgetting(MODE_HEADER)),
    Fault(name="unknown-mode-forgiven", breaks="mode.invalid", environ=_unknown_forgiven),
)
"""Each is the reference proxy with one thing wrong in its choices or modes."""
