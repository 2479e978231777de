"""A Messages request: validated in the order of one table, then typed. Pure.

Two versions of the API are served, which the header `anthropic-version` names; they differ in what they refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.errors import INVALID_PARAM, ApiError
from wireproof_surfaces.messages import messages_input, pairing, tool_rules
from wireproof_surfaces.messages.faults import EXTRA, RequestFault, first, missing, some_string
from wireproof_surfaces.messages.field_rules import FIELDS, KNOWN
from wireproof_surfaces.messages.thinking import Thinking, thinking_of
from wireproof_surfaces.messages.thinking import thinking as thinking_rule
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof_surfaces.conversation import Item, Tool
    from wireproof_surfaces.messages.tool_rules import ToolChoice

VERSIONS = ("2023-01-01", "2023-06-01", "2026-10-21")
NEWEST = VERSIONS[-1]
SAMPLING = ("temperature", "top_p", "top_k")


@dataclass(frozen=True, kw_only=True, slots=True)
class MessagesService:
    """What a service does with requests about which services differ; the defaults are a gateway's."""

    strict: bool = False
    """Whether it refuses what the API refuses and gateways take: no version, unknown fields, signatures that do not
    fit."""
    prefill: bool = False
    """Whether a last message of the assistant is taken as the beginning of the answer."""
    threads: bool = True
    """Whether conversations are held; else they are refused so that the official tool runners go on without."""


@value(frozen=True, kw_only=True, slots=True)
class MessagesRequest:
    """What a client asked for; None where it said nothing."""

    model: str
    items: tuple[Item, ...]
    tools: tuple[Tool, ...] = ()
    """The tools that it declares."""
    choice: ToolChoice | None = None
    stops: tuple[str, ...] = ()
    """The texts at which the answer is to end."""
    stream: bool = False
    thinking: Thinking = Thinking()
    schema: Mapping[str, Any] | None = None
    """The JSON schema that the text must match."""
    keeps: bool = False
    """Whether the conversation is to be held as a thread."""
    previous: str | None = None
    """The id of the answer that the request continues; its messages are then those behind that answer."""
    body: Mapping[str, Any]
    """As it came, for rules that need what a thread holds."""


def parse(
    body: Mapping[str, Any], headers: Mapping[str, str], service: MessagesService, *, counts: bool = False
) -> MessagesRequest:
    """The request, if it is acceptable; header names are lower-case.

    `counts`: whether it only asks for the count of its tokens, and so needs no limit.

    Raises:
        ApiError: 400, naming the first header or field that is not.
    """
    version = _version(headers, service)
    first(_faults(body, service, version=version, counts=counts))
    thread = body.get("thread") or {}
    if thread and not service.threads:
        raise _no_threads()
    first(_conversation(body, service, version))
    return MessagesRequest(
        model=body["model"],
        items=messages_input.items(body),
        tools=tool_rules.declared(body),
        choice=tool_rules.chosen(body),
        stops=tuple(body.get("stop_sequences") or ()),
        stream=bool(body.get("stream")),
        thinking=thinking_of(body),
        schema=((body.get("output_config") or {}).get("format") or body.get("output_format") or {}).get("schema"),
        keeps=bool(thread),
        previous=thread.get("previous_message_id"),
        body=body,
    )


def _version(headers: Mapping[str, str], service: MessagesService) -> str:
    version = headers.get("anthropic-version")
    if service.strict and not version:
        raise ApiError(INVALID_PARAM, message="anthropic-version: header is required", param="anthropic-version")
    if service.strict and version not in VERSIONS:
        message = f'anthropic-version: "{version}" is not a valid version'
        raise ApiError(INVALID_PARAM, message=message, param="anthropic-version")
    return version or VERSIONS[1]


def _faults(body: Mapping[str, Any], service: MessagesService, *, version: str, counts: bool) -> Iterator[RequestFault]:
    """What is wrong with the fields, each by itself, in the order in which it is said."""
    if body.get("model") is None:
        yield missing("model")
    yield from some_string(body["model"], "model")
    yield from messages_input.messages(body.get("messages"))
    if body.get("max_tokens") is None and not counts:
        yield missing("max_tokens")
    for name, rule in FIELDS.items():
        if body.get(name) is not None:
            yield from rule(body[name], name)
    if body.get("tools") is not None:
        yield from tool_rules.tools(body["tools"])
    if body.get("tool_choice") is not None:
        yield from tool_rules.choice(body["tool_choice"])
    yield from thinking_rule(body)
    yield from _sampling(body, version)
    if service.strict:
        yield from (RequestFault(name, EXTRA) for name in body if name not in KNOWN)


def _sampling(body: Mapping[str, Any], version: str) -> Iterator[RequestFault]:
    """How the model chooses its words: since the newest version that is its own matter, whatever the value."""
    for name in SAMPLING:
        if name in body and version == NEWEST:
            yield RequestFault(name, EXTRA)
    thinks = (body.get("thinking") or {}).get("type") in {"enabled", "adaptive"}
    if thinks and body.get("temperature") not in {None, 1}:
        text = "`temperature` may only be set to 1 when thinking is enabled"
        yield RequestFault("temperature", text, whole=True)


def _conversation(body: Mapping[str, Any], service: MessagesService, version: str) -> Iterator[RequestFault]:
    """What is wrong with fields together; of a thread, what it holds is looked at later."""
    sent, goes_on = body["messages"], (body.get("thread") or {}).get("type") == "continue"
    choice = tool_rules.chosen(body)
    if choice is not None and not (goes_on and not body.get("tools")):
        yield from choice.faults(tool_rules.declared(body))
    if version == NEWEST:
        yield from messages_input.newest(sent)
    yield from messages_input.cached(body)
    yield from messages_input.ending(sent, prefill=service.prefill)
    if not goes_on:
        yield from pairing.paired(sent)
    if service.strict:
        yield from messages_input.signed(sent)


def _no_threads() -> ApiError:
    # As the official tool runners know it: they go on with the whole history in each request.
    return ApiError(
        INVALID_PARAM,
        message="thread: threads are not held here: send the whole conversation",
        param="thread",
        details={"error_code": "thread_unsupported_request", "unsupported": ["thread"]},
    )
