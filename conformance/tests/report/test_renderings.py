"""One result in every format: they say the same, and nothing that a target said breaks out of any of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from saved_recordings import CONFIGURATION

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report.badge import COLOURS, badge
from wireproof.report.data import INTERRUPTED, not_driven, report_of
from wireproof.report.json_lines import json_lines
from wireproof.report.junit import junit
from wireproof.report.markdown import markdown
from wireproof.results.document import Ended, Report, Summary
from wireproof.results.folder import as_json, versions

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate

    Make = Callable[..., Exchange]
    Certified = Callable[..., Certificate]

STOP = {"finish": "stop"}
NASTY = "\x1b[31mred\x07\x00\ufffe\ud800 <script>alert(1)</script> | `` [x](http://y) @all ]]> & \"'\n# no"
"""What a target may say: it steers terminals, is no XML, or means something in HTML or Markdown."""


def parsed(text: str) -> ET.Element:
    """The XML that was written here."""
    return ET.fromstring(text)  # noqa: S314 (of our own making)


def data(certificate: Certificate, **how: Any) -> Report:
    return report_of(certificate, load(), replace(CONFIGURATION, **how), versions())


@pytest.fixture
def broken(stream: Make, right_whole: Make, certified: Certified) -> Report:
    """A result in which a stream lacks its text, and the whole answer is right."""
    return data(
        certified(stream("text-hello", {"role": "assistant"}, {"content": "no"}, STOP), right_whole("text-hello"))
    )


@pytest.fixture
def nasty(broken: Report) -> Report:
    """The same, with what a target may say wherever it is quoted."""
    assert broken.target is not None
    place = replace(broken.findings[0].places[0], seen=NASTY)
    shown = broken.findings[0].excerpt
    assert shown is not None
    return replace(
        broken,
        target=replace(broken.target, model=NASTY),
        findings=tuple(replace(one, seen=NASTY, excerpt=replace(shown, at=NASTY)) for one in broken.findings),
        outcomes=tuple(replace(one, reason=NASTY, places=(place,)) for one in broken.outcomes),
    )


def test_the_data_have_the_finding_its_place_and_its_request(broken: Report) -> None:
    assert (broken.ended, broken.status) == (Ended.COMPLETE, 1)
    [found] = [one for one in broken.findings if one.requirement == "chat.stream.text"]
    assert (found.strict, found.scenarios, found.cause) == (Verdict.FAIL, ("text-hello",), None)
    assert found.places[0].mode == "stream"
    assert found.places[0].offset is not None
    assert found.request.startswith("curl -sN ")
    assert found.excerpt is not None
    assert broken.requirements["chat.stream.text"].hint
    assert broken.levels[VerdictLevel.STRICT].summary is Summary.NOT_CERTIFIED
    assert "chat.stream.text" in broken.levels[VerdictLevel.STRICT].broken
    failed = {one.requirement for one in broken.cells if one.strict is Verdict.FAIL}
    assert failed == {*broken.levels[VerdictLevel.STRICT].broken}


def test_a_cause_is_one_finding_with_all_its_places(plain: Make, certified: Certified) -> None:
    failing = [plain(name, 500, b"oops") for name in ("text-hello", "call-one", "text-empty")]
    report = data(certified(*failing))
    [found] = [one for one in report.findings if one.cause]
    assert found.cause is not None
    assert (found.cause.exchanges, len(found.places)) == (3, 3)
    assert set(found.scenarios) == {"text-hello", "call-one", "text-empty"}


def test_known_failures_and_others_are_findings_apart(stream: Make, certified: Certified) -> None:
    wrong = stream("text-hello", {"role": "assistant"}, {"content": "no"}, STOP)
    report = data(certified(wrong, known={"text-hello:chat.stream.text": "ours"}))
    assert [one.known for one in report.findings if one.requirement == "chat.stream.text"] == ["ours"]
    assert "## Known failures\n\n- `text-hello:chat.stream.text` ours" in markdown(report)
    assert "chat.stream.text" not in report.levels[VerdictLevel.STRICT].broken


def test_an_interrupted_run_certifies_nothing(right_stream: Make, certified: Certified) -> None:
    one = replace(certified(right_stream("text-hello")), interrupted=True)
    report = data(replace(one, musts=frozenset()))
    assert (report.ended, report.reason, report.status) == (Ended.INTERRUPTED, INTERRUPTED, 130)
    assert {at.summary for at in report.levels.values()} == {Summary.NONE}
    assert "<error" in junit(report)
    assert "no certificate" in badge(report)


def test_json_lines_hold_the_same_as_the_json(broken: Report) -> None:
    whole = json.loads(as_json(broken))
    head, *lines = map(json.loads, json_lines(whole).splitlines())
    assert head.pop("kind") == "result"
    again = {**head, "findings": [], "cells": [], "outcomes": [], "driven": [], "flaky": []}
    for line in lines:
        kind = line.pop("kind")
        names = ("findings", "cells", "outcomes", "driven", "flaky")
        again[next(name for name in names if name.startswith(kind[:6]))].append(line)
    assert again == whole


def test_junit_has_a_case_for_each_outcome(broken: Report) -> None:
    root = parsed(junit(broken))
    cases = {(case.get("classname"), case.get("name")): case for case in root.iter("testcase")}
    assert set(cases) == {(one.scenario, one.requirement) for one in broken.outcomes}
    for one in broken.outcomes:
        case = cases[one.scenario, one.requirement]
        assert (case.find("failure") is not None) == (one.strict is Verdict.FAIL)
        assert (case.find("skipped") is not None) == (one.strict in {Verdict.NOT_OBSERVED, Verdict.NOT_APPLICABLE})
    failed = str(sum(one.strict is Verdict.FAIL for one in broken.outcomes))
    assert (root.get("tests"), root.get("failures")) == (str(len(cases)), failed)
    assert failed != "0"


def test_junit_names_the_surfaces_of_each_scenario(broken: Report) -> None:
    form = replace(broken.driven[0], scenario="text-hello", reason="")
    driven = (form, replace(form, dialect=Dialect.MESSAGES), replace(form, dialect=Dialect.RESPONSES, reason="no key"))
    (suite,) = parsed(junit(replace(broken, driven=driven))).iterfind("testsuite[@name='text-hello']")
    assert [one.attrib for one in suite.iter("property")] == [{"name": "surfaces", "value": "chat, messages"}]


def test_junit_speaks_of_the_level_that_decides(broken: Report) -> None:
    harmless = replace(
        broken,
        configuration=replace(broken.configuration, level=VerdictLevel.COMPAT),
        outcomes=tuple(replace(one, compat=Verdict.WARN) for one in broken.outcomes if one.strict is Verdict.FAIL),
    )
    root = parsed(junit(harmless))
    assert root.get("failures") == "0"
    assert all((case.findtext("system-out") or "").startswith("warning: ") for case in root.iter("testcase"))


def test_what_a_target_says_breaks_no_xml(nasty: Report) -> None:
    text = junit(nasty)
    said = [case.find("failure") for case in parsed(text).iter("testcase")]
    assert any(one is not None and "<script>" in str(one.get("message")) for one in said)
    assert not re.search(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    assert "\x1b" not in text


def test_what_a_target_says_is_no_markdown(nasty: Report) -> None:
    text = markdown(nasty)
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)
    assert r"\<script\>" in text
    assert "\n# no" not in text
    seen = next(line for line in text.splitlines() if line.startswith("- seen: "))
    assert r"\[x\]\(http://y\)" in seen
    assert r"\@all" in seen
    code = next(line for line in text.splitlines() if line.startswith("- at "))
    assert code.endswith(" ```")
    assert "<script>" in code
    text.encode()


def test_markdown_names_what_is_wrong_and_what_to_do(broken: Report) -> None:
    text = markdown(broken)
    assert "| strict (decides) | **not certified** |" in text
    assert "### FAIL `chat.stream.text`" in text
    assert "- to do: " in text
    assert "- request: ` curl -sN" in text


@pytest.mark.parametrize("summary", Summary)
def test_a_badge_is_one_line_of_svg(broken: Report, summary: Summary) -> None:
    at = replace(broken.levels[VerdictLevel.STRICT], summary=summary)
    picture = badge(replace(broken, levels={VerdictLevel.STRICT: at}))
    root = parsed(picture)
    assert summary in str(root.get("aria-label"))
    assert COLOURS[summary] in picture


def test_a_run_that_could_not_begin_has_every_format() -> None:
    report = not_driven(
        Ended.UNREACHABLE, f"nothing answers {NASTY}", began="", catalogue=load(), configuration=CONFIGURATION,
        versions=versions(),
    )  # fmt: skip
    [case] = parsed(junit(report)).iter("testcase")
    assert case.find("error") is not None
    assert "**unreachable**: nothing answers" in markdown(report)
    assert "no certificate" in badge(report)
    assert json_lines(json.loads(as_json(report))).count("\n") == 1
