"""Faults of Messages as a service: its routes, keys, versions, errors, counts of tokens and list of models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.fault import MESSAGES, Fault, fault_below
from wireproof_mocks.miniatures.heads import as_streams, forgetting, restated
from wireproof_mocks.miniatures.messages_input_faults import BAD_REQUEST, refused
from wireproof_mocks.miniatures.messages_rewriting import in_error
from wireproof_mocks.miniatures.rewriting import at, in_body, of_type, without

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.miniatures.fault import Environ, FaultHead, Json, SentRequest

KNOWN_BETAS = frozenset({
    "claude-code-20250219", "context-1m-2025-08-07", "context-management-2025-06-27", "effort-2025-11-24",
    "interleaved-thinking-2025-05-14", "message-threads-2026-08-12", "mid-conversation-system-2026-04-07",
    "prompt-caching-scope-2026-01-05", "thinking-token-count-2026-05-13", "token-counting-2024-11-01",
})  # fmt: skip
"""What Claude Code and the SDKs send."""
COUNTING = "/count_tokens"


# routes, keys, versions


def _lost_with_a_query(environ: Environ) -> None:
    # Claude Code's own requests, which have a row of their own, come with a query and with betas.
    if environ.get("QUERY_STRING") and "HTTP_ANTHROPIC_BETA" not in environ:
        environ["PATH_INFO"] = f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}"


def _no_header(name: str) -> Callable[[Environ], None]:
    """A header is not looked at."""

    def change(environ: Environ) -> None:
        environ.pop(name, None)

    return change


def _any_key(environ: Environ) -> None:
    environ.pop("HTTP_X_API_KEY", None)
    environ["HTTP_AUTHORIZATION"] = f"Bearer {environ['wireproof.key']}"


def _unknown_beta(_: Json, request: SentRequest) -> bool:
    sent = {one.strip() for one in request.headers.get("anthropic-beta", "").split(",")}
    return bool(sent - KNOWN_BETAS - {""})


# ids and errors


def _of_chat(body: Json) -> Json:
    error = body["error"]
    # What says that threads are not served is read for its details, by a row of its own.
    if "details" in error:
        return body
    return {"error": {"message": error["message"], "type": "invalid_request_error", "param": None, "code": None}}


def _detail(body: Json, _: SentRequest, head: FaultHead) -> Json:
    """As FastAPI refuses a body that lacks something."""
    lacks = head.code == BAD_REQUEST and body["error"]["message"].endswith("Field required")
    return {"detail": body["error"]["message"]} if lacks else body


def _one_type(body: Json, _: SentRequest, head: FaultHead) -> Json:
    return {**body, "error": {**body["error"], "type": "invalid_request_error"}} if head.code > BAD_REQUEST else body


# counts and models


def _not_found(body: Json, request: SentRequest, _: FaultHead) -> Json:
    error = {"type": "not_found_error", "message": "Not Found"}
    return {"type": "error", "error": error} if request.path.endswith(COUNTING) else body


def _asked_as_for_chat(environ: Environ) -> None:
    """Whoever asks for models gets the list that chat has."""
    if "/models" in environ["PATH_INFO"]:
        environ.pop("HTTP_ANTHROPIC_VERSION", None)
        key = environ.pop("HTTP_X_API_KEY", "")
        environ.setdefault("HTTP_AUTHORIZATION", f"Bearer {key}")


_fault = partial(fault_below, "messages.", dialects=(MESSAGES,))


MESSAGES_HTTP_FAULTS: tuple[Fault, ...] = (
    _fault("query-is-part-of-the-path", "route", environ=_lost_with_a_query),
    # Half of the clients send the one, half the other.
    _fault("x-api-key-not-looked-at", "auth", environ=_no_header("HTTP_X_API_KEY")),
    _fault("bearer-not-looked-at", "auth", environ=_no_header("HTTP_AUTHORIZATION")),
    _fault("any-key-for-messages", "auth", environ=_any_key),
    _fault("newer-version-refused", "version",
           instead=refused("anthropic-version: 2026-10-21 is not a valid version",
                           # Threads, which have a row of their own, are asked for in that version.
                           lambda asked, request: request.headers.get("anthropic-version") == "2026-10-21"
                           and "thread" not in asked)),
    _fault("betas-passed-on-and-refused", "version",
           instead=refused("Unexpected value(s) for the `anthropic-beta` header", _unknown_beta)),
    _fault("answers-without-request-id", "request-id", head=forgetting("request-id")),
    _fault("errors-without-request-id", "request-id", whole=in_body(of_type("error", without("request_id")))),
    _fault("errors-of-chat", "error.envelope", whole=in_body(of_type("error", _of_chat))),
    _fault("errors-of-one-type", "error.envelope", whole=in_error(_one_type)),
    _fault("refusals-as-detail", "error.envelope", whole=in_error(_detail)),
    _fault("refusals-as-streams", "error.parity", head=as_streams(BAD_REQUEST, BAD_REQUEST),
           salvage=lambda body: [body]),
    _fault("tokens-not-counted", "count-tokens", whole=_not_found,
           head=restated("404 Not Found", lambda _, request: request.path.endswith(COUNTING))),
    _fault("tokens-counted-hundredfold", "count-tokens", whole=in_body(at("input_tokens", lambda count: 100 * count))),
    _fault("bytes-counted-as-tokens", "count-tokens", whole=in_body(at("input_tokens", lambda count: 4 * count))),
    _fault("total-tokens-counted", "count-tokens",
           whole=in_body(lambda body: {"total_tokens": body["input_tokens"]} if "input_tokens" in body else body)),
    _fault("models-as-for-chat", "models", environ=_asked_as_for_chat),
    _fault("models-without-names-to-show", "models", whole=in_body(at("data[]", without("display_name")))),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in how it serves Messages."""
