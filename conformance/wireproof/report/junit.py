"""A result as JUnit's XML, which every CI shows: a suite per scenario, a test case per requirement judged in it.

A broken MUST of the level that decides is a failure. A broken SHOULD passes, and says in its output what is wrong:
JUnit has no warnings. A declared failure is skipped, and so is what was not observed, each with its reason. A property
of a suite names the surfaces on which its scenario was driven. XML has no characters such as those that steer a
terminal, so they are escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from wireproof.model.verdict import Verdict
from wireproof.report.grouping import grouped
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.results.document import FormDriven, Report, ScenarioVerdict

SKIPPED = frozenset({Verdict.NOT_OBSERVED, Verdict.NOT_APPLICABLE})


def junit(report: Report) -> str:
    """The document."""
    root = Element("testsuites", name=visible(f"wireproof: {report.target.name}" if report.target else "wireproof"))
    driven = grouped((form.scenario, form) for form in report.driven)
    for scenario, outcomes in grouped((one.scenario, one) for one in report.outcomes).items():
        _suite(root, scenario, outcomes, report, driven.get(scenario, ()))
    _flaky(root, report)
    if report.reason:
        _not_driven(root, report)
    for element in (*root, root):
        _count(element)
    root.set("time", f"{report.seconds:.3f}")
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(
    root: Element, scenario: str, outcomes: Sequence[ScenarioVerdict], report: Report, driven: Sequence[FormDriven]
) -> None:
    seconds = sum(one.seconds for one in driven)
    suite = SubElement(
        root, "testsuite", name=visible(scenario), timestamp=visible(report.began), time=f"{seconds:.3f}"
    )
    surfaces = dict.fromkeys(one.dialect.spec.surface for one in driven if not one.reason)
    if surfaces:
        SubElement(SubElement(suite, "properties"), "property", name="surfaces", value=", ".join(surfaces))
    for one in outcomes:
        _case(suite, one, report)


def _case(suite: Element, one: ScenarioVerdict, report: Report) -> None:
    verdict, seen = one.at(report.configuration.level), one.places[0].seen if one.places else one.reason
    case = SubElement(suite, "testcase", classname=visible(one.scenario), name=visible(one.requirement))
    if one.known:
        SubElement(case, "skipped", message=visible(f"known failing: {one.known}"))
    elif verdict is Verdict.ERROR:
        SubElement(case, "error", message=visible(one.reason))
    elif verdict in SKIPPED:
        SubElement(case, "skipped", message=visible(f"{verdict}: {one.reason}"))
    elif verdict is Verdict.FAIL:
        SubElement(case, "failure", message=visible(seen)).text = _details(one, report)
    elif verdict is Verdict.WARN:
        SubElement(case, "system-out").text = f"warning: {_details(one, report)}"


def _details(one: ScenarioVerdict, report: Report) -> str:
    row = report.requirements[one.requirement]
    places = (f"{place.mode}, {place.dialect}, exchange {place.exchange + 1}: {place.seen}" for place in one.places)
    return "\n".join(visible(line) for line in (row.text, *places, *([one.reason] if one.reason else []), row.hint))


def _flaky(root: Element, report: Report) -> None:
    """A suite of its own for what is broken in some runs of a repeated one and not in all."""
    if not report.flaky:
        return
    suite = SubElement(root, "testsuite", name="flaky", timestamp=visible(report.began), time="0")
    for one in report.flaky:
        said = one.at(report.configuration.level)
        case = SubElement(
            suite, "testcase", classname="flaky", name=visible(f"{one.requirement} ({one.dialect}, {one.mode})")
        )
        words = visible(f"{', '.join(said)} in {len(said)} runs: {one.seen}")
        if Verdict.FAIL in said:
            SubElement(case, "failure", message=words).text = "\n".join(map(visible, one.scenarios))
        else:
            SubElement(case, "system-out").text = f"warning: {words}"


def _not_driven(root: Element, report: Report) -> None:
    """A case of its own for a run that did not come to its end, so that a CI shows it."""
    suite = SubElement(root, "testsuite", name="wireproof", timestamp=visible(report.began), time="0")
    case = SubElement(suite, "testcase", classname="wireproof", name="the run")
    SubElement(case, "error", message=visible(f"{report.ended}: {report.reason}"))


def _count(element: Element) -> None:
    """The counts that CIs show."""
    tests = list(element.iter("testcase"))
    element.set("tests", str(len(tests)))
    for tag, name in {"failure": "failures", "error": "errors", "skipped": "skipped"}.items():
        element.set(name, str(sum(case.find(tag) is not None for case in tests)))
