"""Checks of Responses: a right answer passes each, and a broken neighbour is one violation."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.requirement import Stage
from wireproof.model.transcript import End, Piece
from wireproof.reading.exchange import read
from wireproof.scenarios.responses import SETTINGS

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.violation import Violation

Json = dict[str, Any]
Make = Callable[..., Any]
RE: Json = {"dialect": Dialect.RESPONSES}
ENVELOPE = "responses.whole.envelope"
CHECKED = [
    row.id for row in load().requirements
    if row.id.startswith("responses.") and row.id in CHECKS and row.stage not in {Stage.ANSWER, Stage.PARITY}
]  # fmt: skip


def seen(exchange: Exchange) -> dict[str, str]:
    """Requirement → what its check found."""
    fits = (row for row in CHECKED if (row.startswith("responses.stream.")) == (exchange.mode == "stream"))
    skipped = {"responses.xml", "responses.stream.keepalive"}
    return {v.requirement: v.seen for row in fits if row not in skipped for v in CHECKS.look(row, exchange)}


def pointed(violation: Violation, exchange: Exchange) -> str:
    """What a violation points at."""
    assert violation.place is not None
    return exchange.transcript.body[violation.place.offset :][: violation.place.length].decode()


def test_right_answers_pass(streamed: Make, answered: Make, hello: Json, one_call: Json) -> None:
    assert seen(streamed("text-hello", hello)) == {}
    assert seen(answered("text-hello", hello)) == {}
    assert seen(streamed("fail-after-call", one_call)) == {}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tools": 7}, "/tools: is 7"),
        ({"finish_reason": "stop"}, "not among the published fields"),
        ({"id": "chatcmpl-1"}, "should begin with resp_"),
        ({"created_at": 1_700_000_000_000}, "a time in seconds"),
        ({"model": "other"}, 'the request asked for "codex"'),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "(max_output_tokens), the backend's turn was completed",
        ),
        ({"usage": None}, "no usage"),
    ],
)
def test_the_envelope(change: Json, words: str, answered: Make, hello: Json) -> None:
    found = seen(answered("text-hello", {**hello, **change}))
    assert list(found) == [ENVELOPE]
    assert words in found[ENVELOPE]


def test_a_wrong_status_hides_nothing_else_of_its_event(
    stream: Make, response_events: Make, event_frames: Make, hello: Json
) -> None:
    schema, status = "responses.stream.schema", "responses.stream.status"

    def found(**change: object) -> list[str]:
        events = response_events(hello)
        events[-1] = {**events[-1], "response": {**events[-1]["response"], **change}}
        exchange = stream("text-hello", *event_frames(events), bare=True, **RE)
        return sorted({*seen(exchange), *(one.requirement for one in exchange.reading.violations)})

    assert found(finish_reason="stop") == [schema]
    assert found(status="done") == [status]
    assert found(status="in_progress", finish_reason="stop") == [schema, status]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"total_tokens": 19}, "input_tokens and output_tokens make 18"),
        ({"input_tokens": 12, "total_tokens": 19}, "the backend reported 11 + 7"),
        ({"input_tokens_details": {"cached_tokens": 3}}, "usage has 3 cached tokens, the backend reported 0"),
        ({"output_tokens_details": {"reasoning_tokens": 2}}, "usage has 2 reasoning tokens, the backend reported 0"),
    ],
)
def test_the_counts_of_the_envelope(change: Json, words: str, answered: Make, hello: Json, counted: Json) -> None:
    exchange = answered("text-hello", {**hello, "usage": {**counted, **change}})
    found = seen(exchange)
    assert list(found) == [ENVELOPE]
    assert words in found[ENVELOPE]
    (violation,) = CHECKS.look(ENVELOPE, exchange)
    assert violation.counts == ("reported" in words)


def test_what_the_request_set_is_repeated(answered: Make, hello: Json) -> None:
    (scenario,) = SETTINGS
    asked = scenario.body
    assert seen(answered("response-settings", {**hello, **asked})) == {}
    for name in asked:
        words = seen(answered("response-settings", {**hello, **asked, name: hello.get(name)}))[ENVELOPE]
        assert words == f"{name} is {json.dumps(hello.get(name))}, the request set {json.dumps(asked[name])}"


def test_the_tools_of_the_request_are_repeated(right_whole: Make) -> None:
    right = right_whole("calls-burst", dialect=Dialect.RESPONSES)
    body = json.loads(right.transcript.body)
    declared = [tool["name"] for tool in body["tools"]]
    assert seen(right) == {}
    for tools in ([], body["tools"][::-1], [*body["tools"], {"type": "web_search"}]):
        piece = Piece(at=0.0, data=json.dumps({**body, "tools": tools}).encode())
        transcript = replace(right.transcript, pieces=(piece,))
        changed = replace(right, transcript=transcript, reading=read(transcript, right.form))
        names = [tool.get("name") for tool in tools]
        assert seen(changed) == {
            ENVELOPE: f"tools are {json.dumps(names)}, the request declared {json.dumps(declared)}"
        }


def test_the_envelope_is_json_and_arrives_whole(answered: Make, hello: Json) -> None:
    kind = answered("text-hello", hello, headers={"Content-Type": "text/plain"})
    assert "content-type" in seen(kind)[ENVELOPE]
    cut = answered("text-hello", hello, end=End.CUT)
    assert [v.seen for v in CHECKS.look(ENVELOPE, cut)] == ["the answer did not arrive whole: cut"]


def test_a_failure_before_output_is_no_response(answered: Make, streamed: Make, hello: Json) -> None:
    assert "the backend failed, and the answer is HTTP 200" in seen(answered("fail-first", hello))[ENVELOPE]
    assert "the stream began with HTTP 200" in seen(streamed("fail-first", hello))["responses.stream.terminal"]


def test_the_text_of_a_whole_answer_is_shown_where_it_differs(answered: Make, hello: Json) -> None:
    other = json.loads(json.dumps(hello).replace("world", "w\\u00f6rld"))
    exchange = answered("text-hello", other)
    (violation,) = CHECKS.look("responses.whole.message", exchange)
    assert violation.seen.startswith("output[0].content[0].text: the first difference is at character 8: ")
    assert pointed(violation, exchange) == "\\u00f6rld!"


def test_of_calls_of_a_whole_answer_the_one_that_differs_is_shown(answered: Make, right_whole: Make) -> None:
    other = json.loads(right_whole("calls-burst", **RE).transcript.body)
    item = other["output"][-1]
    item["arguments"] = item["arguments"].replace(": ", ":")
    exchange = answered("calls-burst", other)
    (violation,) = CHECKS.look("responses.whole.call-items", exchange)
    assert violation.seen.startswith("output[1].arguments: ")
    assert json.loads(f'"{pointed(violation, exchange)}"') == item["arguments"].partition(":")[2][:24]


@pytest.mark.parametrize(
    ("change", "value"),
    [({"id": "chatcmpl-1"}, '"chatcmpl-1"'), ({"colour": "red"}, '"red"'),
     ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, '"incomplete"')],
)  # fmt: skip
def test_a_member_that_is_wrong_is_what_is_shown(change: Json, value: str, answered: Make, hello: Json) -> None:
    exchange = answered("text-hello", {**hello, **change})
    (violation, *_) = CHECKS.look(ENVELOPE, exchange)
    assert pointed(violation, exchange) == value


def test_the_text_is_the_backends(answered: Make, streamed: Make, hello: Json) -> None:
    hello["output"][0]["content"][0]["text"] = "Hello, world"
    assert list(seen(answered("text-hello", hello))) == ["responses.whole.message"]
    assert list(seen(streamed("text-hello", hello))) == ["responses.stream.sums"]


def test_a_backend_that_reflects_says_json(answered: Make, hello: Json) -> None:
    assert list(seen(answered("history", hello))) == ["responses.whole.message"]
    hello["output"][0]["content"][0]["text"] = "{}"
    assert seen(answered("history", hello)) == {}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "other"}, "the backend called"),
        ({"call_id": "call_other"}, "the backend called"),
        ({"arguments": '{"query":"before the failure"}'}, "arguments of localSearch"),
    ],
)
def test_the_calls_are_the_backends(change: Json, words: str, streamed: Make, one_call: Json) -> None:
    one_call["output"][0] |= change
    found = seen(streamed("fail-after-call", one_call))
    assert list(found) == ["responses.stream.sums"]
    assert words in found["responses.stream.sums"]


def test_the_items_of_calls_are_named_for_what_they_are(answered: Make, one_call: Json) -> None:
    right = copy.deepcopy(one_call)
    right["output"][0] |= {"call_id": "call_search", "arguments": '{"query": "release notes"}'}
    assert seen(answered("call-beats-length", right)) == {}
    right["output"][0]["id"] = "call_search"
    found = seen(answered("call-beats-length", right))
    assert found == {"responses.whole.call-items": 'the id of the item is "call_search", it should begin with fc_'}


def test_a_completed_response_has_completed_calls(answered: Make, one_call: Json) -> None:
    one_call["output"][0] |= {
        "call_id": "call_search",
        "arguments": '{"query": "release notes"}',
        "status": "incomplete",
    }
    found = seen(answered("call-beats-length", one_call))
    words = "the response is completed, and its call of localSearch is marked incomplete"
    assert found == {"responses.whole.call-items": words}


def test_arguments_that_were_sent_in_a_block_are_json(streamed: Make, one_call: Json) -> None:
    one_call["output"][0] |= {"call_id": "any", "arguments": '{"query":"same bytes","limit":1.50}'}
    assert seen(streamed("shape-h", one_call)) == {}
    one_call["output"][0]["arguments"] = "none"
    assert "no JSON object" in seen(streamed("shape-h", one_call))["responses.stream.sums"]


def test_the_headers_keep_hops_from_buffering(streamed: Make, hello: Json) -> None:
    found = seen(streamed("text-hello", hello, headers={"Content-Type": "text/event-stream"}))
    assert list(found) == ["responses.stream.headers"]


@pytest.mark.parametrize("end", [End.OPEN, End.CUT, End.TIMEOUT])
def test_the_body_ends_with_the_terminal_event(end: End, streamed: Make, hello: Json) -> None:
    assert list(seen(streamed("text-hello", hello, end=end))) == ["responses.stream.order"]


def test_events_have_published_fields_only(
    stream: Make, response_events: Make, event_frames: Make, hello: Json
) -> None:
    events = response_events(hello)
    events[4]["obfuscated"] = "x"
    exchange = stream("text-hello", *event_frames(events), bare=True, **RE)
    assert seen(exchange) == {"responses.stream.schema": "the body: obfuscated is not among the published fields"}
    del events[4]["obfuscated"]
    nameless = stream("text-hello", *event_frames([*events[:3], {**events[3], "item_id": 7}, *events[4:]]), bare=True,
                      **RE)  # fmt: skip
    assert [v.requirement for v in CHECKS.look("responses.stream.schema", nameless)] == [], "the grammar blames it"


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("text-hello", {"usage": None}, "no usage"),
        ("finish-length", {}, "is completed, the backend's turn was incomplete (max_output_tokens)"),
        ("fail-after-text", {}, "does not end with response.failed"),
    ],
)
def test_the_terminal_event_says_how_the_turn_ended(
    name: str, change: Json, words: str, streamed: Make, hello: Json
) -> None:
    (found,) = CHECKS.look("responses.stream.terminal", streamed(name, {**hello, **change}))
    assert words in found.seen


def test_a_failure_says_why(streamed: Make, hello: Json) -> None:
    failed = {**hello, "status": "failed", "error": None}
    (found,) = CHECKS.look("responses.stream.terminal", streamed("fail-after-text", failed))
    assert found.seen == "the response failed, and its error does not say why"


def test_a_call_is_not_thrown_away_by_a_failure_after_it(streamed: Make, one_call: Json) -> None:
    failed = {**one_call, "status": "failed", "error": {"code": "server_error", "message": "Late."}}
    (found,) = CHECKS.look("responses.stream.terminal", streamed("fail-after-call", failed))
    assert "clients throw the call away" in found.seen
    (found,) = CHECKS.look("responses.stream.terminal", streamed("text-hello", failed))
    assert found.seen == "the response failed, and the backend did not"


def test_a_gate_that_was_late_is_the_fault_of_flushing(streamed: Make, hello: Json) -> None:
    hello["output"][0]["content"][0]["text"] = "(the gate was not opened in time)"
    assert list(seen(streamed("flush", hello))) == ["responses.stream.flushed"]


def test_a_silent_backend_yields_comments(stream: Make, response_events: Make, event_frames: Make, hello: Json) -> None:
    frames = event_frames(response_events(hello))
    (found,) = CHECKS.look("responses.stream.keepalive", stream("silence", *frames, bare=True, **RE))
    assert found.requirement == "responses.stream.keepalive"
    comments = [*frames[:2], b": keep-alive\n\n", *frames[2:]]
    assert list(CHECKS.look("responses.stream.keepalive", stream("silence", *comments, bare=True, **RE))) == []


def test_a_turn_that_runs_on_was_not_interrupted(streamed: Make, hello: Json) -> None:
    hello["output"][0]["content"][0]["text"] = json.dumps({"turns": [{"state": "running"}]})
    (found,) = CHECKS.look("responses.stream.disconnect", streamed("disconnect", hello, number=1))
    assert found.requirement == "responses.stream.disconnect"


def test_blocks_and_items_never_stand_together(answered: Make, hello: Json, one_call: Json) -> None:
    check = partial(CHECKS.look, "responses.xml")
    (found,) = check(answered("responses-xml", one_call))
    assert "has function calls: localSearch" in found.seen
    (found,) = check(answered("responses-xml", hello))
    assert "the text has no block" in found.seen
    hello["output"][0]["content"][0]["text"] = "<use_tool></use_tool>"
    assert list(check(answered("responses-xml", hello))) == []


def test_a_whole_answer_that_cannot_be_read_is_one_violation(plain: Make, answered: Make, one_call: Json) -> None:
    unread = plain("text-hello", 200, b"<html>", **RE)
    assert list(CHECKS.look(ENVELOPE, unread)) == [], "the wire names it"
    (found,) = CHECKS.look("responses.whole.call-items", answered("call-late", one_call))
    assert found.seen.startswith("the backend called localSearch (call_search)")
