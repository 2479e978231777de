from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from assay.model.catalogue import load
from assay.model.dialect import Arguments, Dialect
from assay.model.scenario import Form, Mode
from assay.model.verdict import Outcome, Verdict
from assay.report import terminal
from assay.scenarios import SCENARIOS

if TYPE_CHECKING:
    from assay.reading.exchange import Exchange
    from assay.results.certificate import Certificate

    Make = Callable[..., Exchange]
    Certified = Callable[..., Certificate]
    Printed = Callable[[], str]

STOP = {"finish": "stop"}
AGAIN = "assay certify --url http://127.0.0.1:8787/v1"
NAMED = {scenario.name: scenario for scenario in SCENARIOS}
OPENAI = (Dialect.OPENAI_JSON,)


@pytest.fixture
def report(console: Console, printed: Printed) -> Callable[[Certificate], str]:
    """The report on a certificate, as text."""

    def text(certificate: Certificate) -> str:
        terminal.report(console, certificate, load(), again=AGAIN)
        return printed()

    return text


Report = Callable[..., str]


def complete(certificate: Certificate) -> Certificate:
    """The same, where no MUST is left over."""
    return dataclasses.replace(certificate, musts=frozenset(o.requirement for o in certificate.outcomes))


def test_a_certificate_is_short(right_stream: Make, right_whole: Make, certified: Certified, report: Report) -> None:
    one = complete(certified(right_stream("text-hello"), right_whole("text-hello")))
    assert report(one) == (
        "http://127.0.0.1:8787/v1  model codex, mock backend, openai-json, catalogue of 2026-11-21, 2.0 s\n"
        " 22  pass\n"
        "\n"
        "certified\n"
    )


def test_a_partial_certificate_says_what_could_not_be_observed(
    right_stream: Make, certified: Certified, report: Report
) -> None:
    said = report(complete(certified(right_stream("fail-first"))))
    assert said.endswith(
        "certified, in part: no violation, but these MUSTs could not be observed:\n"
        "  http.error.envelope: the scenario was not driven\n"
        "  http.error.no-internals: the scenario was not driven\n"
        "  chat.whole.backend-error: the scenario was not driven\n"
    )
    assert " 1  pass\n 3  not observed\n" in said


@pytest.mark.parametrize(("left", "counted"), [(1, "1 MUST"), (2, "2 MUSTs")])
def test_what_was_not_asked_for_is_counted(
    right_stream: Make, certified: Certified, report: Report, left: int, counted: str
) -> None:
    one = complete(certified(right_stream("flush")))
    one = dataclasses.replace(one, musts=one.musts | {f"z.{number}" for number in range(left)})
    said = report(one)
    assert said.endswith(f"could not be observed:\n  {counted}: not looked at by any scenario of this run\n")


def test_a_failure_is_told_in_full_once_with_all_its_scenarios(
    stream: Make, certified: Certified, report: Report
) -> None:
    exchanges = [stream(name, "Help!", STOP) for name in ("flush", "silence")]
    said = report(certified(*exchanges))
    assert said.count("FAIL chat.stream.text  MUST\n") == 1
    text = said[said.index("FAIL chat.stream.text") :]
    assert "  The content deltas, joined, are the text that the backend sent" in text
    assert "  seen in flush (stream): 5 characters instead of 11; the first difference is at character 0:" in text
    assert "  at byte " in text
    assert "  to do: Forward each piece of text once" in text
    assert "  in: flush, silence\n" in text
    assert f"  again: {AGAIN} --only flush\n" in text


def test_failures_stand_in_the_order_of_the_catalogue_and_warnings_among_them(
    stream: Make, certified: Certified, report: Report
) -> None:
    said = report(certified(stream("silence", "Help!", STOP, headers={})))
    heads = [line.split()[:2] for line in said.split("\n") if line.startswith(("FAIL", "WARN"))]
    assert heads == [["FAIL", "chat.stream.headers"], ["FAIL", "chat.stream.text"], ["WARN", "chat.stream.keepalive"]]


@pytest.mark.parametrize(("frames", "plural"), [(("Help!",), "1 requirement"), (("Help!", "x"), "2 requirements")])
def test_the_conclusion_counts_what_is_broken(
    stream: Make, certified: Certified, report: Report, frames: tuple[str, ...], plural: str
) -> None:
    finish = "stop" if len(frames) == 1 else "length"
    said = report(certified(stream("flush", *frames, {"finish": finish}), stream("flush", *frames, {"finish": finish})))
    assert said.endswith(f"\nnot certified: {plural} broken\n")


def test_many_scenarios_are_named_in_part(stream: Make, certified: Certified, report: Report) -> None:
    names = [s.name for s in SCENARIOS if s.script.startswith("text/") and s.name.startswith(("text", "finish"))]
    said = report(certified(*(stream(name, "Help!", {"role": "assistant"}, STOP) for name in names)))
    line = next(line for line in said.split("\n") if line.startswith("  in: "))
    assert line == f"  in: {', '.join(names[:6])} and {len(names) - 6} more"


def test_known_failures_are_told_and_fail_nothing(stream: Make, certified: Certified, report: Report) -> None:
    known = {"flush:chat.stream.text": "buffers"}
    said = report(complete(certified(stream("flush", "Help!", STOP), known=known)))
    assert "known failing  flush:chat.stream.text  buffers\n" in said
    assert " 1  known failing\n" in said
    assert "FAIL" not in said
    assert said.endswith("\ncertified\n")


def test_a_stale_line_of_known_failures_fails(right_stream: Make, certified: Certified, report: Report) -> None:
    said = report(certified(right_stream("flush"), known={"flush:chat.stream.text": "buffers"}))
    assert "flush: it passes, but is declared as known failing (buffers); remove its line" in said
    assert said.endswith("not certified: 1 requirement broken\n")


def test_errors_are_told_once_and_there_is_no_certificate(
    right_stream: Make, certified: Certified, report: Report
) -> None:
    said = report(certified(right_stream("flush"), right_stream("text-hello"), error="the target has gone [/v1]"))
    assert said.count("ERROR the target has gone [/v1]\n") == 1
    assert said.endswith("no certificate: the target could not be driven to the end\n")


def test_what_a_proxy_said_is_shown_as_it_is_and_never_as_markup(
    stream: Make, certified: Certified, report: Report
) -> None:
    said = report(certified(stream("flush", "[bold]Help![/nonsense]", STOP)))
    assert "[bold]Help![/nonsense]" in said


def test_a_model_or_address_is_never_markup(right_stream: Make, certified: Certified, report: Report) -> None:
    one = certified(right_stream("flush"))
    one = dataclasses.replace(one, target=dataclasses.replace(one.target, model="[/red]"))
    assert "model [/red], mock backend" in report(one)


def test_without_outcomes_there_is_nothing_to_count(certified: Certified, report: Report) -> None:
    assert report(complete(certified())).endswith("certified\n")


def test_progress_is_told_on_a_terminal_and_nowhere_else(console: Console, printed: Printed) -> None:
    scenarios = [NAMED["text-hello"], NAMED["flush"]]
    with terminal.progress(console, scenarios, OPENAI) as advance:
        advance(NAMED["text-hello"], Form(Dialect.OPENAI_JSON, Mode.WHOLE))
    assert printed() == ""
    out = io.StringIO()
    on = Console(file=out, width=100, force_terminal=True, force_interactive=True, legacy_windows=False)
    with terminal.progress(on, scenarios, OPENAI) as advance:
        advance(NAMED["text-hello"], Form(Dialect.OPENAI_JSON, Mode.WHOLE))
    assert "text-hello (whole)" in out.getvalue()
    assert "1/3" in out.getvalue()


def test_progress_counts_every_form_and_names_the_dialect_that_is_not_openais() -> None:
    out = io.StringIO()
    on = Console(file=out, width=100, force_terminal=True, force_interactive=True, legacy_windows=False)
    with terminal.progress(on, [NAMED["text-hello"]], tuple(Dialect)) as advance:
        advance(NAMED["text-hello"], Form(Dialect.OBSIDIAN_XML, Mode.STREAM))
    assert "text-hello (stream, obsidian-xml)" in out.getvalue()
    assert "1/8" in out.getvalue()


def test_an_outcome_that_is_neither_is_not_told(right_stream: Make, certified: Certified, report: Report) -> None:
    one = certified(right_stream("flush"))
    absent = Outcome(scenario="flush", requirement="chat.stream.text", verdict=Verdict.NOT_APPLICABLE, reason="absent")
    said = report(complete(dataclasses.replace(one, outcomes=(absent,))))
    assert " 1  not applicable\n" in said


@pytest.mark.parametrize("name", ["text-hello", "call-one"])
def test_a_target_that_repeats_arguments_is_told_whom_it_breaks(
    name: str, right_stream: Make, certified: Certified, report: Report
) -> None:
    one = certified(right_stream(name))
    cumulative = dataclasses.replace(one.target, arguments=Arguments.CUMULATIVE)
    said = report(dataclasses.replace(one, target=cumulative))
    assert "incompatible with OpenAI clients: in openai-json each delta repeats the arguments so far" in said
    assert "breaks langchain-openai, instructor: the tool runs with wrong arguments\n" in said
    assert "@ai-sdk/openai-compatible" in said
    assert "sends the whole again" not in said.partition("incompatible")[2].partition("\n\n")[0]


def test_a_target_that_does_not_breaks_nobody(right_stream: Make, certified: Certified, report: Report) -> None:
    one = certified(right_stream("call-one"))
    assert "incompatible" not in report(one)
    xml = dataclasses.replace(one.target, dialects=(Dialect.OBSIDIAN_XML,), arguments=Arguments.CUMULATIVE)
    assert "incompatible" not in report(dataclasses.replace(one, target=xml))
