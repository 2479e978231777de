"""`wireproof compare`: saved results beside each other."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from commands import refused, wireproof

from wireproof.results.certificate import ExitStatus

if TYPE_CHECKING:
    from pathlib import Path

MINIATURE = shlex.join([sys.executable, "-m", "wireproof_mocks.miniatures", "finish-twice"])
ROW = "chat.stream.finish-once"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The results of a right proxy, of two runs, and of one that finishes twice."""
    right, twice = (tmp_path_factory.mktemp("saved") / name for name in ("right", "twice"))
    wireproof("certify", "--only", "text-hello", "--repeat", "2", "--output", right)
    wireproof("certify", "--launch", MINIATURE, "--only", "text-hello", "--output", twice)
    return right, twice


def test_what_one_breaks_is_a_line_with_both_verdicts_and_what_was_seen(folders: tuple[Path, Path]) -> None:
    printed = wireproof("compare", *folders, "--level", "strict")
    assert (printed.exit_code, printed.stderr) == (ExitStatus.CERTIFIED, "")
    lines = [line.split() for line in printed.stdout.splitlines()]
    assert lines[0] == ["right", "twice"]
    assert [ROW, "pass", "fail"] in lines
    assert ["runs", "2", "1"] in lines
    assert "  twice: choice 0: a finish_reason, after its finish" in printed.stdout
    assert printed.stdout.endswith("level strict: 1 requirement is broken in some results and not in all\n")


def test_the_data_have_all_runs_and_their_speed(folders: tuple[Path, Path]) -> None:
    found = json.loads(wireproof("compare", *folders, "--json").stdout)
    right, twice = found["compared"]
    assert (right["name"], right["runs"], twice["runs"]) == ("right", 2, 1)
    # Both runs of the one count: as many streams again as in the run of the other.
    assert right["speed"]["streams"] == 2 * twice["speed"]["streams"] > 0
    assert 0 < right["speed"]["first_token"] < 10
    assert [row["requirement"] for row in found["differing"]] == [ROW]


def test_results_of_folders_that_are_called_alike_have_their_paths(folders: tuple[Path, Path], tmp_path: Path) -> None:
    other = shutil.copytree(folders[1], tmp_path / "right")
    printed = wireproof("compare", folders[0], other, "--json")
    named = [one["name"] for one in json.loads(printed.stdout)["compared"]]
    assert named == [str(folders[0]), str(other)]


def test_what_cannot_be_compared_is_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    assert "named twice" in refused("compare", folders[0], folders[0])
    assert "not a folder" in refused("compare", folders[0], tmp_path / "none")
    alone = wireproof("compare", folders[0])
    assert alone.exit_code == ExitStatus.USAGE
    assert "name two results or more" in alone.stderr
