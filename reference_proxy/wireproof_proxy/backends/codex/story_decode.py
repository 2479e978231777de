"""The notifications of other backends: agentMessageDelta, agentMessage, tokenCount, usage. Pure.

    agentMessageDelta  delta: text, or an object with `content`, `tool_calls`, `function_call`, or a Responses event
    agentMessage       message: all of it, text and calls
    tokenCount, usage  usage, and perhaps `finish_reason`: then the choice is complete

All of this may stand in the params or inside their `msg`. The delta, the message or the params may have a
`choice_index`. A notification without one is about the turn's own
choice; once any had one, about choice 0. Each choice has a turn of its own, so what a turn sends of others is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from wireproof_proxy.backends.codex.call_collector import CallPiece
from wireproof_proxy.backends.untrusted_json import as_count, as_mapping, as_text
from wireproof_surfaces.events import Event, FinishReason, Working
from wireproof_surfaces.tools import spelled_json

if TYPE_CHECKING:
    from wireproof_proxy.backends.codex.call_collector import Shape
    from wireproof_proxy.backends.codex.turn_decoder import CodexTurnDecoder

Params = Mapping[str, Any]

_CALL_IDS = ("call_id", "callId", "tool_call_id", "toolCallId")
_ITEM_IDS = ("item_id", "itemId")
_REASONS: Mapping[str, FinishReason] = {"length": "length", "content_filter": "content_filter"}


def _delta(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    delta = params.get("delta")
    if not _own(turn, params, as_mapping(delta)):
        return [Working()]
    if isinstance(delta, str):
        return turn.text(delta)
    fields = as_mapping(delta)
    if as_text(fields.get("type")).startswith("response."):
        return _responses_event(turn, fields)
    events = turn.text(_text(fields.get("content")))
    calls = _listed(fields, "tool_calls", "toolCalls")
    for call in calls:
        events += turn.calls.fragment(_piece("tool_calls", call))
    legacy = as_mapping(_first(fields, "function_call", "functionCall"))
    if legacy and not calls:
        events += turn.calls.fragment(_piece("function_call", {**_ids_of(fields), **legacy}))
    return events or [Working()]


def _message(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    message = params.get("message")
    fields = {"content": message} if isinstance(message, str) else as_mapping(message)
    if not _own(turn, params, fields):
        return [Working()]
    calls = _listed(fields, "tool_calls", "toolCalls")
    legacy = as_mapping(_first(fields, "function_call", "functionCall"))
    # The text first: a message says it before its calls.
    events = turn.message(_text(fields.get("content")))
    for call in calls:
        events += turn.calls.whole(_piece("tool_calls", call))
    # Story 2.9, criterion 19: both shapes in one message are one call.
    if legacy and not calls:
        events += turn.calls.whole(_piece("function_call", legacy))
    return events


def _responses_event(turn: CodexTurnDecoder, event: Params) -> list[Event]:
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


def _item(event: Params) -> CallPiece:
    """What a Responses event says of a call; an item's id is used as the call's id only where there is no other."""
    item = as_mapping(event.get("item"))
    fields = {**event, **item}
    # `arguments.done` and the item itself hold all of the arguments, a delta a fragment.
    text = event.get("delta") if "delta" in event else fields.get("arguments")
    place, item_id = as_count(event.get("output_index")), as_text(item.get("id") or _first(event, *_ITEM_IDS))
    return CallPiece(
        shape="item",
        keys=tuple(key for key in (place, item_id) if key not in {None, ""}),
        id=as_text(_first(fields, *_CALL_IDS)),
        item=item_id,
        name=as_text(fields.get("name")),
        text=_arguments(text),
    )


def _piece(shape: Shape, call: Params) -> CallPiece:
    function, index = as_mapping(call.get("function")) or call, as_count(call.get("index"))
    return CallPiece(
        shape=shape,
        keys=() if index is None else (index,),
        id=as_text(call.get("id") or _first(call, *_CALL_IDS)),
        item=as_text(_first(call, *_ITEM_IDS)),
        name=as_text(function.get("name")),
        text=_arguments(function.get("arguments")),
    )


def _counts(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    usage = _first(params, "usage", "tokenUsage", "token_usage") or params
    # The thread is this turn's own, so its total is the turn's.
    total = _first(as_mapping(usage), "total", "total_token_usage") or usage
    events = turn.counted(turn.usage(total))
    if _first(params, "finish_reason", "finishReason") and _own(turn, params, {}):
        events += ended(turn, params)
    return events


def ended(turn: CodexTurnDecoder, fields: Params) -> list[Event]:
    """The end of the choice, if there is a `finish_reason`; whether it is `tool_calls` follows from its calls alone."""
    reason = as_text(_first(fields, "finish_reason", "finishReason"))
    return turn.finish(_REASONS.get(reason, "stop")) if reason else []


def _own(turn: CodexTurnDecoder, params: Params, inner: Params) -> bool:
    """Whether a notification is about the turn's own choice."""
    names = ("choice_index", "choiceIndex")
    index = next((n for fields in (inner, params) if (n := as_count(_first(fields, *names))) is not None), None)
    turn.indexed = turn.indexed or index is not None
    if index is None:
        index = 0 if turn.indexed else turn.choice
    return index == turn.choice


def _first(fields: Params, *names: str) -> object:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _ids_of(fields: Params) -> Params:
    return {name: fields[name] for name in _CALL_IDS if name in fields}


def _listed(fields: Params, *names: str) -> list[Params]:
    calls = _first(fields, *names)
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
    # Some send arguments as parsed JSON: the model's spelling is lost then, and compact JSON is what is left.
    return as_text(value) if value is None or isinstance(value, str) else spelled_json.compact(value)


_Read = Callable[["CodexTurnDecoder", Params], Iterable[Event]]


def _also_nested(read: _Read) -> _Read:
    """Reads what a notification says inside `msg`, as `codex/event` has it, as if it stood beside the thread."""
    return lambda turn, params: read(turn, {**params, **as_mapping(params.get("msg"))})


STORY: Mapping[str, _Read] = {
    "agentMessageDelta": _also_nested(_delta),
    "agentMessage": _also_nested(_message),
    "tokenCount": _also_nested(_counts),
    "usage": _also_nested(_counts),
}
