"""How failures of the model's service look in the app-server: message and `codexErrorInfo`, as measured.

All causes are told in the same order: account/rateLimits/updated (if the service had begun to answer), thread status
systemError, `error`, turn/completed with status failed. Texts are those of 0.169.0 with the service's own words inside;
`older_failures` has those of the versions before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

ErrorInfo = str | Mapping[str, Mapping[str, int | str | None]]

URL = "http://127.0.0.1:9/v1/responses"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """Why a turn failed.

    `began`: the service had begun to answer. `fills_context`: the count jumps to the most. `retried`: versions that
    reconnect never tell it as a failure.
    """

    message: str
    info: ErrorInfo = "other"
    began: bool = True
    fills_context: bool = False
    retried: bool = False


def _http(status: int, phrase: str) -> Cause:
    return Cause(
        message=f"unexpected status {status} {phrase}: the mock says {status}, url: {URL}",
        info={"httpConnectionFailed": {"httpStatusCode": status}},
        began=False,
    )


_FULL = Cause(
    message=(
        "Codex ran out of room in the model's context window. "
        "Start a new thread or clear earlier history before retrying."
    ),
    info="contextWindowExceeded",
    began=False,
    fills_context=True,
)

_UNREACHED = Cause(
    message="Connection failed: error sending request",
    info={"httpConnectionFailed": {"httpStatusCode": None}},
    began=False,
)

CAUSES: Mapping[str, Cause] = {
    "http-400": Cause(
        message='{"error": {"message": "the mock says 400", "type": "mock_error", "code": "mock_400", "param": null}}',
        began=False,
    ),
    "http-400-context": _FULL,
    "http-401": _http(401, "Unauthorized"),
    "http-403": _http(403, "Forbidden"),
    "http-404": _http(404, "Not Found"),
    "http-429": Cause(
        message="exceeded retry limit, last status: 429 Too Many Requests",
        info={"responseTooManyFailedAttempts": {"httpStatusCode": 429}},
        began=False,
    ),
    "http-500": Cause(
        message="We\u2019re currently experiencing high demand, which may cause temporary errors.",
        info="internalServerError",
        began=False,
    ),
    "http-502": _http(502, "Bad Gateway"),
    "http-503": _http(503, "Service Unavailable"),
    "connection": _UNREACHED,
    "no-network": replace(_UNREACHED, retried=True),
    "context-window": replace(_FULL, began=True),
    "usage-limit": Cause(
        message=(
            "You\u2019ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), "
            "visit https://chatgpt.com/settings/usage to purchase more credits or try again at 9:52 PM."
        ),
        info="usageLimitExceeded",
    ),
    "quota": Cause(message="Quota exceeded. Check your plan and billing details.", info="usageLimitExceeded"),
    "rate-limit": Cause(
        message="rate limit exceeded: Rate limit reached for the mock. Please try again in 1s.",
        info="rateLimitExceeded",
    ),
    "overloaded": Cause(
        message="Selected model is at capacity. Please try a different model.",
        info="serverOverloaded",
    ),
    "invalid-prompt": Cause(message="Invalid prompt: flagged"),
    "server-error": Cause(message="stream disconnected before completion: mock failure"),
    "cut": Cause(message="stream disconnected before completion: stream closed before response.completed"),
    "idle": Cause(message="stream disconnected before completion: idle timeout waiting for SSE"),
    "missing-key": Cause(message="Missing environment variable: `MOCK_API_KEY`.", began=False),
}

RECONNECTS = (5.0, 10.0, 20.0, 40.0, 60.0)
"""How many seconds a server that reconnects waits after each try; after all further ones as long as the last."""

# An answer that the model did not complete: its text came as an item, yet the turn is told as failed.
INCOMPLETE: Mapping[str, Cause] = {
    "length": Cause(message="Incomplete response returned, reason: max_output_tokens"),
    "content_filter": Cause(
        message="stream disconnected before completion: Incomplete response returned, reason: content_filter",
    ),
}
