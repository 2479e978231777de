"""The commands that work with saved results: `assay report`, `judge`, `diff` and `replay`."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from difflib import ndiff
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from assay.driving.replaying import replay
from assay.model.catalogue import Catalogue, load
from assay.report import terminal
from assay.report.badge import badge
from assay.report.causes import named
from assay.report.curl import curl
from assay.report.data import report_of
from assay.report.difference import Difference, difference
from assay.report.explain import as_json_text
from assay.report.json_lines import json_lines
from assay.report.junit import junit
from assay.report.markdown import markdown
from assay.report.page import page
from assay.report.rendering import document
from assay.results import folder
from assay.results.certificate import Exit
from assay.results.folder import FolderError, Result
from assay.results.judged import Course, Terms, judged
from assay.results.report import Ended, Report
from assay.scenarios import SCENARIOS
from assay.scenarios.live import LIVE
from assay.targets.options import OptionError, TargetOptions
from assay.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.judging.outcomes import Run
    from assay.model.scenario import Form
    from assay.model.target import Target
    from assay.reading.exchange import Exchange
    from assay.results.certificate import Certificate

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
    if form in TEXTS:
        click.echo(TEXTS[form](report), nl=False)
        return
    if form == HTML:
        click.echo(page(report, certificate.runs), nl=False)
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
    elif form == HTML:
        click.echo(page(result.report, _runs(result)), nl=False)
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


@click.command("diff")
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="B", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff_command(before: Path, after: Path, *, as_json: bool) -> None:
    """Print what differs from the saved result A to B: what broke, what was mended, what changed on the wire.

    The level is that of B. Exit status 1 if something broke or is not observed any more, else 0.
    """
    old, new = _read(before), _read(after)
    every = (*SCENARIOS, *LIVE)
    try:
        runs = (old.archive(every).runs, new.archive(every).runs)
    except FolderError as error:
        raise _refusal(error) from error
    found = difference(old.report, new.report, level=new.report.configuration.level, runs=runs)
    click.echo(as_json_text(dataclasses.asdict(found)) if as_json else "\n".join(_told(found)))
    raise SystemExit(Exit.FAILED if found.broken or found.lost else Exit.CERTIFIED)


def _told(found: Difference) -> Iterator[str]:
    groups = {"broken": found.broken, "mended": found.mended, "not observed any more": found.lost}
    for title, rows in groups.items():
        yield from (f"{title}  {row}  in: {named(scenarios)}" for row, scenarios in rows.items())
    for change in found.wire:
        yield f"changed on the wire  {change.scenario} ({change.form})"
        yield from (f"  {sign} {visible(line)}" for sign, line in (("-", change.before), ("+", change.after)) if line)
    if not found:
        yield "nothing differs"


@click.command("replay")
@FOLDER
@click.argument("scenario")
@click.option("--url", metavar="URL", help="Base URL to send to, if it is not that of the saved run.")
@click.option("--api-key-env", metavar="VAR", help="Environment variable that holds the API key.")
@click.option("--curl", "as_curl", is_flag=True, help="Print the requests as curl commands, and send nothing.")
@click.option("--timeout", type=click.FloatRange(min=0.01), default=10.0, show_default=True, help="How long to wait.")
def replay_command(
    folder_: Path, scenario: str, url: str | None, api_key_env: str | None, timeout: float, *, as_curl: bool
) -> None:
    """Send the requests of a saved scenario again, and print what differs in the answers.

    Exit status 0 if nothing does, 1 if something does.
    """
    result = _read(folder_)
    try:
        saved = result.archive((*SCENARIOS, *LIVE))
    except FolderError as error:
        raise _refusal(error) from error
    run = next((run for run in saved.runs if run.scenario.name == scenario), None)
    if run is None or not any(run.exchanges.values()):
        why = "is not in it" if run is None else "was not driven"
        raise _refusal(FolderError(f"{folder_}: the scenario {scenario} {why}"))
    if as_curl:
        for form, those in run.exchanges.items():
            click.echo(f"# {form}")
            click.echo("\n".join(visible(curl(one.transcript, saved.target, key=api_key_env)) for one in those))
        return
    try:
        options = TargetOptions(url=url or saved.target.base_url, api_key_env=api_key_env)
        options.check()
        secrets = _secrets(saved.target, options.api_key())
    except OptionError as error:
        raise _refusal(FolderError(str(error))) from error
    changed = [_replayed(form, those, saved.target, options, secrets, timeout) for form, those in run.exchanges.items()]
    raise SystemExit(Exit.FAILED if any(changed) else Exit.CERTIFIED)


def _secrets(target: Target, key: str | None) -> dict[str, str]:
    """What stands for the key in saved requests → the key; a request with a part of it is sent with a part, too."""
    if target.api_key is None:
        return {}
    if key is None:
        raise OptionError("the target was sent a key, which no result holds; name its variable with --api-key-env")
    return {target.api_key: key, target.api_key[:-1]: key[:-1]}


def _replayed(
    form: Form,
    saved: Sequence[Exchange],
    target: Target,
    options: TargetOptions,
    secrets: Mapping[str, str],
    timeout: float,
) -> bool:
    """Send one form of a scenario again and print what differs; returns whether anything does."""
    urls = (target.base_url, (options.url or target.base_url).rstrip("/"))
    sent = [one.transcript for one in saved]
    came = asyncio.run(replay(sent, secrets=secrets, urls=urls, silence=timeout))
    there = dataclasses.replace(target, base_url=urls[1])
    again = [dataclasses.replace(one, transcript=new, target=there) for one, new in zip(saved, came, strict=True)]
    lines = [line for line in ndiff(document(saved).splitlines(), document(again).splitlines()) if line[0] in "-+"]
    ends = ", ".join(f"HTTP {one.status}, {one.end}, {one.seconds:.2f} s" for one in came)
    click.echo(f"{form}: {'differs' if lines else 'the same'} ({ends})")
    for line in lines:
        click.echo(f"  {visible(line)}")
    return bool(lines)


def _runs(result: Result) -> Sequence[Run]:
    """The exchanges of a saved result; none where none were driven."""
    if result.report.transcripts is None:
        return ()
    try:
        return result.archive((*SCENARIOS, *LIVE)).runs
    except FolderError as error:
        raise _refusal(error) from error


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
