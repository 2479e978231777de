"""Recordings of the corpus as saved results: whole runs of strangers' endpoints, judged in a moment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from wireproof.model.catalogue import load
from wireproof.model.editions import at, dates, digest_of
from wireproof.model.verdict import VerdictLevel
from wireproof.report.data import report_of
from wireproof.report.verification import of_report
from wireproof.results import archive, folder
from wireproof.results.document import Configuration
from wireproof.results.judge_run import judge_run
from wireproof.results.sealed import sealed
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from wireproof.model.catalogue import Catalogue
    from wireproof.results.document import Report

CORPUS = Path(__file__).parent
CONFIGURATION = Configuration(
    command="wireproof certify", jobs=8, at_a_time=0, selection=(), level=VerdictLevel.STRICT, allow_partial=False,
    known={},
)  # fmt: skip
"""Of a run that asks for nothing by name."""


def save(
    name: str, path: Path, catalogue: Catalogue | None = None, *, began: str = "2026-11-22T22:00:00+00:00"
) -> Report:
    """Judge the recording of that name and write the result into a folder, as `certify --output` does."""
    rows, there = catalogue or load(), archive.load(CORPUS / f"{name}.gz", (*SCENARIOS, *LIVE))
    certificate = judge_run(there.runs, there.target, rows, jobs=8, began=began, seconds=1.5)
    configuration = replace(CONFIGURATION, command=f"wireproof certify --url {there.target.base_url}")
    return folder.write(path, report_of(certificate, rows, configuration, folder.versions()), certificate)


def certificate(name: str, file: Path, catalogue: Catalogue) -> None:
    """Write the certificate of a recording, to be kept and verified by every later version."""
    with TemporaryDirectory() as folder_:
        report = save(name, Path(folder_), catalogue)
        scenarios = of_report(report, (*SCENARIOS, *LIVE))
        transcripts = (Path(folder_) / folder.TRANSCRIPTS).read_bytes()
        file.write_bytes(sealed(report, transcripts, rows=digest_of(catalogue), scenarios=scenarios))


if __name__ == "__main__":
    # When an edition is frozen: python conformance/tests/corpus/saved_recordings.py
    newest = at(dates()[-1])
    certificate("llmock", CORPUS / "certificates" / f"{newest.date}-llmock.zip", newest)
