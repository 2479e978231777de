"""What the v2 notifications of `codex app-server` mean: items, turns, threads, requests to run a tool. Pure.

Calls come twice, as a raw item with the model's own characters and as a request to run the tool with parsed JSON: what
comes first under a call id counts, and the raw item does come first. `rawResponse/completed` means that no more calls
follow, and so does the count of tokens, where that is sent before the calls are answered. In code mode the tool runs
later than that, so then the first request to run it ends the calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from wireproof_proxy.backends.untrusted_json import as_mapping, as_text
from wireproof_surfaces.events import CallsEnded, Event, Working

if TYPE_CHECKING:
    from wireproof_proxy.backends.codex.turn_decoder import CodexTurnDecoder

Params = Mapping[str, Any]


def _delta(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    return turn.text(as_text(params.get("delta")), as_text(params.get("itemId")))


def _item_completed(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    item = as_mapping(params.get("item"))
    if item.get("type") != "agentMessage":
        return [Working()]
    return turn.message(as_text(item.get("text")), as_text(item.get("id")))


def raw_item(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    """An item in the model's own characters; only a call of a tool that was offered is a call for the client."""
    item = as_mapping(params.get("item"))
    # The calls of Codex's own tools come as raw items too.
    if item.get("type") != "function_call" or as_text(item.get("name")) not in turn.tools:
        return [Working()]
    return turn.native(as_text(item.get("call_id")), as_text(item.get("name")), as_text(item.get("arguments")))


def _tool_call(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    # Parsed by the server, so the model's own characters are in the raw item only (chat.whole.arguments-verbatim).
    arguments = json.dumps(params.get("arguments"), ensure_ascii=False, separators=(",", ":"))
    events = turn.native(as_text(params.get("callId")), as_text(params.get("tool")), arguments)
    return [*events, CallsEnded(choice=turn.choice)] if turn.responded else events


def _raw_response(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    return [*turn.summed(turn.usage(params.get("usage"))), *turn.response_over()]


def _token_usage(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    # The thread is this turn's own, so its total is the turn's; `last` is zero in an answer that was cut off.
    counted = turn.counted(turn.usage(as_mapping(params.get("tokenUsage")).get("total")))
    # Sent at the end of a response, which is the only one when its calls still wait.
    return [*counted, *turn.response_over()] if turn.calls.any else counted


def _error(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    # Codex asks its model again, and repeats the message under a new id.
    if params.get("willRetry"):
        return turn.retried()
    return turn.failed(as_mapping(params.get("error")))


def _completed(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    ended = as_mapping(params.get("turn"))
    # failed, or interrupted: neither is an answer.
    if ended.get("status") != "completed":
        return turn.failed(as_mapping(ended.get("error")))
    items = ended.get("items")
    messages = [as_mapping(item) for item in items] if isinstance(items, list) else []
    last: Params = next((item for item in reversed(messages) if item.get("type") == "agentMessage"), {})
    return turn.complete(as_text(last.get("text")), as_text(last.get("id")))


CONTENT: Mapping[str, Callable[[CodexTurnDecoder, Params], list[Event]]] = {
    "item/agentMessage/delta": _delta,
    "item/completed": _item_completed,
    "rawResponseItem/completed": raw_item,
    "thread/tokenUsage/updated": _token_usage,
}
"""Content, which an older server repeats in the v1 family: the family that came first counts."""

ALWAYS: Mapping[str, Callable[[CodexTurnDecoder, Params], list[Event]]] = {
    "rawResponse/completed": _raw_response,
    "item/tool/call": _tool_call,
    "error": _error,
    "turn/completed": _completed,
}
"""What is sent once, or ends the turn and so counts once."""
