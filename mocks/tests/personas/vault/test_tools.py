from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import pytest

from wireproof_mocks.personas.line import Line, LineKind
from wireproof_mocks.personas.vault.tools import NO_TEXT, AbortedError, VaultTools, preview
from wireproof_mocks.personas.vault.vault import Vault

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def lines() -> list[Line]:
    return []


@pytest.fixture
def tools(tmp_path: Path, lines: list[Line]) -> VaultTools:
    return VaultTools(vault=Vault(folder=tmp_path), print=lines.append)


def write(tools: VaultTools, **notes: str) -> None:
    for name, text in notes.items():
        (tools.vault.folder / f"{name}.md").write_text(text, encoding="utf-8")


def test_a_search_finds_names_and_contents_whatever_their_case(tools: VaultTools) -> None:
    write(tools, TypeScript="Basics.", other="All about TYPESCRIPT.", third="Nothing.")
    found = tools.search("typeScript")
    assert found == [
        {"path": "TypeScript.md", "basename": "TypeScript", "matches": 1, "preview": "Basics."},
        {"path": "other.md", "basename": "other", "matches": 1, "preview": "All about TYPESCRIPT."},
    ]


@pytest.mark.parametrize(("limit", "count"), [(None, 10), (3, 3), (50, 50), (1000, 50), (0, 0), (-1, 0), (2.5, 3)])
def test_a_search_gives_ten_results_or_as_many_as_asked_for_up_to_fifty(
    tools: VaultTools, limit: float | None, count: int
) -> None:
    write(tools, **{f"note{number:02}": "same" for number in range(60)})
    found = tools.search("same") if limit is None else tools.search("same", limit)
    assert [one["basename"] for one in found] == [f"note{number:02}" for number in range(count)]


def test_a_note_that_is_no_text_is_found_by_its_name_alone(tools: VaultTools) -> None:
    (tools.vault.folder / "latin.md").write_bytes("Grüße".encode("latin-1"))
    assert [one["preview"] for one in tools.search("latin")] == [NO_TEXT]
    assert tools.search("Gr") == []


@pytest.mark.parametrize(
    ("text", "at", "length", "expected"),
    [
        ("short", 0, 5, "short"),
        ("short", -1, 3, "short"),
        ("x" * 200, -1, 1, "x" * 200),
        ("x" * 201, -1, 1, "x" * 200 + "..."),
        ("a" * 100 + "M" + "b" * 100, 100, 1, "a" * 100 + "M" + "b" * 100),
        ("a" * 101 + "M" + "b" * 101, 101, 1, "..." + "a" * 100 + "M" + "b" * 100 + "..."),
        ("MM" + "b" * 101, 0, 2, "MM" + "b" * 100 + "..."),
        ("a" * 101 + "M", 101, 1, "..." + "a" * 100 + "M"),
    ],
)
def test_a_preview_has_a_hundred_characters_on_either_side(text: str, at: int, length: int, expected: str) -> None:
    assert preview(text, at, length) == expected


def test_the_preview_stands_around_the_match_also_behind_letters_that_grow(tools: VaultTools) -> None:
    write(tools, grown="İ" * 300 + "match" + "z" * 300)
    (found,) = tools.search("MATCH")
    assert found["preview"] == "..." + "İ" * 100 + "match" + "z" * 100 + "..."


def test_files_are_read_with_their_size_in_bytes(tools: VaultTools) -> None:
    write(tools, one="é✓")
    assert tools.read(["one.md"]) == [{"path": "one.md", "content": "é✓", "size": 5}]


def test_what_cannot_be_read_is_reported_in_its_place(tools: VaultTools) -> None:
    write(tools, one="1", three="3")
    (tools.vault.folder / "latin.md").write_bytes(b"\xff")
    assert tools.read(["one.md", "gone.md", "latin.md", "../out.md", "three.md"]) == [
        {"path": "one.md", "content": "1", "size": 1},
        {"path": "gone.md", "content": "File not found: gone.md", "size": 0},
        {"path": "latin.md", "content": "Error reading file: not UTF-8 text, see byte 0", "size": 0},
        {"path": "../out.md", "content": "File not found: ../out.md", "size": 0},
        {"path": "three.md", "content": "3", "size": 1},
    ]


def test_the_log_says_what_was_done(tools: VaultTools, lines: list[Line]) -> None:
    write(tools, one="1")
    tools.search("one")
    tools.read(["one.md", "two.md"])
    assert lines == [
        Line(LineKind.LOG, '[ChatGPT MD] Vault search: "one" found 1 results'),
        Line(LineKind.LOG, "[ChatGPT MD] Read 2 files"),
    ]


def test_nothing_more_is_read_once_it_is_aborted(tools: VaultTools) -> None:
    write(tools, one="1")
    abort = Event()
    stopped = VaultTools(vault=tools.vault, print=tools.print, abort=abort)
    assert stopped.search("one")
    abort.set()
    with pytest.raises(AbortedError, match="aborted"):
        stopped.search("one")
    with pytest.raises(AbortedError):
        stopped.read(["one.md"])
