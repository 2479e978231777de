"""`wireproof certify`: one target or several in turn, each once or several times.

Exit statuses: `certificate.MEANINGS`; of several targets the worst, see `certificate.worst`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from wireproof.cli.arguments import with_options
from wireproof.cli.complaint import complain, harmless, refusal
from wireproof.cli.console import console
from wireproof.cli.plan import USAGE_ERRORS, RunPlan, plan
from wireproof.cli.results import FORMAT, TERMINAL, show
from wireproof.judging.unjudged import ours
from wireproof.model.verdict import HarnessError
from wireproof.report.progress import progress, show_wait
from wireproof.results.certificate import MEANINGS, ExitStatus, worst
from wireproof.results.document import Ended
from wireproof.results.folder import FolderError
from wireproof.targets.interrupts import terminable
from wireproof.targets.options import RunOptions, TargetOptions
from wireproof.targets.target_file import TargetFile, TargetFileError, load, merged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from wireproof.results.document import Report

    Asked = tuple[str, TargetOptions, RunOptions]
    """One target to certify: how the summary calls it, and what was asked for."""

EXIT_STATUSES = (
    "\b\nExit status:\n"  # this first character keeps click from joining the lines
    + "\n".join(f"  {one:<5d}{meaning}" for one, meaning in MEANINGS.items())
    + "\n\nWith --only, 0, 1 and 4 speak of the selected requirements; with --allow-partial, 4 becomes 0."
    " With --repeat, and of several targets, it is the worst: 1, then 3, 4 and 0."
)
"""The end of the help of `wireproof certify`."""


@click.command("certify", epilog=EXIT_STATUSES)
@click.option(
    "--target",
    "files",
    metavar="FILE",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Target file with options of this command, as `wireproof init` writes it; other options override it."
    " Several are certified in turn. (may be repeated)",
)
@with_options(TargetOptions, RunOptions)
@FORMAT
def certify_command(files: tuple[Path, ...], form: str, **values: object) -> None:
    """Certify the proxy at --url, the one that --launch or --gateway starts, or those of target files.

    Without any, certify the proxy that comes with Wireproof, as a demonstration.
    """
    # click ends a command with 0 whatever it returns; the status has to be raised.
    raise SystemExit(_certify_all(_asked(files, values), form))


def _asked(files: Sequence[Path], values: Mapping[str, object]) -> list[Asked]:
    try:
        read: list[TargetFile | None] = [load(path) for path in files] or [None]
    except TargetFileError as error:
        raise refusal(error) from error
    return [(file.name if file else "", *merged(file, values)) for file in read]


def _certify_all(every: Sequence[Asked], form: str) -> int:
    if len(every) == 1:
        return _certify(_planned(*every[0]), form)[0]
    if form != TERMINAL:
        raise click.UsageError(f"--format {form} is of one target; give --output DIR, then `wireproof report DIR/NAME`")
    # All are checked before the first is started: a slip in the last file is not to be found out at the end.
    planned = [(asked[0], _planned(*asked)) for asked in _apart(every)]
    ends: list[tuple[str, int, Report | None]] = []
    for name, ready in planned:
        console().rule(Text(name), align="left")
        status, report = _certify(ready, form)
        ends.append((name, status, report))
        if status == ExitStatus.INTERRUPTED:
            break
    _summary(console(), ends, left=[name for name, _ in planned[len(ends) :]])
    return worst(ExitStatus(status) for _, status, _ in ends)


def _apart(every: Sequence[Asked]) -> list[Asked]:
    """Each with a name and, where a folder for results is named, a folder in it of its own."""
    taken: dict[str, int] = {}
    found = []
    for called, target, run in every:
        taken[called] = taken.get(called, 0) + 1
        name = called if taken[called] == 1 else f"{called}-{taken[called]}"
        found.append((name, target, replace(run, output=run.output / name if run.output else None)))
    return found


def _planned(name: str, target: TargetOptions, run: RunOptions) -> RunPlan:
    try:
        return plan(target, run)
    except USAGE_ERRORS as error:
        raise refusal(f"{name}: {error}" if name else error) from error


def _certify(planned: RunPlan, form: str) -> tuple[int, Report | None]:
    """The exit status, and the result if there is one."""
    # What a program reads from stdout has no bar and no line of ours in it.
    said_to, beside = console(stderr=form != TERMINAL), console(stderr=True)
    shown = partial(show, catalogue=planned.catalogue, form=form, demonstration=planned.target.bundled)
    try:
        # Planned outside `terminable`: nothing has been started that a signal would have to stop.
        with terminable():
            certificate = planned.certify(
                lambda reached: progress(beside, planned.scenarios_for(reached), reached.dialects),
                lambda said: said_to.print(harmless(planned.masked(said)), soft_wrap=True, markup=False),
                partial(show_wait, beside),
            )
        report = planned.write(certificate)
    except FolderError as error:
        # Lost beside what could not be written, a verdict would have to be driven for again.
        complain(error)
        shown(planned.report(certificate), certificate)
        return ExitStatus.USAGE, None
    except USAGE_ERRORS as error:
        raise refusal(planned.masked(str(error))) from error
    except HarnessError as error:
        complain(planned.masked(str(error)))
        planned.write_not_driven(Ended.UNREACHABLE, str(error))
        return ExitStatus.UNREACHABLE, None
    # click would print "Aborted!" and exit with 1, which here means that a MUST is broken.
    except KeyboardInterrupt as interrupt:
        kept = planned.write_interrupted(interrupt)
        where = f"; {planned.run.output} has what was driven until then" if kept else ""
        click.echo(f"wireproof: interrupted{where}", err=True)
        return ExitStatus.INTERRUPTED, None
    except Exception as error:  # noqa: BLE001 (whatever we fail at, the run has a result, and one line says so)
        why = ours("finish the run", error)
        complain(planned.masked(why))
        planned.write_not_driven(Ended.FAILED, why)
        return ExitStatus.UNREACHABLE, None
    try:
        shown(report, certificate)
    except OSError:
        raise  # whoever read the output has left
    except Exception as error:  # noqa: BLE001 (whatever it is, the verdict is known, and the folder has it)
        complain(f"{ours('print the result', error)}; exit status {report.status}")
    return report.status, report


def _summary(to: Console, ends: Sequence[tuple[str, int, Report | None]], *, left: Sequence[str]) -> None:
    """One line for each target: its name, its verdict, what is broken."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for name, status, report in ends:
        table.add_row(Text(name), Text(_verdict(report) if report else MEANINGS[ExitStatus(status)]))
    for name in left:
        table.add_row(Text(name), Text("not begun"))
    to.print()
    to.print(table)


def _verdict(report: Report) -> str:
    at = report.levels[report.configuration.level]
    broken = f", {len(at.broken)} broken" if at.broken else ""
    missed = f", {len(at.unobserved)} not observed" if at.unobserved else ""
    flaky = f", {len(report.flaky)} flaky" if report.flaky else ""
    return f"{at.summary} at level {report.configuration.level}{broken}{missed}{flaky}"
