"""The drawing of the packages: what it says of a few sources, and that the repository's is drawn at all."""

from __future__ import annotations

from graphlib import CycleError
from typing import TYPE_CHECKING

import pytest

from wireproof_pages.drawing import arrows, drawing, folders

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = {
    "conformance/wireproof/__init__.py": "from wireproof_scripts.steps import Say, Call",
    "conformance/wireproof/late.py": "def f():\n    import wireproof_scripts.steps, wireproof_surfaces\n",
    "conformance/wireproof/typed.py": "if TYPE_CHECKING:\n    from wireproof_surfaces import Event",
    "mocks/wireproof_scripts/__init__.py": "import json",
    "reference_proxy/wireproof_surfaces/__init__.py": "from wireproof_surfaces.events import Event",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, source in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source, encoding="utf-8")
    return tmp_path


def test_modules_are_counted_that_import_another_package_anywhere(repository: Path) -> None:
    assert arrows(folders(repository)) == {
        "wireproof": {"wireproof_scripts": 2, "wireproof_surfaces": 2}, "wireproof_scripts": {},
        "wireproof_surfaces": {},
    }  # fmt: skip


def test_every_arrow_leads_to_a_line_below(repository: Path) -> None:
    lines = drawing(folders(repository)).splitlines()[1:-1]
    assert lines[0].startswith("conformance/wireproof ─")
    assert lines[0].endswith("► wireproof_surfaces 2 · wireproof_scripts 2")
    assert sorted(line.partition("► ")[2] for line in lines[1:]) == ["nothing of ours"] * 2


def test_an_arrow_back_cannot_be_drawn(repository: Path) -> None:
    (repository / "mocks/wireproof_scripts/back.py").write_text("import wireproof", encoding="utf-8")
    with pytest.raises(CycleError):
        drawing(folders(repository))


def test_each_package_of_the_repository_has_its_line() -> None:
    drawn = [line.partition(" ")[0].rpartition("/")[2] for line in drawing().splitlines()[1:-1]]
    assert sorted(drawn) == sorted(folders())
