"""A folder is written and read as a whole, and refused in one line where it is anything else."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from saved_recordings import CONFIGURATION

from wireproof.model.catalogue import load
from wireproof.report.data import not_driven, report_of
from wireproof.results import folder
from wireproof.results.document import Ended, Report
from wireproof.results.folder import REPORT, TRANSCRIPTS, FolderError
from wireproof.results.judge_run import judge_run
from wireproof.results.masking import masked_runs, masked_target
from wireproof.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.target import Target
    from wireproof.results.certificate import Certificate


@pytest.fixture(scope="session")
def certificate(driven: tuple[Target, Sequence[ScenarioRun]]) -> Certificate:
    target, runs = driven
    masked = masked_runs(runs, target)
    return judge_run(masked, masked_target(target), load(), began="2026-11-22T22:00:00+00:00", seconds=1.5)


@pytest.fixture(scope="session")
def report(certificate: Certificate) -> Report:
    return report_of(certificate, load(), CONFIGURATION, folder.versions())


@pytest.fixture
def written(certificate: Certificate, report: Report, tmp_path: Path) -> Path:
    folder.write(tmp_path / "result", report, certificate)
    return tmp_path / "result"


def test_a_result_is_read_as_it_was_written(certificate: Certificate, report: Report, written: Path) -> None:
    result = folder.read(written)
    assert sorted(path.name for path in written.iterdir()) == [REPORT, TRANSCRIPTS]
    assert replace(result.report, transcripts=None) == report
    assert result.report.transcripts is not None
    assert result.report.transcripts.exchanges > 20
    assert [run.scenario.name for run in result.archive(SCENARIOS).runs] == [
        run.scenario.name for run in certificate.runs
    ]


def test_the_saved_transcripts_give_the_same_result(report: Report, written: Path) -> None:
    saved = folder.read(written).archive(SCENARIOS)
    judged = judge_run(saved.runs, saved.target, load(), began=report.began, seconds=report.seconds)
    again = report_of(judged, load(), CONFIGURATION, folder.versions())
    assert (again.outcomes, again.cells, again.levels, again.findings) == (
        report.outcomes, report.cells, report.levels, report.findings,
    )  # fmt: skip


def test_a_report_fits_its_schema(report: Report) -> None:
    validator = Draft202012Validator(folder.schema())
    data = json.loads(folder.as_json(report))
    assert list(validator.iter_errors(data)) == []
    assert [*validator.iter_errors({**data, "more": 1}), *validator.iter_errors({**data, "began": None})]


def test_a_run_that_could_not_begin_is_written_without_transcripts(tmp_path: Path) -> None:
    folder.check(tmp_path)
    report = not_driven(
        Ended.UNREACHABLE, "nothing answers", began="", catalogue=load(), configuration=CONFIGURATION,
        versions=folder.versions(),
    )  # fmt: skip
    folder.write(tmp_path, report)
    result = folder.read(tmp_path)
    assert (result.report.ended, result.report.status) == (Ended.UNREACHABLE, 3)
    with pytest.raises(FolderError, match="has no transcripts: nothing answers"):
        result.archive(SCENARIOS)
    assert list(Draft202012Validator(folder.schema()).iter_errors(json.loads(folder.as_json(report)))) == []


def test_an_earlier_result_is_replaced(certificate: Certificate, report: Report, written: Path) -> None:
    folder.check(written)
    (written / f"{REPORT}.part").write_text("of a run that was killed")
    folder.check(written)
    folder.write(written, replace(report, began="later"), certificate)
    assert folder.read(written).report.began == "later"


def test_bytes_that_no_text_has_are_written_escaped(report: Report, tmp_path: Path) -> None:
    folder.write(tmp_path, replace(report, reason="\udcff"))
    assert b"\\udcff" in (tmp_path / REPORT).read_bytes()
    assert folder.read(tmp_path).report.reason == "\udcff"


def damage(data: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps({**data, **changes}).encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON, so it was torn or is of something else"),
        (b'{"format": 1, "ended": "compl', "is not JSON, so it was torn"),
        (b"[" * 100_000, "is not JSON, so it was torn"),
        (b"[]", "is not a result in format 1"),
        (b'{"format": 99}', "is not a result in format 1"),
        (b'{"format": 1}', "is damaged: ended: "),
        (b"\xff\xfe", "is not JSON"),
    ],
)
def test_a_report_that_cannot_be_read_is_refused_in_one_line(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / REPORT).write_bytes(content)
    with pytest.raises(FolderError, match=said) as refused:
        folder.read(tmp_path)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_member_too_many_or_of_another_kind_is_named(written: Path) -> None:
    data = json.loads((written / REPORT).read_text())
    for changes, said in (({"more": 1}, "is damaged: more: "), ({"outcomes": [{}]}, "is damaged: outcomes/0/scenario")):
        (written / REPORT).write_bytes(damage(data, **changes))
        with pytest.raises(FolderError, match=said):
            folder.read(written)


def test_a_folder_without_a_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match=r"holds no result: it has no report\.json"):
        folder.read(tmp_path)
    with pytest.raises(FolderError, match="is not a folder"):
        folder.read(tmp_path / "none")


def test_transcripts_that_are_gone_or_of_another_run_are_refused(written: Path) -> None:
    result = folder.read(written)
    with (written / TRANSCRIPTS).open("ab") as file:
        file.write(b"\0")
    with pytest.raises(FolderError, match="it was changed, or is of another run"):
        result.archive(SCENARIOS)
    (written / TRANSCRIPTS).unlink()
    with pytest.raises(FolderError, match="cannot be read: no such file"):
        result.archive(SCENARIOS)


def test_a_folder_that_cannot_hold_a_result_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(FolderError, match=r"holds notes\.txt, which is not part of a result"):
        folder.check(tmp_path)
    with pytest.raises(FolderError, match="cannot be a folder for a result"):
        folder.check(tmp_path / "notes.txt")
    with pytest.raises(FolderError, match="cannot be a folder for a result"):
        folder.check(tmp_path / "notes.txt" / "below")


def test_a_folder_that_may_not_be_written_to_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As its mode would say to anyone but root, who may run the tests.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FolderError, match="cannot be written to"):
        folder.check(tmp_path)


def test_a_result_that_cannot_be_written_is_said_in_one_line(report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match="the result cannot be written to"):
        folder.write(tmp_path / "file", report)
