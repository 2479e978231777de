"""Saved results for commands: read, or the command ends with one line and the status of wrong usage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.cli.complaint import refusal
from wireproof.results import folder
from wireproof.results.cells import of_all
from wireproof.results.document import Ended, Report
from wireproof.results.folder import FolderError, SavedResult
from wireproof.results.judge_run import judge_run
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS, JOURNAL
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.catalogue import Catalogue
    from wireproof.results.archive import Archive
    from wireproof.results.certificate import Certificate

EVERY = (*SCENARIOS, *LIVE, *CLIENT_SCENARIOS, JOURNAL)
"""The scenarios that a result may be of."""


def saved(path: Path) -> SavedResult:
    """The result in a folder; ends the command where there is none."""
    try:
        return folder.read(path)
    except FolderError as error:
        raise refusal(error) from error


def transcripts(result: SavedResult) -> Archive:
    """Its transcripts; ends the command where it has none, or not its own."""
    try:
        return result.archive(EVERY)
    except FolderError as error:
        raise refusal(error) from error


def runs_of(result: SavedResult) -> Sequence[ScenarioRun]:
    """Its runs; none of a run that could not begin."""
    return transcripts(result).runs if result.report.transcripts else ()


def certificate_of_all(result: SavedResult, catalogue: Catalogue) -> Certificate:
    """The certificate of a saved result, of all its runs; ends the command where transcripts are missing."""
    kept = [saved(result.folder / one.folder) for one in result.report.repeats if one.folder]
    return of_all([certificate_of(one.report, transcripts(one), catalogue) for one in kept or [result]])


def certificate_of(report: Report, there: Archive, catalogue: Catalogue) -> Certificate:
    """The certificate of a saved result: its transcripts, judged by this version's rules and a catalogue's rows."""
    asked = report.configuration
    return judge_run(
        there.runs,
        there.target,
        catalogue,
        known=asked.known,
        selection=asked.selection,
        level=asked.level,
        jobs=asked.jobs,
        at_a_time=asked.at_a_time,
        began=report.began,
        seconds=report.seconds,
        interrupted=report.ended is Ended.INTERRUPTED,
    )
