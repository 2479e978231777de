"""A chat request: validated in the order of one table, then typed. Pure.

`rules` gives that table; the first rule that finds a fault answers. Headers come after it. Fields it does not
name are accepted and ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay_proxy.surfaces import chat_messages, chat_tools
from assay_proxy.surfaces.proxy_headers import wishes
from assay_proxy.surfaces.rules import (
    Body,
    Fault,
    Rule,
    boolean,
    first_fault,
    integer,
    mapping,
    number,
    optional,
    required,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay_proxy.conversation import Item, Tool
    from assay_proxy.settings import ArgumentsMode, OutputMode, StopPolicy


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatRequest:
    """What a client asked for; None where it said nothing.

    `tools` are those the backend may call. Without `calls` no call may reach the client. `legacy`: they were declared
    as functions, and are called so.
    """

    model: str
    items: tuple[Item, ...]
    tools: tuple[Tool, ...] = ()
    calls: bool = True
    legacy: bool = False
    n: int = 1
    stream: bool = False
    include_usage: bool = False
    stop_policy: StopPolicy | None = None
    output_mode: OutputMode | None = None
    arguments: ArgumentsMode | None = None
    schema: Mapping[str, Any] | None = None


def parse(body: Body, headers: Mapping[str, str], *, max_choices: int = 1) -> ChatRequest:
    """The request, if it is acceptable; header names are lower-case, `max_choices` is the largest `n`.

    Raises:
        ApiError: 400, `param` naming the first field or header that is not.
    """
    first_fault(rules(max_choices), body)
    wanted = wishes(headers, parallel=body.get("parallel_tool_calls"))
    options = body.get("stream_options") or {}
    return ChatRequest(
        model=body["model"],
        items=tuple(chat_messages.items(body["messages"])),
        tools=tuple(chat_tools.offered(body)),
        calls=chat_tools.allowed(body),
        legacy=chat_tools.legacy(body),
        n=body.get("n") or 1,
        stream=bool(body.get("stream")),
        include_usage=bool(options.get("include_usage")),
        stop_policy=wanted.stop_policy,
        output_mode=wanted.output_mode,
        arguments=wanted.arguments,
        schema=_schema(body),
    )


def _stream_options(body: Body) -> Iterator[Fault]:
    options = body.get("stream_options")
    if options is None:
        return
    if not body.get("stream"):
        yield Fault("stream_options", "absent unless `stream` is true")
    elif mapping(options) or not isinstance(options.get("include_usage", False), bool | None):
        yield Fault("stream_options", "an object whose `include_usage` is true or false")


def _response_format(body: Body) -> Iterator[Fault]:
    match body.get("response_format"):
        case None | {"type": "text" | "json_object"}:
            return
        case {"type": "json_schema", "json_schema": {"name": str(), "schema": dict()}}:
            return
        case {"type": "json_schema"}:
            yield Fault("response_format", "a json_schema with a name and a schema")
        case _:
            yield Fault("response_format", "of type text, json_object or json_schema")


def rules(max_choices: int) -> tuple[Rule, ...]:
    """The table; `max_choices` is the largest `n`."""
    return (
        required("model", text),
        chat_messages.messages,
        optional("n", integer(1, max_choices)),
        optional("stream", boolean),
        _stream_options,
        optional("temperature", number(0, 2)),
        optional("top_p", number(0, 1)),
        optional("max_tokens", integer(1)),
        optional("max_completion_tokens", integer(1)),
        chat_tools.tools,
        chat_tools.functions,
        chat_tools.tool_choice,
        chat_tools.function_call,
        optional("parallel_tool_calls", boolean),
        _response_format,
    )


def _schema(body: Body) -> Mapping[str, Any] | None:
    match body.get("response_format"):
        case {"type": "json_schema", "json_schema": {"schema": schema}}:
            return dict(schema)
        case _:
            return None
