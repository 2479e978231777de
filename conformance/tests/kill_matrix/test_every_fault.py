"""Every requirement is really checked: each has a fault that breaks it, and each fault an item that `-k` finds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.side import Side
from wireproof.model.target import Target
from wireproof.reading.applicable import applicable
from wireproof.requests.adapted import adapted
from wireproof.scenarios import CONVERSATIONS, SCENARIOS
from wireproof_mocks.clients import FAULTS as CLIENT_FAULTS
from wireproof_mocks.miniatures import FAULTS
from wireproof_scripts.library import LIBRARY

HERE = Path(__file__).parent


def test_each_fault_is_chosen_by_its_name() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--whole", "-p", "no:cacheprovider", str(HERE)]
    collected = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    items = {item.partition("[")[2].removesuffix("]") for item in collected}
    assert {*FAULTS, *CLIENT_FAULTS} - items == set()


BROKEN = {
    Side.PROXY: {one.breaks for one in FAULTS.values()},
    Side.CLIENT: {one.breaks for one in CLIENT_FAULTS.values()},
}


@pytest.mark.parametrize("side", Side)
def test_every_row_of_the_catalogue_has_a_fault(side: Side) -> None:
    assert load().about(side).by_id.keys() - BROKEN[side] == set()


@pytest.mark.parametrize("dialect", [Dialect.MESSAGES])
def test_every_row_that_a_surface_is_judged_by_has_a_fault_that_shows_there(dialect: Dialect) -> None:
    target = Target(base_url="http://127.0.0.1/v1", model="m", dialects=(dialect,))
    judged = {row.id for one in SCENARIOS for row in applicable(adapted(one, target), load(), target.dialects)}
    there = {fault.breaks for fault in FAULTS.values() if dialect in fault.dialects}
    assert judged - there == set()


@pytest.mark.parametrize("side", Side)
def test_every_fault_breaks_a_row_of_the_catalogue(side: Side) -> None:
    assert BROKEN[side] - load().about(side).by_id.keys() == set()


def test_a_fault_names_dialects_and_scripts_that_there_are() -> None:
    played = {script for one in CONVERSATIONS for script in (one.script, *(turn.script for turn in one.turns))}
    played |= {""}  # plain requests have no script
    played |= {name for name in LIBRARY if name.startswith("persona/")}  # emulated clients play those
    for fault in FAULTS.values():
        assert set(fault.dialects) <= set(Dialect)
        assert set(fault.scripts) <= played


def test_a_name_says_what_is_wrong() -> None:
    assert all(fault.name == name for name, fault in FAULTS.items())
    rows = {name: one.breaks for name, one in FAULTS.items()} | {
        name: one.breaks for name, one in CLIENT_FAULTS.items()
    }
    for name, row in rows.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name), "words, not a number or a requirement"
        assert name != row.rpartition(".")[2], "what a developer did, not what it breaks"
