"""The conftest.py of the repository, where a pytest reads it that is not the tests' own."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

CONFTEST = Path(__file__).parents[2] / "conftest.py"


def test_it_needs_neither_hypothesis_nor_an_option_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    made = runpy.run_path(str(CONFTEST))
    assert "settings" not in made
    left_out: list[Any] = []

    def pytest_deselected(items: list[Any]) -> None:
        left_out.extend(items)

    # An option that was added when pytest had read the command line is none.
    config = SimpleNamespace(
        getoption=lambda _name, default: default, hook=SimpleNamespace(pytest_deselected=pytest_deselected)
    )
    day = SimpleNamespace(get_closest_marker=lambda _: None)
    night = SimpleNamespace(get_closest_marker=lambda name: name == "nightly")
    items = [day, night]
    made["pytest_collection_modifyitems"](config, items)
    assert (items, left_out) == ([day], [night])
