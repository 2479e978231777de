"""The commands that work with saved results: `assay report`, `judge`, `diff` and `replay`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from assay.model.catalogue import Catalogue, load
from assay.report import terminal
from assay.report.badge import badge
from assay.report.data import report_of
from assay.report.json_lines import json_lines
from assay.report.junit import junit
from assay.report.markdown import markdown
from assay.results import folder
from assay.results.certificate import Exit
from assay.results.folder import FolderError, Result
from assay.results.judged import Course, Terms, judged
from assay.results.report import Ended, Report
from assay.scenarios import SCENARIOS
from assay.scenarios.live import LIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay.results.certificate import Certificate

TERMINAL = "terminal"
TEXTS: Mapping[str, Callable[[Report], str]] = {
    "json": folder.as_json,
    "jsonl": lambda report: json_lines(json.loads(folder.as_json(report))),
    "junit": junit,
    "markdown": markdown,
    "badge": badge,
}
"""The formats that are texts made of the report alone."""
FORMATS = (TERMINAL, *TEXTS)
"""The names of all formats."""


def show(report: Report, certificate: Certificate, catalogue: Catalogue, *, form: str, demonstration: bool) -> None:
    """Print a result in a format."""
    if form in TEXTS:
        click.echo(TEXTS[form](report), nl=False)
        return
    terminal.report(
        Console(), certificate, catalogue,
        again=report.configuration.command, demonstration=demonstration,
        allow_partial=report.configuration.allow_partial,
    )  # fmt: skip


def certificate_of(result: Result, catalogue: Catalogue) -> Certificate:
    """The certificate of a saved result: its transcripts, judged by this version's rules.

    Raises:
        FolderError: it has no transcripts, or not its own.
    """
    saved, report = result.archive((*SCENARIOS, *LIVE)), result.report
    asked = report.configuration
    return judged(
        saved.runs,
        saved.target,
        catalogue,
        Terms(known=asked.known, selection=asked.selection, level=asked.level, jobs=asked.jobs),
        Course(
            began=report.began,
            seconds=report.seconds,
            at_a_time=asked.at_a_time,
            interrupted=report.ended is Ended.INTERRUPTED,
        ),
    )


FOLDER = click.argument("folder_", metavar="DIR", type=click.Path(path_type=Path))
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
    result = _read(folder_)
    if form in TEXTS:
        click.echo(TEXTS[form](result.report), nl=False)
    else:
        catalogue = load()
        certificate = _judged(result, catalogue)
        show(result.report, certificate, catalogue, form=form, demonstration=False)
    raise SystemExit(result.report.status)


@click.command("judge")
@FOLDER
@FORMAT
def judge_command(folder_: Path, form: str) -> None:
    """Judge saved transcripts again, by the catalogue of this version. The exit status is that of the new verdict."""
    result, catalogue = _read(folder_), load()
    certificate = _judged(result, catalogue)
    report = report_of(certificate, catalogue, result.report.configuration, folder.versions())
    show(report, certificate, catalogue, form=form, demonstration=False)
    raise SystemExit(report.status)


def _read(path: Path) -> Result:
    """The result in a folder; ends the command where there is none."""
    try:
        return folder.read(path)
    except FolderError as error:
        raise _refusal(error) from error


def _judged(result: Result, catalogue: Catalogue) -> Certificate:
    """The certificate of a saved result; ends the command where it has no transcripts of its own."""
    try:
        return certificate_of(result, catalogue)
    except FolderError as error:
        raise _refusal(error) from error


def _refusal(error: FolderError) -> SystemExit:
    # One line, without the usage that click prints: the command was spelt right.
    click.echo(f"assay: {error}", err=True)
    return SystemExit(Exit.USAGE)
