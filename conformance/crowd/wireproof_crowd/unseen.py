"""What no judge can see beside what: faults never drawn, pairs of which a draw holds one, second rows; with reasons."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_TABLE = Path(__file__).parent / "unseen.toml"


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(_TABLE.read_text(encoding="utf-8"))


@cache
def alone() -> Mapping[str, str]:
    """Fault that is never drawn → why."""
    return {name: line["why"] for line in _table()["alone"] for name in line["faults"]}


@cache
def beside() -> Mapping[tuple[str, str], str]:
    """A fault, and one beside which it does not break its row → why."""
    return {(line["faults"][0], line["faults"][1]): line["why"] for line in _table()["beside"]}


@cache
def also() -> Mapping[tuple[str, str], str]:
    """A fault, and a second row that it breaks → why."""
    return {(line["fault"], line["row"]): line["why"] for line in _table()["also"]}
