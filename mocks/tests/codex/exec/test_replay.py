"""What recorded `codex exec` runs wrote is what the mock writes, line by line; each change of exec is held by one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from exec_replay import RECORDINGS, WORDS, Outcome, played, recorded

from wireproof_codex.versions.changes import CHANGES, Change
from wireproof_codex.versions.version import derive

if TYPE_CHECKING:
    from pathlib import Path

_ASKED = re.compile(r"\[\[([^\]]+)\]\]")
# Real ones run the commands of one answer side by side, so which comes first is chance.
_BY_CHANCE = frozenset({"json_two_commands", "human_two_commands"})
_NUMBER = re.compile(r"item_\d+")
_HELD = [
    (change, group, name)
    for change in CHANGES
    if any("/exec/" in recording for recording in change.recordings)
    for group in change.traits
    for name in change.traits[group]
]


def _is_played(name: str) -> bool:
    """Whether it is a run that plays something: signals are sent in `test_signals`."""
    meta, _ = recorded(*name.split("/"))
    asked = _ASKED.findall(" ".join(meta["arguments"]) + (meta["stdin"] or ""))
    return "signal" not in meta and (not asked or asked[-1] in WORDS)


NAMES = [f"{file.parent.name}/{file.stem}" for file in sorted(RECORDINGS.glob("*/*.jsonl"))]
PLAYED = [name for name in NAMES if _is_played(name)]


def _sides(scenario: str, outcome: Outcome) -> tuple[list[Any], list[Any], dict[str, str], int]:
    out, err = outcome.out, outcome.err
    if scenario in _BY_CHANCE:
        out, err = sorted(_NUMBER.sub("item", str(line)) for line in out), sorted(err)
    return out, err, {file: text for file, text in outcome.files.items() if file == "last.txt"}, outcome.status


@pytest.mark.sampled(42)
@pytest.mark.parametrize("scenario", sorted({name.partition("/")[2] for name in PLAYED}))
def test_a_run_writes_what_was_recorded(scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = [name.partition("/")[0] for name in PLAYED if name.partition("/")[2] == scenario]
    for version in versions:
        meta, theirs = recorded(version, scenario)
        folder = tmp_path / version
        folder.mkdir()
        assert _sides(scenario, played(meta, folder, monkeypatch)) == _sides(scenario, theirs), version


@pytest.mark.parametrize(
    ("change", "group", "name"), _HELD, ids=[f"{change.first} {group}.{name}" for change, group, name in _HELD]
)
def test_a_recording_differs_without_the_change(
    change: Change, group: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = {key: value for key, value in change.traits[group].items() if key != name}
    undone = replace(change, traits={**change.traits, group: rest})
    changes = [undone if one is change else one for one in CHANGES]
    differing = []
    for number, recording in enumerate(change.recordings):
        version, _, scenario = recording.partition("/exec/")
        if not scenario:
            continue
        meta, theirs = recorded(version, scenario)
        folder = tmp_path / str(number)
        folder.mkdir()
        ours = played(meta, folder, monkeypatch, derive(version, changes))
        differing += [recording] if _sides(scenario, ours) != _sides(scenario, theirs) else []
    assert differing


def test_three_versions_were_recorded_in_the_same_scenarios() -> None:
    scenarios = [{file.stem for file in folder.iterdir()} for folder in sorted(RECORDINGS.iterdir())]
    assert len(scenarios) == 3
    assert scenarios[0] == scenarios[1] == scenarios[2]
