from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay_fidelity.table import DIFFERENTIAL, Compared, Replayed, load_differential, load_replays

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
[everywhere.unsent]
warning = "why"
[everywhere.own]
path = "whose"
[equal]
"0.1.0" = ["text"]
"""
ROW = '[[recording]]\nversion = "0.1.0"\nscenario = "lists"\n'


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return tmp_path / "written.toml"


def test_rows_are_read_with_what_they_leave_out(written: Path) -> None:
    written.write_text(f'{HEAD}{ROW}verdict = "accepted difference"\nwhy = "so"\nskip = [4]\nown = ["data"]\n')
    replays = load_replays(written)
    assert replays.unsent == {"warning": "why"}
    assert replays.own == {"path": "whose"}
    assert list(replays.rows) == [
        Replayed(version="0.1.0", scenario="text", verdict="equal"),
        Replayed(
            version="0.1.0",
            scenario="lists",
            verdict="accepted difference",
            why="so",
            skip=frozenset({4}),
            own=frozenset({"data"}),
        ),
    ]
    assert replays.rows[1].name == "0.1.0/lists"


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


def test_no_recording_stands_there_twice(written: Path) -> None:
    written.write_text(HEAD.replace('["text"]', '["text", "text"]'))
    with pytest.raises(ValueError, match=r"written\.toml: 0\.1\.0/text stands there twice"):
        load_replays(written)


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


def test_the_comparisons_that_are_there_can_be_read() -> None:
    assert bool(load_differential()) is DIFFERENTIAL.is_file()
