"""The lines of `codex exec --json`: one event of a run a line, made of the core's notifications.

    thread.started   thread_id
    turn.started
    item.started, item.updated, item.completed   item: {id, type, …}
    turn.completed   usage
    turn.failed      error: {message}
    error            message

Items are numbered as they appear. What is not shown of a notification has no event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_codex.versions.marks import known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.versions.version import Version

_STATUSES = {"inProgress": "in_progress", "completed": "completed", "failed": "failed", "declined": "declined"}
_COUNTS = "input_tokens cached_input_tokens cache_write_input_tokens+0.147 output_tokens reasoning_output_tokens+0.125"
"""The fields of `usage`."""
_BEGUN = "commandExecution mcpToolCall webSearch+0.99 fileChange+0.117"
"""Items, by the app-server's names, whose beginning is an event."""


class JsonEvents:
    """The events of one run."""

    def __init__(self, version: Version) -> None:
        self._version = version
        self._traits = version.exec
        self._numbers: dict[str, str] = {}
        self._made = 0
        self._plan: Json | None = None
        self._usage: Mapping[str, int] = {}

    def opened(self, thread_id: str) -> Json:
        """The first event."""
        return {"type": "thread.started", "thread_id": thread_id}

    def of(self, method: str, params: Mapping[str, Any]) -> Iterator[Json]:
        """The events of a notification."""
        show = _SHOWN.get(method)
        return show(self, params) if show else iter(())

    def _number(self, identity: str) -> str:
        """The number of an item, which it gets when it is shown first."""
        if identity not in self._numbers:
            self._numbers[identity] = self._next()
        return self._numbers[identity]

    def _next(self) -> str:
        self._made += 1
        return f"item_{self._made - 1}"

    def _turn_started(self, _params: Mapping[str, Any]) -> Iterator[Json]:
        yield {"type": "turn.started"}

    def _warning(self, params: Mapping[str, Any]) -> Iterator[Json]:
        if self._traits.reports_warnings:
            yield _completed({"id": self._next(), "type": "error", "message": params["message"]})

    def _item_started(self, params: Mapping[str, Any]) -> Iterator[Json]:
        item = params["item"]
        if item["type"] in known(_BEGUN, self._version.number):
            shown = self._shown(item)
            if shown["type"] == "web_search" and self._traits.begun_search == "empty":
                shown |= {"query": "", "action": {"type": "other"}}
            yield {"type": "item.started", "item": shown}

    def _item_completed(self, params: Mapping[str, Any]) -> Iterator[Json]:
        item = params["item"]
        if item["type"] in _ITEMS:
            yield _completed(self._shown(item))

    def _shown(self, item: Mapping[str, Any]) -> Json:
        kind, fields = _ITEMS[item["type"]]
        number = self._number(item["id"])
        # A search keeps the id of the model's service, and still uses up a number.
        identity = item["id"] if kind == "web_search" and self._traits.searches_keep_ids else number
        shown = {"id": identity, "type": kind, **fields(item)}
        if kind == "web_search" and not self._traits.searches_keep_ids:
            del shown["action"]
        return shown

    def _plan_updated(self, params: Mapping[str, Any]) -> Iterator[Json]:
        items = [{"text": step["step"], "completed": step["status"] == "completed"} for step in params["plan"]]
        event = "item.updated" if self._plan else "item.started"
        self._plan = {"id": self._plan["id"] if self._plan else self._next(), "type": "todo_list", "items": items}
        yield {"type": event, "item": self._plan}

    def _counted(self, params: Mapping[str, Any]) -> Iterator[Json]:
        self._usage = params["tokenUsage"]["total"]
        yield from ()

    def _error(self, params: Mapping[str, Any]) -> Iterator[Json]:
        error = params["error"]
        details = error.get("additionalDetails")
        text = f"{error['message']} ({details})" if params["willRetry"] and details else error["message"]
        yield {"type": "error", "message": text}

    def _turn_completed(self, params: Mapping[str, Any]) -> Iterator[Json]:
        turn = params["turn"]
        if self._plan:
            yield _completed(self._plan)
        if turn["status"] == "completed":
            names = known(_COUNTS, self._version.number)
            yield {"type": "turn.completed", "usage": {name: self._usage.get(_camel(name), 0) for name in names}}
        elif turn["status"] == "failed":
            yield {"type": "turn.failed", "error": {"message": turn["error"]["message"]}}


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _completed(item: Json) -> Json:
    return {"type": "item.completed", "item": item}


def _command(item: Mapping[str, Any]) -> Json:
    return {
        "command": item["command"],
        "aggregated_output": item["aggregatedOutput"] or "",
        "exit_code": item["exitCode"],
        "status": _STATUSES[item["status"]],
    }


def _change(item: Mapping[str, Any]) -> Json:
    changes = [{"path": change["path"], "kind": change["kind"]["type"]} for change in item["changes"]]
    return {"changes": changes, "status": _STATUSES[item["status"]]}


def _tool(item: Mapping[str, Any]) -> Json:
    result, error = item["result"], item["error"]
    content = result and {"content": result["content"], "structured_content": result["structuredContent"]}
    return {
        "server": item["server"],
        "tool": item["tool"],
        "arguments": item["arguments"],
        "result": content,
        "error": error and {"message": error["message"]},
        "status": _STATUSES[item["status"]],
    }


def _search(item: Mapping[str, Any]) -> Json:
    action = item.get("action", {})
    return {"query": item["query"], "action": {name: value for name, value in action.items() if value is not None}}


_ITEMS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], Json]]] = {
    "agentMessage": ("agent_message", lambda item: {"text": item["text"]}),
    "reasoning": ("reasoning", lambda item: {"text": "\n".join(item["summary"])}),
    "commandExecution": ("command_execution", _command),
    "fileChange": ("file_change", _change),
    "mcpToolCall": ("mcp_tool_call", _tool),
    "webSearch": ("web_search", _search),
}
"""The kinds of items that are shown, by the app-server's names for them."""

_SHOWN: Mapping[str, Callable[[JsonEvents, Mapping[str, Any]], Iterator[Json]]] = {
    "turn/started": JsonEvents._turn_started,  # noqa: SLF001 - a table of its own methods
    "warning": JsonEvents._warning,  # noqa: SLF001 - same
    "item/started": JsonEvents._item_started,  # noqa: SLF001 - same
    "item/completed": JsonEvents._item_completed,  # noqa: SLF001 - same
    "turn/plan/updated": JsonEvents._plan_updated,  # noqa: SLF001 - same
    "thread/tokenUsage/updated": JsonEvents._counted,  # noqa: SLF001 - same
    "error": JsonEvents._error,  # noqa: SLF001 - same
    "turn/completed": JsonEvents._turn_completed,  # noqa: SLF001 - same
}
