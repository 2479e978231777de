"""A mutant, judged and reported in every way: it ends with findings or without, and in no other way."""

from __future__ import annotations

import io
import tempfile
import time
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from wireproof.cli.results import TEXTS
from wireproof.model.catalogue import load as load_catalogue
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report import terminal
from wireproof.report.curl import curl
from wireproof.report.data import report_of
from wireproof.report.page import page
from wireproof.report.rendering import document
from wireproof.requests.conversation import remember
from wireproof.results import archive, folder
from wireproof.results.document import Configuration
from wireproof.results.judge_run import judge_run
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE
from wireproof.targets.recognition import recognise
from wireproof_fuzz.mutants import mutant

if TYPE_CHECKING:
    from wireproof.model.catalogue import Catalogue
    from wireproof.results.certificate import Certificate
    from wireproof_fuzz.mutants import Mutant

PAGED = 20
"""Of every so many mutants a page is made, which takes longer than all else."""
LONGEST = 30.0
"""Seconds of the processor that one mutant may take; most take hundredths."""


@dataclass(frozen=True, kw_only=True)
class Death:
    """A mutant that ended in no verdict."""

    number: int
    where: str
    """The last of our lines that ran, which makes two deaths one defect."""
    said: str
    """All that is known of it."""


@cache
def _catalogue() -> Catalogue:
    return load_catalogue()


def death_of(number: int) -> Death | None:
    """What a mutant of this number dies of; None: it is judged."""
    since = time.process_time()
    name = f"mutant {number}"
    try:
        made = mutant(number)
        name = str(made)
        certificate = _certificate(made)
        errors = {one.reason for one in certificate.outcomes if one.verdict is Verdict.ERROR}
        if errors:
            return Death(number=number, where="; ".join(sorted(errors)), said=f"{name}: {'; '.join(sorted(errors))}")
        _use(certificate, paged=number % PAGED == 0)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is what is looked for)
        ours = [f"{Path(one.filename).name}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)]
        where = f"{type(error).__name__} in {ours[-1]}"
        return Death(number=number, where=where, said=f"{name}: {traceback.format_exc()}")
    took = time.process_time() - since
    if took > LONGEST:
        return Death(number=number, where="time", said=f"{name} took {took:.0f} s")
    return None


def _certificate(made: Mutant) -> Certificate:
    return judge_run(made.runs, made.target, _catalogue(), began="2026-01-01T00:00:00+00:00", seconds=1.0)


def _use(certificate: Certificate, *, paged: bool) -> None:
    """All that is done with a certificate."""
    for run in certificate.runs:
        for those in run.exchanges.values():
            for one in those:
                curl(one.transcript, certificate.target)
                recognise(one.transcript.body, one.dialect.spec.surface)
                if one.reading is not None:
                    remember((), one.choice())
            document(those)
    asked = Configuration(
        command="wireproof certify", jobs=1, at_a_time=0, selection=(), level=VerdictLevel.STRICT, allow_partial=False,
        known={},
    )  # fmt: skip
    report = report_of(certificate, _catalogue(), asked, folder.versions())
    assert folder.parsed(folder.as_json(report).encode(), "report.json") == report  # noqa: S101 (what it is for)
    for text in TEXTS.values():
        text(report).encode()
    if paged:
        page(report, certificate.runs).encode()
    out = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), width=100)
    terminal.report(out, report, certificate, _catalogue())
    _save(certificate)


def _save(certificate: Certificate) -> None:
    with tempfile.TemporaryDirectory() as there:
        path = Path(there) / "runs.gz"
        archive.save(path, certificate.target, certificate.runs)
        again = archive.load(path, (*SCENARIOS, *LIVE))
    kept, was = ([one.transcript for run in those for two in run.exchanges.values() for one in two]
                 for those in (again.runs, certificate.runs))  # fmt: skip
    assert [one.body for one in kept] == [one.body for one in was]  # noqa: S101 (what it is for)
