"""The checks of Messages: each passes on a right answer, and sees its fault in a wrong one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.judging.checks.answered import refused as is_refusal
from wireproof.judging.stored_answers import difference
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.reading.right_answers import right_answers
from wireproof.wire.facet import Facet

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.violation import Violation

Make = Callable[..., "Exchange"]
Json = dict[str, Any]
ME = Dialect.MESSAGES
OF_STREAMS = ("schema", "text", "arguments", "stop-reason", "usage", "terminal", "error-in-stream", "headers")
OF_WHOLES = ("envelope", "text", "calls", "stop-reason", "usage")
STOPPED = "messages-stop-sequence"
REFUSAL: Json = {"type": "invalid_request_error", "message": "No."}
ANSWERS = (
    STOPPED, "text-hello", "text-utf8", "call-one", "calls-three", "call-after-text", "finish-length", "finish-filter",
)  # fmt: skip


def seen(row: str, *exchanges: Exchange) -> list[str]:
    return [violation.seen for violation in CHECKS.look(row, *exchanges)]


@pytest.mark.parametrize("name", ANSWERS)
def test_right_answers_break_nothing(name: str, right_stream: Make, right_whole: Make) -> None:
    stream, whole = right_stream(name, dialect=ME), right_whole(name, dialect=ME)
    assert {row: found for row in OF_STREAMS if (found := seen(f"messages.stream.{row}", stream))} == {}
    assert {row: found for row in OF_WHOLES if (found := seen(f"messages.whole.{row}", whole))} == {}
    assert seen("messages.parity", stream, whole) == []


def changed(exchange: Exchange, plain: Make, change: Callable[[Json], Json]) -> Exchange:
    """A whole answer with something else in its body."""
    body = change(json.loads(exchange.transcript.body))
    return plain(exchange.scenario.name, 200, json.dumps(body).encode(), dialect=ME)


def content(*blocks: Json) -> Callable[[Json], Json]:
    return lambda body: {**body, "content": [*blocks]}


def members(**more: object) -> Callable[[Json], Json]:
    return lambda body: {name: value for name, value in {**body, **more}.items() if value is not ...}


CALL: Json = {"type": "tool_use", "id": "call_1", "name": "localSearch", "input": {"query": "other"}}
WHOLES: dict[str, tuple[str, Callable[[Json], Json], str, str]] = {
    "no id": ("text-hello", members(id=...), "envelope", "id is missing"),
    "a member too many": ("text-hello", members(created=1), "envelope", "created is not among"),
    "another model": ("text-hello", members(model="gpt"), "envelope", "the request asked for"),
    "another text": ("text-hello", content({"type": "text", "text": "Hello!"}), "text", "text"),
    "no text": ("text-hello", content(), "text", "missing"),
    "other arguments": ("call-one", content(CALL), "calls", "arguments"),
    "no call": ("call-one", content(), "calls", "the backend called localSearch"),
    "another end": ("text-hello", members(stop_reason="max_tokens"), "stop-reason", "stop_reason is max_tokens"),
    "other counts": ("usage-asked", members(usage={"input_tokens": 1, "output_tokens": 1}), "usage", "usage is 1 + 1"),
}


@pytest.mark.parametrize(("name", "change", "row", "words"), WHOLES.values(), ids=WHOLES)
def test_a_fault_of_a_whole_answer_is_seen_by_its_check(
    name: str, change: Callable[[Json], Json], row: str, words: str, right_whole: Make, plain: Make
) -> None:
    wrong = changed(right_whole(name, dialect=ME), plain, change)
    assert words in "; ".join(seen(f"messages.whole.{row}", wrong))


GONE_ON = content({"type": "text", "text": "Hello, world!"})
ENDS: dict[str, tuple[Callable[[Json], Json], str]] = {
    "an end of the turn": (members(stop_reason="end_turn", stop_sequence=None), "stop_reason is end_turn"),
    "no name": (members(stop_sequence=None), "stop_sequence is null beside"),
    "another name": (members(stop_sequence="END"), 'the text ends before ", world"'),
    "an end of the turn with a name": (members(stop_reason="end_turn"), 'stop_sequence is ", world" beside'),
    "a text that goes on": (GONE_ON, "the text goes on to its end"),
}


def answered(exchange: Exchange) -> Exchange:
    """The exchange with the right answer to what came."""
    return replace(exchange, wanted=right_answers(exchange))


def about_the_end(exchange: Exchange) -> list[Violation]:
    """What its reader and its check say of how an answer ended."""
    read = exchange.reading.violations if exchange.reading else ()
    return [*read, *CHECKS.look(f"messages.{exchange.mode}.stop-reason", answered(exchange))]


@pytest.mark.parametrize(("change", "words"), ENDS.values(), ids=ENDS)
def test_a_stop_sequence_that_is_not_named_is_a_warning(
    change: Callable[[Json], Json], words: str, right_whole: Make, right_stream: Make, plain: Make, stream: Make
) -> None:
    wrong = changed(right_whole(STOPPED, dialect=ME), plain, change)
    (found,) = about_the_end(wrong)
    assert (found.strict_only, words in found.seen) == (True, True), found.seen
    if change is GONE_ON:
        return

    def late(event: Json) -> Json:
        return {**event, "delta": change(event["delta"])} if event["type"] == "message_delta" else event

    wrong = streamed(right_stream(STOPPED, dialect=ME), stream, late)
    (found,) = about_the_end(wrong)
    assert (found.strict_only, words in found.seen) == (True, True), found.seen


def test_a_stop_sequence_that_is_left_out_breaks_the_envelope_alone(
    right_whole: Make, right_stream: Make, plain: Make
) -> None:
    whole = changed(right_whole(STOPPED, dialect=ME), plain, members(stop_sequence=...))
    assert "stop_sequence is missing" in "; ".join(seen("messages.whole.envelope", whole))
    assert about_the_end(whole) == []
    assert seen("messages.parity", right_stream(STOPPED, dialect=ME), whole) == []


def test_a_target_that_takes_no_stop_sequences_is_not_accused(right_whole: Make, plain: Make) -> None:
    end = members(stop_reason="end_turn", stop_sequence=None)
    whole = answered(changed(right_whole(STOPPED, dialect=ME), plain, lambda body: GONE_ON(end(body))))
    assert {row: found for row in OF_WHOLES if (found := seen(f"messages.whole.{row}", whole))} == {}
    assert list(difference(whole, load(), ())) == []
    refused = {"type": "invalid_request_error", "message": "stop_sequences: Extra inputs are not permitted"}
    body = json.dumps({"type": "error", "error": refused}).encode()
    assert is_refusal(plain(STOPPED, 400, body, dialect=ME))


def test_a_text_that_ends_elsewhere_is_no_end_at_a_stop_sequence(right_whole: Make, plain: Make) -> None:
    beyond = content({"type": "text", "text": "Hello, world"})
    wrong = changed(right_whole(STOPPED, dialect=ME), plain, beyond)
    assert seen("messages.whole.text", wrong) != []
    assert seen("messages.whole.stop-reason", wrong) == []


def test_cached_tokens_are_counted_with_the_input(right_whole: Make, plain: Make) -> None:
    right = right_whole("usage-asked", dialect=ME)
    counted = json.loads(right.transcript.body)["usage"]
    apart = {**counted, "input_tokens": counted["input_tokens"] - 1, "cache_read_input_tokens": 1}
    twice = {**counted, "cache_read_input_tokens": 1}
    assert seen("messages.whole.usage", changed(right, plain, members(usage=apart))) == []
    assert seen("messages.whole.usage", changed(right, plain, members(usage=twice))) != []


def pieces(exchange: Exchange) -> Iterator[Json]:
    for _, payload in exchange.reading.payloads if exchange.reading else ():
        yield json.loads(json.dumps(payload))


def streamed(exchange: Exchange, stream: Make, change: Callable[[Json], Json | None]) -> Exchange:
    """A stream with other events; one that becomes None is left out."""
    events = [made for event in pieces(exchange) if (made := change(event)) is not None]
    frames = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events]
    return stream(exchange.scenario.name, *frames, bare=True, dialect=ME)


def without(kind: str) -> Callable[[Json], Json | None]:
    return lambda event: None if event["type"] == kind else event


def test_text_that_is_lost_or_torn_is_seen(right_stream: Make, stream: Make) -> None:
    lost = streamed(right_stream("text-hello", dialect=ME), stream, without("content_block_delta"))
    assert seen("messages.stream.text", lost) != []

    def torn(event: Json) -> Json:
        delta = event.get("delta", {})
        return (
            {**event, "delta": {**delta, "text": delta["text"] + "\N{REPLACEMENT CHARACTER}"}}
            if "text" in delta
            else event
        )

    (found,) = CHECKS.look("messages.stream.text", streamed(right_stream("text-utf8", dialect=ME), stream, torn))
    assert found.part is Facet.ENCODING


def test_a_member_of_message_start_that_is_missing_is_seen(right_stream: Make, stream: Make) -> None:
    def change(event: Json) -> Json:
        return {**event, "message": {**event["message"], "content": None}} if "message" in event else event

    wrong = streamed(right_stream("text-hello", dialect=ME), stream, change)
    assert seen("messages.stream.schema", wrong) != []


def test_a_failure_that_is_not_reported_is_seen(right_stream: Make, stream: Make) -> None:
    right = right_stream("fail-after-text", dialect=ME)
    assert seen("messages.stream.error-in-stream", right) == []
    assert seen("messages.stream.error-in-stream", streamed(right, stream, without("error"))) != []


def test_a_failure_before_output_has_a_status(stream: Make) -> None:
    assert seen("messages.stream.error-before-output", stream("fail-first", b": hi\n\n", bare=True, dialect=ME)) != []


def test_a_stream_that_says_less_than_the_whole_answer_is_seen(
    right_stream: Make, right_whole: Make, stream: Make
) -> None:
    whole = right_whole("call-after-text", dialect=ME)
    right = right_stream("call-after-text", dialect=ME)
    assert seen("messages.parity", right, whole) == []

    def other(event: Json) -> Json:
        delta = event.get("delta", {})
        return {**event, "delta": {**delta, "partial_json": '{"query": "x"}'}} if "partial_json" in delta else event

    assert "content: the stream says" in seen("messages.parity", streamed(right, stream, other), whole)[0]
    # What comes of blocks that never start is no matter of parity.
    assert seen("messages.parity", streamed(right, stream, without("content_block_start")), whole) == []


def test_a_member_too_many_hides_no_wrong_value(right_whole: Make, plain: Make) -> None:
    both = changed(right_whole("text-hello", dialect=ME), plain, members(created=1, model="gpt"))
    assert [words.split(",")[0] for words in seen("messages.whole.envelope", both)] == [
        "the body: created is not among the published fields",
        'model is "gpt"',
    ]


def test_numbers_that_javascript_reads_alike_are_no_difference(
    right_stream: Make, right_whole: Make, plain: Make
) -> None:
    right, whole = right_stream("call-one", dialect=ME), right_whole("call-one", dialect=ME)

    def rounded(value: Any) -> Any:
        match value:
            case dict():
                return {name: rounded(inner) for name, inner in value.items()}
            case list():
                return [rounded(inner) for inner in value]
            case int() if value > 2**53:
                return int(float(value))
        return value

    assert rounded(json.loads(whole.transcript.body)) != json.loads(whole.transcript.body)
    assert seen("messages.parity", right, changed(whole, plain, rounded)) == []
    wrong = changed(whole, plain, lambda body: json.loads(json.dumps(body).replace("1000000", "2000000")))
    assert seen("messages.parity", right, wrong) != []


def test_what_a_surface_says_otherwise_than_chat_is_seen(right_whole: Make, plain: Make) -> None:
    for name in ("surfaces-text", "surfaces-calls", "surfaces-length"):
        chat, messages = right_whole(name), right_whole(name, dialect=ME)
        assert seen("turn.surface-parity", messages, chat) == []
        wrong = changed(messages, plain, content({"type": "text", "text": "Other."}))
        assert seen("turn.surface-parity", wrong, chat) != []


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"type": "error", "error": REFUSAL, "request_id": "req_7"}, ""),
        ({"type": "error", "error": REFUSAL}, "request_id of the error is null"),
        ({"detail": "No."}, ""),
    ],
    ids=["the same", "none in the body", "an error of another form"],
)
def test_an_error_has_the_id_of_its_header(body: Json, wanted: str, plain: Make) -> None:
    headers = {"content-type": "application/json", "request-id": "req_7"}
    one = plain("messages-request-ids", 400, json.dumps(body).encode(), dialect=ME, headers=headers)
    found = seen("messages.request-id", one)
    assert [text.partition(",")[0] for text in found] == ([wanted] if wanted else [])
