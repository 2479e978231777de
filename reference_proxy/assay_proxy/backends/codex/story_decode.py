"""What the words of other backends mean: agentMessageDelta, agentMessage, tokenCount, usage. Pure.

    agentMessageDelta  delta: text, or an object with `content`, `tool_calls`, `function_call`, or a Responses event
    agentMessage       message: all of it, text and calls
    tokenCount, usage  usage, and perhaps `finish_reason`: then the choice is complete

A `choice_index` may stand in the delta, the message or the params. What has none is of the turn's own choice; once any
had one, it is of choice 0. Where each choice has a turn of its own, what a turn tells of other choices is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from assay_proxy.backends.codex.call_collector import Piece
from assay_proxy.backends.untrusted_json import as_count, as_mapping, as_text
from assay_proxy.events import Event, FinishReason, Working
from assay_proxy.tools import spelled_json

if TYPE_CHECKING:
    from assay_proxy.backends.codex.call_collector import Shape
    from assay_proxy.backends.codex.turn_decoder import TurnDecoder

Params = Mapping[str, Any]

_CALL_IDS = ("call_id", "callId", "tool_call_id", "toolCallId")
_ITEM_IDS = ("item_id", "itemId")
_REASONS: Mapping[str, FinishReason] = {"length": "length", "content_filter": "content_filter"}


def _delta(turn: TurnDecoder, params: Params) -> list[Event]:
    delta = params.get("delta")
    if not _own(turn, params, as_mapping(delta)):
        return [Working()]
    if isinstance(delta, str):
        return turn.text(delta)
    told = as_mapping(delta)
    if as_text(told.get("type")).startswith("response."):
        return _responses_event(turn, told)
    events = turn.text(_text(told.get("content")))
    calls = _listed(told, "tool_calls", "toolCalls")
    for call in calls:
        events += turn.calls.fragment(_piece("tool_calls", call))
    legacy = as_mapping(_first(told, "function_call", "functionCall"))
    if legacy and not calls:
        events += turn.calls.fragment(_piece("function_call", {**_ids_of(told), **legacy}))
    return events or [Working()]


def _message(turn: TurnDecoder, params: Params) -> list[Event]:
    message = params.get("message")
    told = {"content": message} if isinstance(message, str) else as_mapping(message)
    if not _own(turn, params, told):
        return [Working()]
    calls = _listed(told, "tool_calls", "toolCalls")
    legacy = as_mapping(_first(told, "function_call", "functionCall"))
    events = turn.message(_text(told.get("content")))
    for call in calls:
        events += turn.calls.whole(_piece("tool_calls", call))
    if legacy and not calls:
        events += turn.calls.whole(_piece("function_call", legacy))
    return events


def _responses_event(turn: TurnDecoder, event: Params) -> list[Event]:
    item = as_mapping(event.get("item"))
    piece = _item(event)
    match event.get("type"):
        case "response.output_text.delta":
            events = turn.text(as_text(event.get("delta")))
        case "response.function_call_arguments.delta":
            events = turn.calls.fragment(piece)
        case "response.function_call_arguments.done":
            events = turn.calls.done(piece, last=False)
        case "response.output_item.added" if item.get("type") == "function_call":
            events = turn.calls.fragment(piece)
        case "response.output_item.done" if item.get("type") == "function_call":
            events = turn.calls.done(piece, last=True)
        case _:
            events = []
    return events or [Working()]


def _item(event: Params) -> Piece:
    """What a Responses event tells of a call; ids of items are no ids of calls unless there is no other."""
    item = as_mapping(event.get("item"))
    told = {**event, **item}
    text = event.get("delta") if "delta" in event else told.get("arguments")
    place, item_id = as_count(event.get("output_index")), as_text(item.get("id") or _first(event, *_ITEM_IDS))
    return Piece(
        shape="item",
        keys=tuple(key for key in (place, item_id) if key not in {None, ""}),
        id=as_text(_first(told, *_CALL_IDS)),
        item=item_id,
        name=as_text(told.get("name")),
        text=_arguments(text),
    )


def _piece(shape: Shape, call: Params) -> Piece:
    function, index = as_mapping(call.get("function")) or call, as_count(call.get("index"))
    return Piece(
        shape=shape,
        keys=() if index is None else (index,),
        id=as_text(call.get("id") or _first(call, *_CALL_IDS)),
        item=as_text(_first(call, *_ITEM_IDS)),
        name=as_text(function.get("name")),
        text=_arguments(function.get("arguments")),
    )


def _counts(turn: TurnDecoder, params: Params) -> list[Event]:
    told = _first(params, "usage", "tokenUsage", "token_usage") or params
    total = _first(as_mapping(told), "total", "total_token_usage") or told
    events = turn.counted(turn.usage(total))
    if _first(params, "finish_reason", "finishReason") and _own(turn, params, {}):
        events += ended(turn, params)
    return events


def ended(turn: TurnDecoder, told: Params) -> list[Event]:
    """The end of the choice, if a `finish_reason` is told; calls decide for themselves."""
    reason = as_text(_first(told, "finish_reason", "finishReason"))
    return turn.finish(_REASONS.get(reason, "stop")) if reason else []


def _own(turn: TurnDecoder, params: Params, inner: Params) -> bool:
    """Whether it is told of the turn's own choice."""
    names = ("choice_index", "choiceIndex")
    index = next((n for told in (inner, params) if (n := as_count(_first(told, *names))) is not None), None)
    turn.indexed = turn.indexed or index is not None
    if index is None:
        index = 0 if turn.indexed else turn.choice
    return index == turn.choice


def _first(told: Params, *names: str) -> Any:  # noqa: ANN401 - whatever JSON there is
    return next((told[name] for name in names if told.get(name) is not None), None)


def _ids_of(told: Params) -> Params:
    return {name: told[name] for name in _CALL_IDS if name in told}


def _listed(told: Params, *names: str) -> list[Params]:
    calls = _first(told, *names)
    return [as_mapping(call) for call in calls] if isinstance(calls, list) else []


def _text(content: object) -> str:
    match content:
        case str():
            return content
        case list():
            return "".join(as_text(as_mapping(part).get("text")) for part in content)
        case _:
            return ""


def _arguments(value: object) -> str:
    return as_text(value) if value is None or isinstance(value, str) else spelled_json.compact(value)


STORY: Mapping[str, Callable[[TurnDecoder, Params], Iterable[Event]]] = {
    "agentMessageDelta": _delta,
    "agentMessage": _message,
    "tokenCount": _counts,
    "usage": _counts,
}
