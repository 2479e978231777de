"""The `response` object: what was asked for, what was answered, and how that ended. Pure.

Every member that OpenAI's type requires is there, in progress and at the end; `usage` only at the end.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from wireproof_surfaces.events import FailureReason
from wireproof_surfaces.surfaces.chat_dialect import CallFormat
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_surfaces.events import FinishReason, UsageReported
    from wireproof_surfaces.surfaces.json_text import Json
    from wireproof_surfaces.surfaces.responses_tools import Spaces

Status = Literal["in_progress", "completed", "incomplete", "failed"]

TOKEN_BYTES = 24
"""The bytes of the token, in hex, that a response's id and those of its items share."""

INCOMPLETE: Mapping[str, str] = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Finish reason → why the response is incomplete; any other finish completes it."""

CODES: Mapping[FailureReason, str] = {
    FailureReason.RATE_LIMITED: "rate_limit_exceeded",
    FailureReason.QUOTA: "rate_limit_exceeded",
    FailureReason.BUSY: "rate_limit_exceeded",
    FailureReason.CONTEXT: "invalid_prompt",
    FailureReason.REJECTED: "invalid_prompt",
    FailureReason.TOOLS_REJECTED: "invalid_prompt",
    FailureReason.IMAGES_REJECTED: "invalid_image_url",
}
"""Cause → the code of a failed response, of those that are published; any other cause is a server_error."""


@value(frozen=True, kw_only=True, slots=True)
class ResponseHead:
    """What is the same in a response's stream and its whole form."""

    token: str
    created: int
    model: str
    echo: Mapping[str, Any] = field(default_factory=dict)
    """The request's parameters as the response repeats them."""
    now: Callable[[], float] | None = None
    """The time, in epoch seconds; None: an answer ends when it was created."""
    prompt_bytes: Callable[[], int] = int
    """For estimates of usage, and asked for only where there is no other."""
    call_format: CallFormat = field(default_factory=CallFormat)
    strict: frozenset[str] | None = None
    """The names of the tools that may be called: any other call fails the response. None: all may."""
    spaces: Spaces = field(default_factory=dict)
    """The functions in namespaces."""
    logprobs: Callable[[Sequence[str]], list[Json]] | None = None
    """What is reported of the tokens of a text, each of its pieces a token; None: nothing."""
    output_at_end: bool = True
    """Whether the last event of a stream repeats the output."""

    @property
    def id(self) -> str:
        """The response's id."""
        return f"resp_{self.token}"

    def completed(self) -> int:
        """The time of an answer that ends now, in epoch seconds."""
        # Clocks are set back at times, and no answer is complete before it was created.
        return max(self.created, int(self.now())) if self.now else self.created


def response_of(item_id: str) -> str:
    """The id of the response that an item with this id is of."""
    return f"resp_{item_id.partition('_')[2][: 2 * TOKEN_BYTES]}"


def response(
    head: ResponseHead,
    status: Status,
    *,
    output: Sequence[Json] = (),
    usage: UsageReported | None = None,
    error: Json | None = None,
    reason: FinishReason | None = None,
) -> Json:
    """The object; `error` says why it failed, `reason` why it is incomplete."""
    return {
        "id": head.id,
        "object": "response",
        "created_at": head.created,
        # Only of an answer that is whole: a failure or a limit completes none.
        "completed_at": head.completed() if status == "completed" else None,
        "status": status,
        "background": False,
        "error": error,
        "incomplete_details": {"reason": INCOMPLETE[reason]} if reason else None,
        "model": head.model,
        "output": list(output),
        **head.echo,
        # Null until the response has ended.
        "usage": usage_object(usage) if usage else None,
    }


def usage_object(usage: UsageReported) -> Json:
    """OpenAI's `usage` of a response; the total is the sum."""
    return {
        "input_tokens": usage.prompt,
        # OpenAI's type requires both counts; no backend here reports what was written to a cache.
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt + usage.completion,
    }
