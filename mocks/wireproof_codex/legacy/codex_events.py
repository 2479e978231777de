"""The older family of notifications, `codex/event/<type>`, which versions up to 0.114 sent beside every typed one.

Each event of the core is sent as `{"id": turn, "msg": {"type", …}, "conversationId"}`, then typed, and if it replaced
an even older event, once more after that: a delta of text is three lines.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from wireproof_codex.legacy.approval_events import ACTED, ACTS, duration
from wireproof_codex.protocol.json_object import Json

Twins = tuple[Iterable[Json], Iterable[Json]]


def twins(method: str, params: Json, *, empty_texts: bool = False) -> Twins:
    """The messages sent before and after a typed notification; `empty_texts`: an empty text is still sent."""
    build = _TWINS.get(method)
    before, after = build(params) if build else ((), ())
    return tuple(msg if empty_texts else _without_empty_texts(msg) for msg in before), after


def _without_empty_texts(msg: Json) -> Json:
    match msg:
        # As an agentMessage begins: before 0.105.0 its content is an empty list here.
        case {"item": {"content": [{"type": "Text", "text": ""}]} as item}:
            return {**msg, "item": {**item, "content": []}}
    return msg


def notification(turn_id: str, thread_id: str, msg: Json) -> tuple[str, Json]:
    """Method and params of a message."""
    return f"codex/event/{msg['type']}", {"id": turn_id, "msg": msg, "conversationId": thread_id}


# Sent for every new thread: it has no MCP servers.
MCP_STARTUP_COMPLETE: Json = {"type": "mcp_startup_complete", "ready": [], "failed": [], "cancelled": []}


def _place(params: Json, *names: str) -> Json:
    return {"thread_id": params["threadId"], "turn_id": params["turnId"], **_snake(params, names)}


def _snake(params: Mapping[str, Any], names: Iterable[str]) -> Json:
    return {_snake_case(name): params[name] for name in names}


@lru_cache
def _snake_case(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


# Items


def _core_item(item: Json) -> Json:
    match item:
        case {"type": "userMessage", "id": identity, "content": content}:
            return {"type": "UserMessage", "id": identity, "content": [_core_content(part) for part in content]}
        case {"type": "agentMessage", "id": identity, "text": text}:
            return {"type": "AgentMessage", "id": identity, "content": [{"type": "Text", "text": text}]}
        case {"type": "webSearch", "id": identity, "query": query, "action": action}:
            return {"type": "WebSearch", "id": identity, "query": query, "action": _without_nulls(action)}
        case {"type": "contextCompaction", "id": identity}:
            return {"type": "ContextCompaction", "id": identity}
    return {
        "type": "Reasoning",
        "id": item["id"],
        "summary_text": item["summary"],
        "raw_content": item["content"],
    }


def _without_nulls(value: Json) -> Json:
    return {name: inner for name, inner in value.items() if inner is not None}


def _core_content(part: Json) -> Json:
    match part:
        case {"type": "image", "url": url}:
            return {"type": "image", "image_url": url}
        case {"type": "localImage", "path": path}:
            return {"type": "local_image", "path": path}
    return part


def _item_started(params: Json) -> Twins:
    item = params["item"]
    # Commands and patches were events of their own before they were items; there is no item_started beside them.
    if item["type"] in ACTS:
        return [ACTS[item["type"]](params)], ()
    if item["type"] == "mcpToolCall":
        return [{"type": "mcp_tool_call_begin", **_mcp_call(item)}], ()
    if item["type"] == "dynamicToolCall":
        # In camel case, unlike the rest of the family.
        call = {"callId": item["id"], "turnId": params["turnId"], "tool": item["tool"], "arguments": item["arguments"]}
        return [{"type": "dynamic_tool_call_request", **call}], ()
    begins = [{"type": "web_search_begin", "call_id": item["id"]}] if item["type"] == "webSearch" else ()
    return [{"type": "item_started", **_place(params), "item": _core_item(item)}], begins


def _item_completed(params: Json) -> Twins:
    item = params["item"]
    if item["type"] in ACTED:
        # A declined item has no end in this family; up to 0.98.0 the failed one that follows it has.
        begun = item["status"] != "declined" and item.get("exitCode", 0) is not None
        return ([ACTED[item["type"]](params)] if begun else []), ()
    if item["type"] == "mcpToolCall":
        return [_mcp_end(item)], ()
    if item["type"] == "dynamicToolCall":
        return [_tool_response(params)], ()
    completed = {"type": "item_completed", **_place(params), "item": _core_item(item)}
    # The events of the core from before there were items.
    after = AFTER.get(item["type"])
    return [completed], [after(item)] if after else ()


def _tool_response(params: Json) -> Json:
    item = params["item"]
    return {
        "type": "dynamic_tool_call_response",
        "call_id": item["id"],
        "turn_id": params["turnId"],
        "tool": item["tool"],
        "arguments": item["arguments"],
        "content_items": item["contentItems"],
        "success": item["success"],
        "error": None,
        "duration": duration(item),
    }


def _mcp_call(item: Json) -> Json:
    return {"call_id": item["id"], "invocation": _snake(item, ("server", "tool", "arguments"))}


def _mcp_end(item: Json) -> Json:
    brought = {"content": item["result"]["content"], "isError": item["status"] == "failed"}
    return {"type": "mcp_tool_call_end", **_mcp_call(item), "duration": duration(item), "result": {"Ok": brought}}


def _user_message(item: Json) -> Json:
    texts = [part for part in item["content"] if part["type"] == "text"]
    return {
        "type": "user_message",
        "message": "".join(part["text"] for part in texts),
        "images": [part["url"] for part in item["content"] if part["type"] == "image"],
        "local_images": [part["path"] for part in item["content"] if part["type"] == "localImage"],
        "text_elements": [element for part in texts for element in part["text_elements"]],
    }


# Of stored turns resumeConversation sends these alone (`initialMessages`).
AFTER: Mapping[str, Callable[[Json], Json]] = {
    "userMessage": _user_message,
    "agentMessage": lambda item: {"type": "agent_message", "message": item["text"], "phase": item["phase"]},
    "reasoning": lambda item: {"type": "agent_reasoning", "text": "".join(item["summary"])},
    "webSearch": lambda item: {
        "type": "web_search_end",
        "call_id": item["id"],
        "query": item["query"],
        "action": _without_nulls(item["action"]),
    },
}


# Everything else


def _output_delta(params: Json) -> Twins:
    chunk = base64.b64encode(params["delta"].encode()).decode()
    output = {"call_id": params["itemId"], "stream": params.get("stream", "stdout"), "chunk": chunk}
    return [{"type": "exec_command_output_delta", **output}], ()


def _thought_part(params: Json) -> Twins:
    return [{"type": "agent_reasoning_section_break", **_snake(params, ("itemId", "summaryIndex"))}], ()


def _delta(kind: str, older: str, *names: str) -> Callable[[Json], Twins]:
    """Of a piece of text: the event of its item, and the one from before there were items."""
    return lambda params: (
        [{"type": kind, **_place(params, "itemId", "delta", *names)}],
        [{"type": older, "delta": params["delta"]}],
    )


def error(cause: Json) -> Json:
    """Sent before a turn fails; `cause`: the `error` of the typed notification."""
    return {"type": "error", "message": cause["message"], "codex_error_info": _info(cause["codexErrorInfo"])}


def retrying(cause: Json) -> Json:
    """Sent before the model is asked again; `cause`: the `error` of the typed notification."""
    return {**error(cause), "type": "stream_error", "additional_details": cause["additionalDetails"]}


def _info(info: object) -> object:
    match info:
        case str():
            return _snake_case(info)
        case dict():
            return {_snake_case(name): _info(value) for name, value in info.items()}
    return info


def token_count(usage: Json | None) -> Json:
    """Sent before the counts of a thread; None: before the rate limits alone."""
    info = None
    if usage is not None:
        info = {
            "total_token_usage": _counts(usage["total"]),
            "last_token_usage": _counts(usage["last"]),
            "model_context_window": usage["modelContextWindow"],
        }
    # Without the limits that came after 0.114.0, the last version with this family.
    limits = dict.fromkeys(("limit_name", "primary", "secondary", "credits", "plan_type"))
    return {"type": "token_count", "info": info, "rate_limits": {"limit_id": "codex", **limits}}


# Written cache tokens are not among them: they came with 0.145.0, after this family.
_COUNTS = ("inputTokens", "cachedInputTokens", "outputTokens", "reasoningOutputTokens", "totalTokens")


def _counts(usage: Json) -> Json:
    return _snake(usage, _COUNTS)


def _plan_update(params: Json) -> Json:
    plan = [{**step, "status": _snake_case(step["status"])} for step in params["plan"]]
    return {"type": "plan_update", "explanation": params["explanation"], "plan": plan}


def task_started(turn_id: str, window: int | None, mode: str) -> Json:
    """Sent when a turn begins; `window`: the most tokens, None if unknown; `mode`: the collaboration mode."""
    return {
        "type": "task_started",
        "turn_id": turn_id,
        "model_context_window": window,
        "collaboration_mode_kind": mode,
    }


def turn_aborted(turn_id: str, reason: str) -> Json:
    """Sent when a turn is interrupted or replaced."""
    return {"type": "turn_aborted", "turn_id": turn_id, "reason": reason}


def task_complete(turn_id: str, last: str | None) -> Json:
    """Sent before the end of a turn; `last`: its last text, None if it has none."""
    return {"type": "task_complete", "turn_id": turn_id, "last_agent_message": last}


_TWINS: Mapping[str, Callable[[Json], Twins]] = {
    "item/started": _item_started,
    "item/completed": _item_completed,
    "item/agentMessage/delta": _delta("agent_message_content_delta", "agent_message_delta"),
    "item/reasoning/summaryPartAdded": _thought_part,
    "item/reasoning/summaryTextDelta": _delta("reasoning_content_delta", "agent_reasoning_delta", "summaryIndex"),
    "item/reasoning/textDelta": _delta(
        "reasoning_raw_content_delta", "agent_reasoning_raw_content_delta", "contentIndex"
    ),
    "item/commandExecution/outputDelta": _output_delta,
    "item/fileChange/outputDelta": _output_delta,
    "turn/diff/updated": lambda params: ([{"type": "turn_diff", "unified_diff": params["diff"]}], ()),
    "turn/plan/updated": lambda params: ([_plan_update(params)], ()),
    "thread/compacted": lambda _: ([{"type": "context_compacted"}], ()),
    "warning": lambda params: ([{"type": "warning", "message": params["message"]}], ()),
    "rawResponseItem/completed": lambda params: ([{"type": "raw_response_item", "item": params["item"]}], ()),
}
