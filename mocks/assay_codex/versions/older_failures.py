"""How failures looked in versions before: each table is the next one, but for what was told otherwise until then.

Versions took the service at its word less often the older they are, spelled apostrophes straight, and told an answer
that was cut off as a stream that was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay_codex.versions.failures import CAUSES, INCOMPLETE, URL, Cause

if TYPE_CHECKING:
    from collections.abc import Mapping

_PHRASES = {401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 502: "Bad Gateway", 503: "Service Unavailable"}


def _http(status: int, told: str) -> Cause:
    return Cause(message=f"unexpected status {status} {_PHRASES[status]}: {told}, url: {URL}", began=False)


def _body(status: int) -> str:
    told = f'"message": "the mock says {status}", "type": "mock_error", "code": "mock_{status}", "param": null'
    return f'{{"error": {{{told}}}}}'


CAUSES_0_160: Mapping[str, Cause] = {
    **CAUSES,
    "http-400-context": Cause(
        message=(
            '{"error": {"message": "Your input exceeds the context window of this model. Please adjust your input and '
            'try again.", "type": "invalid_request_error", "code": "context_length_exceeded", "param": "input"}}'
        ),
        began=False,
    ),
}

_UNREACHED = Cause(
    message=f"stream disconnected before completion: error sending request for url ({URL})",
    began=False,
)

CAUSES_0_100: Mapping[str, Cause] = {
    **CAUSES_0_160,
    **{f"http-{status}": _http(status, f"the mock says {status}") for status in _PHRASES},
    "http-500": Cause(
        message="We're currently experiencing high demand, which may cause temporary errors.",
        info="internalServerError",
        began=False,
    ),
    "connection": _UNREACHED,
    "no-network": replace(_UNREACHED, retried=True),
    "usage-limit": Cause(
        message=(
            "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing), "
            "visit https://chatgpt.com/codex/settings/usage to purchase more credits or try again at 9:49 PM."
        ),
        info="usageLimitExceeded",
    ),
    "rate-limit": Cause(
        message="stream disconnected before completion: Rate limit reached for the mock. Please try again in 1s.",
    ),
}

CAUSES_0_95: Mapping[str, Cause] = {
    **CAUSES_0_100,
    "overloaded": Cause(message="stream disconnected before completion: Selected model is at capacity"),
}

CAUSES_0_89: Mapping[str, Cause] = {
    **CAUSES_0_95,
    **{f"http-{status}": _http(status, _body(status)) for status in _PHRASES},
    "http-401": Cause(message="unexpected status 401 Unauthorized: ", began=False),
}

INCOMPLETE_0_100: Mapping[str, Cause] = {
    reason: Cause(message=f"stream disconnected before completion: Incomplete response returned, reason: {told}")
    for reason, told in {"length": "max_output_tokens", "content_filter": "content_filter"}.items()
}

INCOMPLETE_0_89: Mapping[str, Cause] = dict.fromkeys(INCOMPLETE, CAUSES["cut"])
