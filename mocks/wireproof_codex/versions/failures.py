"""How failures of the model's service look in the app-server: the message and `codexErrorInfo`, as measured.

`CAUSES_0_89` and `INCOMPLETE_0_89` are complete; each further table holds what looks different from its version on
(`changes` puts them in order). What a script can name as a cause are the keys of `CAUSES_0_89`. The service's own words
stand inside: those of the mock of it (`wireproof_mocks.upstream.failing`). Newer versions quote more of them, and spell
apostrophes curly.

Every version sends in one order: account/rateLimits/updated (if the service had begun to answer), thread/status/changed
with systemError, `error`, turn/completed with status failed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    ErrorInfo = str | Mapping[str, Mapping[str, int | str | None]]

URL = "http://127.0.0.1:9/v1/responses"  # real servers quote the address of their model's service


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureCause:
    """Why a turn failed."""

    message: str
    """`error.message`."""
    info: ErrorInfo = "other"
    """`error.codexErrorInfo`."""
    began: bool = True
    """The service had begun to answer."""
    fills_context: bool = False
    """The token count jumps to the size of the context window, so that the next turn sums up first."""
    retried: bool = False
    """Versions that reconnect try again instead of failing."""


def _refused(status: int, phrase: str, said: str, info: ErrorInfo = "other") -> FailureCause:
    return FailureCause(message=f"unexpected status {status} {phrase}: {said}, url: {URL}", info=info, began=False)


# 400, 429 and 500 are not here: every version has texts of its own for them.
_PHRASES = {401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 502: "Bad Gateway", 503: "Service Unavailable"}


def _body(status: int) -> str:
    error = f'"message": "the mock says {status}", "type": "mock_error", "code": "mock_{status}", "param": null'
    return f'{{"error": {{{error}}}}}'


def _quoted(status: int) -> FailureCause:
    return _refused(status, _PHRASES[status], _body(status))


def _broken(why: str) -> FailureCause:
    return FailureCause(message=f"stream disconnected before completion: {why}")


_FULL = FailureCause(
    message=(
        "Codex ran out of room in the model's context window. "
        "Start a new thread or clear earlier history before retrying."
    ),
    info="contextWindowExceeded",
    fills_context=True,
)
_CUT = _broken("stream closed before response.completed")
_UNREACHED_0_89 = replace(_broken(f"error sending request for url ({URL})"), began=False)

CAUSES_0_89: Mapping[str, FailureCause] = {
    "http-400": FailureCause(message=_body(400), began=False),  # the body as it is, in every version
    # 0.89.0 does not see what this is, so the next turn sums nothing up; 0.169.0 does.
    "http-400-context": FailureCause(
        message=(
            '{"error": {"message": "Your input exceeds the context window of this model. Please adjust your input and '
            'try again.", "type": "invalid_request_error", "code": "context_length_exceeded", "param": "input"}}'
        ),
        began=False,
    ),
    "http-401": FailureCause(message="unexpected status 401 Unauthorized: ", began=False),  # the body is lost
    "http-403": _quoted(403),
    "http-404": _quoted(404),
    "http-429": FailureCause(
        message="exceeded retry limit, last status: 429 Too Many Requests",
        info={"responseTooManyFailedAttempts": {"httpStatusCode": 429}},
        began=False,
    ),
    "http-500": FailureCause(
        message="We're currently experiencing high demand, which may cause temporary errors.",
        info="internalServerError",
        began=False,
    ),
    "http-502": _quoted(502),
    "http-503": _quoted(503),
    "connection": _UNREACHED_0_89,
    "no-network": replace(_UNREACHED_0_89, retried=True),  # before 0.150.0 the same as a refused connection
    "context-window": _FULL,
    # The hour is that of the recording, here and below.
    "usage-limit": FailureCause(
        message=(
            "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing), "
            "visit https://chatgpt.com/codex/settings/usage to purchase more credits or try again at 9:49 PM."
        ),
        info="usageLimitExceeded",
    ),
    "quota": FailureCause(message="Quota exceeded. Check your plan and billing details.", info="usageLimitExceeded"),
    "rate-limit": _broken("Rate limit reached for the mock. Please try again in 1s."),
    "overloaded": _broken("Selected model is at capacity"),  # known as such from 0.100.0 on
    "invalid-prompt": FailureCause(message="Invalid prompt: flagged"),
    "server-error": _broken("mock failure"),
    "cut": _CUT,
    "idle": _broken("idle timeout waiting for SSE"),
    "missing-key": FailureCause(message="Missing environment variable: `MOCK_API_KEY`.", began=False),
}

# From here on the service's message alone is quoted, no longer its whole body.
CAUSES_0_95: Mapping[str, FailureCause] = {
    f"http-{status}": _refused(status, phrase, f"the mock says {status}") for status, phrase in _PHRASES.items()
}

# What was any broken stream before has a message and a word of its own.
CAUSES_0_97: Mapping[str, FailureCause] = {
    "usage-limit": replace(
        CAUSES_0_89["usage-limit"],
        message=CAUSES_0_89["usage-limit"].message.replace("openai.com/chatgpt/pricing", "chatgpt.com/explore/pro"),
    ),
}

CAUSES_0_100: Mapping[str, FailureCause] = {
    "overloaded": FailureCause(
        message="Selected model is at capacity. Please try a different model.",
        info="serverOverloaded",
    ),
}


def _curly(cause: FailureCause, hour: str = "") -> FailureCause:
    """With a curly apostrophe, and another hour."""
    return replace(cause, message=cause.message.replace("'", "\u2019").replace("9:49 PM", hour))


CAUSES_0_155: Mapping[str, FailureCause] = {
    "http-500": _curly(CAUSES_0_89["http-500"]),
    "usage-limit": _curly(CAUSES_0_97["usage-limit"], "9:52 PM"),
}

_UNREACHED_0_160 = FailureCause(
    message="Connection failed: error sending request",
    info={"httpConnectionFailed": {"httpStatusCode": None}},
    began=False,
)

CAUSES_0_160: Mapping[str, FailureCause] = {
    **{
        f"http-{status}": _refused(
            status, phrase, f"the mock says {status}", {"httpConnectionFailed": {"httpStatusCode": status}}
        )
        for status, phrase in _PHRASES.items()
    },
    "http-500": CAUSES_0_155["http-500"],
    "connection": _UNREACHED_0_160,
    "no-network": replace(_UNREACHED_0_160, retried=True),
    "rate-limit": FailureCause(
        message="rate limit exceeded: Rate limit reached for the mock. Please try again in 1s.",
        info="rateLimitExceeded",
    ),
}

CAUSES_0_161: Mapping[str, FailureCause] = {
    "usage-limit": replace(
        CAUSES_0_155["usage-limit"],
        message=CAUSES_0_155["usage-limit"].message.replace("chatgpt.com/codex/settings", "chatgpt.com/settings"),
    ),
}

# An HTTP 400 that names the context is now the same as running out of it after the answer has begun.
CAUSES_0_169: Mapping[str, FailureCause] = {"http-400-context": replace(_FULL, began=False)}

# The model left its answer incomplete: its text came as an item, and yet the turn fails. The oldest versions do not
# read the reason, and report a stream that was cut.
INCOMPLETE_0_89: Mapping[str, FailureCause] = {"length": _CUT, "content_filter": _CUT}

INCOMPLETE_0_100: Mapping[str, FailureCause] = {
    "length": _broken("Incomplete response returned, reason: max_output_tokens"),
    "content_filter": _broken("Incomplete response returned, reason: content_filter"),  # in 0.169.0 as well
}

INCOMPLETE_0_163: Mapping[str, FailureCause] = {
    "length": FailureCause(message="Incomplete response returned, reason: max_output_tokens"),
}

# Measured on 0.169.0 for 195 seconds; a client can only interrupt such a turn.
RECONNECTS = (5.0, 10.0, 20.0, 40.0, 60.0)
"""Seconds that a version that reconnects waits after each try; after any further one as long as the last."""
