"""What Wireproof itself fails at: one line says so, and a run leaves its result all the same."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from wireproof.cli import certify, plan
from wireproof.cli.certify import certify_command
from wireproof.cli.plan import RunPlan
from wireproof.results import archive, folder
from wireproof.results.document import Ended
from wireproof.scenarios import SCENARIOS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.sampled(2)

FEW = ("--only", "auth-wrong", "--allow-partial")


def failing(*_: Any, **__: Any) -> Any:
    raise KeyError("choices")


def test_a_run_that_fails_leaves_a_result_that_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunPlan, "certify", failing)
    done = CliRunner().invoke(certify_command, [*FEW, "--output", str(tmp_path / "there")])
    assert (done.exit_code, done.stderr.count("\n")) == (3, 1)
    assert done.stderr.startswith(
        "wireproof: Wireproof could not finish the run (KeyError in test_own_failures.py, line "
    )
    report = folder.read(tmp_path / "there").report
    assert (report.ended, report.status, f"wireproof: {report.reason}\n") == (Ended.FAILED, 3, done.stderr)


@pytest.mark.parametrize("place", ["show", "report_of"])
def test_a_result_that_cannot_be_shown_is_written(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    monkeypatch.setattr(certify if place == "show" else plan, place, failing)
    done = CliRunner().invoke(certify_command, [*FEW, "--output", str(there)])
    saved = folder.read(there)
    if place == "show":
        assert "could not print the result (KeyError" in done.stderr
        assert (done.exit_code, saved.report.ended) == (0, Ended.COMPLETE)
    else:
        assert (done.exit_code, saved.report.ended) == (3, Ended.FAILED)
        assert "could not report the result (KeyError" in saved.report.reason
    # So that it can be judged again.
    assert [run.scenario.name for run in saved.archive(SCENARIOS).runs] == ["auth-wrong"]


def test_of_a_full_disk_the_verdict_is_shown_and_nothing_half_written_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there"

    def full(path: Path, *_: Any) -> None:
        path.write_bytes(b"half of it")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(archive, "save", full)
    done = CliRunner().invoke(certify_command, [*FEW, "--output", str(there)])
    assert done.exit_code == 2
    assert f"the result cannot be written to {there}: no space left on device" in done.stderr
    assert "certificate" in done.stdout or "nothing broken" in done.stdout
    assert [*there.iterdir()] == []
