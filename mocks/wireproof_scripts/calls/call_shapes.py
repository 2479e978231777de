"""A call in each of its shapes: the deltas and messages that carry it, piece by piece.

    in_shapes(call, number) → Fragment {"tool_calls": …} … | Whole {"role": "assistant", …} | Text | Native()

The first fragment names the call and has empty arguments, then each piece of the arguments is a fragment of its own.
The id is where each shape has it: `id` in `tool_calls`, `call_id` in `function_call` and in Responses items. The items'
own `id` (`fc_…`) is sent whenever that of the call is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_scripts.calls.blocks import BLOCKS, cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof_scripts.steps import Call, Shape

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShapeFragment:
    """The `delta` of an agentMessageDelta."""

    delta: Json


@dataclass(frozen=True, slots=True)
class Whole:
    """The `message` of an agentMessage."""

    message: Json


@dataclass(frozen=True, slots=True)
class ShapeText:
    """A delta of the answer's text."""

    text: str
    own_line: bool = False
    """It must be at the start of a line: after other text a line break is sent first."""


@dataclass(frozen=True, slots=True)
class Native:
    """The request to the client to run the tool."""


CallOutput = ShapeFragment | Whole | ShapeText | Native
"""What is sent for a call in one shape, one piece of it."""


def in_shapes(call: Call, number: int) -> Iterator[CallOutput]:
    """All that is sent for a call, shape after shape; `number` counts the calls before it in the model's answer."""
    for shape in call.shapes:
        yield from _SHAPES[shape](call, number)


def _native(_call: Call, _number: int) -> Iterator[CallOutput]:
    yield Native()


def _pieces(call: Call, text: str) -> tuple[str, ...]:
    pieces = cut(text, call.pieces)
    return pieces[:-1] if call.unfinished else pieces


def _present(**ids: str) -> Json:
    """The ids that are not empty."""
    return {name: value for name, value in ids.items() if value}


def _tool_calls(call: Call, number: int) -> Iterator[CallOutput]:
    early, late = ("", call.id) if call.late_id else (call.id, "")  # shapes.late-id
    function = {"name": call.name, "arguments": ""}
    yield ShapeFragment(
        {"tool_calls": [{"index": number, **_present(id=early), "type": "function", "function": function}]}
    )
    pieces = _pieces(call, call.arguments)
    for at, piece in enumerate(pieces, 1):
        last = _present(id=late) if at == len(pieces) else {}
        yield ShapeFragment({"tool_calls": [{"index": number, **last, "function": {"arguments": piece}}]})


def _function_call(call: Call, _number: int) -> Iterator[CallOutput]:
    early, late = ("", call.id) if call.late_id else (call.id, "")
    yield ShapeFragment({"function_call": {**_present(call_id=early), "name": call.name, "arguments": ""}})
    pieces = _pieces(call, call.arguments)
    for at, piece in enumerate(pieces, 1):
        last = _present(call_id=late) if at == len(pieces) else {}
        yield ShapeFragment({"function_call": {**last, "arguments": piece}})


def _responses_events(call: Call, number: int) -> Iterator[CallOutput]:
    item_id = f"fc_{call.id}" if call.id else ""
    early = _present(id=item_id, call_id=call.id) if not call.late_id else {}
    at = {**({} if call.late_id else _present(item_id=item_id)), "output_index": number}
    item = {"type": "function_call", **early, "name": call.name, "arguments": "", "status": "in_progress"}
    yield ShapeFragment({"type": "response.output_item.added", "output_index": number, "item": item})
    for piece in _pieces(call, call.arguments):
        yield ShapeFragment({"type": "response.function_call_arguments.delta", **at, "delta": piece})
    if call.unfinished:  # no event that completes the call
        return
    # shapes.late-id: `done` is then the first event with the id, so it has `call_id` as well.
    ids = _present(item_id=item_id, call_id=call.id) if call.late_id else _present(item_id=item_id)
    end = {**ids, "output_index": number, "arguments": call.arguments}
    yield ShapeFragment({"type": "response.function_call_arguments.done", **end})
    done = {**item, **_present(id=item_id, call_id=call.id), "arguments": call.arguments, "status": "completed"}
    yield ShapeFragment({"type": "response.output_item.done", "output_index": number, "item": done})


# Whole messages have no fragments, so `pieces`, `late_id` and `unfinished` mean nothing for them.
def _message_tool_calls(call: Call, _number: int) -> Iterator[CallOutput]:
    function = {"name": call.name, "arguments": call.arguments}
    sent = {**_present(id=call.id), "type": "function", "function": function}
    yield Whole({"role": "assistant", "content": None, "tool_calls": [sent]})


def _message_function_call(call: Call, _number: int) -> Iterator[CallOutput]:
    sent = {**_present(call_id=call.id), "name": call.name, "arguments": call.arguments}
    yield Whole({"role": "assistant", "content": None, "function_call": sent})


def _sentinel(call: Call, _number: int) -> Iterator[CallOutput]:
    # Nothing at all is left of an unfinished block in one piece. A block must be at the start of a line to be a call
    # (responses.sentinel.own-line); a `<use_tool>` block may come after other text (textual.prefix-kept).
    first, *rest = _pieces(call, BLOCKS["sentinel"](call)) or ("",)
    yield ShapeText(first, own_line=True)
    yield from map(ShapeText, rest)


def _use_tool(call: Call, _number: int) -> Iterator[CallOutput]:
    yield from map(ShapeText, _pieces(call, BLOCKS["use-tool"](call)))


_SHAPES: Mapping[Shape, Callable[[Call, int], Iterator[CallOutput]]] = {
    "native": _native,
    "delta-tool-calls": _tool_calls,
    "delta-function-call": _function_call,
    "responses-events": _responses_events,
    "message-tool-calls": _message_tool_calls,
    "message-function-call": _message_function_call,
    "sentinel": _sentinel,
    "use-tool": _use_tool,
}
