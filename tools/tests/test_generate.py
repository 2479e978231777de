"""The generated pages of docs/ are up to date, and no normative line of the source texts is lost between them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import generate
from wireproof.model.catalogue import load
from wireproof.report.explain import page_of
from wireproof.results.certificate import MEANINGS
from wireproof.targets.options import RunOptions, TargetOptions
from wireproof_pages.manual import BEGIN, END, exit_table, filled, options_table
from wireproof_pages.proof_pages import uncited, unlisted

DOCS = Path(__file__).parents[2] / "docs"
TEXTS = generate.source_names()
CRITERIA = range(13, 34)
"""The lines of the story on which its acceptance criteria stand."""


PAGES = generate.pages()
PATHS = 40
"""CONTRIBUTING.md names more than these."""
ROOTS = ("conformance", "mocks", "reference_proxy", "schemas", "docs", "tools", ".")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the script takes for docs/."""
    docs = tmp_path / "docs"
    docs.mkdir()
    monkeypatch.setattr(generate, "FOLDER", docs)
    return docs


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_the_generator_gives(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name], "run python tools/generate.py"


def test_the_schemas_are_written_too() -> None:
    folder = DOCS.parent / "schemas" / "wireproof"
    assert {folder / name for name in generate.schemas()} == {*folder.glob("*.json")} - {folder / "scenario.json"}
    assert generate.texts().keys() >= {folder / name for name in generate.schemas()}


def test_the_pages_that_are_there_satisfy_the_check() -> None:
    assert generate.main(["--check"]) == 0


def test_the_script_writes_what_its_check_then_accepts(folder: Path) -> None:
    assert generate.main([]) == 0
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md")) == sorted(PAGES)
    assert generate.main(["--check"]) == 0


def test_the_check_names_a_page_that_is_missing_or_old(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate.main([])
    (folder / "sources/obsidian-copilot.md").write_text("old", encoding="utf-8")
    (folder / "sources/codex-story.md").unlink()
    (folder.parent / "schemas" / "wireproof" / "script.json").write_text("{}", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "docs/sources/obsidian-copilot.md is out of date; run python tools/generate.py",
        "docs/sources/codex-story.md is out of date; run python tools/generate.py",
        "schemas/wireproof/script.json is out of date; run python tools/generate.py",
    ]
    assert (folder / "sources/obsidian-copilot.md").read_text(encoding="utf-8") == "old"


def block(name: str) -> str:
    return f"{BEGIN.format(name=name)}\n{END.format(name=name)}\n"


def test_a_table_in_a_page_written_by_hand_is_filled_and_then_checked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generate.main([])
    readme, manual = folder.parent / "README.md", folder / "certify.md"
    readme.write_text(f"# Wireproof\n\n{block('options')}\nThe end.\n", encoding="utf-8")
    manual.write_text(block("exit-statuses") + block("options"), encoding="utf-8")
    (folder / "other.md").write_text("No table.\n", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == ["README.md", "docs/certify.md"]
    generate.main([])
    assert generate.main(["--check"]) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("# Wireproof\n\n")
    assert text.endswith("\nThe end.\n")
    assert options_table() in text
    assert exit_table() in manual.read_text(encoding="utf-8")
    assert (folder / "other.md").read_text(encoding="utf-8") == "No table.\n"


def test_a_table_that_does_not_end_is_refused() -> None:
    with pytest.raises(ValueError, match="the block options has no end; write <!-- end of options --> behind it"):
        filled(BEGIN.format(name="options"))


def test_the_tables_have_every_option_and_every_exit_status() -> None:
    for option in (*TargetOptions.options(), *RunOptions.options()):
        assert len(re.findall(rf"\| `--{option.name}[ `]", options_table())) == 1
    assert [int(row.split("`")[1]) for row in exit_table().splitlines()[2:]] == [int(status) for status in MEANINGS]
    assert all(line.count(" | ") == 1 for line in options_table().splitlines())


@pytest.mark.parametrize("name", TEXTS)
def test_every_normative_line_is_cited_or_excluded(name: str) -> None:
    assert uncited(generate.source_text(name), load(), generate.held()) == ()


@pytest.mark.parametrize("name", TEXTS)
def test_every_cited_or_excluded_line_is_listed_as_normative(name: str) -> None:
    assert unlisted(generate.source_text(name), load(), generate.held()) == ()


@pytest.mark.parametrize("name", TEXTS)
def test_every_normative_line_has_words_and_a_place_on_its_page(name: str) -> None:
    text = generate.source_text(name)
    for line, words in text.lines.items():
        assert words.strip(), line
        assert f"| {text.place(line)} | " in PAGES[f"sources/{name}.md"], line


@pytest.mark.parametrize("name", TEXTS)
def test_every_citation_and_every_reason_is_on_the_page(name: str) -> None:
    page = PAGES[f"sources/{name}.md"]
    for row in load().requirements:
        cited = sum(source.seed == name for source in row.source)
        assert page.count(f"| `{row.id}` |") == cited, row.id
    left_out = [one for one in load().excluded if one.source.seed == name]
    assert page.count("| left out: ") == len(left_out)


@pytest.mark.parametrize("name", TEXTS)
def test_every_line_that_a_persona_or_mock_holds_is_on_the_page(name: str) -> None:
    held = [one for one in generate.held() if one.source.seed == name]
    links = PAGES[f"sources/{name}.md"].count("](../../")
    assert links == len(held)
    text = (DOCS.parent / "conformance/tests/sources" / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    assert [one for one in held if one.source.quote not in text[one.source.line - 1]] == []


@pytest.mark.each("test", sorted({one.test for one in generate.held()}))
def test_a_test_that_a_page_names_is_there(test: str) -> None:
    path, _, name = test.partition("::")
    assert f"\ndef {name}(" in (DOCS.parent / path).read_text(encoding="utf-8")


def test_the_criteria_of_the_story_are_21_and_numbered_as_their_lines_are() -> None:
    called = generate.source_text("codex-story").called
    assert list(called) == list(CRITERIA)
    assert [int(name.split()[1].rstrip(",")) for name in called.values()] == [line - 12 for line in CRITERIA]


def test_every_criterion_is_held_by_a_requirement_that_a_scenario_is_judged_by() -> None:
    judging = generate.proofs().judging
    for line in CRITERIA:
        cited = [row.id for row in load().requirements for s in row.source if (s.seed, s.line) == ("codex-story", line)]
        assert any(judging[name] for name in cited), line


def test_the_kill_matrix_has_every_requirement_once() -> None:
    for row in load().requirements:
        assert PAGES["requirements.md"].count(f"| `{row.id}` |") == 1


def test_every_requirement_has_its_place_in_the_catalogue() -> None:
    for row in load().requirements:
        file, _, place = page_of(row.id).partition("#")
        page = PAGES[file]
        assert page.count(f'<a id="{place}"></a>') == 1
        section = page.partition(f'<a id="{place}"></a>')[2].partition("<a id=")[0]
        assert f"**{row.level}** " in section
        assert section.count("\n- source: ") == len(row.source)
        assert section.count("\n- breaks ") == len(row.breaks)
        assert "\n- scenarios: `" in section


def test_every_link_between_pages_leads_to_a_file() -> None:
    for path in [*DOCS.rglob("*.md"), DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


def test_every_path_that_contributing_names_is_there() -> None:
    text = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([^`\s*]+/|[^`\s*]+\.(?:py|toml|json|md|ini))`", text))
    # What is in capitals is for the reader to fill in.
    fixed = {name for name in named if not re.search("TOPIC|NAME|CLIENT|VERSION", name)}
    assert len(fixed) > PATHS
    # Some are named by their end alone: the words before them say in which package.
    assert [
        name
        for name in fixed
        if not any(any((DOCS.parent / root).glob(name if root == "." else f"**/{name}")) for root in ROOTS)
    ] == []
