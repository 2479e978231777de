"""What `codex exec` prints for people, without `--json`: the run on stderr, the last message on stdout at its end.

Versions up to 0.114 write as they receive their older family of notifications, later ones item by item
(`ExecTraits.writes_items`). Colours are escapes around the same words.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof_codex.versions.version import Version

_BOLD, _DIM, _ITALIC, _RED, _GREEN, _MAGENTA, _CYAN = "1", "2", "3", "31", "32", "35", "36"
_RULE = "--------"


class HumanLines:
    """The lines of one run for stderr, each without its end."""

    def __init__(self, version: Version, *, colored: bool) -> None:
        self._version = version
        self._items = version.exec.writes_items
        self._colored = colored
        self._tokens: int | None = None
        self._diff_shown: str | None = None

    def _paint(self, text: str, *codes: str) -> str:
        if not self._colored:
            return text
        for code in codes:
            text = f"\x1b[{code}m{text}\x1b[0m"
        return text

    def _title(self, text: str) -> str:
        return self._paint(text, _ITALIC, _MAGENTA)

    # The beginning

    def head(self, settings: Mapping[str, str], session_id: str) -> Iterator[str]:
        """What the run is begun with; `settings` in the order in which they are shown."""
        preview = " (research preview)" if self._version.exec.is_preview else ""
        yield f"OpenAI Codex v{self._version.number}{preview}"
        yield _RULE
        for name, value in {**settings, "session id": session_id}.items():
            yield f"{self._paint(f'{name}:', _BOLD)} {value}"
        yield _RULE

    def prompt(self, text: str) -> Iterator[str]:
        """The text of the user."""
        yield from (self._paint("user", _CYAN), text)
        if not self._items:
            yield f"{self._paint('mcp startup:', _CYAN)} no servers"

    # Notifications

    def of(self, method: str, params: Mapping[str, Any]) -> Iterator[str]:
        """The lines of a notification; what is not shown has none."""
        return _WRITTEN.get(method, _nothing)(self, params)

    def _warning(self, params: Mapping[str, Any]) -> Iterator[str]:
        if self._items:
            yield f"{self._paint('warning:', _MAGENTA)} {params['message']}"

    def _item_started(self, params: Mapping[str, Any]) -> Iterator[str]:
        item = params["item"]
        if self._items:
            yield from _BEGUN.get(item["type"], _nothing)(self, item)
        elif item["type"] == "mcpToolCall":
            yield f"{self._paint('tool', _MAGENTA)} {_invocation(item)}"

    def _item_completed(self, params: Mapping[str, Any]) -> Iterator[str]:
        item = params["item"]
        if item["type"] == "agentMessage":
            yield from (self._title("codex"), item["text"])
        else:
            yield from (_DONE if self._items else _DONE_BEFORE).get(item["type"], _nothing)(self, item)

    # Items as later versions write them

    def _command_begun(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield from (self._title("exec"), f"{self._paint(item['command'], _BOLD)} in {item['cwd']}")

    def _command_done(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield self._ended(item)
        yield item["aggregatedOutput"] or ""

    def _ended(self, item: Mapping[str, Any]) -> str:
        took = f"in {item['durationMs'] or 0}ms:"
        if item["exitCode"] == 0:
            return self._paint(f" succeeded {took}", _GREEN)
        return self._paint(f" exited {item['exitCode']} {took}", _RED)

    def _patch_begun(self, _item: Mapping[str, Any]) -> Iterator[str]:
        yield self._paint("apply patch", _BOLD)

    def _patch_done(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield f"{self._paint('patch:', _BOLD)} {item['status']}"
        for change in item["changes"]:
            yield self._paint(change["path"], _DIM)

    def _tool_begun(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield f"{self._paint('mcp:', _BOLD)} {item['server']}/{item['tool']} started"

    def _tool_done(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield f"{self._paint('mcp:', _BOLD)} {item['server']}/{item['tool']} ({item['status']})"

    def _search(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield f"{self._paint('web search:', _BOLD)} {item['query']}"

    def _reasoning(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield self._paint("\n".join(item["summary"]), _DIM)

    # Items as the older versions write them

    def _older_command(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield self._title("exec")
        yield f"{self._paint(item['command'], _BOLD)} in {item['cwd']}{self._ended(item)}"
        yield self._paint((item["aggregatedOutput"] or "").rstrip("\n"), _DIM)

    def _older_patch(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield self._paint("file update", _MAGENTA, _ITALIC)
        names = []
        for change in item["changes"]:
            yield self._paint(f"A {change['path']}", _MAGENTA)
            yield from (self._paint(line, _GREEN) for line in change["diff"].splitlines())
            names.append(change["path"].rpartition("/")[2])
        yield self._paint("apply_patch(auto_approved=true) exited 0 in 0ms:", _GREEN)
        yield self._paint("Success. Updated the following files:", _DIM)
        yield from (self._paint(f"A {name}", _DIM) for name in names)

    def _older_tool(self, item: Mapping[str, Any]) -> Iterator[str]:
        how, color = ("success", _GREEN) if item["status"] == "completed" else ("failed", _RED)
        yield self._paint(f"{_invocation(item)} {how} in {item['durationMs'] or 0}ms:", color)
        result = item["result"] or {}
        shown = {"content": result.get("content", []), "isError": item["status"] == "failed"}
        yield from (self._paint(line, _DIM) for line in json.dumps(shown, indent=2, sort_keys=True).splitlines())

    def _older_search(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield f"🌐 Searched: {item['query']}"

    def _older_reasoning(self, item: Mapping[str, Any]) -> Iterator[str]:
        yield from ("", self._title("thinking"), "\n".join(item["summary"]))

    # The rest of a turn

    def _plan(self, params: Mapping[str, Any]) -> Iterator[str]:
        if not self._items:
            yield self._title("Plan update")
        if params["explanation"]:
            yield self._paint(params["explanation"], _ITALIC)
        marks = {"completed": "✓", "inProgress": "→", "pending": "•"}
        yield from (f"  {marks[step['status']]} {step['step']}" for step in params["plan"])

    def _diff(self, params: Mapping[str, Any]) -> Iterator[str]:
        if params["diff"] == self._diff_shown and not self._version.exec.repeats_diffs:
            return
        self._diff_shown = params["diff"]
        if not self._items:
            yield self._paint("file update:", _MAGENTA, _ITALIC)
        yield params["diff"]

    def _counted(self, params: Mapping[str, Any]) -> Iterator[str]:
        total = params["tokenUsage"]["total"]
        self._tokens = total["inputTokens"] - total["cachedInputTokens"] + total["outputTokens"]
        yield from ()

    def _error(self, params: Mapping[str, Any]) -> Iterator[str]:
        yield self._error_line(params["error"]["message"])

    def _error_line(self, text: str) -> str:
        codes = (_RED, _BOLD) if self._items else (_RED,)
        return f"{self._paint('ERROR:', *codes)} {text}"

    def _turn_completed(self, params: Mapping[str, Any]) -> Iterator[str]:
        # Later versions write the error of a turn that failed once more.
        if self._items and params["turn"]["status"] == "failed":
            yield self._error_line(params["turn"]["error"]["message"])

    def tail(self, *, failed: bool) -> Iterator[str]:
        """What the tokens are, at the end."""
        if self._tokens is None or (failed and not self._items):
            return
        codes = (_DIM,) if self._items else (_MAGENTA, _ITALIC)
        yield from (self._paint("tokens used", *codes), f"{self._tokens:,}")


def _nothing(_lines: HumanLines, _given: Mapping[str, Any]) -> Iterator[str]:
    yield from ()


def _invocation(item: Mapping[str, Any]) -> str:
    arguments = json.dumps(item["arguments"], ensure_ascii=False, separators=(",", ":"))
    return f"{item['server']}.{item['tool']}({arguments})"


# ruff: noqa: SLF001 - the tables name methods of their own class
_WRITTEN: Mapping[str, Callable[[HumanLines, Mapping[str, Any]], Iterator[str]]] = {
    "warning": HumanLines._warning,
    "item/started": HumanLines._item_started,
    "item/completed": HumanLines._item_completed,
    "turn/plan/updated": HumanLines._plan,
    "turn/diff/updated": HumanLines._diff,
    "thread/tokenUsage/updated": HumanLines._counted,
    "error": HumanLines._error,
    "turn/completed": HumanLines._turn_completed,
}
_BEGUN: Mapping[str, Callable[[HumanLines, Mapping[str, Any]], Iterator[str]]] = {
    "commandExecution": HumanLines._command_begun,
    "fileChange": HumanLines._patch_begun,
    "mcpToolCall": HumanLines._tool_begun,
    "webSearch": HumanLines._search,
}
_DONE: Mapping[str, Callable[[HumanLines, Mapping[str, Any]], Iterator[str]]] = {
    "commandExecution": HumanLines._command_done,
    "fileChange": HumanLines._patch_done,
    "mcpToolCall": HumanLines._tool_done,
    "webSearch": HumanLines._search,
    "reasoning": HumanLines._reasoning,
}
_DONE_BEFORE: Mapping[str, Callable[[HumanLines, Mapping[str, Any]], Iterator[str]]] = {
    "commandExecution": HumanLines._older_command,
    "fileChange": HumanLines._older_patch,
    "mcpToolCall": HumanLines._older_tool,
    "webSearch": HumanLines._older_search,
    "reasoning": HumanLines._older_reasoning,
}
