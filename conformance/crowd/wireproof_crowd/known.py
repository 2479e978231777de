"""What is known of faults from tables: which no judge can see beside what, and how many strangers break each row.

Faults that are never drawn, pairs of which a draw holds one, and second rows have reasons in `unseen.toml`. How often a
row is broken, by which the faults of a careless week are weighted, is counted, not copied: every line of
`conformance/tests/corpus/*.toml` and `conformance/gateways/findings.toml` was confirmed on the wire by a person, and
says what was seen there.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CONFORMANCE = Path(__file__).resolve().parents[2]
_VERDICTS = ("fail", "strict", "warn")
_LEVELS = ("compat", "strict")
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


@cache
def frequencies() -> Mapping[str, float]:
    """Row → how many strangers break it; rows that none breaks are left out."""
    return {row: float(len(names)) for row, names in strangers().items()}


@cache
def strangers() -> Mapping[str, frozenset[str]]:
    """Row → the names of the strangers that break it."""
    found: dict[str, set[str]] = {}
    for name, row in (*_of_corpus(), *_of_gateways()):
        found.setdefault(row, set()).add(name)
    return {row: frozenset(names) for row, names in found.items()}


def _of_corpus() -> Iterator[tuple[str, str]]:
    for path in sorted((_CONFORMANCE / "tests" / "corpus").glob("*.toml")):
        for fact in tomllib.loads(path.read_text(encoding="utf-8")).get("facts", ()):
            for line in (line for verdict in _VERDICTS for line in fact.get(verdict, ())):
                yield path.stem, line.partition(":")[0]


def _of_gateways() -> Iterator[tuple[str, str]]:
    findings = tomllib.loads((_CONFORMANCE / "gateways" / "findings.toml").read_text(encoding="utf-8"))
    for name, levels in findings.items():
        for level in _LEVELS:
            yield from ((name, row) for row in levels[level])
