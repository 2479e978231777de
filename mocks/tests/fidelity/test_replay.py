"""Recorded sessions of real servers, played again by the mock, and the table of how that ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from wireproof_fidelity.replaying import Replay, compared
from wireproof_fidelity.table import RECORDINGS, Replayed, load_replays

from wireproof_codex.versions.version import NEWEST, VERSIONS

if TYPE_CHECKING:
    from pathlib import Path

TABLE = load_replays()
BY_VERDICT = {
    verdict: [row for row in TABLE.rows if row.verdict == verdict]
    for verdict in ("equal", "accepted difference", "not replayed")
}


def names(rows: list[Replayed]) -> list[str]:
    return [row.name for row in rows]


def test_nearly_every_recording_is_held_to_be_equal() -> None:
    assert len(BY_VERDICT["equal"]) > 0.9 * len(list(RECORDINGS.glob("*/*.jsonl*")))


@pytest.mark.sampled(24)
@pytest.mark.parametrize("version", sorted({row.version for row in BY_VERDICT["equal"]}))
def test_the_mock_says_what_the_real_server_said(version: str, tmp_path: Path) -> None:
    for number, row in enumerate(row for row in BY_VERDICT["equal"] if row.version == version):
        home = tmp_path / str(number)
        home.mkdir()
        theirs, ours = compared(row, TABLE, home)
        assert ours == theirs, row.name


@pytest.mark.parametrize("row", BY_VERDICT["accepted difference"], ids=names(BY_VERDICT["accepted difference"]))
def test_but_for_what_is_left_out_the_mock_says_what_the_real_server_said(row: Replayed, tmp_path: Path) -> None:
    theirs, ours = compared(row, TABLE, tmp_path)
    assert ours == theirs


LEFT_OUT = [
    (row, name, one)
    for row in BY_VERDICT["accepted difference"]
    for name in ("skip", "unsent", "own")
    for one in sorted(getattr(row, name), key=str)
]


@pytest.mark.parametrize(
    ("row", "name", "one"), LEFT_OUT, ids=[f"{row.name} {name} {one}" for row, name, one in LEFT_OUT]
)
def test_nothing_is_left_out_that_need_not_be(row: Replayed, name: str, one: object, tmp_path: Path) -> None:
    theirs, ours = compared(replace(row, **{name: getattr(row, name) - {one}}), TABLE, tmp_path)
    assert ours != theirs


@pytest.mark.parametrize("row", BY_VERDICT["not replayed"], ids=names(BY_VERDICT["not replayed"]))
def test_what_is_not_replayed_still_differs(row: Replayed, tmp_path: Path) -> None:
    if row.version in VERSIONS:
        theirs, ours = compared(row, TABLE, tmp_path)
        assert ours != theirs


def test_bytes_that_are_no_utf8_ended_the_real_server_too() -> None:
    session = Replay({}, NEWEST, [])
    session.send('{"id":62,"method":"thread/loaded/list","params":{"x":"ÿþ"}}')
    assert session.exit == 0
    assert session.received == []
