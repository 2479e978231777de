"""Whether and how the model is to think: what is acceptable, and what it means. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.messages.faults import RequestFault, integer, listed, members, missing, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TYPES = ("enabled", "adaptive", "disabled", "between_tools")
DISPLAYS = ("summarized", "omitted")
LEAST = 1024
"""Tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Thinking:
    """What a request asks for."""

    asked: bool = False
    """Whether the model is to think before it answers; else it may."""
    shown: bool = True
    """Whether a block of thinking has its text, or its signature alone."""


def thinking(body: Mapping[str, Any]) -> Iterator[RequestFault]:
    """The rule of `thinking`, in a body whose other fields are acceptable."""
    sent = body.get("thinking")
    if sent is None:
        return
    if not isinstance(sent, dict):
        yield RequestFault("thinking", "Input should be a valid dictionary")
        return
    kind = sent.get("type")
    if kind is None:
        yield missing("thinking.type")
    if kind not in TYPES:
        yield RequestFault("thinking.type", f"Input should be {listed(TYPES)}")
    required = {"budget_tokens": integer(LEAST)} if kind == "enabled" else {}
    yield from members(sent, f"thinking.{kind}", required, {"display": word(*DISPLAYS)})
    most = body.get("max_tokens")
    if kind == "enabled" and most is not None and most <= sent["budget_tokens"]:
        yield RequestFault("max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`.", whole=True)
    if kind == "enabled" and (body.get("tool_choice") or {}).get("type") in {"any", "tool"}:
        yield RequestFault("tool_choice", "Thinking may not be enabled when tool_choice forces tool use.", whole=True)


def thinking_of(body: Mapping[str, Any]) -> Thinking:
    """What an acceptable body asks for."""
    sent = body.get("thinking") or {}
    # Not adaptive: that leaves it to the model, and Claude Code asks for it always.
    return Thinking(asked=sent.get("type") == "enabled", shown=sent.get("display") != "omitted")
