"""The `message` object, its usage, and why it stopped. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_surfaces.events import ChoiceFinished, UsageReported
    from wireproof_surfaces.surfaces.json_text import Json

_REASONS: Mapping[str, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageHead:
    """What is the same in a message's stream and its whole form."""

    id: str
    model: str
    prompt_bytes: Callable[[], int] = int
    """For estimates of usage, and asked for only where there is no other."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The backend's name of a tool → the client's, of those that differ."""
    thoughts_shown: bool = True
    """Whether blocks of thinking have their texts."""


def message(head: MessageHead, usage: Json, *, content: Sequence[Json] = (), stop: Json | None = None) -> Json:
    """The object; `stop` are its members that say why it stopped, None while it has not."""
    return {
        "id": head.id,
        "type": "message",
        "role": "assistant",
        "model": head.model,
        "content": list(content),
        **(stop or {"stop_reason": None, "stop_sequence": None}),
        "usage": usage,
    }


def stopped(finished: ChoiceFinished) -> Json:
    """The members that say why a message stopped."""
    if finished.stop is not None and finished.reason == "stop":
        return {"stop_reason": "stop_sequence", "stop_sequence": finished.stop}
    reason: Json = {"stop_reason": _REASONS[finished.reason], "stop_sequence": None}
    if finished.reason == "content_filter":
        reason["stop_details"] = {"type": "refusal", "category": None, "explanation": None}
    return reason


def usage_object(usage: UsageReported) -> Json:
    """`usage`: of the tokens of the request those that came from the cache are counted apart."""
    counts: Json = {
        "input_tokens": max(0, usage.prompt - usage.cached),
        # No backend here reports what was written to a cache.
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.completion,
    }
    if usage.reasoning:
        counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return counts


def begun_usage(usage: UsageReported) -> Json:
    """`usage` of a message that has just begun."""
    # One token, as the service has it: the first is there when a message begins.
    return {**usage_object(replace(usage, reasoning=0)), "output_tokens": 1}
