"""The generated pages of docs/ are up to date, and no normative line of their seeds is lost between them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.model.catalogue import load
from assay.report.pages import uncited, unlisted

if TYPE_CHECKING:
    from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"
SEEDS = ("000", "001", "004")
CRITERIA = range(13, 34)
"""The lines of seed 004 on which its acceptance criteria stand."""


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATE: Any = script()
PAGES = GENERATE.pages()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the script takes for docs/."""
    monkeypatch.setattr(GENERATE, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_the_generator_gives(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name], "run python docs/generate.py"


def test_the_pages_that_are_there_satisfy_the_check() -> None:
    assert GENERATE.main(["--check"]) == 0


def test_the_script_writes_what_its_check_then_accepts(folder: Path) -> None:
    assert GENERATE.main([]) == 0
    assert sorted(path.name for path in folder.iterdir()) == sorted(PAGES)
    assert GENERATE.main(["--check"]) == 0


def test_the_check_names_a_page_that_is_missing_or_old(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    GENERATE.main([])
    (folder / "seed-001.md").write_text("old", encoding="utf-8")
    (folder / "seed-004.md").unlink()
    assert GENERATE.main(["--check"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "docs/seed-001.md is out of date; run python docs/generate.py",
        "docs/seed-004.md is out of date; run python docs/generate.py",
    ]
    assert (folder / "seed-001.md").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("name", SEEDS)
def test_every_normative_line_is_cited_or_excluded(name: str) -> None:
    assert uncited(GENERATE.seed(name), load()) == ()


@pytest.mark.parametrize("name", SEEDS)
def test_every_cited_or_excluded_line_is_listed_as_normative(name: str) -> None:
    assert unlisted(GENERATE.seed(name), load()) == ()


@pytest.mark.parametrize("name", SEEDS)
def test_every_normative_line_has_words_and_a_place_on_its_page(name: str) -> None:
    seed = GENERATE.seed(name)
    for line, words in seed.lines.items():
        assert words.strip(), line
        assert f"| {seed.place(line)} | " in PAGES[f"seed-{name}.md"], line


@pytest.mark.parametrize("name", SEEDS)
def test_every_citation_and_every_reason_is_on_the_page(name: str) -> None:
    page = PAGES[f"seed-{name}.md"]
    for row in load().requirements:
        cited = sum(source.seed == name for source in row.source)
        assert page.count(f"| `{row.id}` |") == cited, row.id
    left_out = [one for one in load().excluded if one.source.seed == name]
    assert page.count("| left out: ") == len(left_out)


def test_the_criteria_of_seed_004_are_21_and_numbered_as_their_lines_are() -> None:
    called = GENERATE.seed("004").called
    assert list(called) == list(CRITERIA)
    assert [int(name.split()[1].rstrip(",")) for name in called.values()] == [line - 12 for line in CRITERIA]


def test_every_criterion_is_held_by_a_requirement_that_a_scenario_is_judged_by() -> None:
    judging = GENERATE.evidence().judging
    for line in CRITERIA:
        cited = [row.id for row in load().requirements for s in row.source if (s.seed, s.line) == ("004", line)]
        assert any(judging[name] for name in cited), line


def test_the_kill_matrix_has_every_requirement_once() -> None:
    for row in load().requirements:
        assert PAGES["requirements.md"].count(f"| `{row.id}` |") == 1
