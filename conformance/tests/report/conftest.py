"""A terminal of fixed width, and certificates made of runs."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from wireproof.judging.judge import judge_runs
from wireproof.judging.known_failing import apply
from wireproof.judging.outcomes import ScenarioRun
from wireproof.model.catalogue import Level, load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Target
from wireproof.results.certificate import Certificate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof.model.scenario import Form
    from wireproof.reading.exchange import Exchange

TARGET = Target(base_url="http://127.0.0.1:8787/v1", model="codex", keepalive=0.5, dialects=(Dialect.OPENAI_JSON,))


@pytest.fixture
def console() -> Console:
    """What is printed is in its `file`."""
    return Console(file=io.StringIO(), width=100, color_system=None)


@pytest.fixture
def printed(console: Console) -> Callable[[], str]:
    """What the console shows, without the blanks at the ends of lines."""

    def lines() -> str:
        assert isinstance(console.file, io.StringIO)
        return "\n".join(line.rstrip() for line in console.file.getvalue().split("\n"))

    return lines


@pytest.fixture
def certified() -> Callable[..., Certificate]:
    """The certificate of these exchanges."""

    def make(*exchanges: Exchange, known: Mapping[str, str] | None = None, error: str = "") -> Certificate:
        by_name: dict[str, dict[Form, list[Exchange]]] = {}
        for one in exchanges:
            by_name.setdefault(one.scenario.name, {}).setdefault(one.form, []).append(one)
        scenarios = {one.scenario.name: one.scenario for one in exchanges}
        runs = tuple(
            ScenarioRun(scenario=scenarios[name], exchanges=forms, error=error) for name, forms in by_name.items()
        )
        judged = judge_runs(runs, TARGET, load())
        musts = frozenset(row.id for row in load().requirements if row.level is Level.MUST)
        return Certificate(
            target=TARGET,
            date="2026-11-21",
            runs=runs,
            outcomes=apply(judged.outcomes, known or {}),
            causes=judged.causes,
            musts=musts,
            strict_musts=frozenset(row.id for row in load().requirements if not row.compat),
            seconds=2.04,
        )

    return make
