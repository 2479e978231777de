"""Checks of `<use_tool>` blocks and of the output mode that asks for them.

Which rule a block breaks is found by comparing it with the right one.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import difference, torn
from wireproof.judging.checks.places import first_place, same_data, text_spot
from wireproof.judging.registry import Checks, NotShownError, Seen, no_header
from wireproof.model.dialect import MODE_HEADER, mode_of
from wireproof.wire import textual
from wireproof.wire.events import CallOpened, Text
from wireproof.wire.message import read_whole
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wireproof.reading.exchange import Exchange
    from wireproof.reading.expected import ExpectedCall

check = Checks()


class BlockRule(Enum):
    """What may be wrong with a block. One may break several rules at once."""

    SHAPE = auto()
    ORDER = auto()
    ESCAPE = auto()
    VALUES = auto()
    NO_ARGUMENTS = auto()
    ROUND_TRIP = auto()
    VERBATIM = auto()


SHAPE = re.compile(r"<use_tool>\n  <name>[^\n]*</name>\n(?:  <([\w.-]+)>.*</\1>\n)*</use_tool>", re.DOTALL)
BLOCK = re.compile(r"<use_tool>.*?</use_tool>", re.DOTALL)


def broken_rules(want: str, got: str, *, exact: bool) -> Mapping[BlockRule, str]:
    """The rules by which a block differs from the right one, each with the first difference that breaks it.

    `exact`: the backend made a structured call, so the proxy wrote the block. Else the block came in the backend's
    text, and must be forwarded as it stands there.
    """
    if want == got:
        return {}
    of_block = difference(want, got)
    if not exact:
        return {BlockRule.VERBATIM: of_block}
    right, came = textual.read_block(want), textual.read_block(got)
    broken: dict[BlockRule, str] = {}
    if right is not None and came is not None:
        broken |= dict.fromkeys(_of_block(right, came), of_block)
        # Blanks around a value are lost with the lines that a block lacks.
        kept = str.strip if BlockRule.SHAPE in broken else str
        for key, text in right.written.items():
            said = came.written.get(key, text)
            if kept(said) != kept(text):
                alike = kept(_bare(right.arguments[key])) == kept(_bare(came.arguments[key]))
                broken.setdefault(BlockRule.ESCAPE if alike else BlockRule.VALUES, f"<{key}>: {difference(text, said)}")
    # Where nothing else is wrong, the lines around the elements are.
    return broken or {BlockRule.SHAPE: of_block}


def _of_block(right: textual.TextualCall, came: textual.TextualCall) -> Iterator[BlockRule]:
    """The rules that a block breaks as such, whatever its values are."""
    if not SHAPE.fullmatch(came.block):
        yield BlockRule.SHAPE
    # In a block of another shape an argument may be there and not be found.
    elif came.name != right.name or (right.written and set(right.written) != set(came.written)):
        yield BlockRule.ROUND_TRIP
    if came.written and not right.written:
        yield BlockRule.NO_ARGUMENTS
    if [key for key in right.written if key in came.written] != [key for key in came.written if key in right.written]:
        yield BlockRule.ORDER


def _bare(value: str) -> str:
    # Quotes, too: a block that escapes them is wrong in just that, since Copilot reads values raw.
    for entity, character in (("&quot;", '"'), ("&apos;", "'"), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">")):
        value = value.replace(entity, character)
    return value.replace("&amp;", "&")  # last, or `&amp;lt;` would be unescaped twice


def differing(rule: BlockRule, exchange: Exchange) -> Iterable[Seen]:
    """The blocks that differ from the right ones by this rule."""
    for choice, call, got in _blocks(exchange):
        want = respelled(call.block, got) if call.meant else call.block
        seen = broken_rules(want, got, exact=call.exact).get(rule)
        if seen is not None:
            # In all of the text: that before the block is right, or another requirement's matter.
            said = exchange.choice(choice).text or ""
            spot = text_spot(exchange, choice, said.replace(got, want, 1), said)
            yield Seen(f"{spot.heading('content')}{seen}", spot.place)


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
    if right is None or came is None:
        return want
    arguments = {
        name: spelling if same_data(right.arguments[name], spelling) else right.arguments[name]
        for name, spelling in came.arguments.items()
        if name in right.arguments
    }
    arguments |= {name: text for name, text in right.arguments.items() if name not in arguments}
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
        events = exchange.read.events
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
    """An answer to a request that names no output mode is in the target's own.

    Raises:
        NotShownError: it has neither a text nor a call that could be read.
    """
    reading = read_whole(exchange.transcript.body)
    if not any(isinstance(event, Text | CallOpened) for event in reading.events):
        raise NotShownError("no answer that could be read came to a request that names no output mode")
    content = next((event.text for event in reading.events if isinstance(event, Text)), "")
    came = mode_of(content)
    if came is not exchange.target.default_mode:
        seen = (
            f"the answer to a request that names no mode is in {came}, it should be in {exchange.target.default_mode}"
        )
        yield Seen(seen, exchange.body_place)
