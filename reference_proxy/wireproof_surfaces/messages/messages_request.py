"""A Messages request: validated in the order of one table, then typed. Pure.

Two versions of the API are served, which the header `anthropic-version` names; they differ in what they refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.errors import INVALID_PARAM, ApiError
from wireproof_surfaces.messages import messages_input, tool_rules
from wireproof_surfaces.messages.content_blocks import cache_control
from wireproof_surfaces.messages.error_form import (
    EXTRA,
    Rule,
    array,
    boolean,
    each,
    fault,
    fault_of_several,
    integer,
    mapping,
    members,
    missing,
    number,
    one_of,
    some_string,
    string,
    word,
)
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.conversation import Item, Tool, ToolChoice

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Thinking:
    """What a request asks for."""

    asked: bool = False
    """Whether the model is to think before it answers; else it may."""
    shown: bool = True
    """Whether a block of thinking has its text, or its signature alone."""


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
    _check_fields(body, service, version, counts=counts)
    thread, thinking = body.get("thread") or {}, body.get("thinking") or {}
    if thread and not service.threads:
        raise _no_threads()
    _check_conversation(body, service, version)
    return MessagesRequest(
        model=body["model"],
        items=messages_input.items(body),
        tools=tool_rules.declared(body),
        choice=tool_rules.chosen(body),
        stops=tuple(body.get("stop_sequences") or ()),
        stream=bool(body.get("stream")),
        # Not adaptive: that leaves it to the model, and Claude Code asks for it always.
        thinking=Thinking(asked=thinking.get("type") == "enabled", shown=thinking.get("display") != "omitted"),
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


def _stop(sent: object, path: str) -> None:
    if not string(sent, path).strip():
        raise fault(path.rpartition(".")[0], "each stop sequence must contain non-whitespace")


def _metadata(sent: object, path: str) -> None:
    for name in _USER(sent, path):
        if name != "user_id":
            raise fault(f"{path}.{name}", EXTRA)


def _thread(sent: object, path: str) -> None:
    if _THREAD(sent, path)["type"] == "continue":
        _CONTINUED(sent, f"{path}.continue")


def _servers(sent: object, path: str) -> None:
    array(sent, path)
    if sent:
        # To answer as if they were there would be worse.
        raise fault(path, "servers of tools are not reached from here")


_USER = members({}, {"user_id": string})
_THREAD = members({"type": word("create", "continue")}, {})
_CONTINUED = members({"previous_message_id": some_string}, {})
_FORMAT = members({"type": word("json_schema"), "schema": mapping}, {})
_SHOWN: Mapping[str, Rule] = {"display": word("summarized", "omitted")}
_FIELDS: Mapping[str, Rule] = {
    # 0 is legal: it fills the cache, and there is no answer.
    "max_tokens": integer(0),
    "system": messages_input.system,
    "stream": boolean,
    "stop_sequences": each(_stop),
    "temperature": number(0, 1),
    "top_p": number(0, 1),
    "top_k": integer(0),
    "output_config": members({}, {"effort": word("low", "medium", "high", "xhigh", "max"), "format": _FORMAT}),
    "output_format": _FORMAT,
    "metadata": _metadata,
    "service_tier": word("auto", "standard_only"),
    "cache_control": cache_control,
    "thread": _thread,
    "mcp_servers": _servers,
    "tools": tool_rules.tools,
    "tool_choice": tool_rules.choice,
    "thinking": one_of(
        {
            "enabled": members({"budget_tokens": integer(1024)}, _SHOWN),
            "adaptive": members({}, _SHOWN),
            "disabled": members({}, _SHOWN),
            "between_tools": members({}, _SHOWN),
        }
    ),
}
"""Field → the rule of its value by itself, in the order in which it is said what is wrong."""
_KNOWN = frozenset(
    {
        *_FIELDS,
        "model",
        "messages",
        # Taken and not looked at: what they ask for is the service's own matter.
        "container",
        "inference_geo",
        "speed",
        "diagnostics",
        "context_management",
        "compaction",
        "fallbacks",
    }
)
"""All fields of the API, those of its betas too."""


def _check_fields(body: Mapping[str, Any], service: MessagesService, version: str, *, counts: bool) -> None:
    """Refuse what is wrong with the fields, but for what is a matter of several messages."""
    if body.get("model") is None:
        raise missing("model")
    some_string(body["model"], "model")
    messages_input.messages(body.get("messages"))
    if body.get("max_tokens") is None and not counts:
        raise missing("max_tokens")
    for name, rule in _FIELDS.items():
        if body.get(name) is not None:
            rule(body[name], name)
    _check_thinking(body)
    # How the model chooses its words is since the newest version its own matter, whatever the value.
    for name in SAMPLING:
        if name in body and version == NEWEST:
            raise fault(name, EXTRA)
    thinks = (body.get("thinking") or {}).get("type") in {"enabled", "adaptive"}
    if thinks and body.get("temperature") not in {None, 1}:
        raise fault_of_several("`temperature` may only be set to 1 when thinking is enabled")
    for name in body if service.strict else ():
        if name not in _KNOWN:
            raise fault(name, EXTRA)


def _check_thinking(body: Mapping[str, Any]) -> None:
    sent, most = body.get("thinking") or {}, body.get("max_tokens")
    if sent.get("type") != "enabled":
        return
    if most is not None and most <= sent["budget_tokens"]:
        raise fault_of_several("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if (body.get("tool_choice") or {}).get("type") in {"any", "tool"}:
        raise fault_of_several("Thinking may not be enabled when tool_choice forces tool use.")


def _check_conversation(body: Mapping[str, Any], service: MessagesService, version: str) -> None:
    """Refuse what is wrong with fields together; of a thread, what it holds is looked at later."""
    sent, goes_on = body["messages"], (body.get("thread") or {}).get("type") == "continue"
    choice = tool_rules.chosen(body)
    if choice is not None and not (goes_on and not body.get("tools")):
        tool_rules.check(choice, tool_rules.declared(body))
    if version == NEWEST:
        messages_input.newest(sent)
    messages_input.cached(body)
    messages_input.ending(sent, prefill=service.prefill)
    if not goes_on:
        messages_input.paired(sent)
    if service.strict:
        messages_input.signed(sent)


def _no_threads() -> ApiError:
    # As the official tool runners know it: they go on with the whole history in each request.
    return ApiError(
        INVALID_PARAM,
        message="thread: threads are not held here: send the whole conversation",
        param="thread",
        details={"error_code": "thread_unsupported_request", "unsupported": ["thread"]},
    )
