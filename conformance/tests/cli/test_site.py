"""`wireproof site`: many folders in, one folder out, and no other folder spoilt."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from commands import refused, wireproof
from saved_recordings import save

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results")
    save("stubllm", path / "stub@1.0")
    save("mockllm", path / "stub@1.1", began="2026-11-22T23:00:00+00:00")
    return path


def test_a_site_is_written_and_replaced(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "site"
    made = wireproof("site", results / "stub@1.1", results / "stub@1.0", "-o", out)
    assert (made.exit_code, made.stderr) == (0, "")
    assert made.stdout.startswith(f"{out / 'index.html'}: ")
    assert "stub</a>" in (out / "index.html").read_text(encoding="utf-8")
    page = (out / "proxies" / "stub.html").read_text(encoding="utf-8")
    assert page.index("stub@1.1.html") < page.index("stub@1.0.html")
    assert wireproof("site", results / "stub@1.0", "-o", out).exit_code == 0
    assert [path.name for path in (out / "results").iterdir()] == ["stub@1.0.html"]


def test_an_example_has_no_page_and_is_shown(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "stub@1.0", tmp_path / "no-role")
    out = tmp_path / "site"
    assert wireproof("site", results / "stub@1.1", "--example", tmp_path / "no-role", "-o", out).exit_code == 0
    assert not (out / "proxies" / "no-role.html").exists()
    page = (out / "requirements" / "chat.stream.role-first.html").read_text(encoding="utf-8")
    assert "Broken by no-role" in page


def test_what_cannot_be_done_is_said_in_a_line(results: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    assert "holds something other than a site" in refused("site", results / "stub@1.0", "-o", tmp_path / "mine")
    assert "cannot be a folder for a site" in refused(
        "site", results / "stub@1.0", "-o", tmp_path / "mine" / "letter.txt"
    )
    assert "is not a folder" in refused("site", tmp_path / "none", "-o", tmp_path / "site")
    shutil.copytree(results / "stub@1.0", tmp_path / "again" / "stub@1.0")
    assert "two results are named stub@1.0; name their folders NAME@VERSION" in refused(
        "site", results / "stub@1.0", tmp_path / "again" / "stub@1.0", "-o", tmp_path / "site"
    )
