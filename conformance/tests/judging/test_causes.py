"""Symptoms, each with what shows it and what does not; and what is one cause of several exchanges."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from wireproof.judging.among_exchanges import others_answers
from wireproof.judging.error_texts import Sent, masked
from wireproof.judging.judge import Judgement, judge_runs
from wireproof.judging.outcomes import ScenarioRun
from wireproof.judging.request_shape import shape
from wireproof.judging.symptoms import (
    ConstantUsage,
    Died,
    ErrorAs200,
    ExceptionText,
    LateError,
    NotAnAnswer,
    Nothing,
    NotServed,
    OtherMode,
    SaysOther,
    Symptom,
    WrongStatus,
    symptom_of,
)
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Backend, Target
from wireproof.model.transcript import Death, End, Piece, Wait
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.reading.exchange import Exchange, read
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from wireproof.model.verdict import Outcome

Make = Callable[..., Exchange]
CATALOGUE = load()
TARGET = Target(base_url="http://127.0.0.1:1/v1", model="codex", dialects=(Dialect.OPENAI_JSON,))
LIVE_RESPONSES = dataclasses.replace(TARGET, dialects=(Dialect.RESPONSES,), backend=Backend.LIVE)
HTML = {"Content-Type": "text/html; charset=utf-8"}
TRACE = b"Traceback (most recent call last):\n  File \"/app/x.py\", line 3, in f\nKeyError: 'tools'\n"
OOPS = b'{"error": {"message": "oops 17", "type": "server_error", "param": null, "code": null}}'


def judged(*exchanges: Exchange, target: Target = TARGET) -> Judgement:
    """All these, each scenario's together."""
    by_name: dict[str, list[Exchange]] = {}
    for one in exchanges:
        by_name.setdefault(one.scenario.name, []).append(one)
    runs = [
        ScenarioRun(
            scenario=those[0].scenario,
            exchanges={form: [one for one in those if one.form == form] for form in (one.form for one in those)},
        )
        for those in by_name.values()
    ]
    return judge_runs(runs, target, CATALOGUE)


def broken(judgement: Judgement) -> list[str]:
    return [one.key for one in judgement.outcomes if one.verdict in {Verdict.FAIL, Verdict.WARN}]


def outcome(judgement: Judgement, key: str) -> Outcome:
    return next(one for one in judgement.outcomes if one.key == key)


def dead(exchange: Exchange, status: int = 3) -> Exchange:
    death = Death(status=status, last_words="starting\nSegmentation fault in worker 12\n")
    return dataclasses.replace(exchange, transcript=dataclasses.replace(exchange.transcript, death=death))


# Symptoms


@pytest.mark.parametrize(
    ("status", "body", "how", "symptom"),
    [
        (None, b"", {"end": End.TIMEOUT}, Nothing.SILENCE),
        (None, b"", {"end": End.CUT}, Nothing.CLOSED),
        (None, b"", {"end": End.REFUSED}, Nothing.REFUSED),
        (500, OOPS, {}, WrongStatus(status=500, said="oops … (type server_error)")),
        (500, b"Internal Server Error", {}, WrongStatus(status=500, said="Internal Server Error")),
        (
            502,
            b"<html><title>Bad Gateway</title></html>",
            {"headers": HTML},
            WrongStatus(status=502, said="Bad Gateway"),
        ),
        (422, b'{"detail": "no"}', {}, WrongStatus(status=422, said="no")),
        (500, TRACE, {}, ExceptionText(status=500, said="KeyError: 'tools'")),
        (200, OOPS, {}, ErrorAs200(said="oops … (type server_error)")),
        (200, b"<html>Welcome</html>", {"headers": HTML}, NotAnAnswer(kind="text/html")),
        (200, b"", {"end": End.TIMEOUT}, Nothing.SILENCE),
    ],
)
def test_what_is_no_answer_has_a_symptom(
    plain: Make, status: int | None, body: bytes, how: dict[str, object], symptom: Symptom
) -> None:
    exchange = plain("call-one", status, body, **how)
    if not body:  # no piece, where the fixture has an empty one
        exchange = dataclasses.replace(exchange, transcript=dataclasses.replace(exchange.transcript, pieces=()))
    assert symptom_of(exchange) == symptom


def test_an_answer_has_no_symptom_right_or_wrong(right_stream: Make, right_whole: Make, whole: Make) -> None:
    for exchange in (right_stream("call-one"), right_whole("text-hello"), whole("text-hello", "Help!")):
        assert symptom_of(exchange) is None


def test_a_client_that_left_has_seen_no_symptom(stream: Make) -> None:
    assert symptom_of(stream("disconnect-first", bare=True, status=None, end=End.LEFT)) is None


def test_the_end_of_the_process_is_a_symptom_whatever_came(right_whole: Make) -> None:
    died = symptom_of(dead(right_whole("text-hello")))
    assert died == Died(status=3, last_words="Segmentation fault in worker …")
    assert str(died) == "the proxy's process ended with exit status 3: Segmentation fault in worker …"
    assert str(Died(status=-9, last_words="")) == "the proxy's process ended by signal 9"


def test_what_differs_from_request_to_request_is_masked() -> None:
    said = "Unknown field 'n' in `messages[0].x` near \"my own words\" (id 3b95ea80-1df6, 17 of 20)"
    assert (
        masked(said, Sent(fields=frozenset({"n", "messages"})))
        == "Unknown field 'n' in `messages[…].x` near “…” (id …, … of …)"
    )


ECHOED = {"type": "function", "name": "save_note", "description": "Save a note for later"}
REQUEST = json.dumps({"model": "m", "tools": [ECHOED], "input": "Call the tool save_note once."}).encode()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            {"detail": [{"loc": ["body", "tools", 0, "function"], "msg": "Field required", "input": ECHOED}] * 2},
            "body.tools.….function: Field required",
        ),
        ({"detail": [{"loc": [], "msg": "No such thing"}]}, "No such thing"),
        (
            {"error": {"message": f"Cannot read {ECHOED} in tools", "type": "t"}},
            "Cannot read {…} in tools (type t)",
        ),
        (
            {"error": {"message": f"Bad tools: {json.dumps([ECHOED, {'a': ECHOED}])}; give up"}},
            "Bad tools: {…}; give up",
        ),
        ({"error": "Who wants to Call the tool save_note once. I do not"}, "Who wants to … I do not"),
        ({"error": {"message": '{"code": "x"}'}}, "{“…”: “…”}"),
        ({"error": {"message": "tools[0].function, see [docs]"}}, "tools[…].function, see [docs]"),
    ],
)
def test_what_an_error_repeats_of_its_request_is_no_part_of_its_symptom(plain: Make, error: object, said: str) -> None:
    exchange = plain("text-hello", 422, json.dumps(error).encode())
    asked = dataclasses.replace(exchange.transcript, request_body=REQUEST)
    assert symptom_of(dataclasses.replace(exchange, transcript=asked)) == WrongStatus(status=422, said=said)


def test_errors_that_say_different_things_of_what_they_repeat_are_different_symptoms(plain: Make) -> None:
    def symptom(message: str) -> object:
        return symptom_of(plain("text-hello", 422, json.dumps({"detail": [{"loc": ["a"], "msg": message}]}).encode()))

    assert symptom("Field required") != symptom("Extra inputs are not permitted")


# Causes


def test_what_many_scenarios_show_is_one_finding_that_hides_the_rest(plain: Make, right_stream: Make) -> None:
    names = ("text-hello", "call-one", "history")
    found = judged(
        *(plain(name, 500, OOPS) for name in names), *(right_stream(name) for name in ("text-hello", "call-one"))
    )
    assert broken(found) == ["text-hello:target.answers"]
    (cause,) = found.causes
    assert (cause.requirement, cause.shape, cause.scenarios) == ("target.answers", "every whole answer", names)
    said = "HTTP 500: oops … (type server_error) (every whole answer)"
    assert outcome(found, "call-one:chat.whole.usage").reason == f"hidden behind target.answers: {said}"
    # Its stream came: the two forms do not hide each other.
    answers = outcome(found, "call-one:target.answers")
    assert (answers.verdict, answers.reason) == (
        Verdict.PASS, f"seen in stream of openai-json; elsewhere counted once, in text-hello: {said}",
    )  # fmt: skip
    assert outcome(found, "history:target.answers").reason == f"counted once, in text-hello: {said}"
    assert outcome(found, "call-one:chat.stream.call-opening").verdict is Verdict.PASS


def test_two_symptoms_are_two_causes(plain: Make) -> None:
    found = judged(plain("text-hello", 500, OOPS), plain("call-one", None, end=End.TIMEOUT))
    assert broken(found) == ["text-hello:target.answers", "call-one:target.answers"]
    assert len(found.causes) == 2


def test_a_failure_is_its_scenarios_own_matter_only_while_no_other_scenario_shows_it(plain: Make) -> None:
    assert broken(judged(plain("shape-a", 500, OOPS), plain("shape-b", 500, OOPS))) == [
        "shape-a:shapes.a", "shape-b:shapes.b",
    ]  # fmt: skip
    assert broken(judged(plain("shape-a", 500, OOPS), plain("text-hello", 500, OOPS))) == ["shape-a:target.answers"]


def test_a_refusal_of_one_subject_is_its_own_and_one_of_several_a_cause(
    plain: Make, error_body: Callable[..., bytes]
) -> None:
    no = error_body(message="Not like this.")
    assert broken(judged(plain("call-after-text", 400, no))) == ["call-after-text:chat.whole.content-null"]
    found = judged(plain("call-after-text", 400, no), plain("text-hello", 400, no))
    assert broken(found) == ["call-after-text:target.answers"]


def test_a_lack_of_room_is_a_warning_of_its_own(plain: Make) -> None:
    found = judged(plain("text-hello", 429, OOPS), plain("call-one", 429, OOPS))
    assert broken(found) == ["text-hello:target.capacity"]
    assert outcome(found, "text-hello:target.capacity").verdict is Verdict.WARN


@pytest.mark.parametrize(("asked", "keys"), [(False, ["text-hello:target.capacity"]), (True, [])])
def test_a_refusal_that_was_waited_for_must_say_when_to_come_again(
    right_whole: Make, *, asked: bool, keys: list[str]
) -> None:
    exchange = right_whole("text-hello")
    waited = dataclasses.replace(exchange.transcript, waits=(Wait(status=429, seconds=0.1, asked=asked),))
    assert broken(judged(dataclasses.replace(exchange, transcript=waited))) == keys


def test_a_death_is_one_cause_with_the_connections_that_were_refused_after_it(plain: Make, right_whole: Make) -> None:
    refused = plain("history", None, end=End.REFUSED)
    found = judged(dead(plain("text-hello", None, end=End.CUT)), dead(right_whole("call-one")), refused)
    assert broken(found) == ["text-hello:target.alive"]
    seen = outcome(found, "text-hello:target.alive").findings[0].violation.seen
    assert seen.startswith("the proxy's process ended with exit status 3: Segmentation fault in worker 12")
    assert outcome(found, "call-one:chat.whole.usage").verdict is Verdict.PASS, "it had answered before"
    assert outcome(found, "history:chat.whole.usage").reason.startswith("hidden behind target.alive: ")


def test_an_error_sent_as_200_is_named_as_that(plain: Make, stream: Make) -> None:
    found = judged(plain("text-hello", 200, OOPS))
    assert broken(found) == ["text-hello:chat.whole.backend-error"]
    (finding,) = outcome(found, "text-hello:chat.whole.backend-error").findings
    assert finding.violation.seen.startswith("an error was sent as HTTP 200 instead of an answer: ")
    frame = b"data: " + OOPS + b"\n\n"
    assert broken(judged(stream("text-hello", frame, bare=True))) == ["text-hello:chat.stream.error-before-output"]


def test_an_error_that_was_due_and_came_as_200_is_one_finding_however_it_is_written(
    stream: Make, right_stream: Make, plain: Make, error_frame: bytes
) -> None:
    names = ("fail-first", "fail-rate", "fail-context")
    late = [stream(name, {"role": "assistant"}, error_frame, {"finish": "error"}) for name in names]
    found = judged(*late, right_stream("text-hello"))
    assert broken(found) == ["fail-first:chat.stream.error-before-output"]
    assert [(type(one.symptom), len(one.exchanges)) for one in found.causes] == [(LateError, 3)]
    one = outcome(found, "fail-first:chat.stream.error-before-output")
    assert one.findings[0].violation.seen.startswith("an error before any output was sent as HTTP 200: ")
    assert (one.at(VerdictLevel.STRICT), one.at(VerdictLevel.COMPAT)) == (Verdict.FAIL, Verdict.FAIL)
    assert outcome(found, "fail-rate:chat.stream.error-before-output").reason.startswith("counted once, in fail-first")
    whole = judged(plain("fail-first", 200, OOPS), right_stream("text-hello"))
    assert broken(whole) == ["fail-first:chat.whole.backend-error"]
    assert outcome(whole, "fail-first:chat.whole.backend-error").at(VerdictLevel.COMPAT) is Verdict.FAIL


def test_an_error_after_text_is_right_as_a_frame(stream: Make, right_stream: Make, error_frame: bytes) -> None:
    names = ("fail-after-text", "silent-backend")
    found = judged(*(right_stream(name) for name in names), stream("fail-in-arguments", error_frame))
    assert (broken(found), found.causes) == ([], ())


@pytest.mark.parametrize("dialect", [Dialect.OPENAI_JSON, Dialect.RESPONSES])
def test_an_answer_of_the_other_mode_is_one_finding_named_as_that(
    right_stream: Make, right_whole: Make, plain: Make, stream: Make, dialect: Dialect
) -> None:
    names, target = ("text-hello", "call-one"), dataclasses.replace(TARGET, dialects=(dialect,))
    of_form = {
        Dialect.OPENAI_JSON: ("chat.whole.envelope", "chat.stream.frames"),
        Dialect.RESPONSES: ("responses.whole.envelope", "responses.stream.schema"),
    }
    whole_row, stream_row = of_form[dialect]
    streams = [
        plain(name, 200, right_stream(name, dialect=dialect).transcript.body, dialect=dialect, target=target)
        for name in names
    ]
    found = judged(*streams, *(right_stream(name, dialect=dialect, target=target) for name in names), target=target)
    assert {one.symptom for one in found.causes} == {OtherMode.STREAM}
    assert broken(found) == [f"text-hello:{whole_row}"]
    (finding,) = outcome(found, f"text-hello:{whole_row}").findings
    assert finding.violation.seen.startswith("a stream where a whole answer was asked for (application/json): ")
    assert outcome(found, f"call-one:{whole_row}").reason.startswith("counted once, in text-hello: a stream where ")
    assert outcome(found, "call-one:target.answers").verdict is Verdict.PASS
    wholes = [
        stream(name, right_whole(name, dialect=dialect).transcript.body, bare=True, dialect=dialect, target=target)
        for name in names
    ]
    found = judged(*wholes, target=target)
    assert {one.symptom for one in found.causes} == {OtherMode.WHOLE}
    assert broken(found) == [f"text-hello:{stream_row}"]


def test_where_nothing_is_answered_no_error_is_the_right_one(plain: Make) -> None:
    everything = [plain("text-hello", 500, OOPS), plain("fail-first", 500, OOPS), plain("param-n", 500, OOPS)]
    assert broken(judged(*everything)) == ["text-hello:target.answers"]


def test_where_something_is_answered_an_error_is_judged_as_such(plain: Make, right_whole: Make) -> None:
    found = judged(plain("text-hello", 500, OOPS), plain("fail-first", 500, OOPS), right_whole("call-one"))
    assert outcome(found, "fail-first:chat.whole.backend-error").verdict is Verdict.PASS


def test_text_where_calls_were_due_is_one_cause_in_several_scenarios(whole: Make, right_whole: Make) -> None:
    names = ("call-one", "calls-burst", "call-large")
    found = judged(*(whole(name, "I have no tools.") for name in names))
    assert broken(found) == ["call-one:chat.whole.calls-all-in-order"]
    assert [cause.symptom for cause in found.causes] == [SaysOther.NO_CALLS]
    some = judged(*(whole(name, "I have no tools.") for name in names), right_whole("call-tail"))
    assert some.causes == ()
    assert len(broken(some)) > 1


def test_blocks_without_calls_beside_them_hide_nothing(right_stream: Make, stream: Make) -> None:
    def without_calls(name: str) -> Exchange:
        right = right_stream(name, dialect=Dialect.OBSIDIAN_XML)
        return stream(name, right.choice().text, {"finish": "tool_calls"}, dialect=Dialect.OBSIDIAN_XML)

    names = ("call-one", "call-after-text", "xml-order")
    target = dataclasses.replace(TARGET, dialects=(Dialect.OBSIDIAN_XML,))
    found = judged(*map(without_calls, names), target=target)
    assert found.causes == ()
    assert "call-one:chat.stream.call-opening" in broken(found)
    assert outcome(found, "call-one:chat.stream.arguments-verbatim").verdict is Verdict.PASS


def test_what_stands_beside_calls_is_judged_where_they_are_missing(stream: Make) -> None:
    names, stop = ("call-one", "calls-burst", "call-large"), {"finish": "stop"}
    silent = judged(*(stream(name, stop) for name in names))
    assert broken(silent) == ["call-one:chat.stream.call-opening"]
    assert outcome(silent, "call-one:chat.stream.text").verdict is Verdict.PASS
    assert outcome(silent, "call-one:chat.stream.finish-reason").verdict is Verdict.NOT_OBSERVED
    # What is said instead of a call is no text that the backend did not send.
    said = judged(*(stream(name, "I have no tools.", stop) for name in names))
    assert broken(said) == ["call-one:chat.stream.call-opening"]
    assert outcome(said, "call-one:chat.stream.text").verdict is Verdict.NOT_OBSERVED


def test_the_same_extra_member_is_one_finding_whatever_requirement_finds_it(whole: Make, stream: Make) -> None:
    frames = ({"content": "Hello, world!", "vendor": 1}, {"finish": "stop"})
    found = judged(whole("text-hello", "Hello!", change={"vendor": 1}), stream("text-hello", *frames))
    assert broken(found) == ["text-hello:chat.whole.envelope", "text-hello:chat.whole.text"]
    other = outcome(found, "text-hello:chat.stream.schema")
    assert (other.verdict, other.reason) == (
        Verdict.PASS, "but for this, counted in text-hello: vendor is not among the published fields",
    )  # fmt: skip


def counting(exchange: Exchange, *usage: int) -> Exchange:
    """The same whole answer of chat, with these counts of the request and the answer; with none, without a usage."""
    body = json.loads(exchange.transcript.body)
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    body["usage"] = dict(zip(names, (*usage, sum(usage)), strict=True)) if usage else None
    return replied(exchange, body if usage else {name: value for name, value in body.items() if name != "usage"})


def replied(exchange: Exchange, body: object) -> Exchange:
    """The same exchange, with another body."""
    pieces = (Piece(at=0.0, data=json.dumps(body).encode()),)
    transcript = dataclasses.replace(exchange.transcript, pieces=pieces)
    return dataclasses.replace(exchange, transcript=transcript, reading=read(transcript, exchange.form))


COUNTED = ("text-hello", "usage-asked", "choices-usage", "choices-indexed")
"""Scenarios whose backends report different counts."""


def test_counts_that_never_change_are_one_finding_and_hide_nothing(right_whole: Make) -> None:
    found = judged(*(counting(right_whole(name), 10, 20) for name in COUNTED))
    assert [one.partition(":")[2] for one in broken(found)] == ["chat.whole.usage"]
    (cause,) = found.causes
    assert cause.symptom == ConstantUsage(prompt=10, completion=20)
    assert cause.finding.violation.seen == "the usage is 10 + 20 in every answer, whatever was asked"
    others = [outcome(found, f"{name}:chat.whole.usage") for name in COUNTED if name != cause.scenario]
    assert {one.verdict for one in others} == {Verdict.NOT_OBSERVED}
    assert {one.reason.partition(":")[0] for one in others} == {f"counted once, in {cause.scenario}"}
    assert outcome(found, "text-hello:chat.whole.text").verdict is Verdict.PASS


def test_counts_that_change_are_wrong_each_for_itself(right_whole: Make) -> None:
    found = judged(*(counting(right_whole(name), 10 + number, 20) for number, name in enumerate(COUNTED)))
    assert (len(broken(found)), found.causes) == (len(COUNTED), ())


def test_counts_that_stay_the_same_because_the_backend_reports_the_same_are_right(right_whole: Make) -> None:
    found = judged(*(right_whole(name) for name in ("text-hello", "text-utf8", "text-markup", "text-empty")))
    assert (broken(found), found.causes) == ([], ())


def test_a_usage_that_is_missing_everywhere_is_one_finding_and_hides_nothing(right_whole: Make) -> None:
    found = judged(*(counting(right_whole(name)) for name in ("text-hello", "textual-verbatim", "text-utf8")))
    assert broken(found) == ["text-hello:chat.whole.usage"]
    assert [str(one.symptom) for one in found.causes] == ["usage is missing"]
    assert outcome(found, "text-utf8:chat.whole.usage").reason == "counted once, in text-hello: usage is missing"
    assert outcome(found, "textual-verbatim:chat.whole.calls-all-in-order").verdict is Verdict.PASS
    once = judged(counting(right_whole("text-hello")), right_whole("text-utf8"))
    assert (broken(once), once.causes) == (["text-hello:chat.whole.usage"], ())


@pytest.mark.parametrize(("counts", "seen"), [((0, 0), ["the usage counts no tokens of the request"]), ((9, 5), [])])
def test_counts_are_judged_beside_members_that_are_missing(
    plain: Make, response: Callable[..., dict[str, object]], message_item: Callable[..., object],
    counts: tuple[int, int], seen: list[str],
) -> None:  # fmt: skip
    usage = {
        "input_tokens": counts[0], "input_tokens_details": {"cached_tokens": 0}, "output_tokens": counts[1],
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": sum(counts),
    }  # fmt: skip
    said = response("completed", [message_item("Hello!")], usage=usage)
    del said["parallel_tool_calls"]
    say = next(one for one in LIVE if one.name == "live-say")
    exchange = plain(say, 200, json.dumps(said).encode(), dialect=Dialect.RESPONSES, live=True)
    found = outcome(judged(exchange, target=LIVE_RESPONSES), "live-say:responses.whole.envelope").findings
    assert [one.violation.seen for one in found] == ["the body: parallel_tool_calls is missing", *seen]
    assert str(found[0].violation.about) == "parallel_tool_calls is missing"
    assert [one.violation.counts for one in found] == [False, *(True for _ in seen)]


@pytest.mark.parametrize(
    ("count", "status", "cut"),
    [(16, "completed", True), (15, "completed", False), (16, "incomplete", False)],
)
def test_an_answer_that_has_all_the_tokens_that_it_may_have_is_not_complete(
    plain: Make, response: Callable[..., dict[str, object]], message_item: Callable[..., object],
    count: int, status: str, *, cut: bool,
) -> None:  # fmt: skip
    usage = {
        "input_tokens": 40, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": count,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 40 + count,
    }  # fmt: skip
    why = {"incomplete_details": {"reason": "max_output_tokens"}} if status == "incomplete" else {}
    said = response(status, [message_item("H" * count)], usage=usage, **why)
    length = next(one for one in LIVE if one.name == "live-length")
    exchange = plain(length, 200, json.dumps(said).encode(), dialect=Dialect.RESPONSES, live=True)
    found = outcome(judged(exchange, target=LIVE_RESPONSES), "live-length:responses.whole.envelope").findings
    sentence = "the answer was cut at the 16 tokens that it may have, and its end says that it was complete"
    assert [one.violation.seen for one in found] == [sentence] * cut


def without(exchange: Exchange, member: str) -> Exchange:
    """The same whole answer, without a member."""
    body = json.loads(exchange.transcript.body)
    return replied(exchange, {name: value for name, value in body.items() if name != member})


@pytest.mark.parametrize(
    ("turns", "verdict", "reason"),
    [
        ((0, 1), Verdict.NOT_OBSERVED, "counted once, in text-hello: model is missing"),
        ((1,), Verdict.PASS, "but for this, counted in text-hello: model is missing"),
        ((), Verdict.PASS, ""),
    ],
)
def test_a_row_whose_every_answer_has_a_fault_that_is_counted_elsewhere_does_not_pass(
    right_whole: Make, turns: tuple[int, ...], verdict: Verdict, reason: str
) -> None:
    loop = [right_whole("tool-loop", number) for number in (0, 1)]
    loop = [without(one, "model") if one.number in turns else one for one in loop]
    found = judged(without(right_whole("text-hello"), "model"), *loop)
    one = outcome(found, "tool-loop:chat.whole.envelope")
    # Its streams were not driven, which says nothing of a row of whole answers.
    assert (one.verdict, one.reason) == (verdict, reason)
    assert outcome(found, "tool-loop:chat.whole.usage").verdict is Verdict.PASS


def test_what_is_plainly_refused_is_not_applicable_and_breaks_the_letter_alone(
    plain: Make, right_whole: Make, error_body: Callable[..., bytes]
) -> None:
    no = error_body(message="Images are not supported.", param="messages[0].content[1].image_url")
    found = judged(plain("images", 400, no), plain("images-earlier", 400, no), right_whole("text-hello"))
    assert broken(found) == ["images:turn.images"]
    one = outcome(found, "images:turn.images")
    assert (one.verdict, one.at(VerdictLevel.COMPAT)) == (Verdict.WARN, Verdict.WARN)
    assert one.findings[0].violation.strict_only
    assert isinstance(found.causes[0].symptom, NotServed)
    other = outcome(found, "images-earlier:chat.whole.text")
    assert other.verdict is Verdict.NOT_APPLICABLE
    assert other.reason == "the target does not serve images: HTTP 400: Images are not supported."


# Crowds


def aside(stands: Exchange, *first: Exchange) -> Judgement:
    """What is judged of a scenario that was driven again, alone, and of its first exchanges."""
    run = ScenarioRun(
        scenario=stands.scenario, exchanges={stands.form: [stands]}, repeated=1, set_aside={stands.form: first}
    )
    return judge_runs([run], TARGET, CATALOGUE)


def beside(exchange: Exchange, others: int) -> Exchange:
    return dataclasses.replace(exchange, transcript=dataclasses.replace(exchange.transcript, beside=others))


@pytest.mark.parametrize(
    ("status", "how", "kind"),
    [
        (500, {}, "HTTP 500"),
        (502, {}, "HTTP 502"),
        (503, {}, "HTTP 503"),
        (504, {}, "HTTP 504"),
        (None, {"end": End.CUT}, "the connection broke"),
        (None, {"end": End.REFUSED}, "no connection could be made"),
    ],
)
def test_what_failed_only_beside_other_requests_is_a_matter_of_capacity(
    plain: Make, right_whole: Make, status: int | None, how: dict[str, End], kind: str
) -> None:
    first = plain("text-hello", status, OOPS, **how)
    found = aside(right_whole("text-hello"), beside(first, 7), beside(first, 3))
    assert broken(found) == ["text-hello:target.capacity"]
    one = outcome(found, "text-hello:target.capacity")
    assert one.verdict is Verdict.WARN
    said = "2 exchanges, of as many as 8 at the same time, failed and went well alone: "
    assert one.findings[0].violation.seen.startswith(f"{said}{kind} (2); ")
    assert outcome(found, "text-hello:chat.whole.text").verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("name", "status", "how"),
    [
        ("text-hello", None, {"end": End.TIMEOUT}),
        ("text-hello", 501, {}),
        ("fail-first", 502, {}),
        ("route-unknown", 500, {}),
    ],
)
def test_time_alone_refusals_and_failures_that_were_due_are_none(
    plain: Make, right_whole: Make, name: str, status: int | None, how: dict[str, End]
) -> None:
    stands = right_whole("text-hello") if name == "text-hello" else plain(name, status, OOPS, **how)
    found = aside(stands, beside(plain(name, status, OOPS, **how), 7))
    assert not [key for key in broken(found) if key.endswith("target.capacity")]


def test_an_error_in_an_answer_is_no_matter_of_capacity(right_stream: Make, stream: Make, error_frame: bytes) -> None:
    found = aside(right_stream("text-hello"), beside(stream("text-hello", "Hel", error_frame), 7))
    assert broken(found) == []


def test_a_block_that_another_is_due_is_nobody_elses(right_stream: Make, right_whole: Make) -> None:
    block = right_stream("call-after-text", dialect=Dialect.OBSIDIAN_XML)
    found = judged(block, right_whole("responses-xml", dialect=Dialect.RESPONSES), right_stream("text-hello"))
    assert block.wanted[0].blocks
    assert SaysOther.OTHERS_ANSWER not in [one.symptom for one in found.causes]


def test_what_a_death_has_broken_is_no_matter_of_capacity(plain: Make, right_whole: Make) -> None:
    found = aside(right_whole("text-hello"), beside(dead(plain("text-hello", None, end=End.CUT)), 7))
    assert broken(found) == []


def test_the_answer_to_another_request_is_named_as_that(right_whole: Make, whole: Make) -> None:
    other = right_whole("usage-asked").choice().text
    found = judged(whole("text-hello", other), right_whole("usage-asked"), right_whole("text-utf8"))
    assert broken(found) == ["text-hello:turn.concurrent-isolation"]
    one = outcome(found, "text-hello:turn.concurrent-isolation")
    assert one.verdict is Verdict.FAIL
    assert one.findings[0].violation.seen == f'the answer is that to another request, which usage-asked sent: "{other}"'
    assert outcome(found, "text-hello:chat.whole.text").verdict is Verdict.NOT_OBSERVED


@pytest.mark.parametrize(
    ("reported", "owner"),
    [("b" * 12, "system-prompt"), ("a" * 12, ""), ("c" * 12, ""), ("a" * 12 + " and " + "b" * 12, "")],
    ids=["another's", "its own", "nobody's", "both"],
)
def test_an_answer_that_reports_another_request_is_the_answer_to_that(
    whole: Make, right_whole: Make, reported: str, owner: str
) -> None:
    def sent(one: Exchange, nonce: str) -> Exchange:
        body = f'{{"content": "[[wireproof:reflect/received#{nonce}]] Hello."}}'.encode()
        return dataclasses.replace(one, transcript=dataclasses.replace(one.transcript, request_body=body))

    markers = [f"[[wireproof:reflect/received#{nonce}]] Hello." for nonce in reported.split(" and ")]
    mine = sent(whole("untouched-text", json.dumps({"input": markers})), "a" * 12)
    other = sent(right_whole("system-prompt"), "b" * 12)
    seen = [case.seen for case in others_answers([mine, other])]
    marker = f"[[wireproof:reflect/received#{reported}]]"
    assert seen == ([f'the answer is that to another request, which {owner} sent: "{marker}"'] if owner else [])


def test_a_text_that_several_are_due_or_that_came_instead_of_an_error_is_nobody_elses(
    right_whole: Make, whole: Make
) -> None:
    both = [right_whole("text-hello"), right_whole("usage-asked")]
    assert right_whole("text-hello").choice().text == right_whole("fresh-session").choice().text
    shared = judged(whole("text-utf8", "Hello, world!"), *both, right_whole("fresh-session"))
    failed = judged(whole("fail-first", right_whole("usage-asked").choice().text), *both)
    assert SaysOther.OTHERS_ANSWER not in [cause.symptom for found in (shared, failed) for cause in found.causes]


def test_a_part_of_ones_own_text_is_no_answer_to_another_request(right_whole: Make, whole: Make) -> None:
    block = right_whole("textual-unterminated").choice().text or ""
    others = right_whole("sentinel-any-cut", dialect=Dialect.RESPONSES)
    part = "Let me look."
    assert block.startswith(part)
    assert [(wanted.text or "").strip() for wanted in others.wanted] == [part]
    found = judged(whole("textual-unterminated", part), others)
    assert SaysOther.OTHERS_ANSWER not in [cause.symptom for cause in found.causes]


def test_a_text_that_everyone_gets_is_nobody_elses(right_whole: Make, whole: Make) -> None:
    other = right_whole("usage-asked").choice().text
    found = judged(whole("text-hello", other), whole("text-utf8", other), right_whole("usage-asked"))
    assert broken(found) == ["text-hello:chat.whole.text", "text-utf8:chat.whole.text"]


# Shapes


def test_the_shape_is_what_all_that_failed_have_and_nothing_else_has(right_stream: Make, right_whole: Make) -> None:
    with_tools = [right_stream("call-one"), right_stream("calls-burst")]
    without = [right_stream("text-hello"), right_whole("text-hello"), right_whole("call-one")]
    assert shape(with_tools, without) == "every stream with `tools`"
    assert shape([*with_tools, right_stream("text-hello")], without[1:]) == "every stream"
    assert shape(with_tools, []) == "every request"
    assert (
        shape([right_whole("choices-text"), right_stream("choices-indexed")], without) == "every request with n above 1"
    )


def test_there_is_no_shape_of_one_scenario_or_of_what_others_have_too(right_stream: Make, right_whole: Make) -> None:
    assert shape([right_stream("call-one"), right_whole("call-one")], [right_whole("text-hello")]) == ""
    alike = [right_stream("text-hello"), right_stream("text-utf8")]
    assert shape(alike, [right_stream("text-empty"), right_stream("text-long")]) == ""


def test_a_shape_may_be_a_size(right_whole: Make) -> None:
    def sized(name: str, size: int) -> Exchange:
        exchange = right_whole(name)
        body = json.dumps({"model": "codex", "messages": [{"role": "user", "content": "x" * size}]}).encode()
        return dataclasses.replace(exchange, transcript=dataclasses.replace(exchange.transcript, request_body=body))

    small = sized("text-empty", 10)
    assert shape([sized("text-hello", 900), sized("text-utf8", 800)], [small]) == (
        f"every request of more than {len(small.transcript.request_body)} bytes"
    )
