from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wireproof.judging.checks import CHECKS, xml
from wireproof.judging.checks.xml import BlockRule, broken_rules
from wireproof.judging.registry import NotShownError
from wireproof.model.dialect import MODE_HEADER, Dialect
from wireproof.reading.exchange import Exchange
from wireproof.wire.textual import write_block

Make = Callable[..., Exchange]
XML = Dialect.OBSIDIAN_XML
CALLS = {"finish": "tool_calls"}
RIGHT = write_block("localSearch", '{"query": "a & \\"b\\"", "salientTerms": ["x", 1.50]}')
BARE = write_block("getFileTree", "{}")


def changed(old: str, new: str, block: str = RIGHT) -> str:
    assert old in block
    return block.replace(old, new)


ORDERED = write_block("f", '{"a": 1, "b": 2}')
BROKEN = {
    "no name": (BlockRule.SHAPE, RIGHT, changed("  <name>localSearch</name>\n", "")),
    "no indent": (BlockRule.SHAPE, RIGHT, changed("  <query>", "<query>")),
    "one line": (BlockRule.SHAPE, RIGHT, changed("\n", "")),
    "a blank line": (BlockRule.SHAPE, RIGHT, changed("</query>\n", "</query>\n\n")),
    "an attribute": (BlockRule.SHAPE, RIGHT, changed("<query>", '<query type="string">')),
    "keys the other way round": (
        BlockRule.ORDER, ORDERED, changed("  <a>1</a>\n  <b>2</b>", "  <b>2</b>\n  <a>1</a>", ORDERED)
    ),
    "quotes escaped": (BlockRule.ESCAPE, RIGHT, changed('"b"', "&quot;b&quot;")),
    "nothing escaped": (BlockRule.ESCAPE, RIGHT, changed("&amp;", "&")),
    "escaped twice": (BlockRule.ESCAPE, RIGHT, changed("&amp;", "&amp;amp;")),
    "a number spelled otherwise": (BlockRule.VALUES, RIGHT, changed("1.50", "1.5")),
    "an array with spaces": (BlockRule.VALUES, RIGHT, changed('["x",', '["x", ')),
    "a value cut": (BlockRule.VALUES, RIGHT, changed("a &amp; ", "a ")),
    "an element for no arguments": (
        BlockRule.NO_ARGUMENTS, BARE, changed("</name>\n", "</name>\n  <args>{}</args>\n", BARE)
    ),
    "another name": (BlockRule.ROUND_TRIP, RIGHT, changed("localSearch", "webSearch")),
    "a key less": (BlockRule.ROUND_TRIP, ORDERED, changed("  <b>2</b>\n", "", ORDERED)),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "want", "got"), BROKEN.values(), ids=BROKEN)
def test_a_broken_block_names_its_rule(rule: BlockRule, want: str, got: str) -> None:
    assert broken_rules(want, got, exact=True).keys() == {rule}
    assert not broken_rules(want, want, exact=True)


def test_a_block_that_breaks_several_rules_names_each() -> None:
    several = changed("  <query>a &amp;", "<query>a &").replace("1.50", "1.5")
    assert broken_rules(RIGHT, several, exact=True).keys() == {BlockRule.SHAPE, BlockRule.ESCAPE, BlockRule.VALUES}
    turned = changed("  <a>1</a>\n  <b>2</b>", "  <b>2</b>\n  <a>1.0</a>", ORDERED)
    assert broken_rules(ORDERED, turned, exact=True).keys() == {BlockRule.ORDER, BlockRule.VALUES}


def test_blanks_around_a_value_are_lost_with_the_lines_of_a_block() -> None:
    right = write_block("f", '{"a": "b\\n"}')
    assert broken_rules(right, right.replace("\n", ""), exact=True).keys() == {BlockRule.SHAPE}
    assert broken_rules(right, right.replace("b\n", "b"), exact=True).keys() == {BlockRule.VALUES}


def test_every_rule_has_a_broken_block() -> None:
    assert {rule for rule, _, _ in BROKEN.values()} == set(BlockRule) - {BlockRule.VERBATIM}


def test_a_block_of_the_backends_own_is_to_be_forwarded_as_it_is() -> None:
    assert broken_rules(RIGHT, changed("  <query>", "<query>"), exact=False).keys() == {BlockRule.VERBATIM}
    assert not broken_rules(RIGHT, RIGHT, exact=False)


def seen(exchange: Exchange) -> set[str]:
    return {violation.requirement for row in FIT for violation in CHECKS.look(row, exchange)}


FIT = {row for row in xml.check if not row.startswith("mode.")}


def test_the_right_blocks_pass(right_stream: Make, right_whole: Make) -> None:
    for name in ("call-one", "calls-burst", "xml-values", "textual-verbatim", "choices-mixed"):
        assert seen(right_stream(name, dialect=XML)) == set()
        assert seen(right_whole(name, dialect=XML)) - {"chat.stream.xml-single-delta"} == set()


def test_a_wrong_block_is_reported_in_both_modes(right_stream: Make, stream: Make, whole: Make) -> None:
    right = right_stream("calls-first", dialect=XML).wanted[0]
    (call,) = right.calls
    wrong = call.block.replace("localSearch", "webSearch")
    opened = {"index": 0, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": "{}"}}
    streamed = stream("calls-first", {"tool_calls": [opened]}, wrong, CALLS, dialect=XML)
    (found,) = CHECKS.look("xml.round-trip", streamed)
    assert found.place is not None
    assert found.place.frame == 2
    at_once = whole("calls-first", wrong, "tool_calls", calls=[(call.id, call.name, "{}")], dialect=XML)
    (found,) = CHECKS.look("xml.round-trip", at_once)
    assert found.place is not None
    assert at_once.transcript.body[found.place.offset :].startswith(b"webSearch</name>")
    assert found.seen.startswith("choices[0].message.content: ")


def test_a_block_of_the_backends_own_that_was_written_again_is_reported(right_stream: Make, stream: Make) -> None:
    (call,) = right_stream("textual-verbatim", dialect=XML).wanted[0].calls
    again = write_block(call.name, "{}")
    (found,) = CHECKS.look("textual.verbatim", stream("textual-verbatim", again, CALLS, dialect=XML))
    assert found.requirement == "textual.verbatim"


def test_a_block_in_two_deltas_is_reported(right_stream: Make, stream: Make) -> None:
    (call,) = right_stream("calls-first", dialect=XML).wanted[0].calls
    opened = {
        "index": 0,
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
    pieces = (call.block[:20], call.block[20:])
    (found,) = CHECKS.look(
        "chat.stream.xml-single-delta", stream("calls-first", {"tool_calls": [opened]}, *pieces, CALLS, dialect=XML)
    )
    assert found.seen.startswith("1 blocks were due; 0 deltas hold a whole one")
    text_only = stream("text-hello", "Hello, world!", {"finish": "stop"}, dialect=XML)
    assert list(CHECKS.look("chat.stream.xml-single-delta", text_only)) == []


@pytest.mark.parametrize("dialect", Dialect)
def test_the_response_says_its_mode(right_whole: Make, dialect: Dialect) -> None:
    def found(**headers: Any) -> list[str]:
        exchange = right_whole("call-one", dialect=dialect, headers={"Content-Type": "application/json", **headers})
        return [violation.seen for violation in CHECKS.look("mode.header", exchange)]

    assert found(**{MODE_HEADER: dialect.spec.output_mode}) == []
    assert found(**{MODE_HEADER: "other"}) == [
        f'the response header {MODE_HEADER} is "other", it should be "{dialect.spec.output_mode}"'
    ]
    assert found() == [f"there is no {MODE_HEADER} header, it should say {dialect.spec.output_mode}"]
    (missing,) = CHECKS.look("mode.header", right_whole("call-one", dialect=dialect))
    assert str(missing.about) == f"{MODE_HEADER} is missing among the headers"


def test_the_mode_of_an_answer_that_cannot_be_read_is_not_known(plain: Make) -> None:
    torn = plain("mode-default", 200, b'{"choices": [{"message": {"content": "<use_tool>')
    with pytest.raises(NotShownError, match="could be read"):
        list(CHECKS.look("mode.default", torn))
