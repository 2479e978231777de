from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from stream_findings import CALLS, STOP, found, frame_of, only, script_call, shown

from wireproof.judging.checks import CHECKS, chat_stream
from wireproof.model.catalogue import load
from wireproof.model.requirement import Stage
from wireproof.model.scenario import Mode
from wireproof.model.target import Missing
from wireproof.model.transcript import End
from wireproof.reading.exchange import Exchange
from wireproof.scenarios import CONVERSATIONS
from wireproof.wire.facet import UNTOUCHED, Facet

Make = Callable[..., Exchange]
Delta = Callable[..., Mapping[str, Any]]

STOP_AFTER_FIRST = "chat.stream.stop-after-first"
ROWS = [row for row in load().requirements if row.id.startswith("chat.stream.") and row.id in CHECKS]
CHECKED = [row.id for row in ROWS if row.stage is not Stage.PARITY]
CONTENT = [row.id for row in ROWS if row.stage is Stage.CONTENT]
UNANSWERED = (
    "reflect/", "leave/", "text/hang", "fail/first", "fail/rate", "fail/context", "fail/notice", "fail/silent",
    "fail/crash-first",
)  # fmt: skip
# A scenario whose demand may be refused has no one right answer.
ANSWERED = [
    s.name
    for s in CONVERSATIONS
    if s.script and s.backend is None and not (s.refusable or s.script.startswith(UNANSWERED))
]  # fmt: skip
HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "connection": "Keep-Alive",
}


@pytest.mark.each("row", [row for row in CHECKED if row not in {"chat.stream.keepalive", STOP_AFTER_FIRST}])
@pytest.mark.each("name", ANSWERED)
def test_the_right_answer_breaks_nothing(name: str, row: str, right_stream: Make) -> None:
    assert list(CHECKS.look(row, right_stream(name))) == []


@pytest.mark.each("row", [row for row in CONTENT if row not in {"chat.stream.keepalive", "chat.stream.usage"}])
def test_where_the_right_answer_is_not_known_nothing_is_missed(row: str, stream: Make) -> None:
    assert list(CHECKS.look(row, stream("call-one", "Whatever", STOP, live=True))) == []


# Form


def test_all_four_headers_in_any_case_and_company_are_right(stream: Make) -> None:
    assert found("headers", stream("text-hello", headers=HEADERS)) == []


@pytest.mark.parametrize("name", HEADERS)
def test_a_missing_header_is_named_with_its_value(stream: Make, name: str) -> None:
    headers = {key: value for key, value in HEADERS.items() if key != name}
    violation = only("headers", stream("text-hello", headers=headers))
    assert violation.seen.startswith(f"there is no {name} header, it should say ")
    assert str(violation.about) == f"{name} is missing among the headers"
    assert violation.place is None


def test_a_wrong_header_is_reported_as_it_came(stream: Make) -> None:
    violation = only("headers", stream("text-hello", headers=HEADERS | {"connection": "close"}))
    assert violation.seen == 'connection is "close", it should say keep-alive'


def test_the_first_chunk_that_breaks_the_schema_is_shown(stream: Make) -> None:
    bad = b'data: {"id": "chatcmpl-3", "object": "chunk", "created": 1700000000, "model": "codex", "choices": []}\n\n'
    exchange = stream("text-hello", "Hello", bad, bad, ", world!", STOP)
    violation = only("schema", exchange)
    assert violation.seen == '/object: is "chunk", should be "chat.completion.chunk"'
    assert frame_of(violation, exchange) == bad
    assert shown(violation, exchange) == b'"chunk"'


def test_an_error_frame_is_no_chunk_but_an_error_that_is_null_is_no_published_field(
    stream: Make, error_frame: bytes
) -> None:
    assert found("schema", stream("fail-after-text", "Half", error_frame)) == []
    nulled = error_frame[:6] + json.dumps({"error": None}).encode() + b"\n\n"
    assert [(one.seen, one.strict_only) for one in found("schema", stream("text-hello", nulled, STOP))] == [
        ("the body: id and object and created and model and choices are missing", False),
        ("the body: error is not among the published fields", True),
    ]


def test_the_chunk_that_the_grammar_blames_is_not_held_against_the_schema_and_the_others_are(stream: Make) -> None:
    again = {"role": "user", "colour": "red"}
    assert found("schema", stream("text-hello", again, STOP)) == []
    assert "colour" in only("schema", stream("text-hello", {"colour": "red"}, again)).seen
    exchange = stream("text-hello", again, {"colour": "red"}, STOP)
    after = only("schema", exchange)
    assert b'{"colour": "red"}' in frame_of(after, exchange)


def test_a_vendors_member_and_a_missing_one_are_two_faults_of_two_weights(stream: Make) -> None:
    head = b'"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000'
    unnamed = b"data: {" + head + b', "choices": [{"index": 0, "delta": {"content": " "}}]}\n\n'
    extra, missing = found("schema", stream("text-hello", {"colour": "red"}, {"taste": "sour"}, unnamed, STOP))
    assert (extra.seen, extra.strict_only, extra.spoils) == (
        "/choices/0/delta: colour is not among the published fields", True, UNTOUCHED,
    )  # fmt: skip
    assert (missing.seen, missing.strict_only, missing.spoils) == (
        "the body: model is missing",
        False,
        frozenset({Facet.SETTINGS}),
    )


def test_an_extension_is_no_fault(stream: Make) -> None:
    assert found("schema", stream("text-hello", {"x-colour": "red"}, STOP)) == []


def test_what_is_read_and_has_a_wrong_type_is_lost_and_what_comes_after_is_judged(stream: Make) -> None:
    wrong, extra = found("schema", stream("text-hello", {"content": 5}, {"colour": "red"}, STOP))
    assert (wrong.strict_only, wrong.spoils) == (False, frozenset({Facet.TEXT}))
    assert (extra.strict_only, extra.spoils) == (True, UNTOUCHED)


def test_a_member_that_is_wrong_in_many_chunks_is_seen_once(stream: Make) -> None:
    exchange = stream("text-hello", {"content": 5}, {"content": 6, "colour": "red"}, {"content": 7, "colour": 1}, STOP)
    assert [one.seen.partition(":")[0] for one in found("schema", exchange)] == [
        "/choices/0/delta/content",
        "/choices/0/delta",
    ]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (End.OPEN, "[DONE] came and the body stayed open; JavaScript clients wait for its end"),
        (End.CUT, "the connection broke before the body was complete"),
        (End.TIMEOUT, "the stream went silent for 10 s without its end"),
    ],
)
def test_a_body_that_does_not_end_as_it_should_is_reported(stream: Make, end: End, said: str) -> None:
    assert only("done-last", stream("text-hello", STOP, end=end)).seen == said


@pytest.mark.parametrize("end", [End.COMPLETE, End.LEFT])
def test_a_body_that_ends_or_that_the_client_left_is_right(stream: Make, end: End) -> None:
    assert found("done-last", stream("text-hello", STOP, end=end)) == []


def test_a_connection_that_breaks_as_the_backend_fails_in_mid_text_is_judged_by_what_it_reported(stream: Make) -> None:
    assert found("done-last", stream("fail-after-text", "Half", bare=True, end=End.CUT)) == []
    assert found("done-last", stream("fail-after-call", bare=True, end=End.CUT)) != []


# Text


def test_a_text_that_differs_is_reported_with_the_frame_in_which_it_does(stream: Make) -> None:
    exchange = stream("text-hello", "Hello", " wor", "ld!", STOP)
    violation = only("text", exchange)
    assert "12 characters instead of 13; the first difference is at character 5" in violation.seen
    assert b'" wor"' in frame_of(violation, exchange)
    assert shown(violation, exchange) == b" wor"
    short = stream("text-hello", "Hello", ", wor", STOP)
    assert b'", wor"' in frame_of(only("text", short), short), "the last one, where all that came is right"
    assert shown(only("text", short), short) == b'"', "that closes it"


def test_a_text_that_never_came_has_no_place(stream: Make) -> None:
    violation = only("text", stream("text-hello", STOP))
    assert violation.seen.startswith('content: it is empty, it should be "Hello')
    assert violation.place is None


def test_of_a_backend_that_reflects_json_must_come(stream: Make) -> None:
    assert found("text", stream("history", '{"history": []}', STOP)) == []
    violation = only("text", stream("history", "You said: hello", STOP))
    assert violation.seen == 'the backend sent a JSON object; what came is not one: "You said: hello"'


def test_torn_characters_are_one_violation_and_it_is_shown(stream: Make) -> None:
    exchange = stream("text-utf8", "Gr\ufffd", "\ufffdße", STOP)
    assert found("text", exchange) == []
    violation = only("utf8", exchange)
    assert "first difference is at character 2" in violation.seen
    assert "Gr\ufffd".encode() in frame_of(violation, exchange)


def test_torn_characters_in_arguments_are_one_violation(stream: Make, call: Delta) -> None:
    want = script_call("call/one")
    exchange = stream("call-one", call(0, want.id, want.name, want.arguments.replace("é", "\ufffd\ufffd")), CALLS)
    assert found("arguments-verbatim", exchange) == []
    assert b"localSearch" in frame_of(only("utf8", exchange), exchange)


def test_text_that_waited_for_more_was_not_flushed(stream: Make) -> None:
    assert found("flushed", stream("flush", "first", "second", STOP)) == []
    exchange = stream("flush", "first(the gate was not opened in time)second", STOP)
    assert found("text", exchange) == []
    violation = only("flushed", exchange)
    assert "only after the backend gave up" in violation.seen
    assert b"the gate was not opened in time" in frame_of(violation, exchange)


@pytest.mark.parametrize(
    ("indexes", "seen"),
    [
        ((0, 1), []),
        ((0, 0), ["n is 2; the choices of the stream have the indexes [0], they should be [0, 1]"]),
        ((1, 2), ["n is 2; the choices of the stream have the indexes [1, 2], they should be [0, 1]"]),
    ],
)
def test_choices_are_known_by_their_indexes(stream: Make, indexes: tuple[int, int], seen: list[str]) -> None:
    one, two = indexes
    first = [{"role": "assistant", "choice": one}, {"content": "The first choice.", "choice": one}]
    second = [{"role": "assistant", "choice": two}, {"content": "And the second one.", "choice": two}]
    ends = [{"finish": "stop", "choice": index} for index in sorted(set(indexes))]
    exchange = stream("choices-text", *first, *second, *ends, b"data: [DONE]\n\n", bare=True)
    assert [violation.seen for violation in CHECKS.look("chat.stream.isolation", exchange)] == seen
    # Which text is whose is not known where an index is wrong.
    assert list(CHECKS.look("chat.stream.text", exchange)) == []


def test_a_stream_that_broke_off_may_lack_a_choice(stream: Make) -> None:
    exchange = stream("choices-text", "The first", end=End.CUT)
    assert list(CHECKS.look("chat.stream.isolation", exchange)) == []


# Parity


@pytest.mark.each("name", [name for name in ANSWERED if "chat.stream.parity" in
                                  next(s for s in CONVERSATIONS if s.name == name).exercises])  # fmt: skip
def test_the_right_answers_are_the_same_in_both_modes(name: str, right_stream: Make, right_whole: Make) -> None:
    assert list(CHECKS.look("chat.stream.parity", right_stream(name), right_whole(name))) == []


@pytest.mark.parametrize(
    ("frames", "members", "said"),
    [
        (("Hello", STOP), ("Hullo",), ['text: the stream says "Hello", the whole answer "Hullo"']),
        (("Hello", STOP), ("Hello", "length"), ['finish: the stream says "stop", the whole answer "length"']),
        (
            ("Hello", STOP),
            ("Hullo", "length"),
            [
                'finish: the stream says "stop", the whole answer "length"',
                'text: the stream says "Hello", the whole answer "Hullo"',
            ],
        ),
    ],
)
def test_each_part_in_which_the_modes_differ_is_reported(
    stream: Make, whole: Make, frames: tuple[Any, ...], members: tuple[str, ...], said: list[str]
) -> None:
    found = list(CHECKS.look("chat.stream.parity", stream("text-hello", *frames), whole("text-hello", *members)))
    assert [one.seen for one in found] == said
    assert {(one.requirement, one.place) for one in found} == {("chat.stream.parity", None)}
    assert [one.part for one in found] == [Facet(one.kind) for one in found]


def test_calls_are_the_same_by_id_name_and_arguments(stream: Make, whole: Make, call: Delta) -> None:
    streamed = stream("calls-burst", call(0, "mine", "localSearch", "{}"), CALLS)

    def found_beside(*calls: tuple[str, str, str]) -> list[tuple[str, Facet | None]]:
        at_once = whole("calls-burst", None, "tool_calls", calls=calls)
        seen = CHECKS.look("chat.stream.parity", streamed, at_once)
        return [(one.seen.partition(", the whole answer")[0], one.part) for one in seen]

    assert found_beside(("mine", "localSearch", "{}")) == []
    assert found_beside(("yours", "localSearch", "{}")) == [('ids of calls: the stream says ["mine"]', Facet.CALL_ID)]
    assert found_beside(("mine", "localSearch", "[]")) == [('arguments: the stream says ["{}"]', Facet.ARGUMENTS)]
    assert found_beside(("mine", "readNote", "{}")) == [('calls: the stream says ["localSearch"]', Facet.CALL)]
    # A call that is missing is one difference: its id and its arguments are not compared.
    assert found_beside(("mine", "localSearch", "{}"), ("b", "readNote", "{}")) == [
        ('calls: the stream says ["localSearch"]', Facet.CALL)
    ]


def test_where_arguments_are_data_a_stream_may_spell_them_otherwise(stream: Make, whole: Make, call: Delta) -> None:
    streamed = stream("call-one", call(0, "a", "localSearch", '{ "a": 1 }'), CALLS)
    as_data = replace(streamed, target=replace(streamed.target, missing=frozenset({Missing.SPELLING})))
    same, other = (
        whole("call-one", None, "tool_calls", calls=[("a", "localSearch", one)]) for one in ('{"a":1.0}', "{}")
    )
    assert [len(list(CHECKS.look("chat.stream.parity", one, same))) for one in (streamed, as_data)] == [1, 0]
    assert len(list(CHECKS.look("chat.stream.parity", as_data, other))) == 1


def test_text_before_a_call_and_calls_after_the_first_may_be_missing(stream: Make, whole: Make, call: Delta) -> None:
    one, two = ("a", "localSearch", "{}"), ("b", "readNote", "{}")
    at_once = {name: whole(name, None, "tool_calls", calls=[one, two]) for name in ("calls-first", "calls-burst")}
    said = ("Let me look.", call(0, *one), CALLS)
    assert list(CHECKS.look("chat.stream.parity", stream("calls-first", *said), at_once["calls-first"])) == []
    assert len(list(CHECKS.look("chat.stream.parity", stream("calls-burst", *said), at_once["calls-burst"]))) == 1


def test_usage_is_the_same_where_the_stream_says_it(
    stream: Make, whole: Make, usage_chunk: Callable[..., bytes]
) -> None:
    streamed = stream("usage-asked", "Counted.", STOP, usage_chunk(1234, 56))
    assert list(CHECKS.look("chat.stream.parity", streamed, whole("usage-asked", "Counted.", usage=(1234, 56)))) == []
    (violation,) = CHECKS.look("chat.stream.parity", streamed, whole("usage-asked", "Counted.", usage=None))
    assert violation.seen == "usage: the stream says [1234, 56, 1290], the whole answer null"


@pytest.mark.parametrize(
    ("streamed", "at_once", "seen"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 7}}, {"prompt_tokens_details": {"cached_tokens": 7}}, []),
        # A count of zero says no more than a count that is missing.
        ({"prompt_tokens_details": None}, {"prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0}}, []),
        (
            {},
            {"completion_tokens_details": {"reasoning_tokens": 7}},
            ['completion_tokens_details: the stream says {}, the whole answer {"reasoning_tokens": 7}'],
        ),
        (
            {"prompt_tokens_details": {"cached_tokens": 9}},
            {"prompt_tokens_details": {"cached_tokens": 7}},
            ['prompt_tokens_details: the stream says {"cached_tokens": 9}, the whole answer {"cached_tokens": 7}'],
        ),
    ],
)
def test_the_details_of_the_usage_are_the_same(
    stream: Make, whole: Make, streamed: dict[str, Any], at_once: dict[str, Any], seen: list[str]
) -> None:
    counts = {"prompt_tokens": 1234, "completion_tokens": 56, "total_tokens": 1290}
    envelope = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_800_000_000, "model": "codex"}
    last = json.dumps({**envelope, "choices": [], "usage": {**counts, **streamed}})
    one = stream("usage-asked", "Counted.", STOP, f"data: {last}\n\n".encode())
    other = whole("usage-asked", "Counted.", change={"usage": {**counts, **at_once}})
    found = list(CHECKS.look("chat.stream.usage-details", one, other))
    assert [violation.seen for violation in found] == seen
    assert all(violation.place is not None for violation in found)


def probable(*tokens: str) -> Mapping[str, Any] | None:
    said: list[Mapping[str, Any]] = [
        {"token": one, "logprob": -0.1, "bytes": None, "top_logprobs": []} for one in tokens
    ]
    return {"content": said, "refusal": None} if said else None


@pytest.mark.parametrize(
    ("streamed", "at_once", "seen"),
    [
        ((("Hel",), ("lo",)), ("Hello",), []),
        (((), ()), (), []),
        (((), ()), ("Hello",), ['logprobs: the tokens of the stream are null, those of the whole answer "Hello"']),
        (
            (("Hel",), ()),
            ("Hello",),
            ['logprobs: the tokens of the stream are "Hel", those of the whole answer "Hello"'],
        ),
    ],
)
def test_the_tokens_of_a_stream_are_those_of_the_whole_answer(
    stream: Make, whole: Make, streamed: tuple[tuple[str, ...], ...], at_once: tuple[str, ...], seen: list[str]
) -> None:
    envelope = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_800_000_000, "model": "codex"}
    chunks = [
        {**envelope, "choices": [{"index": 0, "delta": {"content": "x"}, "logprobs": probable(*tokens)}]}
        for tokens in streamed
    ]
    one = stream("logprobs", *(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks), STOP)
    message = {"role": "assistant", "content": "Hello"}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": probable(*at_once)}
    other = whole("logprobs", change={"choices": [choice]})
    assert [violation.seen for violation in CHECKS.look("chat.stream.logprobs", one, other)] == seen


def test_the_details_of_a_usage_that_is_missing_are_not_compared(stream: Make, whole: Make) -> None:
    one, other = stream("usage-asked", "Counted.", STOP), whole("usage-asked", "Counted.")
    assert list(CHECKS.look("chat.stream.usage-details", one, other)) == []


def test_a_check_of_what_cannot_be_read_is_misuse(stream: Make) -> None:
    with pytest.raises(ValueError, match="no chat answer"):
        list(chat_stream.schema(stream("text-hello", status=500)))


def test_every_scenario_that_is_answered_here_streams() -> None:
    assert all(
        Mode.STREAM in scenario.modes or scenario.across for scenario in CONVERSATIONS if scenario.name in ANSWERED
    )
