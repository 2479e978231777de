"""Items, token counts and limits as notifications carry them, with the fields of the recordings in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_scripts.steps import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_codex.protocol.json_object import Json
    from wireproof_scripts.steps import McpCall, WebSearch

# Items


def user_message(identity: str, client_id: str | None, content: Sequence[Json]) -> Json:
    """The item of the user's input, without its times."""
    return {"type": "userMessage", "id": identity, "clientId": client_id, "content": list(content)}


def user_content(item: Mapping[str, Any], *, detail_first: bool = False) -> Json:
    """One part of the user's input as the server sends it back.

    `detail_first`: the detail of an image stands before its URL, as before 0.160.
    """
    match item["type"]:
        case "text":
            return {"type": "text", "text": item["text"], "text_elements": item.get("text_elements") or []}
        # Newer versions take images by `fileId` as well; these go back as they came.
        case "image" if "url" in item:
            detail, url = {"detail": item.get("detail")}, {"url": item["url"]}
            return {"type": "image", **detail, **url} if detail_first else {"type": "image", **url, **detail}
        case "localImage":
            return {"type": "localImage", "detail": item.get("detail"), "path": item["path"]}
    return dict(item)


def agent_message(identity: str, text: str, phase: str | None) -> Json:
    """The item of the model's text, without its times."""
    return {
        "type": "agentMessage",
        "moderation": None,
        "id": identity,
        "text": text,
        "phase": phase,
        "memoryCitation": None,
        "delivery": None,
        "questions": None,
    }


def reasoning(identity: str, summary: Sequence[str], content: Sequence[str] = ()) -> Json:
    """The item of the model's thoughts, without its times; `content`: the thoughts themselves."""
    return {"type": "reasoning", "id": identity, "summary": list(summary), "content": list(content)}


def context_compaction(identity: str) -> Json:
    """The item of a conversation that is summarised, without its times."""
    return {"type": "contextCompaction", "id": identity}


def tool_call(
    identity: str,
    tool: str,
    arguments: object,
    outcome: Mapping[str, object] | None = None,
    *,
    namespace: str | None = None,
) -> Json:
    """The item of a dynamic tool call, without its times; `outcome` is {status, contentItems, success, durationMs}."""
    waiting = {"status": "inProgress", "contentItems": None, "success": None, "durationMs": None}
    return {
        "type": "dynamicToolCall",
        "id": identity,
        "namespace": namespace,
        "tool": tool,
        "arguments": arguments,
        **(outcome or waiting),
    }


def mcp_call(
    step: McpCall, arguments: object, content: Sequence[Json] | None = None, duration_ms: int | None = None
) -> Json:
    """The item of a tool of an MCP server, without its times; `content`: what it brought, None before its end."""
    status = "inProgress" if content is None else "failed" if step.failed else "completed"
    result = None if content is None else {"content": list(content), "structuredContent": None, "_meta": None}
    return {
        "type": "mcpToolCall",
        "id": step.id,
        "server": step.server,
        "environmentId": None,
        "tool": step.tool,
        "status": status,
        "arguments": arguments,
        "appContext": None,
        "mcpAppUi": None,
        "pluginId": None,
        "readOnlyHint": True,  # later versions ask the client before they call what is none
        "result": result,
        "error": None,
        "durationMs": duration_ms,
    }


def web_search(search: WebSearch) -> Json:
    """The item of a search of the model's service, without its times."""
    action = {"type": "search", "query": search.query, "queries": None}
    return {"type": "webSearch", "id": search.id, "query": search.query, "action": action, "results": None}


def tool_output(identity: str, name: str, output: str) -> Json:
    """The item of a `toolOutput` with which a turn begins, without its times."""
    return {"type": "functionCallOutput", "id": identity, "name": name, "namespace": None, "output": output}


# Usage


def usage(counts: Usage) -> Json:
    """Token counts."""
    return {
        "totalTokens": counts.input + counts.output,
        "inputTokens": counts.input,
        "cachedInputTokens": counts.cached,
        "cacheWriteInputTokens": 0,  # from 0.145.0 on; no script counts them
        "outputTokens": counts.output,
        "reasoningOutputTokens": counts.reasoning,
    }


def token_usage(place: Json, total: Json, last: Json, window: int | None) -> Json:
    """Params of thread/tokenUsage/updated; `window`: the most tokens, None if the version knows none."""
    return {**place, "tokenUsage": {"total": total, "last": last, "modelContextWindow": window}}


def estimated(tokens: int) -> Json:
    """Counts of which only the total is known."""
    return {**usage(Usage(input=0, output=0)), "totalTokens": tokens}


_UNKNOWN_LIMITS = """
    limitName normalModelSlug primary secondary credits individualLimit spendControlReached planType
    rateLimitReachedType
"""
# All null: the recorded servers had no login, so there were no limits to report.
RATE_LIMITS: Json = {"rateLimits": {"limitId": "codex", **dict.fromkeys(_UNKNOWN_LIMITS.split())}}
