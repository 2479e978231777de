from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging import judge as judge_module
from wireproof.judging.checks import CHECKS, surface_parity
from wireproof.judging.judge import judge_runs
from wireproof.judging.outcomes import ScenarioRun
from wireproof.judging.registry import Checks, Seen
from wireproof.model.catalogue import Catalogue, Citation, load, read
from wireproof.model.dialect import MODE_HEADER, ArgumentsMode, Dialect
from wireproof.model.requirement import JudgedOn, Level, Requirement, Stage
from wireproof.model.scenario import OPENS_AT, Form, Mode, Scenario
from wireproof.model.target import BEHIND_UPSTREAMS, Backend, Missing, Target
from wireproof.model.transcript import End, Piece
from wireproof.model.verdict import HarnessError, Outcome, Verdict, VerdictLevel
from wireproof.reading.applicable import applicable
from wireproof.reading.exchange import Exchange
from wireproof.reading.exchange import read as read_answer
from wireproof.reading.expected import ExpectedFailure
from wireproof.reading.right_answers import answers_to, right_answers
from wireproof.scenarios import CONVERSATIONS, SCENARIOS
from wireproof.wire.facet import Facet

if TYPE_CHECKING:
    from pathlib import Path

Make = Callable[..., Exchange]
Delta = Callable[..., Mapping[str, Any]]

CATALOGUE = load()
NAMED = {scenario.name: scenario for scenario in CONVERSATIONS}
OPENAI = (Dialect.OPENAI_JSON,)
MOCK = Target(base_url="http://127.0.0.1:1/v1", model="codex", keepalive=0.5, dialects=OPENAI)
ALL = dataclasses.replace(MOCK, dialects=tuple(Dialect))
XML = Dialect.OBSIDIAN_XML
STREAM, WHOLE = Form(Dialect.OPENAI_JSON, Mode.STREAM), Form(Dialect.OPENAI_JSON, Mode.WHOLE)
LIVE = dataclasses.replace(MOCK, backend=Backend.LIVE)
AS_STREAM = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
    "Connection": "keep-alive",
}
STOP = {"finish": "stop"}
CALLS = {"finish": "tool_calls"}
RIGHT = [
    s.name
    for s in CONVERSATIONS
    if len(s.turns) == 1 and s.backend is None and s.turns[0].act not in OPENS_AT
    and not s.script.startswith(("reflect/", "text/hang"))
]  # fmt: skip


def judge(run: ScenarioRun, *rest: Any, **named: Any) -> tuple[Outcome, ...]:
    """The outcomes of one run alone."""
    return judge_runs([run], *rest, **named).outcomes


def run(
    *exchanges: Exchange, scenario: Scenario | None = None, reasons: Mapping[str, str] = MappingProxyType({})
) -> ScenarioRun:
    """A run of these exchanges, by their forms; reasons are named by modes of OpenAI's own dialect."""
    said = {form: [one for one in exchanges if one.form == form] for form in (one.form for one in exchanges)}
    return ScenarioRun(
        scenario=scenario or exchanges[0].scenario,
        exchanges=said,
        not_driven={Form(Dialect.OPENAI_JSON, Mode(mode)): reason for mode, reason in reasons.items()},
    )


def judged(*exchanges: Exchange, target: Target = MOCK, **reasons: str) -> dict[str, Outcome]:
    outcomes = judge(run(*exchanges, reasons=reasons), target, CATALOGUE)
    return {outcome.requirement: outcome for outcome in outcomes}


def by(outcomes: Mapping[str, Outcome], *verdicts: Verdict) -> set[str]:
    return {name for name, outcome in outcomes.items() if outcome.verdict in verdicts}


def broken(outcomes: Mapping[str, Outcome]) -> set[str]:
    return by(outcomes, Verdict.FAIL, Verdict.WARN)


def hidden(outcomes: Mapping[str, Outcome], behind: str) -> set[str]:
    reason = f"hidden behind {behind}, which is broken in the same exchange"
    return {name for name, outcome in outcomes.items() if outcome.reason == reason}


# Right answers


@pytest.mark.each("name", RIGHT)
def test_right_answers_pass_in_all_that_the_scenario_is_judged_by(
    name: str, right_stream: Make, right_whole: Make
) -> None:
    makes = {Mode.STREAM: right_stream, Mode.WHOLE: right_whole}
    kinds = {Mode.STREAM: AS_STREAM, Mode.WHOLE: {"Content-Type": "application/json"}}

    def make(form: Form) -> Exchange:
        failed = any(
            one.failure in {ExpectedFailure.BEFORE_OUTPUT, ExpectedFailure.SILENT, ExpectedFailure.UNMET}
            for one in answers_to(NAMED[name], 0, form)
        )
        headers = {**kinds[Mode.WHOLE if failed else form.mode], MODE_HEADER: form.dialect.spec.output_mode}
        return makes[form.mode](name, dialect=form.dialect, headers=headers, target=ALL)

    outcomes = judge(run(*map(make, NAMED[name].forms(Dialect))), ALL, CATALOGUE)
    assert [outcome.requirement for outcome in outcomes] == [
        row.id for row in applicable(NAMED[name], CATALOGUE, Dialect)
    ]
    not_passed = {outcome.requirement: outcome for outcome in outcomes if outcome.verdict is not Verdict.PASS}
    assert {row for row, outcome in not_passed.items() if outcome.verdict is not Verdict.NOT_APPLICABLE} == set()
    assert not_passed.keys() <= {row.id for row in CATALOGUE.requirements if row.arguments}


def test_a_conversation_is_judged_exchange_by_exchange(right_stream: Make, right_whole: Make) -> None:
    exchanges = [make("tool-loop", number) for make in (right_stream, right_whole) for number in (0, 1)]
    outcomes = judged(*exchanges)
    assert by(outcomes, *(set(Verdict) - {Verdict.PASS})) == {"chat.stream.arguments-cumulative"}
    assert outcomes["chat.stream.arguments-cumulative"].verdict is Verdict.NOT_APPLICABLE


# Stage by stage


def test_a_fault_of_form_behind_which_all_is_read_hides_nothing(stream: Make, right_whole: Make) -> None:
    outcomes = judged(stream("text-hello", "Help!", {"role": "user"}, STOP), right_whole("text-hello"))
    assert broken(outcomes) == {"chat.stream.role-once", "chat.stream.text"}
    assert hidden(outcomes, "chat.stream.role-once") == set()
    # The texts differ for what is wrong with the stream's.
    assert hidden(outcomes, "chat.stream.text") == {"chat.stream.parity"}
    assert outcomes["chat.stream.finish-reason"].verdict is Verdict.PASS
    assert outcomes["chat.stream.schema"].verdict is Verdict.PASS
    assert outcomes["chat.whole.text"].verdict is Verdict.PASS
    (finding,) = outcomes["chat.stream.role-once"].findings
    assert (finding.form, finding.exchange) == (STREAM, 0)
    assert finding.violation.place is not None
    assert finding.violation.place.frame == 2


@pytest.mark.parametrize(
    ("role", "verdict"),
    [("user", Verdict.PASS), ("assistant", Verdict.PASS), (None, Verdict.PASS)],
)
def test_a_subject_is_judged_behind_a_role_too_many(
    right_stream: Make, right_whole: Make, role: str | None, verdict: Verdict
) -> None:
    exchange = right_stream("shape-a")
    first, *others = exchange.transcript.body.split(b"\n\n")
    again = [first.replace(b'"assistant"', b'"%s"' % role.encode())] if role else []
    pieces = (Piece(at=0.0, data=b"\n\n".join([first, *again, *others])),)
    transcript = dataclasses.replace(exchange.transcript, pieces=pieces)
    twice = dataclasses.replace(exchange, transcript=transcript, reading=read_answer(transcript, exchange.form))
    outcomes = judged(twice, right_whole("shape-a"))
    assert broken(outcomes) == ({"chat.stream.role-once"} if role else set())
    assert outcomes["shapes.a"].verdict is verdict


def test_a_fault_of_form_that_clients_cope_with_hides_nothing(stream: Make, right_whole: Make) -> None:
    outcomes = judged(stream("text-hello", "Help!", {"role": "assistant"}, STOP), right_whole("text-hello"))
    assert broken(outcomes) == {"chat.stream.role-once", "chat.stream.text"}
    assert hidden(outcomes, "chat.stream.role-once") == set()


def test_a_schema_that_is_broken_where_text_is_read_hides_content(stream: Make) -> None:
    outcomes = judged(stream("flush", {"content": ["x"]}, STOP))
    assert broken(outcomes) == {"chat.stream.schema"}
    assert outcomes["chat.stream.text"].verdict is Verdict.NOT_OBSERVED


def test_a_member_too_many_hides_nothing(stream: Make) -> None:
    outcomes = judged(stream("flush", {"content": "x", "colour": "red"}, STOP))
    assert broken(outcomes) == {"chat.stream.schema", "chat.stream.text"}
    (extra,) = outcomes["chat.stream.schema"].findings
    assert extra.violation.strict_only
    assert outcomes["chat.stream.schema"].at(VerdictLevel.COMPAT) is Verdict.WARN
    assert outcomes["chat.stream.text"].at(VerdictLevel.COMPAT) is Verdict.FAIL


def test_a_fault_beside_the_content_hides_nothing(stream: Make, right_whole: Make) -> None:
    headers = {"Content-Type": "text/event-stream"}
    outcomes = judged(stream("text-hello", "Help!", STOP, headers=headers), right_whole("text-hello"))
    assert broken(outcomes) == {"chat.stream.headers", "chat.stream.text"}
    assert len(outcomes["chat.stream.headers"].findings) == 3
    assert hidden(outcomes, "chat.stream.headers") == set()
    assert hidden(outcomes, "chat.stream.text") == {"chat.stream.parity"}
    right = judged(stream("text-hello", "Hello, world!", STOP, headers=headers), right_whole("text-hello"))
    assert right["chat.stream.parity"].verdict is Verdict.PASS


@pytest.mark.parametrize("end", [End.CUT, End.TIMEOUT])
def test_a_stream_that_broke_off_is_one_fault_however_much_is_missing_and_its_beginning_is_judged(
    stream: Make, right_whole: Make, end: End
) -> None:
    exchange = stream("text-hello", {"role": "assistant"}, "Hel", bare=True, end=end)
    outcomes = judged(exchange, right_whole("text-hello"))
    missing = {"chat.stream.finish-reason", "chat.stream.usage", "chat.stream.parity"}
    assert broken(outcomes) == {"chat.stream.done-last"}
    # A beginning that is right is no pass.
    assert hidden(outcomes, "chat.stream.done-last") == missing | {"chat.stream.text", "chat.stream.utf8"}
    wrong = judged(stream("text-hello", {"role": "assistant"}, "Hul", bare=True, end=end), right_whole("text-hello"))
    assert broken(wrong) == {"chat.stream.done-last", "chat.stream.text"}
    assert hidden(wrong, "chat.stream.done-last") == missing | {"chat.stream.utf8"}


@pytest.mark.parametrize(("delta", "rows"), [("Hello", {"order"}), ("Hullo", {"order", "sums"})])
def test_the_beginning_of_a_response_that_broke_off_is_judged(
    stream: Make, right_stream: Make, delta: str, rows: set[str]
) -> None:
    right = right_stream("text-hello", dialect=Dialect.RESPONSES, target=ALL)
    frames = [frame + b"\n\n" for frame in right.transcript.body.split(b"\n\n") if frame]
    first = next(number for number, frame in enumerate(frames) if b"event: response.output_text.delta" in frame)
    came = json.loads(frames[first].partition(b"data: ")[2])
    last = f"event: {came['type']}\ndata: {json.dumps({**came, 'delta': delta})}\n\n".encode()
    cut = stream("text-hello", *frames[:first], last, bare=True, end=End.CUT, dialect=Dialect.RESPONSES, target=ALL)
    outcomes = {one.requirement: one for one in judge(run(cut), ALL, CATALOGUE)}
    assert broken(outcomes) == {f"responses.stream.{row}" for row in rows}


def test_five_faults_of_a_stream_are_five_rows_and_hide_neither_text_nor_finish_nor_usage(
    stream: Make, usage_chunk: Callable[..., bytes]
) -> None:
    chunk = {"object": "chat.completion.chunk", "created": 1_700_000_000, "model": "codex"}
    named = {
        "id": "chatcmpl-other",
        **chunk,
        "choices": [{"index": 0, "delta": {"content": "!"}, "finish_reason": None}],
    }
    frames = (
        "Hello",
        {"role": "assistant"},
        {"role": "assistant"},
        ", world",
        f"data: {json.dumps(named)}\n\n".encode(),
    )
    faults = {"role-first", "role-once", "stable-id", "finish-once", "headers"}
    headers = {**AS_STREAM, "Connection": "close"}

    def found(*ends: object) -> set[str]:
        exchange = stream("usage-asked", *frames, *ends, b"data: [DONE]\n\n", bare=True, headers=headers)
        return {name.removeprefix("chat.stream.") for name in broken(judged(exchange))}

    # The scenario's text is another one: it is missed whatever else is wrong.
    assert found(STOP, STOP, usage_chunk(1234, 56)) == faults | {"text"}
    assert found(CALLS, CALLS, usage_chunk(1234, 56)) == faults | {"text", "finish-reason"}
    assert found(STOP, STOP, usage_chunk(1, 2)) == faults | {"text", "usage"}


def test_a_body_that_stays_open_hides_nothing_of_the_content(stream: Make) -> None:
    outcomes = judged(stream("flush", "one", STOP, end=End.OPEN))
    assert broken(outcomes) == {"chat.stream.done-last", "chat.stream.text"}


def test_a_whole_answer_that_broke_off_is_one_violation(plain: Make) -> None:
    outcomes = judged(plain("text-hello", 200, b'{"choices": [', end=End.CUT), stream="not today")
    assert broken(outcomes) == {"chat.whole.envelope"}
    assert [f.violation.seen for f in outcomes["chat.whole.envelope"].findings] == [
        "the answer did not arrive whole: cut"
    ]


def test_what_requests_show_together_is_found_once_at_the_first_that_shows_it(plain: Make) -> None:
    headers: list[dict[str, str]] = [{"x-request-id": "a"}, {}, {"x-request-id": "a"}, {"x-request-id": "b"}, {}]
    answers = [plain("request-ids", 404, b"{}", number=number, headers=one) for number, one in enumerate(headers)]
    found = judged(*answers)["http.request-id"].findings
    assert [(finding.exchange, finding.violation.seen) for finding in found] == [
        (1, "POST /chat/completions (404) has no x-request-id"),
        (2, "two responses have the same x-request-id"),
    ]


def test_wrong_content_hides_sense(whole: Make) -> None:
    outcomes = judged(whole("history", "You said: hello"), stream="not today")
    assert broken(outcomes) == {"chat.whole.text"}
    assert "turn.history-reaches-backend" in hidden(outcomes, "chat.whole.text")


def test_wrong_sense_is_reported_where_the_content_is_right(whole: Make, stream: Make) -> None:
    said = json.dumps({"history": [], "input": []})
    outcomes = judged(stream("history", said, STOP), whole("history", said))
    assert broken(outcomes) == {"turn.history-reaches-backend"}
    assert [f.form for f in outcomes["turn.history-reaches-backend"].findings] == [STREAM, WHOLE]


def test_parity_is_judged_where_nothing_else_was_found(stream: Make, whole: Make, call: Delta) -> None:
    want = NAMED["call-empty-arguments"].name
    streamed = stream(want, call(0, "mine", "getFileTree", "{}"), CALLS)
    at_once = whole(want, None, "tool_calls", calls=[("yours", "getFileTree", "{}")])
    assert broken(judged(streamed, at_once)) == {"chat.stream.parity"}


def test_what_the_stored_answer_alone_can_say_is_reported(stream: Make, right_whole: Make, error_frame: bytes) -> None:
    outcomes = judged(stream("text-hello", "Hello, world!", error_frame), right_whole("text-hello"))
    (finding,) = outcomes["chat.stream.parity"].findings
    assert "the answer says events: role text error" in finding.violation.seen


# Answers that are none


@pytest.mark.parametrize(
    ("status", "body", "end", "said"),
    [
        (500, b"oops \xff", End.COMPLETE, "HTTP 500 instead of an answer: oops \ufffd"),
        (302, b"", End.COMPLETE, "HTTP 302 instead of an answer: "),
        (None, b"", End.CUT, "the connection is closed without an answer (after 1.2 s)"),
        (None, b"", End.TIMEOUT, "silence instead of an answer (after 1.2 s)"),
    ],
)
def test_what_is_no_answer_is_blamed_on_no_subject_and_hides_the_rest(
    right_stream: Make, plain: Make, status: int | None, body: bytes, end: End, said: str
) -> None:
    outcomes = judged(right_stream("text-hello"), plain("text-hello", status, body, end=end))
    assert broken(outcomes) == {"target.answers"}
    assert [f.violation.seen for f in outcomes["target.answers"].findings] == [said]
    hidden = by(outcomes, Verdict.NOT_OBSERVED)
    of_streams = {name for name in outcomes if name.startswith("chat.stream.")} - {"chat.stream.parity"}
    # The stream shows what both forms can: neither hides the other.
    of_both = {"target.alive", "target.capacity", "http.one-framing"}
    assert hidden == outcomes.keys() - of_streams - of_both - {"target.answers"}
    for name in of_both:
        assert outcomes[name].verdict is Verdict.PASS
        assert outcomes[name].reason.startswith(
            "seen in stream of openai-json; elsewhere hidden behind target.answers: "
        )
    assert all(outcomes[name].reason.startswith("hidden behind target.answers: ") for name in hidden)
    assert outcomes["chat.stream.text"].verdict is Verdict.PASS


def test_what_one_scenario_is_refused_is_a_violation_of_its_first_requirement_of_that_mode(
    stream: Make, right_whole: Make, error_body: Callable[..., bytes]
) -> None:
    as_json = {"Content-Type": "application/json"}
    exchange = stream("call-after-text", error_body(), bare=True, status=400, headers=as_json)
    assert NAMED["call-after-text"].exercises[0] == "chat.whole.content-null"
    assert broken(judged(exchange, right_whole("call-after-text"))) == {"chat.stream.text"}


def test_an_error_that_was_due_is_right(right_stream: Make, right_whole: Make) -> None:
    outcomes = judged(right_stream("fail-first"), right_whole("fail-first"))
    spoken = {name for name in NAMED["fail-first"].exercises if not name.startswith(("responses.", "messages."))}
    assert by(outcomes, Verdict.PASS) == spoken


@pytest.mark.parametrize("status", [None, 302])
def test_where_an_error_was_due_a_redirect_or_nothing_is_none(
    right_stream: Make, plain: Make, status: int | None
) -> None:
    outcomes = judged(right_stream("fail-first"), plain("fail-first", status))
    assert "chat.whole.backend-error" in broken(outcomes)


def test_a_failure_that_is_answered_as_a_success_is_one_violation(stream: Make, whole: Make) -> None:
    outcomes = judged(stream("fail-first", "Sorry!", STOP), whole("fail-first", "Sorry!", "length", usage=None))
    assert broken(outcomes) == {"chat.stream.error-before-output", "chat.whole.backend-error"}


def test_an_error_that_breaks_the_envelope_is_reported_in_both_modes(
    stream: Make, plain: Make, error_body: Callable[..., bytes]
) -> None:
    bad = error_body(code=5)
    exchange = stream("fail-first", bad, bare=True, status=502, headers={"Content-Type": "application/json"})
    outcomes = judged(exchange, plain("fail-first", 502, bad))
    assert broken(outcomes) == {"http.error.envelope"}
    assert [f.form for f in outcomes["http.error.envelope"].findings] == [STREAM, WHOLE]


# Conversations


def test_what_continues_a_wrong_exchange_is_not_judged(stream: Make, right_whole: Make, call: Delta) -> None:
    wrong = stream("tool-loop", call(0, "call_search", "LOCALSEARCH", '{"query": "release notes"}'), CALLS)
    after = stream("tool-loop", "I know no such tool.", STOP, number=1)
    outcomes = judged(wrong, after, right_whole("tool-loop"), right_whole("tool-loop", 1))
    assert broken(outcomes) == {"chat.stream.call-opening"}
    assert "chat.stream.text" in hidden(outcomes, "chat.stream.call-opening")
    assert outcomes["chat.whole.text"].verdict is Verdict.PASS


def test_what_a_server_refuses_for_an_id_of_a_call_is_no_fault_of_its_own(
    right_whole: Make, plain: Make, error_body: Callable[..., bytes]
) -> None:
    """The client sends back the id that it was given, and a server may have rules for those."""

    def renamed(first: Exchange, **change: str) -> Exchange:
        body = json.loads(first.transcript.body)
        block = next(one for one in body["content"] if one["type"] == "tool_use")
        block |= change
        made: Exchange = plain("tool-loop", 200, json.dumps(body).encode(), dialect=Dialect.MESSAGES)
        return made

    first = right_whole("tool-loop", dialect=Dialect.MESSAGES)
    refused = plain("tool-loop", 400, error_body(), number=1, dialect=Dialect.MESSAGES)
    target = dataclasses.replace(MOCK, dialects=(Dialect.MESSAGES,))
    assert "messages.whole.calls" in broken(judged(renamed(first, id="functions.f:0"), refused, target=target))
    alone = broken(judged(renamed(first, id="functions.f:0"), target=target))
    assert (
        broken(judged(renamed(first, id="functions.f:0"), refused, target=target)) - {"messages.error.envelope"}
        == alone
    )
    assert broken(judged(first, refused, target=target)) - {"messages.error.envelope"}


def test_text_beside_calls_is_missed_but_where_a_gateways_upstream_has_none(
    right_stream: Make, right_whole: Make, plain: Make
) -> None:
    target = dataclasses.replace(MOCK, dialects=(Dialect.MESSAGES,), backend=Backend.ENDPOINT)
    of_chat = dataclasses.replace(target, missing=frozenset({Missing.TEXT_BESIDE_CALLS}))
    body = json.loads(right_whole("call-after-text", dialect=Dialect.MESSAGES).transcript.body)
    body["content"] = [block for block in body["content"] if block["type"] != "text"]
    rows = {}
    for behind in (target, of_chat):
        how = {"dialect": Dialect.MESSAGES, "target": behind}
        stream = right_stream("call-after-text", headers=AS_STREAM, **how)
        made = plain("call-after-text", 200, json.dumps(body).encode(), **how)
        textless = dataclasses.replace(made, wanted=right_answers(made))
        rows[behind] = broken(judged(stream, textless, target=behind)) - broken(
            judged(stream, right_whole("call-after-text", **how), target=behind)
        )
    assert rows == {target: {"messages.whole.text"}, of_chat: set()}


def test_what_could_not_be_continued_is_not_observed(stream: Make, right_whole: Make) -> None:
    outcomes = judged(stream("tool-loop", STOP), right_whole("tool-loop"), right_whole("tool-loop", 1))
    # Nor is its end wrong: without a call the answer is a text.
    assert broken(outcomes) == {"chat.stream.call-opening"}
    cut = judged(stream("tool-loop", {"finish": "length"}), right_whole("tool-loop"), right_whole("tool-loop", 1))
    assert broken(cut) == {"chat.stream.call-opening", "chat.stream.finish-reason"}
    assert "chat.stream.text" in hidden(outcomes, "chat.stream.call-opening")
    assert outcomes["chat.whole.text"].verdict is Verdict.PASS


def test_what_continues_an_exchange_with_a_harmless_fault_is_judged(
    stream: Make, right_stream: Make, right_whole: Make
) -> None:
    first = right_stream("tool-loop").transcript
    bare = dataclasses.replace(right_stream("tool-loop"), transcript=dataclasses.replace(first, headers=()))
    after = stream("tool-loop", "All clean.", STOP, number=1)
    outcomes = judged(bare, after, right_whole("tool-loop"), right_whole("tool-loop", 1))
    assert broken(outcomes) == {"chat.stream.headers", "chat.stream.text"}


def test_what_continues_wrong_arguments_is_judged_but_for_what_the_client_sent_back(
    stream: Make, right_whole: Make, call: Delta
) -> None:
    wrong = stream("tool-loop", call(0, "call_search", "localSearch", '{"query": "other"}'), CALLS)
    after = stream("tool-loop", "Wrong.", STOP, number=1)
    outcomes = judged(wrong, after, right_whole("tool-loop"), right_whole("tool-loop", 1))
    assert broken(outcomes) == {"chat.stream.arguments-verbatim", "chat.stream.text"}
    assert [one.exchange for one in outcomes["chat.stream.text"].findings] == [1]


def test_an_exchange_with_a_script_of_its_own_continues_nothing(
    stream: Make, right_stream: Make, right_whole: Make
) -> None:
    hushed = stream("crash-in-text", "Last words", STOP)
    after = stream("crash-in-text", "Help!", STOP, number=1)
    whole = [right_whole("crash-in-text", number) for number in (0, 1)]
    outcomes = judged(hushed, after, *whole)
    assert broken(outcomes) == {"chat.stream.error-after-text", "chat.stream.text"}
    assert [f.exchange for f in outcomes["chat.stream.text"].findings] == [1]
    right = [right_stream("crash-in-text", number) for number in (0, 1)]
    assert broken(judged(*right, *whole)) == set()


def test_of_an_exchange_that_the_client_left_only_the_form_is_judged(stream: Make) -> None:
    left = stream("disconnect", {"role": "assistant"}, "I have", bare=True, end=End.LEFT)
    after = stream("disconnect", '{"turns": [{"script": "text/hang", "state": "interrupted"}]}', STOP, number=1)
    outcomes = judged(left, after)
    assert by(outcomes, Verdict.PASS) == set(outcomes)
    wrong = stream("disconnect", "I have", bare=True, end=End.LEFT)
    assert broken(judged(wrong, after)) == {"chat.stream.role-first"}


def test_a_client_that_left_before_the_first_byte_received_nothing_wrong(stream: Make) -> None:
    left = stream("disconnect-first", bare=True, status=None, end=End.LEFT)
    said = '{"turns": [{"script": "leave/first", "state": "%s"}]}'
    after = [stream("disconnect-first", said % state, STOP, number=1) for state in ("interrupted", "running")]
    assert broken(judged(left, after[0])) == set()
    assert broken(judged(left, after[1])) == {"chat.stream.disconnect"}


@pytest.mark.parametrize("name", ["fail-in-arguments", "silent-backend"])
def test_what_may_be_reported_by_status_or_by_frame_is_right_both_ways(
    name: str, stream: Make, right_stream: Make, error_body: Callable[..., bytes], error_frame: bytes
) -> None:
    by_status = stream(name, error_body(), bare=True, status=504, headers={"Content-Type": "application/json"})
    for exchange in (by_status, stream(name, error_frame, bare=True, headers=AS_STREAM)):
        assert broken(judged(exchange)) == set()
    assert broken(judged(right_stream(name, status=None, end=End.TIMEOUT)))


# All runs together


def all_judged(*exchanges: Exchange) -> dict[str, set[str]]:
    """Scenario → what is broken in it, where each exchange is a run of its own."""
    outcomes = judge_runs([run(one) for one in exchanges], MOCK, CATALOGUE).outcomes
    assert list(dict.fromkeys(outcome.scenario for outcome in outcomes)) == [one.scenario.name for one in exchanges]
    return {
        one.scenario.name: broken({o.requirement: o for o in outcomes if o.scenario == one.scenario.name})
        for one in exchanges
    }


def test_right_answers_are_right_together(right_stream: Make) -> None:
    assert all_judged(right_stream("text-hello"), right_stream("shape-a")) == {"text-hello": set(), "shape-a": set()}


def test_what_only_a_scenario_with_a_subject_shows_is_blamed_on_the_subject(stream: Make, right_stream: Make) -> None:
    found = all_judged(right_stream("text-hello"), stream("shape-double-telling", "Told Told twice twice.", STOP))
    assert found == {"text-hello": set(), "shape-double-telling": {"shapes.double-telling"}}


@pytest.mark.parametrize("order", [1, -1])
def test_what_others_show_as_well_is_not_blamed_on_a_subject(stream: Make, order: int) -> None:
    wrong = [stream("text-hello", "Goodbye!", STOP), stream("shape-double-telling", "Goodbye!", STOP)]
    found = all_judged(*wrong[::order])
    assert found == {"text-hello": {"chat.stream.text"}, "shape-double-telling": {"chat.stream.text"}}


def test_words_that_are_lost_are_not_explained_by_what_is_less(stream: Make) -> None:
    """A proxy that trims texts may also lose what a subject is about; a lost blank may follow from lost words."""
    text, subject = {"chat.stream.text"}, {"shapes.double-telling"}
    trimmed, trimmed_too = ("text-hello", "Hello,world!"), ("shape-double-telling", "Toldtwicetwice,saidonce.")
    cut, cut_too = ("text-hello", "Hello,"), ("shape-double-telling", "Told")
    lost, lost_too = ("text-hello", "Goodbye!"), ("shape-double-telling", "Told.")
    gone = ("shape-double-telling", "")
    told_twice = ("shape-double-telling", "Told Told twice twice, twice twice, said once. said once.")
    for first, second, due in (
        (trimmed, trimmed_too, text), (trimmed, lost_too, subject), (trimmed, cut_too, subject),
        (cut, cut_too, text), (cut, lost_too, subject), (cut, trimmed_too, subject),
        (lost, trimmed_too, text), (lost, cut_too, text), (lost, lost_too, text),
        (cut, gone, subject), (lost, gone, text),
        (trimmed, told_twice, subject), (cut, told_twice, subject), (lost, told_twice, subject),
    ):  # fmt: skip
        found = all_judged(*(stream(name, said, STOP) for name, said in (first, second)))
        assert found == {"text-hello": text, "shape-double-telling": due}, (first, second)


def test_scenarios_with_subjects_of_their_own_do_not_vouch_for_each_other(stream: Make) -> None:
    found = all_judged(stream("concurrent", "Mine begins", STOP), stream("shape-double-telling", "Told.", STOP))
    assert found == {"concurrent": {"turn.concurrent-isolation"}, "shape-double-telling": {"shapes.double-telling"}}


def test_each_exchange_is_looked_at_once(stream: Make) -> None:
    looked: list[str] = []
    counting = Checks()

    @counting("my.counter")
    def look(exchange: Exchange) -> list[Seen]:
        looked.append(exchange.scenario.name)
        return []

    runs = [run(stream(name, "Goodbye!", STOP)) for name in ("text-hello", "shape-double-telling")]
    outcomes = judge_runs(runs, MOCK, CATALOGUE.extended(MINE), checks=Checks(CHECKS, counting)).outcomes
    assert [outcome.verdict for outcome in outcomes if outcome.requirement == MINE.id] == [Verdict.PASS] * 2
    assert looked == ["text-hello", "shape-double-telling"]


# A requirement of one's own

MINE = Requirement(
    id="my.counter", level=Level.MUST, text="An answer counts.", hint="Count.", stage=Stage.FORM,
        judged=JudgedOn.ALWAYS,
    modes=(Mode.STREAM,),
    source=(Citation(seed="my-contract", line=1, quote="count"),),
)  # fmt: skip
GREETING = """
[my.greeting]
level = "SHOULD"
text = "An answer greets."
hint = "Begin with Hello."
dialects = "chat"
modes = ["whole"]
judged = "always"
source = [{ seed = "my-contract", line = 1, quote = "be polite" }]
"""


@pytest.fixture
def politeness(tmp_path: Path) -> Catalogue:
    """A catalogue of one row, in a folder of its own."""
    (tmp_path / "catalogue.toml").write_text(
        'date = "2026-11-22"\nseeds = { my-contract = "My contract" }\nfiles = ["greetings"]\n'
    )
    (tmp_path / "greetings.toml").write_text(GREETING)
    (tmp_path / "excluded.toml").write_text("")
    return read(tmp_path)


@pytest.fixture
def polite() -> Checks:
    """The check of that row."""
    mine = Checks()

    @mine("my.greeting")
    def greeting(exchange: Exchange) -> Iterator[Seen]:
        if not (exchange.choice().text or "").startswith("Hello"):
            yield Seen("the answer does not greet", exchange.body_place)

    return mine


@pytest.mark.parametrize("with_ours", [True, False])
@pytest.mark.parametrize(
    ("answer", "verdict", "seen"),
    [("Hello, world!", Verdict.PASS, []), ("Good morning!", Verdict.WARN, ["the answer does not greet"])],
)
def test_a_row_and_a_check_of_ones_own_are_judged(
    *,
    with_ours: bool,
    answer: str,
    verdict: Verdict,
    seen: list[str],
    politeness: Catalogue,
    polite: Checks,
    whole: Make,
) -> None:
    catalogue = CATALOGUE.extended(*politeness.requirements) if with_ours else politeness
    checks = Checks(CHECKS, polite) if with_ours else polite
    exchange = whole("text-hello", answer)
    (found,) = [
        outcome
        for outcome in judge_runs([run(exchange)], MOCK, catalogue, checks=checks).outcomes
        if outcome.requirement == "my.greeting"
    ]
    assert (found.scenario, found.verdict) == ("text-hello", verdict)
    assert [finding.violation.seen for finding in found.findings] == seen


def test_a_row_that_nothing_can_find_broken_is_refused(politeness: Catalogue, right_whole: Make) -> None:
    catalogue = CATALOGUE.extended(*politeness.requirements)
    with pytest.raises(HarnessError, match=r"^my\.greeting has no check, so it would always pass; register one"):
        judge_runs([run(right_whole("text-hello"))], MOCK, catalogue)


def test_a_check_that_fails_itself_is_an_error_of_ours_and_hides_nothing_else(
    politeness: Catalogue, right_whole: Make
) -> None:
    failing = Checks()

    @failing("my.greeting")
    def greeting(exchange: Exchange) -> Iterable[Seen]:
        raise KeyError(exchange.choice().text)

    catalogue = CATALOGUE.extended(*politeness.requirements)
    outcomes = judge(run(right_whole("text-hello")), MOCK, catalogue, checks=Checks(CHECKS, failing))
    (ours,) = [one for one in outcomes if one.verdict is Verdict.ERROR]
    assert ours.requirement == "my.greeting"
    assert re.fullmatch(
        r"Wireproof could not judge my\.greeting \(KeyError in test_judge\.py, line \d+: .*\); please report this",
        ours.reason,
    )
    without = judge(run(right_whole("text-hello")), MOCK, CATALOGUE)
    assert [one for one in outcomes if one is not ours] == list(without)


def test_what_a_check_found_before_it_failed_is_found(politeness: Catalogue, right_whole: Make) -> None:
    failing = Checks()

    @failing("my.greeting")
    def greeting(exchange: Exchange) -> Iterable[Seen]:
        yield Seen("it does not greet", exchange.body_place)
        raise ValueError

    catalogue = CATALOGUE.extended(*politeness.requirements)
    outcomes = judge(run(right_whole("text-hello")), MOCK, catalogue, checks=Checks(CHECKS, failing))
    assert Verdict.ERROR not in {one.verdict for one in outcomes}
    assert "my.greeting" in {one.requirement for one in outcomes if one.findings}


@pytest.mark.parametrize(("place", "what"), [("findings_of", "text-hello"), ("find_causes", "the run")])
def test_a_failure_behind_the_checks_is_an_error_of_what_it_was_about(
    place: str, what: str, monkeypatch: pytest.MonkeyPatch, right_whole: Make
) -> None:
    kept = getattr(judge_module, place)

    def failing(*given: Any, **named: Any) -> Any:
        if place == "findings_of" and given[0].error:
            return kept(*given, **named)
        raise RecursionError

    monkeypatch.setattr(judge_module, place, failing)
    outcomes = judge(run(right_whole("text-hello")), MOCK, CATALOGUE)
    assert {one.verdict for one in outcomes} == {Verdict.ERROR}
    assert all(one.reason.startswith(f"Wireproof could not judge {what} (RecursionError in ") for one in outcomes)


def test_what_a_catalogue_does_not_have_is_not_judged(politeness: Catalogue, polite: Checks, stream: Make) -> None:
    (row,) = politeness.requirements
    both = dataclasses.replace(politeness, requirements=(dataclasses.replace(row, modes=tuple(Mode)),))
    broken_form = stream("text-hello", "Good morning!", {"role": "assistant"}, STOP)
    (found,) = judge(run(broken_form), MOCK, both, checks=polite)
    assert (found.requirement, found.reason) == (row.id, "")
    # What is lost is lost for a row of another catalogue as well.
    cut = stream("text-hello", {"role": "assistant"}, "Good", b"data: {\n\n", bare=True)
    needs = dataclasses.replace(both.requirements[0], needs=frozenset({Facet.END}))
    (found,) = judge(run(cut), MOCK, dataclasses.replace(both, requirements=(needs,)), checks=polite)
    assert found.reason == "hidden behind chat.stream.frames, which is broken in the same exchange"


# Plain requests


def test_a_plain_request_is_judged_by_its_checks(plain: Make, error_body: Callable[..., bytes]) -> None:
    right = {"Content-Type": "application/json", "WWW-Authenticate": "Bearer"}
    body = error_body(code="invalid_api_key")
    assert by(judged(plain("auth-wrong", 401, body, headers=right)), Verdict.PASS) == {
        "http.auth.wrong",
        "http.echo-no-key",
        "http.error.envelope",
        "http.error.no-internals",
    }
    assert broken(judged(plain("auth-wrong", 401, b"no", headers=right))) == {"http.error.envelope"}
    assert by(judged(plain("auth-wrong", 401, body, headers=right), target=LIVE), Verdict.NOT_OBSERVED) == set()


@pytest.mark.parametrize("status", [200, None])
def test_an_error_that_never_came_is_not_called_right(plain: Make, status: int | None) -> None:
    outcomes = judged(plain("auth-wrong", status, b"{}"))
    assert broken(outcomes) == {"http.auth.wrong"}
    assert outcomes["http.error.envelope"].verdict is Verdict.NOT_OBSERVED
    assert outcomes["http.error.envelope"].reason == "no error came in which it could be seen"


@pytest.mark.parametrize(("status", "verdict"), [(200, Verdict.NOT_OBSERVED), (500, Verdict.WARN)])
def test_where_no_response_came_that_could_be_continued_nothing_is_said_of_continuing(
    plain: Make, status: int, verdict: Verdict
) -> None:
    outcomes = judged(plain("previous-stream", status, b'{"object": "list"}', dialect=Dialect.RESPONSES), target=ALL)
    assert outcomes["responses.previous-id"].verdict is verdict
    if verdict is Verdict.NOT_OBSERVED:
        reason = "no answer brought the response that the next request continues"
        assert outcomes["responses.previous-id"].reason == reason


@pytest.mark.parametrize(
    ("items", "row"), [((), "responses.whole.message"), (("Hello.",), "responses.input.items")], ids=["lost", "another"]
)
def test_a_report_that_is_lost_says_nothing_of_the_input_and_another_text_does(
    plain: Make, response: Make, message_item: Make, items: Sequence[str], row: str
) -> None:
    body = json.dumps(response("completed", [*map(message_item, items)])).encode()
    outcomes = judged(plain("input-string", 200, body, dialect=Dialect.RESPONSES), target=ALL)
    assert broken(outcomes) == {row}
    assert hidden(outcomes, "responses.whole.message") == (set() if items else {"responses.input.items"})


# What could not be seen


def test_what_was_not_driven_is_not_observed_for_its_reason(right_whole: Make) -> None:
    outcomes = judged(right_whole("text-hello"), stream="the target asks for no key")
    rows = by(outcomes, Verdict.NOT_OBSERVED)
    assert rows == {name for name in outcomes if name.startswith(("chat.stream.", "target.", "http."))}
    assert {outcomes[name].reason for name in rows} == {"the target asks for no key"}
    nothing = judge(run(scenario=NAMED["fail-first"]), MOCK, CATALOGUE)
    assert {(o.verdict, o.reason) for o in nothing} == {(Verdict.NOT_OBSERVED, "the scenario was not driven")}


def test_a_scenario_that_could_not_be_driven_to_its_end_is_an_error(right_whole: Make) -> None:
    failed = dataclasses.replace(run(right_whole("text-hello")), error="the target has gone")
    outcomes = judge(failed, MOCK, CATALOGUE)
    assert len(outcomes) == len(applicable(NAMED["text-hello"], CATALOGUE, OPENAI))
    assert {(o.verdict, o.reason) for o in outcomes} == {(Verdict.ERROR, "the target has gone")}


def test_of_a_live_target_only_what_holds_of_any_answer_is_judged(stream: Make, whole: Make) -> None:
    exchanges = [stream("text-hello", "Hi!", STOP, live=True), whole("text-hello", "Hello.", live=True)]
    outcomes = judged(*exchanges, target=LIVE)
    assert broken(outcomes) == set()
    assert {"chat.stream.frames", "chat.stream.schema", "chat.whole.envelope", "chat.whole.choices"} <= by(
        outcomes, Verdict.PASS
    )
    unknown = by(outcomes, Verdict.NOT_OBSERVED)
    assert {"chat.stream.text", "chat.whole.text", "chat.stream.parity", "chat.stream.usage"} <= unknown
    assert {outcomes[name].reason for name in unknown} == {
        "the right answer is not known: a live model is behind the target"
    }


def test_what_is_behind_the_upstream_of_a_gateway_does_not_apply_to_it() -> None:
    gateway = dataclasses.replace(MOCK, backend=Backend.ENDPOINT)

    def left_out(name: str) -> tuple[Outcome, ...]:
        return judge(ScenarioRun(scenario=NAMED[name], not_driven={STREAM: "why", WHOLE: "why"}), gateway, CATALOGUE)

    behind = {(outcome.verdict, outcome.reason) for outcome in left_out("shape-a")}
    assert behind == {(Verdict.NOT_APPLICABLE, BEHIND_UPSTREAMS)}
    assert (Verdict.NOT_OBSERVED, "why") in {(outcome.verdict, outcome.reason) for outcome in left_out("call-one")}


@pytest.mark.parametrize(
    ("alone", "both", "verdict"),
    [
        # As it should be, but for the status; the other rule first; several errors of one status.
        ((400, "It is too large."), (400, "It is too large."), Verdict.PASS),
        ((400, "It is too large."), (415, "No JSON."), Verdict.WARN),
        ((400, "It is too large."), (400, "No JSON."), Verdict.NOT_OBSERVED),
        ((200, ""), (415, "No JSON."), Verdict.NOT_OBSERVED),
        ((500, "Oh."), (415, "No JSON."), Verdict.NOT_OBSERVED),
        ((413, "It is too large."), (415, "No JSON."), Verdict.WARN),
    ],
)
def test_the_order_of_two_rules_shows_also_where_the_first_has_an_error_of_its_own(
    alone: tuple[int, str], both: tuple[int, str], verdict: Verdict, plain: Make, error_body: Callable[..., bytes]
) -> None:
    answers = [plain("size-before-media-type", status, error_body(message=said), number=number)
               for number, (status, said) in enumerate((alone, both))]  # fmt: skip
    assert judged(*answers)["http.precedence.size-before-media-type"].verdict is verdict


def test_what_is_about_keys_alone_does_not_apply_to_a_target_that_asks_for_none() -> None:
    def left_out(name: str, target: Target) -> set[Verdict]:
        (scenario,) = (one for one in SCENARIOS if one.name == name)
        run = ScenarioRun(scenario=scenario, not_driven={WHOLE: "why"})
        return {outcome.verdict for outcome in judge(run, target, CATALOGUE)}

    keyed = dataclasses.replace(MOCK, api_key="k")
    for name in ("auth-missing", "auth-wrong"):
        assert left_out(name, MOCK) == {Verdict.NOT_APPLICABLE}
        assert left_out(name, keyed) == {Verdict.NOT_OBSERVED}
    # Of these some requests are about other things.
    assert left_out("connection-reuse-without-key", MOCK) == {Verdict.NOT_OBSERVED}


def test_a_live_target_breaks_what_holds_of_any_answer(stream: Make, whole: Make) -> None:
    exchanges = [stream("call-one", "Hi!", "Hi", live=True), whole("call-one", "Hello.", change={"id": "1"}, live=True)]
    assert broken(judged(*exchanges, target=LIVE)) == {"chat.stream.finish-once", "chat.whole.envelope"}


def test_of_a_live_model_that_made_no_call_nothing_of_calls_is_observed(stream: Make, whole: Make, call: Delta) -> None:
    spoken = [stream("call-one", "Hi!", STOP, live=True), whole("call-one", "Hi!", live=True)]
    outcomes = judged(*spoken, target=LIVE)
    for row in ("chat.stream.call-opening", "chat.stream.tail-suppressed", "chat.whole.content-null"):
        assert outcomes[row].reason == "no tool call came in which it could be seen"
    called = stream("call-one", call(0, "a", "f", "{}"), CALLS, live=True)
    outcomes = judged(called, spoken[1], target=LIVE)
    assert outcomes["chat.stream.tail-suppressed"].verdict is Verdict.PASS
    assert outcomes["chat.whole.content-null"].verdict is Verdict.NOT_OBSERVED


def test_a_failure_that_a_live_model_cannot_play_is_not_called_right(stream: Make, whole: Make) -> None:
    exchanges = [stream("fail-first", "Hi!", STOP, live=True), whole("fail-first", "Hi!", live=True)]
    assert by(judged(*exchanges, target=LIVE), Verdict.PASS) == set()


# Other requirements


def test_what_is_broken_beside_the_items_of_a_scenario_gets_an_outcome_too(
    stream: Make, right_whole: Make, call: Delta
) -> None:
    wanted = {row.id for row in applicable(NAMED["text-hello"], CATALOGUE, OPENAI)}
    outcomes = judged(stream("text-hello", call(0, "", "f"), CALLS), right_whole("text-hello"))
    assert broken(outcomes) == {"chat.stream.call-opening", "chat.stream.text", "chat.stream.finish-reason"}
    assert outcomes.keys() - wanted == {"chat.stream.call-opening"}
    assert list(outcomes)[-1] == "chat.stream.call-opening"


def test_a_should_that_is_broken_warns(stream: Make) -> None:
    outcomes = judged(stream("silence", "after the silence", STOP))
    assert by(outcomes, Verdict.WARN) == {"chat.stream.keepalive"}
    assert by(outcomes, Verdict.FAIL) == set()


# Dialects


def test_a_finding_names_the_form_in_which_it_was_made(stream: Make, right_whole: Make) -> None:
    target = dataclasses.replace(MOCK, dialects=(Dialect.OPENAI_JSON, XML))
    exchanges = [stream("text-hello", "Help!", STOP, dialect=dialect) for dialect in target.dialects]
    outcomes = judged(*exchanges, *(right_whole("text-hello", dialect=d) for d in target.dialects), target=target)
    assert broken(outcomes) == {"chat.stream.text"}
    assert [f.form for f in outcomes["chat.stream.text"].findings] == [STREAM, Form(XML, Mode.STREAM)]


def test_what_is_wrong_in_one_dialect_leaves_the_other_dialects_own_rows(stream: Make, right_stream: Make) -> None:
    target = dataclasses.replace(MOCK, dialects=(Dialect.OPENAI_JSON, XML))
    outcomes = judged(
        stream("call-one", "Hi!", STOP), right_stream("call-one", dialect=XML), target=target, whole="not today"
    )
    assert "chat.stream.call-opening" in broken(outcomes)
    assert outcomes["chat.stream.xml-single-delta"].verdict is Verdict.PASS


def test_a_dialect_that_was_not_driven_is_not_observed(right_stream: Make, right_whole: Make) -> None:
    target = dataclasses.replace(MOCK, dialects=(Dialect.OPENAI_JSON, XML))
    outcomes = judged(right_stream("call-one"), right_whole("call-one"), target=target)
    assert broken(outcomes) == set()
    assert outcomes["chat.stream.xml-single-delta"].reason == "the scenario was not driven"
    assert outcomes["chat.stream.text"].verdict is Verdict.NOT_OBSERVED


AXES = {
    ArgumentsMode.INCREMENTAL: ("chat.stream.arguments-cumulative", "chat.stream.arguments-incremental"),
    ArgumentsMode.CUMULATIVE: ("chat.stream.arguments-incremental", "chat.stream.arguments-cumulative"),
}


@pytest.mark.parametrize("way", ArgumentsMode)
def test_the_way_of_streaming_arguments_that_a_target_does_not_use_is_not_applicable(
    way: ArgumentsMode, stream: Make, right_whole: Make, call: Delta, fragment: Delta, usage_chunk: Callable[..., bytes]
) -> None:
    name = next(s.name for s in CONVERSATIONS if "chat.stream.arguments-incremental" in s.exercises)
    target = dataclasses.replace(MOCK, arguments=way)
    (wanted,) = answers_to(NAMED[name], 0, STREAM)
    wanted_call = wanted.calls[0]
    rest = wanted_call.arguments if way is ArgumentsMode.CUMULATIVE else wanted_call.arguments[5:]
    frames = (call(0, wanted_call.id, wanted_call.name, wanted_call.arguments[:5]), fragment(0, rest), CALLS)
    usage = [usage_chunk(wanted.usage.input, wanted.usage.output)] if NAMED[name].usage and wanted.usage else []
    outcomes = judged(stream(name, *frames, *usage, target=target), right_whole(name), target=target)
    foreign, own = AXES[way]
    assert broken(outcomes) == set()
    for row in {foreign, own} & outcomes.keys():
        wanted_verdict = Verdict.PASS if row == own else Verdict.NOT_APPLICABLE
        assert outcomes[row].verdict is wanted_verdict
    assert by(outcomes, Verdict.NOT_APPLICABLE) <= {foreign}


# A subject that takes the blame


def test_in_a_scenario_that_blames_its_subject_every_fault_of_content_is_one_of_the_subject(
    stream: Make, right_whole: Make
) -> None:
    outcomes = judged(stream("shape-a", "Hi!", STOP), right_whole("shape-a"))
    assert broken(outcomes) == {"shapes.a"}
    (first, *_) = outcomes["shapes.a"].findings
    assert first.violation.seen.endswith(")")
    assert "(chat.stream." in first.violation.seen
    assert outcomes["chat.stream.role-first"].verdict is Verdict.PASS


def test_a_fault_of_form_is_not_blamed_on_the_subject(stream: Make, right_whole: Make) -> None:
    outcomes = judged(stream("shape-a", "Hi!", {"role": "user"}, STOP), right_whole("shape-a"))
    assert broken(outcomes) == {"chat.stream.role-once", "shapes.a"}
    assert not any("role" in one.violation.seen for one in outcomes["shapes.a"].findings)
    assert {"chat.stream.text", "chat.stream.call-opening"} <= hidden(outcomes, "shapes.a")


# Several choices


def test_what_one_choice_says_of_another_is_reported_as_such(
    right_stream: Make, right_whole: Make, stream: Make
) -> None:
    wanted = answers_to(NAMED["choices-text"], 0, STREAM)
    both = "".join(one.text or "" for one in wanted)
    second = ({"role": "assistant", "choice": 1}, {"content": wanted[1].text, "choice": 1}, {**STOP, "choice": 1})
    outcomes = judged(stream("choices-text", both, STOP, *second), right_whole("choices-text"))
    assert broken(outcomes) == {"chat.stream.isolation"}
    assert broken(judged(right_stream("choices-text"), right_whole("choices-text"))) == set()


@pytest.mark.parametrize("name", ["choices-mixed", "choices-usage"])
def test_what_a_choice_that_never_came_would_have_had_is_no_fault_of_its_own(
    stream: Make, right_stream: Make, right_whole: Make, usage_chunk: Callable[..., bytes], name: str
) -> None:
    (one, _) = answers_to(NAMED[name], 0, STREAM)
    counted = (usage_chunk(one.usage.input, one.usage.output),) if name == "choices-usage" and one.usage else ()
    assert broken(judged(stream(name, one.text, STOP, *counted), right_whole(name))) == {"chat.stream.isolation"}
    assert broken(judged(right_stream(name), right_whole(name))) == set()


def test_a_choice_that_never_came_is_missed(stream: Make, right_whole: Make) -> None:
    wanted = answers_to(NAMED["choices-text"], 0, STREAM)
    outcomes = judged(stream("choices-text", wanted[0].text, STOP), right_whole("choices-text"))
    assert broken(outcomes)
    assert broken(outcomes) <= {"chat.stream.isolation", "chat.stream.text", "chat.stream.finish-reason"}


# Responses


def of_responses(stream: Exchange, whole: Exchange, *more: Exchange) -> Mapping[str, Outcome]:
    """The outcomes of a scenario in both modes of Responses, and in other forms."""
    outcomes = judge(run(stream, whole, *more), ALL, CATALOGUE)
    return {outcome.requirement: outcome for outcome in outcomes}


def test_a_stream_of_a_response_is_compared_with_the_whole_one(
    right_stream: Make, right_whole: Make, plain: Make
) -> None:
    stream = right_stream("text-hello", dialect=Dialect.RESPONSES, target=ALL)
    whole = right_whole("text-hello", dialect=Dialect.RESPONSES, target=ALL)
    body = {**json.loads(whole.transcript.body), "metadata": {"a": "1"}}
    other = plain("text-hello", 200, json.dumps(body).encode(), dialect=Dialect.RESPONSES, target=ALL)
    assert broken(of_responses(stream, whole)) == set()
    assert broken(of_responses(stream, other)) == {"responses.parity"}


def test_a_response_is_compared_with_what_chat_says(
    right_stream: Make, right_whole: Make, whole: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Facet.TEXT

    def differs(one: Exchange, other: Exchange) -> list[Seen]:
        return [Seen(f"{one.dialect} is not {other.dialect}", part=part)]

    monkeypatch.setattr(surface_parity, "across", differs)
    stream = right_stream("text-hello", dialect=Dialect.RESPONSES, target=ALL)
    response = right_whole("text-hello", dialect=Dialect.RESPONSES, target=ALL)
    (finding,) = of_responses(stream, response, right_whole("text-hello", target=ALL))["responses.parity"].findings
    assert finding.violation.seen == "responses is not openai-json"
    assert broken(of_responses(stream, response)) == set()
    odd = whole("text-hello", "Hello, world", "stop", target=ALL)
    outcomes = of_responses(stream, response, odd)
    assert hidden(outcomes, "chat.whole.text") == {"responses.parity"}
    # What is wrong with the text explains no difference in the finish.
    part = Facet.FINISH
    assert "responses.parity" in broken(of_responses(stream, response, odd))
