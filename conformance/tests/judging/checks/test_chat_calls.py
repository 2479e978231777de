from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from stream_findings import CALLS, STOP, found, frame_of, only, script_call, shown

from wireproof.reading.exchange import Exchange
from wireproof.scenarios import SCENARIOS

Make = Callable[..., Exchange]
Delta = Callable[..., Mapping[str, Any]]


def test_a_call_that_is_missing_is_named(stream: Make) -> None:
    exchange = stream("call-one", STOP)
    violation = only("call-opening", exchange)
    assert violation.seen == "the backend called localSearch; the stream shows no call"
    assert b'"stop"' in frame_of(violation, exchange), "the finish, before which it should have come"
    assert violation.hint.startswith("Send a call of the backend")


def test_a_call_of_another_name_is_shown(stream: Make, call: Delta) -> None:
    exchange = stream("call-one", call(0, "call_one", "localsearch"), CALLS)
    violation = only("call-opening", exchange)
    assert violation.seen == 'the backend called localSearch; the stream names "localsearch"'
    assert b"localsearch" in frame_of(violation, exchange)


def test_arguments_in_pieces_are_right(stream: Make, call: Delta, fragment: Delta) -> None:
    want = script_call("call/one")
    pieces = [fragment(0, piece) for piece in (want.arguments[:5], want.arguments[5:9], want.arguments[9:])]
    exchange = stream("call-one", call(0, want.id, want.name), *pieces, CALLS)
    assert found("arguments-incremental", exchange) == []
    assert found("arguments-verbatim", exchange) == []


def test_arguments_that_repeat_what_was_said_are_cumulative_and_nothing_else(
    stream: Make, call: Delta, fragment: Delta
) -> None:
    want = script_call("call/one")
    pieces = [fragment(0, want.arguments[:end]) for end in (5, 9, len(want.arguments))]
    exchange = stream("call-one", call(0, want.id, want.name), *pieces, CALLS)
    violation = only("arguments-incremental", exchange)
    assert violation.seen.startswith("each of the 4 deltas of localSearch repeats the one before and adds to it")
    # The second, which is the first to repeat anything; the last has all of the arguments.
    assert violation.place is not None
    assert violation.place.frame == 3
    assert b"1.50" not in frame_of(violation, exchange)
    assert found("arguments-verbatim", exchange) == []


@pytest.mark.parametrize("last", ["", "{}", '{"query": "another"}'])
def test_other_arguments_are_not_verbatim(stream: Make, call: Delta, fragment: Delta, last: str) -> None:
    exchange = stream("call-one", call(0, "call_one", "localSearch"), fragment(0, " " + last), CALLS)
    assert found("arguments-incremental", exchange) == []
    assert only("arguments-verbatim", exchange).seen.startswith("arguments of localSearch: ")


def test_arguments_written_again_are_shown_where_they_differ(stream: Make, call: Delta, fragment: Delta) -> None:
    want = script_call("call/one")
    again = json.dumps(json.loads(want.arguments))
    exchange = stream("call-one", call(0, want.id, want.name), fragment(0, again[:9]), fragment(0, again[9:]), CALLS)
    violation = only("arguments-verbatim", exchange)
    assert "the first difference is at character 1" in violation.seen
    assert frame_of(violation, exchange).startswith(b'data: {"id"')
    assert violation.place is not None
    assert violation.place.frame == 2, "the last fragment is in the third"
    assert shown(violation, exchange) == json.dumps(again[1:9]).encode()[1:-1]


def test_under_stop_policy_first_a_second_call_is_too_much(stream: Make, call: Delta) -> None:
    one = call(0, "call_search", "localSearch", "{}")
    assert found("stop-after-first", stream("calls-first", one, CALLS)) == []
    exchange = stream("calls-first", one, call(1, "call_read", "readNote", "{}"), CALLS)
    violation = only("stop-after-first", exchange)
    assert violation.seen == "parallel_tool_calls is false, and the stream carries 2 calls: localSearch, readNote"
    by_header = replace(exchange, scenario=next(s for s in SCENARIOS if s.name == "calls-header-first"))
    (violation,) = found("stop-after-first", by_header)
    assert violation.seen.startswith("the header x-proxy-stop-after-tools is first, and the stream carries 2 calls")
    unsaid = replace(exchange, scenario=next(s for s in SCENARIOS if s.name == "call-one"))
    (violation,) = found("stop-after-first", unsaid)
    assert violation.seen.startswith("nothing in the request asks for several calls, and")
    assert b"readNote" in frame_of(violation, exchange)


def test_under_stop_policy_burst_a_missing_call_is_missed(stream: Make, call: Delta) -> None:
    exchange = stream("calls-burst", call(0, "call_search", "localSearch", "{}"), CALLS)
    assert only("burst-all", exchange).seen == "the backend made 2 calls; the stream carries 1"
