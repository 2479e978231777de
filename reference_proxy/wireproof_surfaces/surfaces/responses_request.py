"""A responses request: validated in the order of one table, then typed. Pure.

The first rule that finds a fault answers. Headers come after the table. Fields it does not name are accepted and
ignored; what the response repeats of a request is in its `echo`.
"""

from __future__ import annotations

from dataclasses import field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.surfaces import responses_input, responses_tools
from wireproof_surfaces.surfaces.chat_dialect import FormatOptions, format_options
from wireproof_surfaces.surfaces.chat_request import schema_of, text_format
from wireproof_surfaces.surfaces.rules import (
    SAMPLING,
    Body,
    Rule,
    boolean,
    first_fault,
    integer,
    mapping,
    optional,
    required,
    stream_options,
    text,
    where,
)
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_surfaces.conversation import Tool
    from wireproof_surfaces.surfaces.responses_tools import Spaces


@value(frozen=True, kw_only=True, slots=True)
class ResponsesRequest:
    """What a client asked for; None where it said nothing."""

    model: str
    given: str | Sequence[Mapping[str, Any]]
    """The input as the client sent it: its references are not resolved yet."""
    instructions: str | None = None
    previous: str | None = None
    """The id of the response that this one continues."""
    tools: tuple[Tool, ...] = ()
    """The tools that the backend may call."""
    spaces: Spaces = field(default_factory=dict)
    """Which of the tools are in a namespace."""
    forced: tuple[str, ...] = ()
    """The tools of which one must be called; () where none need be."""
    calls: bool = True
    """Whether calls may reach the client at all."""
    stream: bool = False
    store: bool = True
    output_at_end: bool = True
    """Whether the last event of the stream is to repeat the output."""
    schema: Mapping[str, Any] | None = None
    options: FormatOptions
    echo: Mapping[str, Any]
    """The parameters as the response repeats them."""


def parse(body: Body, headers: Mapping[str, str], *, full: bool = False) -> ResponsesRequest:
    """The request, if it is acceptable; header names are lower-case.

    `full`: whether what answers can do what Codex cannot: call custom tools, say any JSON object (`json_object`), and
    take files.

    Raises:
        ApiError: 400, `param` naming the first field or header that is not.
    """
    first_fault(_rules(full=full), body)
    choice, declared = responses_tools.choice(body, custom=full), responses_tools.declared(body, custom=full)
    return ResponsesRequest(
        model=body["model"],
        given=body["input"],
        instructions=body.get("instructions"),
        previous=body.get("previous_response_id"),
        tools=choice.offered(declared),
        spaces=responses_tools.spaces(body),
        forced=choice.demanded(declared),
        calls=choice.calls,
        stream=bool(body.get("stream")),
        # OpenAI's default is true.
        store=body.get("store") is not False,
        schema=schema_of((body.get("text") or {}).get("format")),
        options=format_options(headers, parallel=body.get("parallel_tool_calls")),
        echo=_echo(body),
    )


def _string(value: object) -> str | None:
    return None if isinstance(value, str) else "a string"


def _metadata(value: object) -> str | None:
    right = isinstance(value, dict) and all(isinstance(entry, str) for entry in value.values())
    return None if right else "an object whose values are strings"


def _conversation(_: object) -> str:
    # Refused, not ignored: the answer would lack what was said before.
    return "absent: conversations are not kept here; send previous_response_id or all items"


def _format(body: Body, *, full: bool) -> None:
    text_format((body.get("text") or {}).get("format"), "text.format", full=full)


@cache
def _rules(*, full: bool) -> tuple[Rule, ...]:
    """The table; `full` as for `parse`."""
    # The order is the contract's (§3); what it does not name stands last.
    return (
        required("model", text),
        partial(responses_input.given, files=full),
        optional("stream", boolean),
        stream_options(mapping),
        *SAMPLING,
        optional("max_output_tokens", integer(1)),
        where(("tools",), partial(responses_tools.tools, custom=full)),
        where(("tool_choice",), partial(responses_tools.tool_choice, custom=full)),
        optional("parallel_tool_calls", boolean),
        optional("text", mapping),
        where(("text",), partial(_format, full=full)),
        optional("instructions", _string),
        optional("previous_response_id", text),
        optional("conversation", _conversation),
        optional("store", boolean),
        optional("metadata", _metadata),
    )


def _echo(body: Body) -> dict[str, Any]:
    """What a response repeats, with OpenAI's defaults for absent fields; unknown values become null."""
    return {
        # Not sent on: no backend here takes a penalty, so the answer has none.
        "frequency_penalty": 0.0,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "max_tool_calls": _if(int, body.get("max_tool_calls")),
        "metadata": body.get("metadata") or {},
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "presence_penalty": 0.0,
        "previous_response_id": body.get("previous_response_id"),
        "prompt_cache_key": _if(str, body.get("prompt_cache_key")),
        "reasoning": _reasoning(body.get("reasoning")),
        "safety_identifier": _if(str, body.get("safety_identifier")),
        "service_tier": "default",
        "store": body.get("store") is not False,
        "temperature": _or(1.0, body.get("temperature")),
        "text": _text_config(body.get("text") or {}),
        "tool_choice": responses_tools.echoed_choice(body),
        "tools": responses_tools.echoed_tools(body),
        "top_logprobs": 0,
        "top_p": _or(1.0, body.get("top_p")),
        "truncation": "disabled",
        "user": _if(str, body.get("user")),
    }


# The published words: others are accepted, and not repeated.
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
SUMMARIES = ("auto", "concise", "detailed")
VERBOSITIES = ("low", "medium", "high")


def _reasoning(value: object) -> dict[str, Any]:
    fields = value if isinstance(value, dict) else {}
    effort, summary = fields.get("effort"), fields.get("summary")
    return {
        "effort": effort if effort in EFFORTS else None,
        "summary": summary if summary in SUMMARIES else None,
    }


def _text_config(value: Mapping[str, Any]) -> dict[str, Any]:
    verbosity = value.get("verbosity")
    known = {"verbosity": verbosity} if verbosity in VERBOSITIES else {}
    return {"format": value.get("format") or {"type": "text"}, **known}


def _if(kind: type, value: object) -> object:
    """The value, if it is of that kind."""
    # Python counts a bool as an int.
    return value if isinstance(value, kind) and not isinstance(value, bool) else None


def _or(default: float, value: object) -> object:
    return default if value is None else value
