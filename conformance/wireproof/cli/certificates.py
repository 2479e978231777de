"""The commands for certificates as files: `wireproof certificate write` and `wireproof verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.arguments import FOLDER
from wireproof.cli.complaint import refusal, say
from wireproof.cli.saved import EVERY, certificate_of, saved
from wireproof.model import editions
from wireproof.model.editions import UnknownEditionError
from wireproof.model.verdict import HarnessError
from wireproof.report.data import report_of
from wireproof.report.grouping import counted
from wireproof.report.verification import Verification, changed, compared, of_report
from wireproof.results import archive, folder, sealed
from wireproof.results.archive import ArchiveError
from wireproof.results.certificate import ExitStatus
from wireproof.results.document import Ended
from wireproof.results.folder import FolderError
from wireproof.results.sealed import LARGEST, SealedError
from wireproof.wire.quoting import visible
from wireproof_scripts.files.regular import TooLargeError, content_of

if TYPE_CHECKING:
    from wireproof.results.document import Report
    from wireproof.results.sealed import Sealed

VERIFY_STATUSES = (
    "\b\nExit status:\n"
    "  0    the transcripts give the verdict, whichever it is\n"
    "  1    they give another one\n"
    "  2    no certificate, one that was changed, or one that this version cannot judge\n"
    "  4    what could be judged again gives it, but some of it has changed since"
)
SHOWN = 5
"""How many differences are named; the others are counted."""


@click.group("certificate")
def certificate_group() -> None:
    """Work with certificates as files, which `wireproof verify` judges again."""


@certificate_group.command("write")
@FOLDER
@click.option(
    "--output", "-o", "file", required=True, metavar="FILE", type=click.Path(path_type=Path), help="File to write."
)
def write_command(folder_: Path, file: Path) -> None:
    """Write the saved result of a whole run into one file, for others to verify.

    It holds the report, all transcripts and no key. The verdict may be any; what is refused is a run of selected
    scenarios, one that was interrupted, and a report that its own transcripts do not give.
    """
    result = saved(folder_)
    report = result.report
    if report.ended is not Ended.COMPLETE or report.configuration.selection:
        why = report.reason or "scenarios were selected"
        raise refusal(f"{folder_} is not the result of a whole run, so it cannot become a certificate: {why}")
    try:
        catalogue = editions.of_result(report.catalogue.date)
        transcripts = result.transcripts()
        scenarios = of_report(report, EVERY)
        data = sealed.sealed(report, transcripts, rows=editions.digest_of(catalogue), scenarios=scenarios)
        found = verified(sealed.opened(data), str(folder_))
    except (FolderError, ArchiveError, SealedError, UnknownEditionError, HarnessError) as error:
        raise refusal(error) from error
    if found.differences:
        raise refusal(f"{folder_} is not what this version makes of its transcripts: {found.differences[0]}")
    try:
        file.write_bytes(data)
    except OSError as error:
        raise refusal(f"{file} cannot be written: {folder.why(error)}") from error
    say(f"{file}: {_what(report)}")


@click.command("verify", epilog=VERIFY_STATUSES)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
def verify_command(file: Path) -> None:
    """Judge the transcripts in a certificate again, by its own edition, and say whether they give its verdict."""
    try:
        there = sealed.opened(_read(file))
        found = verified(there, str(file))
    except (SealedError, ArchiveError, UnknownEditionError, HarnessError) as error:
        raise refusal(f"{file}: {visible(str(error))}") from error
    say(f"{file}: {_what(there.report)}")
    if found.differences:
        click.echo(f"not verified: {len(found.differences)} of its statements are not what its transcripts give")
        for line in found.differences[:SHOWN]:
            click.echo(f"  {visible(line)}")
        if len(found.differences) > SHOWN:
            click.echo(f"  and {len(found.differences) - SHOWN} more")
        raise SystemExit(ExitStatus.FAILED)
    if found.unjudged or found.withdrawn:
        click.echo(f"verified in part: {_left_out(found)}; all else is what its transcripts give")
        raise SystemExit(ExitStatus.PARTIAL)
    click.echo("verified: its transcripts, judged again, give this verdict")


def verified(there: Sealed, name: str) -> Verification:
    """What judging the transcripts of a certificate again shows.

    Raises:
        ArchiveError: they cannot be read.
        UnknownEditionError: its edition is unknown to this version.
        HarnessError: a row of the edition has no check.
    """
    catalogue = editions.with_rows(there.report.catalogue.date, there.rows)
    gone = changed(there.scenarios, EVERY)
    kept = [scenario for scenario in EVERY if scenario.name not in gone]
    runs = archive.of_bytes(there.transcripts, kept, name=name)
    certificate = certificate_of(there.report, runs, catalogue)
    again = report_of(certificate, catalogue, there.report.configuration, there.report.versions)
    # Also what the table of scenarios leaves out: nothing is taken for judged that was not.
    unlisted = {one.scenario for one in there.report.outcomes} - there.scenarios.keys()
    left_out = {*gone, *runs.unknown, *unlisted}
    return compared(there.report, again, unjudged=left_out, withdrawn=catalogue.withdrawn)


def _read(file: Path) -> bytes:
    try:
        return content_of(file, LARGEST)
    except TooLargeError as error:
        raise SealedError(f"it is not a certificate: it has more than {LARGEST >> 20} MiB, and none has") from error
    except OSError as error:
        raise SealedError(f"it cannot be read: {folder.why(error)}") from error


def _what(report: Report) -> str:
    """A certificate in a line."""
    target = report.target.name if report.target else ""
    levels = "; ".join(f"{level}: {at.summary}" for level, at in report.levels.items())
    known = report.configuration.known
    but = f", {counted(len(known), 'known failure')} accepted" if known else ""
    return visible(f"{target}, {levels}{but}, edition {report.catalogue.date}, {report.began or 'time not known'}")


def _left_out(found: Verification) -> str:
    return ", ".join(
        f"{counted(len(names), what)} changed since ({', '.join(names[:SHOWN])})"
        for names, what in ((found.unjudged, "scenario"), (found.withdrawn, "requirement"))
        if names
    )
