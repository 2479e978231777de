"""How many of the recorded strangers break each row: what the faults of a careless week are weighted by.

They are counted, not copied: every line of `conformance/tests/corpus/*.toml` and `conformance/gateways/findings.toml`
was confirmed on the wire by a person, and says what was seen there.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CONFORMANCE = Path(__file__).resolve().parents[2]
_VERDICTS = ("fail", "strict", "warn")
_LEVELS = ("compat", "strict")


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
