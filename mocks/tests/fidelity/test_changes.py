"""Each change of a version that names a recording is held by it: without the change the recording differs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from wireproof_fidelity.replaying import compared
from wireproof_fidelity.table import load_replays

from wireproof_codex.versions.changes import CHANGES, Change
from wireproof_codex.versions.version import VERSIONS, derive

if TYPE_CHECKING:
    from pathlib import Path

TABLE = load_replays()
ROWS = {row.name: row for row in TABLE.rows}
RECORDED = [
    (change, group, name)
    for change in CHANGES
    if any("/exec/" not in recording for recording in change.recordings)  # those of exec are held in tests of exec
    for group in change.traits
    for name in change.traits[group]
]


def without(change: Change, group: str, name: str) -> list[Change]:
    """All changes, without what this one does to one field."""
    rest = {key: value for key, value in change.traits[group].items() if key != name}
    undone = replace(change, traits={**change.traits, group: rest})
    return [undone if one is change else one for one in CHANGES]


@pytest.mark.sampled(28)
@pytest.mark.parametrize(
    ("change", "group", "name"), RECORDED, ids=[f"{change.first} {group}.{name}" for change, group, name in RECORDED]
)
def test_a_recording_differs_without_the_change(change: Change, group: str, name: str, tmp_path: Path) -> None:
    changes = without(change, group, name)
    differing = []
    replayed = [recording for recording in change.recordings if "/exec/" not in recording]
    for number, recording in enumerate(replayed):
        row, home = ROWS[recording], tmp_path / str(number)
        home.mkdir()
        theirs, ours = compared(row, TABLE, home, derive(row.version, changes))
        differing += [recording] if ours != theirs else []
    assert differing


def test_changes_stand_in_the_order_of_versions_that_are_played() -> None:
    order = list(VERSIONS)
    firsts = [order.index(change.first) for change in CHANGES]
    assert firsts == sorted(firsts)


def test_every_change_is_shown_by_recordings_or_what_was_seen() -> None:
    assert [change for change in CHANGES if bool(change.recordings) is bool(change.seen)] == []


def test_every_change_changes_something() -> None:
    for change in CHANGES:
        for group, fields in change.traits.items():
            for name in fields:
                with_it = getattr(getattr(derive(change.first), group), name)
                without_it = getattr(getattr(derive(change.first, without(change, group, name)), group), name)
                assert with_it != without_it, (change.first, group, name)
