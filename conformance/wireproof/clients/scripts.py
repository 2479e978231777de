"""The scripts of the scenarios for clients: a table, in which the tool is the one that the client declares.

A script here answers whatever is asked, without a marker, since the endpoint serves one client and one scenario at a
time. Ids of calls are used once in a scenario, so that what a client sends back says which answer it is from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wireproof.clients.tool_use import UNDECLARED, ToolUse
from wireproof.scenarios.judged_clients import MORE
from wireproof_scripts.steps import Call, Finish, Pace, Parts, Say, Script, Step, Think, Usage
from wireproof_scripts.steps.http import Disconnect, Drip, Frame, Stall, Status
from wireproof_scripts.steps.when import When, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_scripts.steps import Sequence

PLANES = (
    "A é 漢 \u05d0\u05d1 e\u0301 \U0001f600\U0001f3fd \U00020000 \U00030000 \U00040000 \U000e0001 \U000f0000 \U0010fffd"
)
"""A character of each plane that has any, and of three that have none: combined, right to left, beyond 16 bits."""
BLANKS = "  two before,\ttab,\u00a0no break,\u2028line,\r\n\r\nand three behind   "
MEBIBYTE = 2**20
HALF = '{"query": "half of it, and the rest'
_MESSAGES = {"anthropic-version": Words("contains", "")}
"""The headers of a request for Messages."""
ERROR = json.dumps({
    # One frame for both surfaces: an error event of Responses, and the error object of chat.
    "type": "error", "code": "server_error", "message": "wireproof: an error on purpose", "param": None,
    "sequence_number": 1000,
    "error": {"message": "wireproof: an error on purpose", "type": "server_error", "param": None, "code": None},
})  # fmt: skip
UNKNOWN = json.dumps({
    # To chat a chunk without choices, to Responses an event of a kind that does not exist.
    "id": "wireproof_unknown", "object": "chat.completion.chunk", "created": 1700000000, "model": "unknown",
    "choices": [], "type": "wireproof.unknown", "sequence_number": 1000, "unknown": {"nested": [1, None, "x"]},
})  # fmt: skip
_IN_PIECES = Drip(size=7, seconds=0.001)
"""Pieces that end within a character, too: who reads each by itself loses that.

The last six characters of `PLANES` have four bytes and a blank each: wherever they begin, one of them is cut if every
seventh byte ends a piece.
"""
HELLO: tuple[Step, ...] = (Say(("Hello", " from", " Wireproof", ".")), Usage(input=8, output=4))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answering:
    """What answers in a scenario."""

    parts: Callable[[ToolUse], Parts]
    in_messages: Callable[[ToolUse], Parts] = lambda _: ()
    """What answers in Messages in their place; nothing: the same."""
    sequence: Sequence = "no"
    """`endpoint`: the parts answer one request each, whatever it says; else the results that it has decide."""


def scripts_of(name: str, tool: ToolUse | None, *, elsewhere: str = "") -> tuple[Script, ...]:
    """The scripts of a scenario, whose own has this name; `tool` is what is called, None where no call is made.

    `elsewhere`: the address, without a path, to which a redirect leads; "": this is where it leads.
    """
    if name != "redirect":
        answering = _TABLE[name]
    elif elsewhere:
        location = {"Location": f"{elsewhere}/v1/chat/completions"}
        answering = _Answering(parts=lambda _: ((Status(307, headers=location),),))
    else:
        answering = _TABLE["text"]
    tool = tool or ToolUse(name=UNDECLARED, arguments={}, text_field="")
    parts = answering.parts(tool)
    # A request that declares no such tool is none of the conversation: agents ask for titles beside it.
    calls = any(isinstance(step, Call) for part in parts for step in part)
    when = When(tool=Words("is", tool.name)) if calls else When()
    main = Script(name=name, title=name, parts=parts, when=when, sequence=answering.sequence)
    # What Messages says otherwise is behind the same condition, and before the rest.
    other = answering.in_messages(tool)
    of_messages = replace(main, parts=other, when=replace(when, header=_MESSAGES), sequence="endpoint")
    more = Script(name="more", title="the next turn", parts=(HELLO,), when=When(text=Words("contains", MORE)))
    hello = Script(name="hello", title="anything else", parts=(HELLO,), when=When())
    host = elsewhere.removeprefix("http://")
    # Without a socket one endpoint answers at every address.
    there = [replace(hello, name="elsewhere", when=When(header={"host": Words("is", host)}))] if host else []
    return (*there, more, *([replace(of_messages, name=f"{name}-in-messages")] if other else []), main, hello)


def _say(text: str) -> Say:
    return Say((text,))


def _call(id_: str, tool: ToolUse, arguments: str | None = None, *, pieces: int = 4, unfinished: bool = False) -> Call:
    text = tool.spelled() if arguments is None else arguments
    size = max(1, -(-len(text) // pieces))
    cut = tuple(text[at : at + size] for at in range(0, len(text), size)) or ("",)
    return Call(id=f"call_{id_}", name=tool.name, arguments=text, pieces=cut, unfinished=unfinished)


def _half_an_input(id_: str, tool: ToolUse) -> tuple[Step, ...]:
    """A call whose input is half of an object, as where an answer is as long as it may: written as it is."""
    opened = {"type": "tool_use", "id": f"call_{id_}", "name": tool.name, "input": {}}
    events: tuple[dict[str, object], ...] = (
        {"type": "content_block_start", "index": 1, "content_block": opened},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": HALF}},
        {"type": "content_block_stop", "index": 1},
    )
    # A thought begins the message, and is a block that has ended.
    frames = (Frame(json.dumps(one), event=str(one["type"])) for one in events)
    return (Think("A look is needed."), *frames, Finish("length"))


def _undeclared(id_: str) -> Call:
    return Call(id=f"call_{id_}", name=UNDECLARED, arguments='{"reason": "to see what you say"}')


_TABLE: Mapping[str, _Answering] = {
    "text": _Answering(parts=lambda _: (HELLO,)),
    "call": _Answering(parts=lambda tool: ((_call("one", tool),), (_say("Done."),))),
    "text-and-call": _Answering(
        parts=lambda tool: ((Say(("Let me ", "look.")), _call("beside", tool)), (_say("There it is."),))
    ),
    "two-calls": _Answering(parts=lambda tool: ((_call("left", tool), _call("right", tool)), (_say("Both done."),))),
    "two-steps": _Answering(
        parts=lambda tool: ((_call("first", tool),), (_say("Once more."), _call("second", tool)), (_say("Done."),))
    ),
    "undeclared-tool": _Answering(
        # Beside one that is declared, so that the request for it is known as one of the conversation.
        parts=lambda tool: ((_call("declared", tool), _undeclared("undeclared")), (_say("So it is."),))
    ),
    "failing-tool": _Answering(
        parts=lambda tool: ((_call("failing", tool, '{"wireproof": {"not": ["declared"]}}'),), (_say("I see."),))
    ),
    "bad-arguments": _Answering(
        parts=lambda tool: ((_call("broken", tool, HALF),), (_say("I see."),)),
        in_messages=lambda tool: (_half_an_input("broken", tool), (_say("I see."),)),
    ),
    "busy-then-text": _Answering(
        parts=lambda _: ((Status(429, retry_after="2"),), HELLO), sequence="endpoint"
    ),
    "unavailable-then-text": _Answering(
        parts=lambda _: ((Status(503, retry_after="1"),), HELLO), sequence="endpoint"
    ),
    "busy": _Answering(parts=lambda _: ((Status(429),),), sequence="endpoint"),
    "failure-then-text": _Answering(parts=lambda _: ((Status(500),), HELLO), sequence="endpoint"),
    "refused": _Answering(
        parts=lambda _: ((Status(400, message="wireproof: a refusal on purpose"),),), sequence="endpoint"
    ),
    "wrong-key": _Answering(parts=lambda _: ((Status(401),),), sequence="endpoint"),
    "error-in-text": _Answering(
        parts=lambda _: ((Say(("So far", " so")), Frame(ERROR, event="error"), Disconnect()), HELLO),
        sequence="endpoint",
    ),
    "error-after-call": _Answering(
        parts=lambda tool: ((_call("failed", tool), Frame(ERROR, event="error"), Disconnect()), HELLO),
        sequence="endpoint",
    ),
    "cut-in-text": _Answering(
        parts=lambda _: ((Say(("This is ", "half of", " an")), Disconnect()), HELLO), sequence="endpoint"
    ),
    "cut-in-arguments": _Answering(
        parts=lambda tool: (
            (_call("torn", tool, tool.with_text("half of it, and the rest"), unfinished=True), Disconnect()), HELLO,
        ),
        sequence="endpoint",
    ),
    "cut-after-call": _Answering(
        parts=lambda tool: ((_call("unended", tool), Disconnect()), HELLO), sequence="endpoint"
    ),
    "stall": _Answering(parts=lambda _: ((Say(("Wait ", "for")), Stall(2.0), Say((" it", "."))),)),
    "slow": _Answering(
        parts=lambda tool: ((_IN_PIECES, _call("slow", tool, tool.with_text(PLANES))), (_say("Slow, and done."),))
    ),
    "planes": _Answering(
        parts=lambda tool: (
            (Say((PLANES, BLANKS)), _call("planes", tool, tool.with_text(PLANES + BLANKS))), (Say((PLANES, BLANKS)),),
        )
    ),
    "planes-in-text": _Answering(parts=lambda _: ((_IN_PIECES, Say((PLANES, BLANKS))),)),
    "large-arguments": _Answering(
        parts=lambda tool: ((_call("large", tool, tool.with_text("x" * MEBIBYTE), pieces=64),), (_say("Large."),))
    ),
    "empty": _Answering(parts=lambda _: ((Finish(),),)),
    "length": _Answering(parts=lambda _: ((_say("This answer is as long as it may"), Finish("length")),)),
    "content-filter": _Answering(parts=lambda _: ((_say("This answer was"), Finish("content_filter")),)),
    "unknown": _Answering(
        parts=lambda tool: ((Frame(UNKNOWN, event="wireproof.unknown"), _call("known", tool)), (_say("Known."),))
    ),
    "long-text": _Answering(parts=lambda _: ((Pace(rate=5.0), Say(("one ", "more ", "word, "), times=20)),)),
}  # fmt: skip
"""Script of a scenario → what answers."""
NAMES = (*_TABLE, "redirect")
"""All of them."""
