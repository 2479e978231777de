"""Checks of `<use_tool>` blocks and of the output mode that asks for them.

Which rule a block breaks is found by comparing it with the right one.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import difference, torn
from wireproof.judging.checks.places import first_place, reading_of, same_data, text_spot
from wireproof.judging.registry import Checks, Seen, no_header
from wireproof.model.dialect import MODE_HEADER, mode_of
from wireproof.wire import textual
from wireproof.wire.events import Text
from wireproof.wire.message import read_whole
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wireproof.reading.exchange import Exchange
    from wireproof.reading.expected import ExpectedCall

check = Checks()
"""The checks of this module."""


class BlockRule(Enum):
    """What may be wrong with a block. A block breaks one rule, the first of them."""

    SHAPE = auto()
    ORDER = auto()
    ESCAPE = auto()
    VALUES = auto()
    NO_ARGUMENTS = auto()
    ROUND_TRIP = auto()
    VERBATIM = auto()


SHAPE = re.compile(r"<use_tool>\n  <name>[^\n]*</name>\n(?:  <([\w.-]+)>.*</\1>\n)*</use_tool>", re.DOTALL)
BLOCK = re.compile(r"<use_tool>.*?</use_tool>", re.DOTALL)


def broken_rule(want: str, got: str, *, exact: bool) -> BlockRule | None:
    """The rule by which a block differs from the right one; None if it does not.

    `exact`: the backend made a structured call, so the proxy wrote the block. Else the block came in the backend's
    text, and must be forwarded as it stands there.
    """
    if want == got:
        return None
    if not exact:
        return BlockRule.VERBATIM
    right, came = textual.read_block(want), textual.read_block(got)
    # In this order: names and values mean little in a block that is not written as one.
    if right is None or came is None or not SHAPE.fullmatch(got):
        return BlockRule.SHAPE
    if came.name != right.name:
        return BlockRule.ROUND_TRIP
    return _broken_arguments(right.arguments, came.arguments)


def _broken_arguments(right: Mapping[str, str], came: Mapping[str, str]) -> BlockRule:
    if not right:
        return BlockRule.NO_ARGUMENTS
    if set(right) != set(came):
        return BlockRule.ROUND_TRIP
    if list(right) != list(came):
        return BlockRule.ORDER
    return BlockRule.ESCAPE if right == came or _same_but_escapes(right, came) else BlockRule.VALUES


def _same_but_escapes(right: Mapping[str, str], came: Mapping[str, str]) -> bool:
    return all(_bare(right[key]) == _bare(came[key]) for key in right)


def _bare(value: str) -> str:
    # Quotes, too: a block that escapes them is wrong in just that, since Copilot reads values raw.
    for entity, character in (("&quot;", '"'), ("&apos;", "'"), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">")):
        value = value.replace(entity, character)
    return value.replace("&amp;", "&")  # last, or `&amp;lt;` would be unescaped twice


def differing(rule: BlockRule, exchange: Exchange) -> Iterable[Seen]:
    """The blocks that differ from the right ones by this rule."""
    for choice, call, got in _blocks(exchange):
        want = respelled(call.block, got) if call.meant else call.block
        if broken_rule(want, got, exact=call.exact) is rule:
            # In all of the text: that before the block is right, or another requirement's matter.
            said = exchange.choice(choice).text or ""
            spot = text_spot(exchange, choice, said.replace(got, want, 1), said)
            yield Seen(f"{spot.heading('content')}{difference(want, got)}", spot.place)


check("xml.shape")(partial(differing, BlockRule.SHAPE))
check("xml.order")(partial(differing, BlockRule.ORDER))
check("xml.escape")(partial(differing, BlockRule.ESCAPE))
check("xml.values")(partial(differing, BlockRule.VALUES))
check("xml.no-arguments")(partial(differing, BlockRule.NO_ARGUMENTS))
check("xml.round-trip")(partial(differing, BlockRule.ROUND_TRIP))
check("textual.verbatim")(partial(differing, BlockRule.VERBATIM))


def respelled(want: str, got: str) -> str:
    """The right block of a call whose arguments are data, with what data leaves open as it came.

    That is the order of the arguments, and how each value is spelled that means the same.
    """
    right, came = textual.read_block(want), textual.read_block(got)
    if right is None or came is None or set(right.arguments) != set(came.arguments):
        return want
    arguments = {
        name: spelling if same_data(right.arguments[name], spelling) else right.arguments[name]
        for name, spelling in came.arguments.items()
    }
    return textual.block_of(right.name, arguments)


def _blocks(exchange: Exchange) -> Iterable[tuple[int, ExpectedCall, str]]:
    """Block by block: its choice, the call that it is to hold, and the block as it came."""
    for wanted, choice in exchange.choices():
        came = BLOCK.findall(choice.text or "")
        for call, got in zip(wanted.calls[: len(wanted.blocks)], came, strict=False):
            # Characters that were cut to pieces are for `chat.stream.utf8`.
            if not torn(call.block, got):
                yield choice.index, call, got


@check("chat.stream.xml-single-delta")
def single_delta(exchange: Exchange) -> Iterable[Seen]:
    """Each block comes in one delta."""
    for index, (wanted, choice) in enumerate(exchange.choices()):
        # Calls that are missing are no fault of how blocks are cut.
        if not wanted.blocks or len(choice.calls) != len(wanted.calls):
            continue
        events = reading_of(exchange).events
        deltas = [event.text for event in events if isinstance(event, Text) and event.choice == index]
        whole = [text for text in deltas if BLOCK.search(text)]
        if len(whole) != len(wanted.blocks):
            came = f"{len(whole)} deltas hold a whole one: {quoted(choice.text, 120)}"
            seen = f"{len(wanted.blocks)} blocks were due; {came}"
            yield Seen(seen, first_place(exchange, Text, lambda one: textual.OPEN in one.text))


@check("mode.header")
def mode_header(exchange: Exchange) -> Iterable[Seen]:
    """The response says which output mode was used."""
    named, want = exchange.transcript.header(MODE_HEADER), exchange.dialect.spec.output_mode
    if named is None:
        yield no_header(MODE_HEADER, f"say {want}")
    elif named != want:
        yield Seen(f"the response header {MODE_HEADER} is {quoted(named)}, it should be {quoted(want)}")


@check("mode.default")
def mode_default(exchange: Exchange) -> Iterable[Seen]:
    """An answer to a request that names no output mode is in the target's own."""
    reading = read_whole(exchange.transcript.body)
    content = next((event.text for event in reading.events if isinstance(event, Text)), "")
    came = mode_of(content)
    if came is not exchange.target.default_mode:
        seen = (
            f"the answer to a request that names no mode is in {came}, it should be in {exchange.target.default_mode}"
        )
        yield Seen(seen, exchange.body_place)
