"""The commands that work with saved results: `wireproof report`, `judge`, `diff` and `known-failing`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.arguments import FOLDER, JSON
from wireproof.cli.complaint import refusal
from wireproof.cli.console import console
from wireproof.cli.saved import certificate_of_all, runs_of, saved, transcripts
from wireproof.model import editions
from wireproof.model.catalogue import load
from wireproof.model.editions import UnknownEditionError
from wireproof.model.verdict import Verdict
from wireproof.report import terminal
from wireproof.report.badge import badge
from wireproof.report.comparison import Difference, difference
from wireproof.report.data import report_of
from wireproof.report.explain import as_json_text
from wireproof.report.grouping import named
from wireproof.report.json_lines import json_lines
from wireproof.report.junit import junit
from wireproof.report.markdown import markdown
from wireproof.results import folder
from wireproof.results.certificate import ExitStatus
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.catalogue import Catalogue
    from wireproof.results.certificate import Certificate
    from wireproof.results.document import Report

TERMINAL = "terminal"
HTML = "html"
TEXTS: Mapping[str, Callable[[Report], str]] = {
    "json": folder.as_json,
    "jsonl": lambda report: json_lines(json.loads(folder.as_json(report))),
    "junit": junit,
    "markdown": markdown,
    "badge": badge,
}
"""The formats that are texts made of the report alone."""
FORMATS = (TERMINAL, *TEXTS, HTML)
"""The names of all formats."""


def show(report: Report, certificate: Certificate, catalogue: Catalogue, *, form: str, demonstration: bool) -> None:
    """Print a result in a format."""
    if form == TERMINAL:
        terminal.report(console(), report, certificate, catalogue, demonstration=demonstration)
    else:
        _print(report, form, lambda: certificate.runs)


def _print(report: Report, form: str, runs: Callable[[], Sequence[ScenarioRun]]) -> None:
    if form == HTML:
        from wireproof.report.page import page  # noqa: PLC0415 (templates would slow every start)

        click.echo(page(report, runs()), nl=False)
    else:
        click.echo(TEXTS[form](report), nl=False)


FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default=TERMINAL,
    show_default=True,
    help="How to print the result.",
)


@click.command("report")
@FOLDER
@FORMAT
def report_command(folder_: Path, form: str) -> None:
    """Print a saved result in another format. The exit status is that of the run."""
    result = saved(folder_)
    if form == TERMINAL:
        try:
            catalogue = editions.of_result(result.report.catalogue.date)
        except UnknownEditionError:
            catalogue = load()  # the nearest that this version has
        show(result.report, certificate_of_all(result, catalogue), catalogue, form=form, demonstration=False)
    else:
        _print(result.report, form, lambda: runs_of(result))
    raise SystemExit(result.report.status)


@click.command("judge")
@FOLDER
@FORMAT
@click.option("--edition", metavar="DATE", help="Edition to judge by. If omitted, the catalogue of this version.")
def judge_command(folder_: Path, form: str, edition: str | None) -> None:
    """Judge saved transcripts again. The exit status is that of the new verdict."""
    result = saved(folder_)
    try:
        catalogue = load() if edition is None else editions.at(edition)
    except UnknownEditionError as error:
        raise refusal(error) from error
    certificate = certificate_of_all(result, catalogue)
    report = report_of(certificate, catalogue, result.report.configuration, folder.versions())
    show(report, certificate, catalogue, form=form, demonstration=False)
    raise SystemExit(report.status)


@click.command("diff")
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="B", type=click.Path(path_type=Path))
@JSON
def diff_command(before: Path, after: Path, *, as_json: bool) -> None:
    """Print what differs from the saved result A to B: what broke, what was mended, what changed on the wire.

    The level is that of B. Exit status 1 if something broke or is not observed any more, else 0.
    """
    old, new = saved(before), saved(after)
    runs = (transcripts(old).runs, transcripts(new).runs)
    found = difference(old.report, new.report, level=new.report.configuration.level, runs=runs)
    if as_json:
        click.echo(as_json_text(dataclasses.asdict(found)))
    else:
        click.echo("\n".join([*_ended_early({before: old.report, after: new.report}), *_lines(found)]))
    raise SystemExit(ExitStatus.FAILED if found.broken or found.lost else ExitStatus.CERTIFIED)


def _ended_early(reports: Mapping[Path, Report]) -> Iterator[str]:
    """A line for each result of a run that ended early: what it did not drive has not changed."""
    for path, report in reports.items():
        if report.reason:
            yield f"{path}: {visible(report.reason)}"


def _lines(found: Difference) -> Iterator[str]:
    groups = {"broken": found.broken, "mended": found.mended, "not observed any more": found.lost}
    for title, rows in groups.items():
        yield from (f"{title}  {row}  in: {named(scenarios)}" for row, scenarios in rows.items())
    for change in found.wire:
        yield f"changed on the wire  {change.scenario} ({change.form})"
        yield from (f"  {sign} {visible(line)}" for sign, line in (("-", change.before), ("+", change.after)) if line)
    if not found:
        yield "nothing differs"


@click.group("known-failing")
def known_failing_group() -> None:
    """Work with files of known failures, which --known-failing takes."""


@known_failing_group.command("write")
@FOLDER
@click.option("--reason", default="", metavar="TEXT", help="Why they are accepted. If omitted, what was seen.")
def write_command(folder_: Path, reason: str) -> None:
    """Print a file of known failures that accepts all that fails in a saved result.

    Reasons that were given before stay. What passes now, though an earlier file declares it, is left out.
    """
    for one in saved(folder_).report.outcomes:
        # A failure without a place is a declared one that passes: its line is what fails.
        if one.strict in {Verdict.FAIL, Verdict.WARN} and one.places:
            why = one.known or reason.strip() or one.places[0].seen
            click.echo(f"{one.scenario}:{one.requirement} {' '.join(visible(why).split())}")
