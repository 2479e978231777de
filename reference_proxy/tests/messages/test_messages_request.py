"""Requests and their refusals, with the paths and the texts of the service."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_surfaces.conversation import Tool, ToolChoice
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.messages import tool_rules
from wireproof_surfaces.messages.messages_request import MessagesService, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

OLD, NEW = {"anthropic-version": "2023-06-01"}, {"anthropic-version": "2026-10-21"}
HI = {"role": "user", "content": "Hi"}
BODY: dict[str, Any] = {"model": "m", "max_tokens": 2000, "messages": [HI]}
TOOL = {"name": "f", "input_schema": {"type": "object"}}
CALL: dict[str, Any] = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
GATEWAY, API = MessagesService(), MessagesService(strict=True, prefill=True)


def said(*blocks: Any, role: str = "user") -> dict[str, Any]:
    return {"messages": [{"role": role, "content": list(blocks)}, *([HI] if role == "assistant" else [])]}


def tools(**changed: Any) -> dict[str, Any]:
    return {"tools": [{name: value for name, value in {**TOOL, **changed}.items() if value is not ...}]}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"model": ...}, "model: Field required"),
    ({"model": ""}, "model: String should have at least 1 character"),
    ({"model": 7}, "model: Input should be a valid string"),
    ({"messages": ...}, "messages: Field required"),
    ({"messages": "Hi"}, "messages: Input should be a valid list"),
    ({"messages": []}, "messages: at least one message is required"),
    ({"messages": ["Hi"]}, "messages.0: Input should be a valid dictionary"),
    ({"messages": [{"content": "Hi"}]}, "messages.0.role: Field required"),
    (
        {"messages": [{"role": "tool", "content": "Hi"}]},
        "messages.0.role: Input should be 'user', 'assistant' or 'system'",
    ),
    ({"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
    ({"messages": [{"role": "user", "content": 1}]}, "messages.0.content: Input should be a valid string or list"),
    ({"messages": [{"role": "user", "content": ""}]}, "messages.0: all messages must have non-empty content except"),
    ({"messages": [{"role": "user", "content": []}]}, "messages.0: all messages must have non-empty content except"),
    (said({"type": "text", "text": ""}), "messages: text content blocks must be non-empty"),
    (
        said({"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}),
        "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
    ),
    (said({"text": "x"}), "messages.0.content.0.type: Field required"),
    (said({"type": "text"}), "messages.0.content.0.text.text: Field required"),
    (said("x"), "messages.0.content.0: Input should be a valid dictionary"),
    (said({"type": "tool_use"}), "messages.0.content.0.type: Input should be 'text', 'image', 'document', "),
    (said({"type": ["text"]}), "messages.0.content.0.type: Input should be 'text', 'image', 'document', "),
    (said({"type": "image"}), "messages.0.content.0.image.source: Field required"),
    (
        said({"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "eA=="}}),
        "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', ",
    ),
    (said({"type": "image", "source": {"type": "file"}}), "messages.0.content.0.image.source.file: files are not"),
    (
        said({"type": "document", "source": {"type": "base64", "data": "eA=="}}),
        "messages.0.content.0.document.source.base64: documents are taken as text only",
    ),
    (said({"type": "server_tool_use"}, role="assistant"), "messages.0.content.0.server_tool_use: blocks of tools that"),
    (said({"type": "thinking", "thinking": "x"}, role="assistant"), "messages.0.content.0.thinking.signature: Field"),
    (
        said({"type": "tool_use", "id": "a.b", "name": "f", "input": {}}, role="assistant"),
        "messages.0.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    (
        said({"type": "tool_use", "id": "a", "name": "f", "input": "{}"}, role="assistant"),
        "messages.0.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    (said({**RESULT, "is_error": "no"}), "messages.0.content.0.tool_result.is_error: Input should be a valid boolean"),
    (
        said({**RESULT, "content": [{"type": "tool_result"}]}),
        "messages.0.content.0.tool_result.content.0.type: Input should be 'text', ",
    ),
    (said(RESULT), "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: c1."),
    ({"messages": [HI, CALL, HI]}, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately"),
    ({"messages": [HI, CALL, HI]}, "after: c1. Each `tool_use` block must have a corresponding `tool_result` block in"),
    (
        {"messages": [HI, {**CALL, "content": CALL["content"] * 2}, {"role": "user", "content": [RESULT]}]},
        "messages.1.content.1: `tool_use` ids must be unique",
    ),
    ({"max_tokens": ...}, "max_tokens: Field required"),
    ({"max_tokens": -1}, "max_tokens: Input should be greater than or equal to 0"),
    ({"max_tokens": True}, "max_tokens: Input should be a valid integer"),
    ({"system": 7}, "system: Input should be a valid string or list"),
    ({"system": [{"type": "text", "text": ""}]}, "system: text content blocks must be non-empty"),
    ({"stream": "yes"}, "stream: Input should be a valid boolean"),
    ({"stop_sequences": "x"}, "stop_sequences: Input should be a valid list"),
    ({"stop_sequences": ["x", " \n"]}, "stop_sequences: each stop sequence must contain non-whitespace"),
    ({"temperature": 1.1}, "temperature: Input should be less than or equal to 1"),
    ({"top_k": 0.5}, "top_k: Input should be a valid integer"),
    ({"metadata": {"user_id": 7}}, "metadata.user_id: Input should be a valid string"),
    ({"metadata": {"name": "x"}}, "metadata.name: Extra inputs are not permitted"),
    ({"service_tier": "fast"}, "service_tier: Input should be 'auto' or 'standard_only'"),
    (
        {"output_config": {"effort": "huge"}},
        "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or",
    ),
    ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema: Field required"),
    ({"thread": {"type": "fork"}}, "thread.type: Input should be 'create' or 'continue'"),
    ({"thread": {"type": "continue"}}, "thread.continue.previous_message_id: Field required"),
    ({"mcp_servers": [{"name": "x"}]}, "mcp_servers: servers of tools are not reached from here"),
    ({"tools": {}}, "tools: Input should be a valid list"),
    (tools(name=...), "tools.0.custom.name: Field required"),
    (tools(name="a.b"), "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    (tools(name="a" * 129), "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    (tools(input_schema=...), "tools.0.custom.input_schema: Field required"),
    (tools(input_schema={}), "tools.0.custom.input_schema.type: Field required"),
    (tools(input_schema={"type": "string"}), "tools.0.custom.input_schema.type: Input should be 'object'"),
    (tools(type="web_search_20260318"), "tools.0.type: Input should be 'custom': the tool 'web_search_20260318' is"),
    ({"tools": [TOOL, TOOL]}, "tools: Tool names must be unique."),
    ({"tool_choice": {"type": "auto"}}, "tool_choice may only be specified while providing tools."),
    ({"tool_choice": {"type": "auto"}, "tools": []}, "tool_choice may only be specified while providing tools."),
    ({"tools": [TOOL], "tool_choice": "auto"}, "tool_choice: Input should be a valid dictionary"),
    ({"tools": [TOOL], "tool_choice": {"type": "required"}}, "tool_choice.type: Input should be 'auto', 'any', 'tool'"),
    ({"tools": [TOOL], "tool_choice": {"type": "tool"}}, "tool_choice.tool.name: Field required"),
    ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "g"}}, "tool_choice: Tool 'g' not found in provided"),
    (
        {"thinking": {"type": "on"}},
        "thinking.type: Input should be 'enabled', 'adaptive', 'disabled' or 'between_tools'",
    ),
    ({"thinking": {"type": "enabled"}}, "thinking.enabled.budget_tokens: Field required"),
    (
        {"thinking": {"type": "enabled", "budget_tokens": 1000}},
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    (
        {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    (
        {
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "tools": [TOOL],
            "tool_choice": {"type": "any"},
        },
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    (
        {"thinking": {"type": "adaptive"}, "temperature": 0.5},
        "`temperature` may only be set to 1 when thinking is enabled",
    ),
    (
        {"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5},
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    ({"cache_control": {"type": "ephemeral", "ttl": "1d"}}, "cache_control.ttl: Input should be '5m' or '1h'"),
    (
        {"messages": [HI, {"role": "assistant", "content": "So "}]},
        "messages: final assistant content cannot end with trailing whitespace",
    ),
]
"""What is changed (`...` takes a field out), and what the message begins with or holds."""


def body(changed: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**BODY, **changed}.items() if value is not ...}


def refusal(asked: dict[str, Any], headers: dict[str, str], service: MessagesService) -> ApiError:
    with pytest.raises(ApiError) as raised:
        parse(asked, headers, service)
    return raised.value


@pytest.mark.each(("changed", "message"), REFUSED)
def test_a_request_is_refused_with_its_path_and_the_services_text(changed: dict[str, Any], message: str) -> None:
    refused = refusal(body(changed), OLD, API)
    assert refused.problem.status == 400
    assert message in str(refused.message)


SERVED: list[dict[str, Any]] = [
    {"max_tokens": 0},
    {"system": ""},
    {"system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]},
    {"messages": [HI, {"role": "assistant", "content": "So"}]},
    {"messages": [HI, {"role": "assistant", "content": ""}]},
    {"messages": [HI, HI, {"role": "system", "content": "Be brief."}]},
    {"messages": [{"role": "assistant", "content": "Hello"}, HI]},
    {"messages": [HI, CALL, {"role": "system", "content": "Go on."}, {"role": "user", "content": [RESULT]}]},
    {"messages": [HI, CALL, {"role": "user", "content": [RESULT]}, HI]},
    {"messages": [HI, CALL, {"role": "user", "content": [{"type": "text", "text": "First"}, RESULT]}]},
    {"messages": [HI, CALL, HI, {"role": "user", "content": [RESULT]}]},
    said({"type": "thinking", "thinking": "x", "signature": ""}, {"type": "text", "text": "y"}, role="assistant"),
    said({"type": "thinking", "thinking": "x", "signature": "of another"}, role="assistant"),
    said({"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "y"}, role="assistant"),
    {"tools": [{**TOOL, "type": "custom", "description": "d", "strict": True}], "tool_choice": {"type": "none"}},
    {"tools": [{**TOOL, "name": "a" * 128}]},
    {"tools": []},
    {"thinking": {"type": "adaptive", "display": "omitted"}, "output_config": {"effort": "high"}},
    {"thinking": {"type": "disabled"}, "temperature": 0},
    {"thinking": {"type": "between_tools"}},
    {"context_management": {"edits": []}, "metadata": {"user_id": None}, "service_tier": "auto"},
    {"stop_sequences": []},
]


@pytest.mark.each("changed", SERVED)
def test_a_request_that_is_right_is_served(changed: dict[str, Any]) -> None:
    parse(body(changed), OLD, API)


CITED = {"type": "text", "text": "x", "citations": [{}]}
DOCUMENT = {"type": "document", "source": {"type": "text", "data": "x"}}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"temperature": 1}, "temperature: Extra inputs are not permitted"),
        ({"top_p": 1}, "top_p: Extra inputs are not permitted"),
        ({"top_k": 1}, "top_k: Extra inputs are not permitted"),
        (
            said(DOCUMENT, role="assistant"),
            "messages.0.content.0.type: Input should be 'text', 'thinking', 'redacted_thinking' or 'tool_use'",
        ),
        (said(CITED), "messages.0.content.0.text.citations: Extra inputs are not permitted"),
        (
            said({"type": "search_result", "content": [CITED], "source": "s", "title": "t"}),
            "messages.0.content.0.search_result.citations: Extra inputs are not permitted",
        ),
    ],
)
def test_the_newest_version_refuses_what_those_before_it_take(changed: dict[str, Any], message: str) -> None:
    for taken in (OLD, {}):
        parse(body(changed), taken, GATEWAY)
    assert refusal(body(changed), NEW, GATEWAY).message == message
    parse(body(said({**CITED, "citations": []})), NEW, GATEWAY)


@pytest.mark.parametrize(
    ("changed", "headers", "message"),
    [
        ({}, {}, "anthropic-version: header is required"),
        ({}, {"anthropic-version": "2024-01-01"}, 'anthropic-version: "2024-01-01" is not a valid version'),
        ({"frobnicate": 1}, OLD, "frobnicate: Extra inputs are not permitted"),
    ],
)
def test_the_api_refuses_what_a_gateway_takes(changed: Any, headers: Any, message: str) -> None:
    parse(body(changed), headers, GATEWAY)
    assert refusal(body(changed), headers, API).message == message


def test_a_prefill_is_refused_where_no_model_takes_it() -> None:
    asked = body({"messages": [HI, {"role": "assistant", "content": "So"}]})
    assert "does not support assistant message prefill" in str(refusal(asked, OLD, GATEWAY).message)


def test_threads_are_refused_so_that_runners_go_on_without() -> None:
    refused = refusal(body({"thread": {"type": "create"}}), NEW, MessagesService(threads=False))
    assert refused.details == {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}


def test_a_count_needs_no_limit() -> None:
    assert parse(body({"max_tokens": ...}), OLD, API, counts=True).model == "m"


def test_a_thread_may_choose_among_tools_that_it_holds() -> None:
    going_on = {"thread": {"type": "continue", "previous_message_id": "msg_1"}, "tool_choice": {"type": "auto"}}
    asked = parse(body(going_on), NEW, GATEWAY)
    assert (asked.previous, asked.choice) == ("msg_1", ToolChoice())


@pytest.mark.parametrize(
    ("sent", "offered", "forced"),
    [
        ({"type": "auto"}, "fg", ""),
        ({"type": "any"}, "fg", "fg"),
        ({"type": "tool", "name": "g"}, "g", "g"),
        ({"type": "none"}, "", ""),
    ],
)
def test_a_choice_decides_which_tools_are_offered_and_which_are_called(
    sent: dict[str, str], offered: str, forced: str
) -> None:
    declared = tuple(Tool(name=name, description="", parameters={}) for name in "fg")
    choice = tool_rules.chosen({"tool_choice": sent})
    assert choice is not None
    assert "".join(tool.name for tool in choice.offered(declared)) == offered
    assert "".join(choice.demanded(declared)) == forced


IMAGE = {"type": "image", "source": {"type": "url", "url": "u"}}
RICH: dict[str, Any] = {
    **BODY,
    "system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "x"}, IMAGE]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": ""}, *CALL["content"]]},
        {"role": "user", "content": [{**RESULT, "content": [{"type": "text", "text": "x"}]}, DOCUMENT]},
    ],
    "tools": [TOOL],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
    "stop_sequences": ["x"],
    "metadata": {"user_id": "x"},
    "thread": {"type": "continue", "previous_message_id": "x"},
}  # fmt: skip
ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    [],
    [1],
    ["text"],
    {},
    {"type": ["text"]},
    {"type": "file"},
    [[]],
    [{}],
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside of one."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from places(one, (*path, key))


def changed_at(path: tuple[Any, ...], odd: Any) -> dict[str, Any]:
    body: Any = copy.deepcopy(RICH)
    inside = body
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = odd
    return dict(body)


def status(body: dict[str, Any], *, counts: bool) -> int:
    try:
        parse(body, OLD, API, counts=counts)
    except ApiError as refused:
        return refused.problem.status
    return 200


@pytest.mark.each("path", list(places(RICH)))
def test_whatever_stands_in_any_place_is_served_or_refused(path: tuple[Any, ...]) -> None:
    for odd in ODD:
        for counts in (False, True):
            assert status(changed_at(path, odd), counts=counts) in {200, 400}
