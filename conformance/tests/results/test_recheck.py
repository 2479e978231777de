from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from wireproof.judging.judge import Judgement
from wireproof.judging.outcomes import ScenarioRun
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.reasons import CROWDED
from wireproof.model.scenario import ConversationScenario, Form, Mode, PlainScenario, Request, Turn
from wireproof.model.target import Target
from wireproof.model.transcript import Death, End, Piece, Transcript
from wireproof.model.verdict import Finding, Outcome, Verdict
from wireproof.reading.exchange import Exchange, read
from wireproof.reading.right_answers import answers_to
from wireproof.results import recheck
from wireproof.results.recheck import recheck_timing, symptoms
from wireproof.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

FORM, STREAM = Form(Dialect.OPENAI_JSON, Mode.WHOLE), Form(Dialect.OPENAI_JSON, Mode.STREAM)
TARGET = Target(base_url="http://proxy/v1", model="m", dialects=(Dialect.OPENAI_JSON,))
FLUSHED = "chat.stream.flushed"


def scenario(name: str, script: str = "text/hello") -> ConversationScenario:
    return ConversationScenario(
        name=name, title="", exercises=("chat.whole.text",), script=script, turns=(Turn(say="Hi."),)
    )


def exchange(
    of: ConversationScenario,
    end: End = End.COMPLETE,
    status: int | None = 200,
    form: Form = FORM,
    death: Death | None = None,
) -> Exchange:
    transcript = Transcript(
        method="POST", url="", request_headers=(), request_body=b"", status=status, headers=(), pieces=(), end=end,
        seconds=0.0, death=death,
    )  # fmt: skip
    return Exchange(
        scenario=of, number=0, turn=of.turns[0], form=form, target=TARGET, transcript=transcript, reading=None,
        wanted=answers_to(of, 0, form),
    )  # fmt: skip


def run(name: str, end: End = End.COMPLETE, form: Form = FORM, death: Death | None = None) -> ScenarioRun:
    of = scenario(name)
    return ScenarioRun(scenario=of, exchanges={form: [exchange(of, end, form=form, death=death)]})


class Trying:
    """Drives again what a test says: the runs of each try, by the name of the scenario; notes what was asked for."""

    def __init__(self, answer: Callable[[str, int], ScenarioRun]) -> None:
        self.answer, self.asked = answer, list[list[str]]()

    def __call__(self, forms: Mapping[str, Sequence[Form]]) -> list[ScenarioRun]:
        self.asked.append(list(forms))
        return [self.answer(name, self.times(name)) for name in forms]

    def times(self, name: str) -> int:
        return sum(name in those for those in self.asked)


def nothing(_runs: Sequence[ScenarioRun]) -> Judgement:
    """A judge that finds nothing: what the exchanges show by themselves is left."""
    return Judgement(outcomes=(), causes=())


def after(
    runs: Sequence[ScenarioRun], *, judge: Callable[[Sequence[ScenarioRun]], Judgement] = nothing, again: Trying
) -> Sequence[ScenarioRun]:
    """The runs after what rests on time was tried again."""
    return recheck_timing(runs, judge=judge, again=again, catalogue=load())[0]


def ends(runs: Sequence[ScenarioRun]) -> list[End]:
    return [one.exchanges[FORM][0].transcript.end for one in runs]


def test_what_is_clean_is_not_tried_again() -> None:
    trying = Trying(lambda name, _: run(name))
    before = [run("a"), run("b")]
    assert after(before, again=trying) == before
    assert trying.asked == []


def test_what_was_not_tried_again_is_judged_once_and_the_rest_as_it_stands_after() -> None:
    seen: list[list[int]] = []

    def noting(runs: Sequence[ScenarioRun]) -> Judgement:
        seen.append([one.repeated for one in runs])
        return nothing(runs)

    after([run("a"), run("b")], judge=noting, again=Trying(lambda name, _: run(name)))
    assert seen == [[0, 0]]
    after([run("a", End.TIMEOUT), run("b")], judge=noting, again=Trying(lambda name, _: run(name)))
    assert seen[1:] == [[0, 0], [0], [1, 0]]


@pytest.mark.parametrize("end", [End.TIMEOUT, End.OPEN, End.CUT, End.REFUSED])
@pytest.mark.parametrize("at", [1, 2])
def test_what_is_clean_when_it_is_alone_stands(end: End, at: int) -> None:
    trying = Trying(lambda name, times: run(name, End.COMPLETE if times == at else end))
    one, two = after([run("a", end), run("b")], again=trying)
    assert ends([one, two]) == [End.COMPLETE, End.COMPLETE]
    assert (one.repeated, two.repeated) == (at, 0)
    assert one.set_aside[FORM][0].transcript.end is end
    assert two.set_aside == {}


@pytest.mark.parametrize(("text", "stands"), [("Counted.", False), ("Hello, world!", True), ("Bonjour.", True)])
def test_an_answer_to_another_request_is_excused_by_no_second_try(text: str, *, stands: bool) -> None:
    def answered(of: ConversationScenario, said: str, end: End = End.COMPLETE) -> Exchange:
        message = {"role": "assistant", "content": said}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        one = exchange(of, end)
        transcript = dataclasses.replace(one.transcript, pieces=(Piece(at=0.0, data=body),))
        return dataclasses.replace(one, transcript=transcript, reading=read(transcript, FORM))

    two = dataclasses.replace(scenario("a"), turns=(Turn(say="Hi."), Turn(say="Go on.")))
    mixed = ScenarioRun(scenario=two, exchanges={FORM: [answered(two, text), exchange(two, End.TIMEOUT)]})
    other = scenario("b", "text/usage")
    owner = ScenarioRun(scenario=other, exchanges={FORM: [answered(other, "Counted.")]})
    again = ScenarioRun(
        scenario=two, exchanges={FORM: [answered(two, "Hello, world!"), answered(two, "Hello, world!")]}
    )
    one, _ = after([mixed, owner], again=Trying(lambda *_: again))
    assert (one.exchanges == again.exchanges) is stands
    assert (one.set_aside == {}) is not stands


def test_what_comes_back_each_time_is_reported_as_it_was() -> None:
    trying = Trying(lambda name, _: run(name, End.CUT))
    before = run("a", End.TIMEOUT)
    (one,) = after([before], again=trying)
    assert one.exchanges == before.exchanges
    assert (one.repeated, one.set_aside) == (2, {})


def test_a_hang_that_many_share_is_tried_a_few_times() -> None:
    trying = Trying(lambda name, _: run(name, End.TIMEOUT))
    runs = after([run(str(n), End.TIMEOUT) for n in range(100)], again=trying)
    assert set(ends(runs)) == {End.TIMEOUT}
    assert trying.asked == [["0", "33", "66"]]


def test_what_a_busy_machine_has_done_to_many_is_tried_for_all_of_them() -> None:
    trying = Trying(lambda name, _: run(name))
    runs = after([run(str(n), End.TIMEOUT) for n in range(23)], again=trying)
    assert set(ends(runs)) == {End.COMPLETE}
    assert [one.repeated for one in runs] == [1] * 23


def test_a_hang_among_what_a_busy_machine_has_done_stays() -> None:
    trying = Trying(lambda name, _: run(name, End.TIMEOUT if name == "7" else End.COMPLETE))
    runs = after([run(str(n), End.TIMEOUT) for n in range(9)], again=trying)
    assert [one.scenario.name for one in runs if one.exchanges[FORM][0].transcript.end is End.TIMEOUT] == ["7"]


def test_different_symptoms_are_believed_apart() -> None:
    trying = Trying(lambda name, _: run(name, End.OPEN if name.startswith("o") else End.COMPLETE))
    before = [run(f"o{n}", End.OPEN) for n in range(8)] + [run(f"c{n}", End.CUT) for n in range(8)]
    runs = after(before, again=trying)
    assert ends(runs) == [End.OPEN] * 8 + [End.COMPLETE] * 8


def test_a_form_that_cannot_be_driven_again_keeps_what_it_showed() -> None:
    trying = Trying(lambda name, _: ScenarioRun(scenario=scenario(name), not_driven={FORM: "the target is gone"}))
    (one,) = after([run("a", End.TIMEOUT)], again=trying)
    assert ends([one]) == [End.TIMEOUT]


def test_what_could_not_be_driven_in_a_hurry_is_driven_alone() -> None:
    trying = Trying(lambda name, _: run(name))
    before = ScenarioRun(scenario=scenario("a"), not_driven={FORM: CROWDED, STREAM: "no interval is declared"})
    (one,) = after([before], again=trying)
    assert ends([one]) == [End.COMPLETE]
    assert (one.not_driven, one.set_aside) == ({STREAM: "no interval is declared"}, {})


def judged(
    *places: str, found_by: str = "", requirement: str = FLUSHED
) -> Callable[[Sequence[ScenarioRun]], Judgement]:
    """A judge that finds a requirement broken in the first run of these scenarios, and nothing when they are alone."""
    seen: set[str] = set()

    def judge(runs: Sequence[ScenarioRun]) -> Judgement:
        names = [one.scenario.name for one in runs if one.scenario.name in set(places) - seen]
        seen.update(names)
        violation = Violation(requirement=requirement, seen="late")
        finding = Finding(form=FORM, exchange=0, violation=violation, found_by=found_by)
        outcomes = (
            Outcome(scenario=name, requirement=requirement, verdict=Verdict.FAIL, findings=(finding,)) for name in names
        )
        return Judgement(outcomes=tuple(outcomes), causes=())

    return judge


@pytest.mark.parametrize(
    ("judge", "times"),
    [
        (judged("a"), 1),
        (judged("a", requirement="turn.concurrent-isolation", found_by=FLUSHED), 1),
        # A failure that was reported late, on the surfaces beside chat.
        (judged("a", requirement="responses.stream.terminal"), 1),
        (judged("a", requirement="messages.stream.error-before-output"), 1),
        (judged("a", requirement="turn.concurrent-isolation"), 0),
        (judged("a", requirement="a.row.of-somebody"), 0),
    ],
    ids=["on time", "on time, attributed", "responses", "messages", "not on time", "unknown"],
)
def test_a_finding_whose_requirement_rests_on_time_is_tried_again(
    judge: Callable[[Sequence[ScenarioRun]], Judgement], times: int
) -> None:
    (one,) = after([run("a")], judge=judge, again=Trying(lambda name, _: run(name)))
    assert one.repeated == times


@pytest.mark.parametrize(
    ("script", "end", "status", "symptom"),
    [
        ("text/hello", End.COMPLETE, 504, "HTTP 504"),
        ("text/hello", End.COMPLETE, 502, "HTTP 502"),
        ("text/hello", End.COMPLETE, 500, "HTTP 500"),
        ("text/hello", End.COMPLETE, 501, None),
        ("fail/first", End.COMPLETE, 504, None),
        ("fail/first", End.CUT, None, None),
        ("fail/first", End.TIMEOUT, None, "timeout"),
        ("text/hello", End.LEFT, 200, None),
    ],
)
def test_what_a_failing_backend_may_cause_is_no_symptom(
    script: str, end: End, status: int | None, symptom: str | None
) -> None:
    of = scenario("a", script)
    found = symptoms([ScenarioRun(scenario=of, exchanges={FORM: [exchange(of, end, status)]})], (), load())
    assert found.get(("a", FORM)) == symptom


@pytest.mark.parametrize(("script", "symptom"), [("text/hello", "an error in an answer"), ("fail/after-text", None)])
def test_an_error_frame_where_no_failure_is_due_is_a_symptom(script: str, symptom: str | None) -> None:
    of = scenario("a", script)
    frame = Piece(at=0.0, data=b'data: {"error": {"message": "gone", "type": "server_error", "code": null}}\n\n')
    one = exchange(of, form=STREAM)
    transcript = dataclasses.replace(one.transcript, pieces=(frame,))
    failed = dataclasses.replace(one, transcript=transcript, reading=read(transcript, STREAM))
    assert symptoms([ScenarioRun(scenario=of, exchanges={STREAM: [failed]})], (), load()).get(("a", STREAM)) == symptom


@pytest.mark.parametrize(("expect", "symptom"), [(200, "HTTP 503"), (503, None)])
def test_an_error_that_a_plain_request_expects_is_no_symptom(expect: int, symptom: str | None) -> None:
    of = PlainScenario(name="a", title="", exercises=("http.models.list",), requests=(Request(expect=expect),))
    one = dataclasses.replace(exchange(scenario("a"), status=503), scenario=of, turn=None, wanted=())
    assert symptoms([ScenarioRun(scenario=of, exchanges={FORM: [one]})], (), load()).get(("a", FORM)) == symptom


DIED = Death(status=1, last_words="no memory")


def test_who_killed_the_target_is_found_among_those_under_way() -> None:
    trying = Trying(lambda name, _: run(name, End.CUT, death=DIED) if name == "b" else run(name))
    runs = after([run(name, End.CUT, death=DIED) for name in "abc"], again=trying)
    assert ends(runs) == [End.COMPLETE, End.CUT, End.COMPLETE]


def test_a_death_that_does_not_come_back_is_reported_all_the_same() -> None:
    trying = Trying(lambda name, _: run(name))
    runs = after([run("a", End.CUT, death=DIED), run("b", End.TIMEOUT)], again=trying)
    assert ends(runs) == [End.CUT, End.COMPLETE]


def test_a_death_that_comes_when_a_silence_is_looked_into_stands() -> None:
    trying = Trying(lambda name, _: run(name, End.CUT, death=DIED))
    (one,) = after([run("a", End.TIMEOUT)], again=trying)
    assert one.exchanges[FORM][0].transcript.death == DIED


def test_the_bounds_fit_each_other() -> None:
    assert recheck.SAMPLE <= recheck.FEW
    assert recheck.ENOUGH <= recheck.SAMPLE * recheck.TRIES
