"""Makes the messages of two sessions comparable: what must differ between them is named, all else stands as it was.

Ids are named by the order in which they appear, times by their type, values that are an installation's own by their
key. Four pairs of messages race in the real server; here each pair stands in one order.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from wireproof_fidelity.recording import Message

_TIMES = re.compile(r"(At|AtMs|durationMs|create_time|secs|nanos)$")
_MOMENTS = re.compile(r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?Z?|\d{4}/\d\d/\d\d(?=/rollout-)")
_PLACES = re.compile(r'"rolloutOrdinal":\d+')
_IDS = re.compile(r"(?:[a-z]+_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:msg|rs|fc|resp)_[0-9_]+")


_CLOCK = re.compile(r"(?<=try again at )[^\".]*[AP]M|(?<=Wall time: )[0-9.]+|(?<=aborted by user after )[0-9.]+")


def without_members(value: Any, members: Collection[str]) -> Any:
    """A message without these members of its objects."""
    match value:
        case dict():
            return {key: without_members(inner, members) for key, inner in value.items() if key not in members}
        case list():
            return [without_members(inner, members) for inner in value]
    return value


class Names:
    """Names the values of one session that no other session has.

    `own`: keys whose values are the installation's. `words`: what the recorded model's service said, and what the
    mock's says instead.
    """

    def __init__(self, own: Collection[str], words: Mapping[str, str]) -> None:
        self._own = own
        self._words = words
        self._names: dict[str, str] = {}

    def message(self, message: Message) -> Message:
        """The message with its values named."""
        return {key: self._value(key, value) for key, value in message.items()}

    def _value(self, key: str, value: Any) -> Any:
        if value is None:
            return None
        if _TIMES.search(key) and isinstance(value, int | float):
            return f"<{'time' if isinstance(value, int) else 'fraction of a time'}>"
        return f"<{key}>" if key in self._own else self._other(key, value)

    def _other(self, key: str, value: Any) -> Any:
        match value:
            case [{"displayName": _, **fields}, *_]:
                return list(fields)  # models: the fields of one
            case dict() if value.keys() and all(map(_IDS.fullmatch, value)):
                return sorted(
                    f"{_IDS.sub(self._named, name)}: {self._value(name, inner)}" for name, inner in value.items()
                )
            case dict():
                return {name: self._value(name, inner) for name, inner in value.items()}
            case list():
                return [self._value(key, inner) for inner in value]
            case str():
                places = _PLACES.sub("<place>", _MOMENTS.sub("<moment>", self._said(value)))
                return _IDS.sub(self._named, places)
        return value

    def _said(self, text: str) -> str:
        for theirs, ours in self._words.items():
            text = text.replace(theirs, ours)
        return text

    def _named(self, found: re.Match[str]) -> str:
        return self._names.setdefault(found[0], f"<id {len(self._names)}>")


def comparable(
    messages: Sequence[Message],
    *,
    unsent: Collection[str] = (),
    own: Collection[str] = (),
    words: Mapping[str, str] | None = None,
    counts_race: bool = False,
) -> list[str]:
    """One line a message, in which the order of keys counts.

    `unsent`: notifications that are passed over. `counts_race`: what an answer of the model cost is sent while its
    calls are, in any order; here the calls come first.
    """
    names = Names(own, words or {})
    kept = [message for message in messages if message.get("method") not in unsent and not _is_context(message)]
    ordered = _calls_first(_in_order(kept)) if counts_race else _in_order(kept)
    lines = [_CLOCK.sub("<time>", json.dumps(names.message(message), ensure_ascii=False)) for message in ordered]
    # That a thread is no longer loaded is sent once or twice.
    return [line for at, line in enumerate(lines) if line != lines[at - 1] or '"notLoaded"' not in line]


def by_thread(messages: Sequence[Message]) -> list[Message]:
    """The answers, then the messages of each thread in their order, one thread after the other, those of none last."""
    answers = [message for message in messages if "method" not in message]
    threads: dict[str, list[Message]] = {}
    for message in messages:
        if "method" in message:
            threads.setdefault(_thread_of(message), []).append(message)
    rest = threads.pop("", [])
    return [message for group in (answers, *threads.values(), rest) for message in group]


def _thread_of(message: Message) -> str:
    params = message.get("params") or {}
    return str(params.get("threadId") or params.get("conversationId") or params.get("thread", {}).get("id") or "")


_COUNTS = frozenset({"codex/event/token_count", "thread/tokenUsage/updated", "account/rateLimits/updated"})
_CALLS = re.compile(
    r"item/tool/call|Approval$|^serverRequest/resolved|/outputDelta$|^turn/plan/updated$"
    r"|/(dynamic_tool_call|exec_|patch_|apply_patch|plan_update|mcp_tool_call)"
)
_CALL_ITEMS = frozenset({"dynamicToolCall", "commandExecution", "fileChange", "mcpToolCall"})


def _racing(message: Message) -> bool | None:
    """Whether it is about a call (True) or about counts (False); None for all else."""
    method, params = str(message.get("method")), message.get("params", {})
    active = method == "thread/status/changed" and params.get("status", {}).get("type") == "active"
    if active or _CALLS.search(method) or params.get("item", {}).get("type") in _CALL_ITEMS:
        return True
    return False if method in _COUNTS else None


def _calls_first(messages: Sequence[Message]) -> list[Message]:
    ordered: list[Message] = []
    counts: list[Message] = []
    for message in messages:
        racing = _racing(message)
        if racing is False:
            counts.append(message)
            continue
        if racing is None:
            ordered += counts
            counts.clear()
        ordered.append(message)
    return ordered + counts


def _is_context(message: Message) -> bool:
    """Whether it tells raw what codex itself puts before the conversation, which the mock has not."""
    if message.get("method") not in {"rawResponseItem/completed", "codex/event/raw_response_item"}:
        return False
    text = json.dumps(message)
    return '"role": "developer"' in text or "<environment_context>" in text or "# AGENTS.md" in text


_TURN_BEGINS = frozenset({"thread/status/changed", "turn/started", "codex/event/task_started"})
_BEFORE_ANSWER = _TURN_BEGINS | {"thread/settings/updated"}


def _in_order(messages: Sequence[Message]) -> list[Message]:
    ordered: list[Message] = []
    for message in messages:
        ordered.append(message)
        at = len(ordered) - 1
        if "turn" in (message.get("result") or {}):  # the answer of turn/start, before or after the turn's start
            while at and ordered[at - 1].get("method") in _BEFORE_ANSWER:
                at -= 1
            ordered.insert(at, ordered.pop())
        elif message.get("method") == "thread/goal/cleared" and "turn" in (ordered[at - 1].get("result") or {}):
            ordered.insert(at - 1, ordered.pop())  # of the thread that was resumed just before
        elif message.get("method") == "item/tool/call" and ordered[at - 2].get("method") == "rawResponse/completed":
            ordered.append(ordered.pop(at - 2))
        elif _is_own_tool(message) and ordered[at - 1].get("method") == "rawResponse/completed":
            ordered.append(ordered.pop(at - 1))
    return _servers_after_threads(ordered)


def _is_own_tool(message: Message) -> bool:
    """Whether it is about what codex runs itself while the model's answer ends."""
    item = (message.get("params") or {}).get("item") or {}
    return message.get("method") == "turn/plan/updated" or item.get("type") == "mcpToolCall"


def _servers_after_threads(messages: Sequence[Message]) -> list[Message]:
    """What is sent of the servers of a thread stands after its start."""
    statuses = {
        message["params"]["conversationId"]: message
        for message in messages
        if message.get("method") == "codex/event/mcp_startup_complete"
    }
    ordered: list[Message] = []
    for message in messages:
        if message.get("method") != "codex/event/mcp_startup_complete":
            ordered.append(message)
        if message.get("method") == "thread/started":
            ordered += [
                statuses.pop(identity) for identity in [message["params"]["thread"]["id"]] if identity in statuses
            ]
    return [*ordered, *statuses.values()]
