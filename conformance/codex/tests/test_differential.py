"""The same conversations with a real app-server and with the mock: what either says is the same.

What is compared, and what need not be the same, `side_by_side` and `wireproof_fidelity` say; `differential.toml` there
has every conversation and its result.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import pytest
from binaries import NEWEST, VERSIONS, binary
from conversations import CONVERSATIONS
from side_by_side import Said, said_by_mock, said_by_real, write_scripts
from wireproof_fidelity.table import Compared, load_differential

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

TABLE = {(row.script, row.version): row for row in load_differential()}
EVERY = [(name, version) for name, it in CONVERSATIONS.items() for version in VERSIONS if it.is_of(version)]
IDS = [f"{'newest' if version == NEWEST else version}-{name}" for name, version in EVERY]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scripts(tmp_path_factory.mktemp("scripts") / "scripts.json")


def _differences(theirs: Said, ours: Said, without: AbstractSet[str] = frozenset()) -> str:
    """What differs, as a patch; '' when nothing does."""
    patch = difflib.unified_diff(theirs.lines(without), ours.lines(without), "real", "mock", lineterm="", n=0)
    return "\n".join(patch)


@pytest.mark.parametrize(("name", "version"), EVERY, ids=IDS)
def test_the_mock_says_what_the_real_server_says(name: str, version: str, tmp_path: Path, scripts: Path) -> None:
    conversation, row = CONVERSATIONS[name], TABLE.get((name, version)) or _equal(name, version)
    theirs = said_by_real(conversation, version, [binary(version)], tmp_path / "real")
    ours = said_by_mock(conversation, version, scripts, tmp_path / "mock")
    assert _differences(theirs, ours, row.without) == ""
    assert bool(_differences(theirs, ours)) is (row.result == "accepted difference")


def _equal(name: str, version: str) -> Compared:
    """What is expected of a conversation that the table does not have."""
    return Compared(script=name, version=version, result="equal")


def test_the_table_has_every_conversation_and_no_other() -> None:
    compared = {key for key, row in TABLE.items() if row.result != "not compared"}
    assert compared == set(EVERY)
