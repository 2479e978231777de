"""A chat request: validated in the order of one table, then typed. Pure.

`_rules` gives that table; the first rule that finds a fault answers. Headers come after it. Fields it does not
name are accepted and ignored.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.surfaces import chat_messages, chat_tools
from wireproof_surfaces.surfaces.chat_dialect import FormatOptions, format_options
from wireproof_surfaces.surfaces.rules import (
    SAMPLING,
    Body,
    Rule,
    boolean,
    fault,
    first_fault,
    integer,
    optional,
    required,
    stream_options,
    text,
    where,
)
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.conversation import Item, Tool


ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
"""The schema of `json_object`."""


@value(frozen=True, kw_only=True, slots=True)
class ChatRequest:
    """What a client asked for; None where it said nothing."""

    model: str
    items: tuple[Item, ...]
    tools: tuple[Tool, ...] = ()
    """The tools that the backend may call."""
    calls: bool = True
    """Whether calls may reach the client at all."""
    forced: tuple[str, ...] = ()
    """The tools of which one must be called; () where none need be."""
    legacy: bool = False
    """Whether the tools were declared as `functions`, and are called by `function_call`."""
    n: int = 1
    stream: bool = False
    include_usage: bool = False
    options: FormatOptions = field(default_factory=FormatOptions)
    schema: Mapping[str, Any] | None = None
    """The JSON schema that the text must match."""


def parse(body: Body, headers: Mapping[str, str], *, max_choices: int = 1, full: bool = False) -> ChatRequest:
    """The request, if it is acceptable; header names are lower-case, `max_choices` is the largest `n`.

    `full`: whether what answers can do what Codex cannot: call custom tools, say any JSON object (`json_object`), and
    take files.

    Raises:
        ApiError: 400, `param` naming the first field or header that is not.
    """
    # Fields before headers (contract §3, param.proxy-headers).
    first_fault(_rules(max_choices, full=full), body)
    options = format_options(headers, parallel=body.get("parallel_tool_calls"))
    stream_options = body.get("stream_options") or {}
    request = ChatRequest(
        model=body["model"],
        items=tuple(chat_messages.items(body["messages"])),
        n=body.get("n") or 1,
        stream=bool(body.get("stream")),
        include_usage=bool(stream_options.get("include_usage")),
        options=options,
        schema=schema_of(_flat(body.get("response_format"))),
    )
    if body.keys().isdisjoint(chat_tools.FIELDS):
        return request
    choice, declared = chat_tools.choice(body), chat_tools.declared(body)
    return replace(
        request,
        tools=choice.offered(declared),
        calls=choice.calls,
        forced=choice.demanded(declared),
        legacy=chat_tools.legacy(body),
    )


def _with_include_usage(options: object) -> str | None:
    right = isinstance(options, dict) and isinstance(options.get("include_usage", False), bool | None)
    return None if right else "an object whose `include_usage` is true or false"


def _response_format(body: Body, *, full: bool) -> None:
    return text_format(_flat(body.get("response_format")), "response_format", full=full)


def _flat(asked: object) -> object:
    """A `response_format` as Responses have it, whose schema stands in no member of its own."""
    if not isinstance(asked, dict) or asked.get("type") != "json_schema":
        return asked
    declared = asked.get("json_schema")
    return {**(declared if isinstance(declared, dict) else {}), "type": "json_schema"}


def text_format(asked: object, param: str, *, full: bool) -> None:
    """The rule of the format that the text must have, by the name of its parameter; `full` as for `parse`."""
    typed = "of type text, json_object or json_schema" if full else "of type text or json_schema"
    match asked:
        case None | {"type": "text"} | {"type": "json_schema", "name": str(), "schema": dict()}:
            return
        case {"type": "json_schema"}:
            raise fault(param, "a json_schema with a name and a schema")
        case {"type": "json_object"} if full:
            return
        case {"type": "json_object"}:
            # Codex has schemas alone, and accepting what is then ignored would be worse (turn.structured-output).
            raise fault(param, f"{typed}: the backend has no mode for any JSON object")
        case _:
            raise fault(param, typed)


def schema_of(asked: object) -> Mapping[str, Any] | None:
    """The JSON schema that an acceptable format asks for; None: it asks for none."""
    match asked:
        case {"type": "json_schema", "schema": schema}:
            return dict(schema)
        case {"type": "json_object"}:
            return ANY_OBJECT
        case _:
            return None


@cache
def _rules(max_choices: int, *, full: bool = False) -> tuple[Rule, ...]:
    """The table; the arguments are those of `parse`."""
    # The order is the contract's (§3): of several faults the first in the table is the answer.
    return (
        required("model", text),
        partial(chat_messages.messages, files=full),
        optional("n", integer(1, max_choices)),
        optional("stream", boolean),
        stream_options(_with_include_usage),
        *SAMPLING,
        optional("max_tokens", integer(1)),
        optional("max_completion_tokens", integer(1)),
        where(("tools",), partial(chat_tools.tools, custom=full)),
        where(("functions",), chat_tools.functions),
        where(("tool_choice",), chat_tools.tool_choice),
        where(("function_call",), chat_tools.function_call),
        optional("parallel_tool_calls", boolean),
        where(("response_format",), partial(_response_format, full=full)),
    )
