"""A result as Markdown, for an issue, a pull request or a CI's summary: what it comes to, then what is wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.model.verdict import Verdict
from wireproof.report.grouping import named
from wireproof.report.readiness import by_readiness, in_lines
from wireproof.report.roots import roots
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof.results.document import Found, Report

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$@&-])")
"""What Markdown, or GitHub in it, takes for more than a character: links, tags, mentions, tables."""
RUNS = re.compile(r"`+")


def markdown(report: Report) -> str:
    """The document."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {_plain(report.target.name if report.target else 'no target')}"
    yield ""
    yield from _levels(report)
    if report.reason:
        yield f"**{report.ended}**: {_plain(report.reason)}"
        yield ""
    found = roots(report)
    yield from _under(
        [f"**{found.title}:**", ""],
        (f"{number}. {_plain(str(one))}" for number, one in enumerate(found.shown, start=1)),
    )
    yield from _under([], _surfaces(report))
    table = ["| real clients | surface | on what they were measured to break |", "| --- | --- | --- |"]
    yield from _under(table, _clients(report))
    yield from _flaky(report)
    failing = [one for one in report.findings if not one.known]
    yield from _under(["## What is wrong", ""], (line for one in failing for line in _finding(one, report)), end=())
    known = [one for one in report.outcomes if one.known]
    lines = (f"- `{one.scenario}:{one.requirement}` {_plain(one.known)}" for one in known)
    yield from _under(["## Known failures", ""], lines)
    at = report.levels.get(report.configuration.level)
    unobserved = at.unobserved if at else {}
    lines = (f"- `{row}`: {_plain(reason)}" for row, reason in unobserved.items())
    yield from _under(["## Not observed", ""], lines)
    yield _foot(report)


def _under(head: Iterable[str], lines: Iterable[str], end: Iterable[str] = ("",)) -> Iterator[str]:
    """Lines under a head; nothing where there are none."""
    there = list(lines)
    if there:
        yield from (*head, *there, *end)


def _levels(report: Report) -> Iterator[str]:
    columns = (Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.NOT_OBSERVED)
    head = ["| level | result | pass | fail | warn | not observed |", "| --- | --- | --: | --: | --: | --: |"]
    lines = []
    for level, at in report.levels.items():
        decides = " (decides)" if level is report.configuration.level else ""
        counts = " | ".join(str(at.counts.get(verdict, 0)) for verdict in columns)
        lines.append(f"| {level}{decides} | **{at.summary}** | {counts} |")
    return _under(head, lines)


def _clients(report: Report) -> Iterator[str]:
    for (surface, ready), those in by_readiness(report.clients).items():
        if those[0].broken:
            yield from (f"| **{ready}** | {surface} | {_plain(line)} |" for line in in_lines(those))
        else:
            yield f"| {ready} | {surface} | {_plain(', '.join(one.client for one in those))} |"


def _surfaces(report: Report) -> Iterator[str]:
    for one in report.target.surfaces if report.target else ():
        dialects = f" in {', '.join(one.spoken)}" if one.spoken else ""
        reason = f": {_plain(one.reason)}" if one.reason else ""
        yield f"- {one.surface} {one.state}{dialects}{reason}"
    for way in report.target.ways if report.target else ():
        broken = ", ".join(f"{verdict.upper()} `{row}`" for row, verdict in way.broken.items())
        yield f"- {_plain(way.judged)}" + (f": {broken}" if broken else "")


def _flaky(report: Report) -> Iterator[str]:
    """What is broken in some runs of a repeated one and not in all."""
    if report.repeats:
        ends = ", ".join(str(one.status) for one in report.repeats)
        yield f"{len(report.repeats)} runs, exit statuses {ends}; the worst is shown."
        yield ""
    columns = "| requirement | dialect | mode | verdict of each run | what was seen |"
    lines = (
        f"| `{one.requirement}` | {one.dialect} | {one.mode} | {', '.join(one.at(report.configuration.level))}"
        f" | {_plain(one.seen)} |"
        for one in report.flaky
    )
    yield from _under(["## Flaky", "", columns, "| --- | --- | --- | --- | --- |"], lines)


def _finding(one: Found, report: Report) -> Iterator[str]:
    row = report.requirements[one.requirement]
    yield from (f"### {one.at(report.configuration.level).upper()} `{one.requirement}`", "", _plain(row.text), "")
    yield f"- seen: {_plain(one.seen)}"
    if one.cause:
        hides = f", and hides {one.cause.hidden} of them" if one.cause.hidden else ""
        yield f"- the same in {one.cause.exchanges} exchanges{hides}: {_plain(one.cause.says)}"
    yield f"- scenarios: {named(one.scenarios)}"
    if one.excerpt:
        yield f"- at {one.excerpt.where}: {_code(visible(one.excerpt.before + one.excerpt.at + one.excerpt.after))}"
    if one.request:
        yield f"- request: {_code(visible(one.request))}"
    yield f"- to do: {_plain(row.hint)}"
    yield ""


def _foot(report: Report) -> str:
    model = f"model {_plain(report.target.model)}, {report.target.backend} backend, " if report.target else ""
    made = f"catalogue of {report.catalogue.date}, Wireproof {report.versions.wireproof}"
    return f"{model}{made}, {report.began or 'time not known'}, {report.seconds:.1f} s"


def _plain(said: str) -> str:
    """A text as it is, whatever it would mean in Markdown."""
    return SPECIAL.sub(r"\\\1", visible(said))


def _code(said: str) -> str:
    """A text as code, between more backticks than stand in it."""
    longest = max((len(run) for run in RUNS.findall(said)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {said} {fence}"
