from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import ArgumentsMode, Dialect
from wireproof.model.side import Side
from wireproof.model.verdict import Outcome, Verdict, VerdictLevel
from wireproof.report import terminal
from wireproof.report.data import report_of
from wireproof.results.document import Configuration, MadeWith
from wireproof.scenarios import CONVERSATIONS

if TYPE_CHECKING:
    from rich.console import Console

    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate

    Make = Callable[..., Exchange]
    Certified = Callable[..., Certificate]
    Printed = Callable[[], str]

STOP = {"finish": "stop"}
AGAIN = "wireproof certify --url http://127.0.0.1:8787/v1"
NAMED = {scenario.name: scenario for scenario in CONVERSATIONS}
Report = Callable[..., str]
OPENAI = (Dialect.OPENAI_JSON,)


@pytest.fixture
def report(console: Console, printed: Printed) -> Report:
    """The report on a certificate, as text."""

    def text(certificate: Certificate, *, allow_partial: bool = False, **how: Any) -> str:
        asked = Configuration(
            command=AGAIN, jobs=1, at_a_time=0, selection=(), level=certificate.level, allow_partial=allow_partial,
            known={},
        )  # fmt: skip
        result = report_of(certificate, load(), asked, MadeWith(wireproof="0", python="3", system=""))
        terminal.report(console, result, certificate, load(), **how)
        return printed()

    return text


def complete(certificate: Certificate) -> Certificate:
    """The same, where no MUST is left over."""
    return dataclasses.replace(certificate, musts=frozenset(o.requirement for o in certificate.outcomes))


def test_a_certificate_is_short(right_stream: Make, right_whole: Make, certified: Certified, report: Report) -> None:
    one = complete(certified(right_stream("text-hello"), right_whole("text-hello")))
    assert report(one) == (
        "http://127.0.0.1:8787/v1  model codex, mock backend, openai-json, catalogue of 2026-11-21, 2.0 s\n"
        " 26  pass\n"
        "\n"
        "compat: certified; strict: certified\n"
        "certified at level strict\n"
    )


def test_a_partial_certificate_says_what_could_not_be_observed(
    right_stream: Make, certified: Certified, report: Report
) -> None:
    said = report(complete(certified(right_stream("fail-first"))))
    assert said.endswith(
        "compat: certified in part, 2 MUSTs not observed; strict: certified in part, 3 MUSTs not observed\n"
        "certified in part at level strict: nothing broken, but 3 of 4 MUSTs could not be observed:\n"
        "  http.error.envelope, http.error.no-internals, chat.whole.backend-error: the scenario was not driven\n"
        "exit status 4; --allow-partial accepts this result\n"
    )
    assert " 1  pass\n 3  not observed\n" in said


def test_a_partial_certificate_that_is_accepted_is_partial_all_the_same(
    right_stream: Make, certified: Certified, report: Report
) -> None:
    said = report(complete(certified(right_stream("fail-first"))), allow_partial=True)
    assert "certified in part at level strict: nothing broken, but 3 of 4 MUSTs could not be observed:\n" in said
    assert said.endswith("chat.whole.backend-error: the scenario was not driven\n")


def test_where_nothing_was_observed_there_is_no_certificate(
    right_stream: Make, certified: Certified, report: Report
) -> None:
    one = complete(certified(right_stream("fail-first")))
    hidden = [dataclasses.replace(o, verdict=Verdict.NOT_OBSERVED, reason="hidden") for o in one.outcomes]
    said = report(dataclasses.replace(one, outcomes=tuple(hidden)))
    assert "no certificate: nothing broken, but 4 of 4 MUSTs could not be observed:\n" in said


SELECTED = f"selection: 26 of {len(load().about(Side.PROXY).requirements)} requirements looked at; not a certificate"


def test_a_selection_says_that_it_is_one(
    right_stream: Make, right_whole: Make, certified: Certified, report: Report
) -> None:
    one = complete(certified(right_stream("text-hello"), right_whole("text-hello")))
    said = report(dataclasses.replace(one, selection=("text-hello",)))
    assert said.endswith(f"\n{SELECTED}: no requirements broken\n")


def test_a_selection_says_what_is_broken(stream: Make, certified: Certified, report: Report) -> None:
    one = certified(stream("flush", "Help!", STOP))
    said = report(dataclasses.replace(one, selection=("flush",)))
    assert re.search(
        r"\nselection: \d+ of \d+ requirements looked at; not a certificate: 1 requirement broken\n$", said
    )


def test_a_selection_says_what_was_not_observed(right_stream: Make, certified: Certified, report: Report) -> None:
    one = complete(certified(right_stream("fail-first")))
    said = report(dataclasses.replace(one, selection=("fail-first",)))
    line = "not a certificate: nothing broken, but 3 of 4 requirements of the selection could not be observed:\n"
    assert line in said
    assert "certified in part" not in said


def test_the_bundled_proxy_is_called_a_demonstration(right_stream: Make, certified: Certified, report: Report) -> None:
    one = complete(certified(right_stream("text-hello")))
    line = "This is the proxy that comes with Wireproof; to certify yours, name it with --url or --launch.\n"
    assert line not in report(one)
    assert line in report(one, demonstration=True)


@pytest.mark.parametrize(("left", "counted"), [(1, "1 MUST"), (2, "2 MUSTs")])
def test_what_was_not_asked_for_is_counted(
    right_stream: Make, certified: Certified, report: Report, left: int, counted: str
) -> None:
    one = complete(certified(right_stream("flush")))
    one = dataclasses.replace(one, musts=one.musts | {f"z.{number}" for number in range(left)})
    said = report(one)
    assert f"could not be observed:\n  {counted}: not looked at by any scenario of this run\n" in said


def test_a_failure_is_reported_in_full_once_with_all_its_scenarios(
    stream: Make, certified: Certified, report: Report
) -> None:
    exchanges = [stream(name, "Help!", STOP) for name in ("flush", "silence")]
    said = report(certified(*exchanges))
    assert said.count("FAIL chat.stream.text  MUST\n") == 1
    text = said[said.index("FAIL chat.stream.text") :]
    assert "  The content deltas, joined, are the text that the backend sent" in text
    assert "  seen in flush (stream): content: 5 characters instead of 11; the first difference is at" in text
    assert "  at byte " in text
    assert "  to do: Forward each piece of text once" in text
    assert "  in: flush, silence\n" in text
    assert f"  again: {AGAIN} --only flush\n" in text


def test_failures_stand_in_the_order_of_their_harm_and_warnings_among_them(
    stream: Make, certified: Certified, report: Report
) -> None:
    said = report(certified(stream("silence", "Help!", STOP, headers={})))
    heads = [tuple(line.split()[:2]) for line in said.split("\n") if line.startswith(("FAIL", "WARN"))]
    # Each header that is missing is a finding.
    assert list(dict.fromkeys(heads)) == [
        ("FAIL", "chat.stream.text"), ("WARN", "chat.stream.keepalive"), ("FAIL", "chat.stream.headers")
    ]  # fmt: skip


def test_the_levels_differ_in_what_harms_no_client(right_stream: Make, certified: Certified, report: Report) -> None:
    one = complete(certified(right_stream("flush", headers={})))
    said = report(one)
    assert "\nFAIL chat.stream.headers  MUST (warn at level compat)\n" in said
    assert said.endswith(
        "compat: certified; strict: not certified, 1 MUST broken\nnot certified at level strict: 1 requirement broken\n"
    )
    said = report(dataclasses.replace(one, level=VerdictLevel.COMPAT))
    assert "\nWARN chat.stream.headers  MUST (fail at level strict)\n" in said
    assert " 1  warn\n" in said
    assert said.endswith("strict: not certified, 1 MUST broken\ncertified at level compat\n")


@pytest.mark.parametrize(("frames", "plural"), [(("Help!",), "1 requirement"), (("Help!", "x"), "2 requirements")])
def test_the_conclusion_counts_what_is_broken(
    stream: Make, certified: Certified, report: Report, frames: tuple[str, ...], plural: str
) -> None:
    finish = "stop" if len(frames) == 1 else "length"
    said = report(certified(*(stream(name, *frames, {"finish": finish}) for name in ("flush", "text-hello"))))
    assert said.endswith(f"\nnot certified at level strict: {plural} broken\n")


def test_many_scenarios_are_named_in_part(stream: Make, certified: Certified, report: Report) -> None:
    of_chat = [s for s in CONVERSATIONS if s.script.startswith("text/") and Dialect.OPENAI_JSON in s.dialects]
    names = [s.name for s in of_chat if s.name.startswith(("text", "finish"))]
    said = report(certified(*(stream(name, "Help!", {"role": "assistant"}, STOP) for name in names)))
    line = next(line for line in said.split("\n") if line.startswith(f"  in: {names[0]}"))
    assert line == f"  in: {', '.join(names[:6])} and {len(names) - 6} more"


def test_known_failures_are_listed_and_fail_nothing(stream: Make, certified: Certified, report: Report) -> None:
    known = {"flush:chat.stream.text": "buffers"}
    said = report(complete(certified(stream("flush", "Help!", STOP), known=known)))
    assert "known failing  flush:chat.stream.text  buffers\n" in said
    assert " 1  known failing\n" in said
    assert "FAIL" not in said
    assert said.endswith("\ncertified at level strict, except for 1 known failure\n")


def test_a_stale_line_of_known_failures_fails(right_stream: Make, certified: Certified, report: Report) -> None:
    said = report(certified(right_stream("flush"), known={"flush:chat.stream.text": "buffers"}))
    assert "flush: it passes, but is declared as known failing (buffers); remove its line" in said
    assert said.endswith("not certified at level strict: 1 requirement broken\n")


def test_errors_are_reported_once_and_there_is_no_certificate(
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
    assert report(complete(certified())).endswith(
        "no certificate: nothing could be observed\nexit status 4; --allow-partial accepts this result\n"
    )


def test_an_outcome_that_is_neither_is_only_counted(right_stream: Make, certified: Certified, report: Report) -> None:
    one = certified(right_stream("flush"))
    absent = Outcome(scenario="flush", requirement="chat.stream.text", verdict=Verdict.NOT_APPLICABLE, reason="absent")
    said = report(complete(dataclasses.replace(one, outcomes=(absent,))))
    assert " 1  not applicable\n" in said


@pytest.mark.parametrize("name", ["text-hello", "call-one"])
def test_for_a_target_that_repeats_arguments_the_clients_that_break_are_listed(
    name: str, right_stream: Make, certified: Certified, report: Report
) -> None:
    one = certified(right_stream(name))
    cumulative = dataclasses.replace(one.target, arguments=ArgumentsMode.CUMULATIVE)
    said = report(dataclasses.replace(one, target=cumulative))
    assert "incompatible with OpenAI clients: in openai-json each delta repeats the arguments so far" in said
    assert "breaks langchain-openai: a tool runs with other arguments\n" in said
    assert "@ai-sdk/openai-compatible" in said
    assert "sends the whole again" not in said.partition("incompatible")[2].partition("\n\n")[0]


def test_a_target_that_does_not_breaks_no_client(right_stream: Make, certified: Certified, report: Report) -> None:
    one = certified(right_stream("call-one"))
    assert "incompatible" not in report(one)
    xml = dataclasses.replace(one.target, dialects=(Dialect.OBSIDIAN_XML,), arguments=ArgumentsMode.CUMULATIVE)
    assert "incompatible" not in report(dataclasses.replace(one, target=xml))


def test_what_was_not_observed_is_listed_where_something_is_broken_too(
    stream: Make, plain: Make, certified: Certified, report: Report
) -> None:
    one = complete(certified(stream("flush", "Help!", STOP), plain("text-hello", 500, b"oops")))
    said = report(one)
    reason = "hidden behind target.answers: HTTP 500: oops"
    assert f" of {len(one.musts)} MUSTs could not be observed:\n" in said
    (line,) = [line for line in " ".join(said.split()).split("MUSTs could not be observed:") if reason in line][-1:]
    assert line.count(reason) == 1, "each reason once, with the requirements that it concerns"
    assert said.splitlines()[-1].startswith("not certified at level strict: 2 requirements broken")


def test_a_cause_is_one_block_with_what_it_hides(plain: Make, certified: Certified, report: Report) -> None:
    names = ["text-hello", "text-utf8", "text-empty", "text-repeats", "text-markup", "text-long", "history", "images"]
    said = " ".join(report(certified(*(plain(name, 500, b"oops") for name in names))).split())
    assert said.count("FAIL target.answers") == 1
    assert "seen in text-hello (whole): HTTP 500 instead of an answer: oops (so for every request) " in said
    assert f" hides 8 exchanges in 8 scenarios: {', '.join(names[:6])} and 2 more again: " in said


def test_a_fault_of_form_that_several_show_is_one_block_and_hides_nothing(
    whole: Make, certified: Certified, report: Report
) -> None:
    exchanges = [whole(name, "Hello!", change={"vendor": 1}) for name in ("text-hello", "text-utf8")]
    said = report(certified(*exchanges))
    assert said.count("vendor is not among the published fields") == 1
    assert "  the same in 2 exchanges in 2 scenarios: text-hello, text-utf8\n" in said
    assert "FAIL chat.whole.text" in said
