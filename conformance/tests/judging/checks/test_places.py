from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from wireproof.judging.checks.places import (
    Spot,
    altered_arguments,
    counts,
    frame_place,
    is_kept,
    place_of,
    plain,
    same_data,
    strays,
)
from wireproof.model.dialect import Dialect
from wireproof.model.target import Missing
from wireproof.reading.exchange import Exchange
from wireproof.reading.expected import ExpectedCall
from wireproof.wire.events import Text, TokenUsage, ToolCall

Make = Callable[..., Exchange]
XML = Dialect.OBSIDIAN_XML
STOP = {"finish": "stop"}


def test_only_an_answer_has_a_reading(stream: Make, plain: Make) -> None:
    assert stream("text-hello").read.frames
    with pytest.raises(ValueError, match="no chat answer"):
        _ = plain("text-hello", 500).read


def test_the_place_of_an_event_is_its_last_frame(stream: Make, whole: Make) -> None:
    exchange = stream("text-hello", "Hel", "lo", STOP)
    place = place_of(exchange, Text)
    assert place == exchange.read.frames[2].place
    assert place_of(exchange, TokenUsage) is None
    assert place_of(whole("text-hello", "Hello"), Text) is None
    assert frame_place(exchange.read, 99) is None


def test_content_is_plain_without_its_blocks(right_stream: Make) -> None:
    with_block, without = (
        right_stream("call-one", dialect=dialect).wanted[0] for dialect in (XML, Dialect.OPENAI_JSON)
    )
    assert plain("Hi. <use_tool>\n</use_tool>", with_block) == "Hi. "
    assert plain("Hi. <use_tool>\n</use_tool>", without) == "Hi. <use_tool>\n</use_tool>"


def test_what_only_another_choice_was_to_say_is_astray(right_stream: Make) -> None:
    exchange = right_stream("choices-text")
    first, second = exchange.wanted
    assert strays(exchange, first, f"{first.text}{second.text}")
    assert strays(exchange, first, second.text or "")
    # Beside another fault blanks may be lost.
    assert strays(exchange, first, "".join((second.text or "").split()))
    assert not strays(exchange, first, first.text or "")
    assert not strays(exchange, first, "".join((first.text or "").split()))
    assert not strays(exchange, first, "Something else.")


def test_counts_are_those_of_all_choices(right_stream: Make) -> None:
    exchange = right_stream("choices-usage")
    usages = [wanted.usage for wanted in exchange.wanted]
    assert all(usages)
    total = counts(exchange)
    assert total is not None
    assert total[0] == sum(usage.input for usage in usages if usage)
    assert total[2] == total[0] + total[1]
    assert counts(right_stream("finish-filter")) is None
    assert counts(right_stream("fail-after-text")) is None


@pytest.mark.parametrize("name", ["finish-length", "call-beats-length"])
def test_an_older_backend_counts_nothing_of_an_answer_that_was_cut_off(right_stream: Make, name: str) -> None:
    exchange = right_stream(name)
    older = replace(exchange.target, missing=frozenset({Missing.COUNTS}))
    assert counts(exchange) is not None
    assert counts(replace(exchange, target=older)) is None
    assert counts(replace(right_stream("text-hello"), target=older)) is not None


@pytest.mark.parametrize("dialect", [Dialect.OPENAI_JSON, XML])
def test_where_calls_were_lost_the_backend_may_have_gone_on_and_counted_more(
    right_stream: Make, stream: Make, dialect: Dialect
) -> None:
    assert counts(right_stream("call-one", dialect=dialect)) is not None
    assert counts(stream("call-one", "The tool said: unsupported call.", STOP, dialect=dialect)) is None
    assert counts(stream("text-hello", "Something else.", STOP, dialect=dialect)) is not None


@pytest.mark.parametrize(
    ("exact", "got", "said"),
    [
        (True, '{"q": 1.50}', None),
        (True, '{"q":1.50}', "arguments of f: "),
        (False, '{"q":1.50}', None),
        (False, "{", 'arguments of f: no JSON: "{"'),
    ],
)
def test_arguments_are_the_models_own_or_any_that_mean_the_same(exact: Any, got: str, said: str | None) -> None:
    want = ExpectedCall(id="a", name="f", arguments='{"q": 1.50}', block="", exact=exact)
    found = list(altered_arguments(want, ToolCall(id="a", name="f", arguments=got), Spot(place=None)))
    assert len(found) == bool(said)
    assert all(seen.seen.startswith(said or "-") for seen in found)
    assert is_kept(want, ToolCall(id="a", name="f", arguments=got)) is (exact and not said)


def test_arguments_that_are_data_are_not_plainly_kept_by_their_spelling() -> None:
    want = ExpectedCall(id="a", name="f", arguments="{", block="", meant=True)
    got = ToolCall(id="a", name="f", arguments="{")
    assert not is_kept(want, got)
    assert len(list(altered_arguments(want, got, Spot(place=None)))) == 1


@pytest.mark.parametrize(
    ("want", "got", "same"),
    [
        ('{"a": 1, "b": 2}', '{"b": 2.0, "a": 1}', True),
        ('{"a": 10000000000000000001}', '{"a": 1e19}', True),
        ('{"a": true}', '{"a": 1}', False),
        ('{"a": [{"b": 0}]}', '{"a": [{"b": false}]}', False),
        ('{"a": null}', '{"a"', False),
    ],
)
def test_data_is_the_same_whatever_its_spelling(want: str, got: str, same: bool) -> None:  # noqa: FBT001 (a column)
    assert same_data(want, got) is same
