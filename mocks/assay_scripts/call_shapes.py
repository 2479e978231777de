"""A call in the shapes that are no request to run a tool: what is told of it, piece by piece.

    tell_shapes(call, number) → Fragment {"tool_calls": …} … | Whole {"role": "assistant", …} | Text | Native()

The first fragment names the call and has no arguments yet, then each piece of them is a fragment of its own. Ids stand
where each shape has them: `id` in `tool_calls`, `call_id` in `function_call` and in Responses items, whose own `id` is
told wherever the call's is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay_scripts.blocks import BLOCKS, cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from assay_scripts.steps import Call, Shape

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fragment:
    """The `delta` of an agentMessageDelta."""

    delta: Json


@dataclass(frozen=True, slots=True)
class Whole:
    """The `message` of an agentMessage."""

    message: Json


@dataclass(frozen=True, slots=True)
class Text:
    """A delta of the answer's text; `own_line`: it is to begin a line."""

    text: str
    own_line: bool = False


@dataclass(frozen=True, slots=True)
class Native:
    """The client is asked to run the tool."""


Saying = Fragment | Whole | Text | Native


def tell_shapes(call: Call, number: int) -> Iterator[Saying]:
    """What is told of a call, in each of its shapes; `number` counts the calls before it in the model's answer."""
    for shape in call.shapes:
        yield from _SHAPES[shape](call, number)


def _native(call: Call, number: int) -> Iterator[Saying]:
    del call, number
    yield Native()


def _pieces(call: Call, text: str) -> tuple[str, ...]:
    pieces = cut(text, call.pieces)
    return pieces[:-1] if call.unfinished else pieces


def _known(**ids: str) -> Json:
    """The ids that there are."""
    return {name: value for name, value in ids.items() if value}


def _tool_calls(call: Call, number: int) -> Iterator[Saying]:
    early, late = ("", call.id) if call.late_id else (call.id, "")
    function = {"name": call.name, "arguments": ""}
    yield Fragment({"tool_calls": [{"index": number, **_known(id=early), "type": "function", "function": function}]})
    pieces = _pieces(call, call.arguments)
    for at, piece in enumerate(pieces, 1):
        told = _known(id=late) if at == len(pieces) else {}
        yield Fragment({"tool_calls": [{"index": number, **told, "function": {"arguments": piece}}]})


def _function_call(call: Call, number: int) -> Iterator[Saying]:
    del number
    early, late = ("", call.id) if call.late_id else (call.id, "")
    yield Fragment({"function_call": {**_known(call_id=early), "name": call.name, "arguments": ""}})
    pieces = _pieces(call, call.arguments)
    for at, piece in enumerate(pieces, 1):
        told = _known(call_id=late) if at == len(pieces) else {}
        yield Fragment({"function_call": {**told, "arguments": piece}})


def _responses_events(call: Call, number: int) -> Iterator[Saying]:
    item_id = f"fc_{call.id}" if call.id else ""
    early = _known(id=item_id, call_id=call.id) if not call.late_id else {}
    at = {**({} if call.late_id else _known(item_id=item_id)), "output_index": number}
    item = {"type": "function_call", **early, "name": call.name, "arguments": "", "status": "in_progress"}
    yield Fragment({"type": "response.output_item.added", "output_index": number, "item": item})
    for piece in _pieces(call, call.arguments):
        yield Fragment({"type": "response.function_call_arguments.delta", **at, "delta": piece})
    if call.unfinished:
        return
    ids = _known(item_id=item_id, call_id=call.id) if call.late_id else _known(item_id=item_id)
    told = {**ids, "output_index": number, "arguments": call.arguments}
    yield Fragment({"type": "response.function_call_arguments.done", **told})
    done = {**item, **_known(id=item_id, call_id=call.id), "arguments": call.arguments, "status": "completed"}
    yield Fragment({"type": "response.output_item.done", "output_index": number, "item": done})


def _message_tool_calls(call: Call, number: int) -> Iterator[Saying]:
    del number
    function = {"name": call.name, "arguments": call.arguments}
    told = {**_known(id=call.id), "type": "function", "function": function}
    yield Whole({"role": "assistant", "content": None, "tool_calls": [told]})


def _message_function_call(call: Call, number: int) -> Iterator[Saying]:
    del number
    told = {**_known(call_id=call.id), "name": call.name, "arguments": call.arguments}
    yield Whole({"role": "assistant", "content": None, "function_call": told})


def _sentinel(call: Call, number: int) -> Iterator[Saying]:
    del number
    first, *rest = _pieces(call, BLOCKS["sentinel"](call)) or ("",)
    yield Text(first, own_line=True)
    yield from map(Text, rest)


def _use_tool(call: Call, number: int) -> Iterator[Saying]:
    del number
    yield from map(Text, _pieces(call, BLOCKS["use-tool"](call)))


_SHAPES: Mapping[Shape, Callable[[Call, int], Iterator[Saying]]] = {
    "native": _native,
    "delta-tool-calls": _tool_calls,
    "delta-function-call": _function_call,
    "responses-events": _responses_events,
    "message-tool-calls": _message_tool_calls,
    "message-function-call": _message_function_call,
    "sentinel": _sentinel,
    "use-tool": _use_tool,
}
