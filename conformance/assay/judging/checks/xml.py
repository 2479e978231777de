"""Checks of `<use_tool>` blocks: which of the rules a block breaks, found by comparing it with the right one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.judging.checks.answered import answered
from assay.judging.checks.diff import difference, torn
from assay.judging.checks.places import place_of, reading_of
from assay.model.dialect import MODE_HEADER, mode_of
from assay.model.scenario import Mode
from assay.reading.exchange import Exchange, violation
from assay.wire import textual
from assay.wire.events import Text
from assay.wire.message import read_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.judging.checks.places import Check
    from assay.wire.violation import Violation

SHAPE = re.compile(r"<use_tool>\n  <name>[^\n]*</name>\n(?:  <([\w.-]+)>.*</\1>\n)*</use_tool>", re.DOTALL)
BLOCK = re.compile(r"<use_tool>.*?</use_tool>", re.DOTALL)


def broken_rule(want: str, got: str, *, exact: bool) -> str | None:
    """The requirement by which a block differs from the right one; None when it does not."""
    if want == got:
        return None
    if not exact:
        return "textual.verbatim"
    right, told = textual.read_block(want), textual.read_block(got)
    if right is None or told is None or not SHAPE.fullmatch(got):
        return "xml.shape"
    if told.name != right.name:
        return "xml.round-trip"
    return _broken_arguments(right.arguments, told.arguments)


def _broken_arguments(right: Mapping[str, str], told: Mapping[str, str]) -> str:
    if not right:
        return "xml.no-arguments"
    if set(right) != set(told):
        return "xml.round-trip"
    if list(right) != list(told):
        return "xml.order"
    return "xml.escape" if right == told or _same_but_escapes(right, told) else "xml.values"


def _same_but_escapes(right: Mapping[str, str], told: Mapping[str, str]) -> bool:
    return all(_bare(right[key]) == _bare(told[key]) for key in right)


def _bare(value: str) -> str:
    for entity, character in (("&quot;", '"'), ("&apos;", "'"), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">")):
        value = value.replace(entity, character)
    return value.replace("&amp;", "&")


def _rule(requirement: str) -> Check:
    """The check of one rule: blocks that differ by it."""

    def check(exchange: Exchange) -> Iterable[Violation]:
        place = place_of(exchange, Text) if exchange.mode is Mode.STREAM else exchange.body_place
        for want, got, exact in _blocks(exchange):
            if broken_rule(want, got, exact=exact) == requirement:
                yield violation(requirement, difference(want, got), place)

    check.__doc__ = f"Blocks that differ by {requirement}."
    return check


def _blocks(exchange: Exchange) -> Iterable[tuple[str, str, bool]]:
    """Block by block: as it should be, as it came, and whether it was made from a structured call."""
    for wanted, choice in exchange.choices():
        came = BLOCK.findall(choice.text or "")
        for call, got in zip(wanted.calls[: len(wanted.blocks)], came, strict=False):
            if not torn(call.block, got):
                yield call.block, got, call.exact


def single_delta(exchange: Exchange) -> Iterable[Violation]:
    """Each block comes in one delta."""
    for index, (wanted, choice) in enumerate(exchange.choices()):
        if not wanted.blocks or len(choice.calls) != len(wanted.calls):
            continue
        events = reading_of(exchange).events
        deltas = [event.text for event in events if isinstance(event, Text) and event.choice == index]
        whole = [text for text in deltas if BLOCK.search(text)]
        if len(whole) != len(wanted.blocks):
            seen = f"{len(wanted.blocks)} blocks were due; {len(whole)} deltas hold a whole one: {choice.text!r:.120}"
            yield violation("chat.stream.xml-single-delta", seen, place_of(exchange, Text))


def textual_verbatim(exchange: Exchange) -> Iterable[Violation]:
    """A block that the backend told in text is forwarded as it stands there."""
    return _rule("textual.verbatim")(exchange)


def mode_header(exchange: Exchange) -> Iterable[Violation]:
    """The response says which output mode was used."""
    told, want = exchange.transcript.header(MODE_HEADER), exchange.dialect.spec.output_mode
    if told != want:
        yield violation("mode.header", f"the response header {MODE_HEADER} is {told!r}, it should be {want!r}")


def mode_default(exchange: Exchange) -> Iterable[Violation]:
    """Without a header the answer has the target's own mode."""
    reading = read_whole(exchange.transcript.body)
    content = next((event.text for event in reading.events if isinstance(event, Text)), "")
    came = mode_of(content)
    if came is not exchange.target.default_mode:
        seen = (
            f"the answer to a request that names no mode is in {came}, it should be in {exchange.target.default_mode}"
        )
        yield violation("mode.default", seen, exchange.body_place)


RULES = ("xml.shape", "xml.order", "xml.escape", "xml.values", "xml.no-arguments", "xml.round-trip")

CONTENT: Mapping[str, Check] = {
    "chat.stream.xml-single-delta": single_delta,
    **{rule: _rule(rule) for rule in RULES},
    "textual.verbatim": textual_verbatim,
    "mode.header": mode_header,
    "mode.invalid": answered("mode.invalid"),
    "mode.default": mode_default,
}
