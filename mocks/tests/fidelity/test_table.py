from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from wireproof_fidelity.table import DIFFERENTIAL, Compared, Replayed, load_differential, load_replays

from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
[everywhere.unsent]
warning = "why"
[everywhere.own]
path = "whose"
"""
ROW = '[[recording]]\nversion = "0.1.0"\nscenario = "lists"\n'


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return tmp_path / "written.toml"


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    folder = tmp_path / "recordings"
    for name in ("lists", "text"):
        (folder / "0.1.0").mkdir(parents=True, exist_ok=True)
        (folder / "0.1.0" / f"{name}.jsonl").touch()
    return folder


def test_rows_are_read_with_what_they_leave_out(written: Path, recordings: Path) -> None:
    written.write_text(f'{HEAD}{ROW}verdict = "accepted difference"\nwhy = "so"\nskip = [4]\nown = ["data"]\n')
    replays = load_replays(written, recordings)
    assert replays.unsent == {"warning": "why"}
    assert replays.own == {"path": "whose"}
    assert list(replays.rows) == [
        Replayed(
            version="0.1.0",
            scenario="lists",
            verdict="accepted difference",
            why="so",
            skip=frozenset({4}),
            own=frozenset({"data"}),
        ),
        Replayed(version="0.1.0", scenario="text", verdict="equal"),
    ]
    assert replays.rows[0].name == "0.1.0/lists"


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ('verdict = "equal"\nwhy = "so"', "a verdict other than equal, and a reason, are needed"),
        ('verdict = "alike"\nwhy = "so"', "a verdict other than equal, and a reason, are needed"),
        ('verdict = "not replayed"\nwhy = ""', "a verdict other than equal, and a reason, are needed"),
        ('verdict = "not replayed"\nwhy = "so"\nskip = [1]', "and no other, says what is left out"),
        ('verdict = "accepted difference"\nwhy = "so"', "and no other, says what is left out"),
    ],
)
def test_a_row_that_says_too_little_or_too_much_is_refused(written: Path, row: str, wrong: str) -> None:
    written.write_text(f"{HEAD}{ROW}{row}\n")
    with pytest.raises(ValueError, match=f"written.toml: 0.1.0/lists: .*{wrong}"):
        load_replays(written)


def test_no_recording_stands_there_twice(written: Path, recordings: Path) -> None:
    row = f'{ROW}verdict = "not replayed"\nwhy = "so"\n'
    written.write_text(HEAD + row + row)
    with pytest.raises(ValueError, match=r"written\.toml: 0\.1\.0/lists stands there twice"):
        load_replays(written, recordings)


def test_a_recording_that_is_not_there_is_refused(written: Path, recordings: Path) -> None:
    written.write_text(f'{HEAD}{ROW.replace("lists", "tests")}verdict = "not replayed"\nwhy = "so"\n')
    with pytest.raises(ValueError, match=r"written\.toml: 0\.1\.0/tests: there is no such recording"):
        load_replays(written, recordings)


def test_a_recording_is_of_the_process_after_another_in_every_version(written: Path, recordings: Path) -> None:
    written.write_text(f'{HEAD}[after]\ntext = "lists"\n')
    assert [row.after for row in load_replays(written, recordings).rows] == ["", "lists"]


def test_there_may_be_no_comparison(written: Path) -> None:
    assert load_differential(written) == []


def test_comparisons_are_read(written: Path) -> None:
    written.write_text(
        '[equal]\n"0.1.0" = ["text"]\n'
        '[[compared]]\nscript = "call"\nversion = "0.1.0"\nresult = "not compared"\nwhy = "no tools"\n'
        '[[compared]]\nscript = "raw"\nversion = "0.1.0"\nresult = "accepted difference"\nwhy = "so"\nwithout = ["a"]\n'
    )
    assert load_differential(written) == [
        Compared(script="text", version="0.1.0", result="equal"),
        Compared(script="call", version="0.1.0", result="not compared", why="no tools"),
        Compared(script="raw", version="0.1.0", result="accepted difference", why="so", without=frozenset({"a"})),
    ]


@pytest.mark.parametrize(
    "row", ['result = "same"\nwhy = "so"', 'result = "equal"\nwhy = "so"', 'result = "not compared"']
)
def test_a_comparison_without_a_known_result_or_its_reason_is_refused(written: Path, row: str) -> None:
    written.write_text(f'[[compared]]\nscript = "text"\nversion = "0.1.0"\n{row}\n')
    with pytest.raises(ValueError, match=r"text 0\.1\.0: a known result, and a reason unless it is equal"):
        load_differential(written)


def test_the_newest_version_is_named_so(written: Path) -> None:
    written.write_text('[equal]\nnewest = ["text"]\n')
    assert load_differential(written) == [Compared(script="text", version=NEWEST.number, result="equal")]


def test_what_is_equal_in_every_version_is_so_in_each_that_is_listed(written: Path) -> None:
    written.write_text('[equal]\n"every version" = ["text"]\n"0.1.0" = []\nnewest = ["call"]\n')
    compared = [(row.script, row.version) for row in load_differential(written)]
    assert compared == [("text", "0.1.0"), ("text", NEWEST.number), ("call", NEWEST.number)]


def test_the_comparisons_that_are_there_can_be_read() -> None:
    assert bool(load_differential()) is DIFFERENTIAL.is_file()
