from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from rich.console import Console

from wireproof.cli.root import root
from wireproof.model.catalogue import load
from wireproof.model.dialect import CHATS
from wireproof.report.explain import explain
from wireproof.report.scenario_json import scenario_data
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from collections.abc import Callable

    Printed = Callable[[], str]

ROW = load().find("chat.stream.role-first")


@pytest.fixture
def listed() -> Callable[..., str]:
    """What `wireproof list` prints."""

    def text(*options: str) -> str:
        done = CliRunner().invoke(root, ["list", *options])
        assert done.exit_code == 0
        return done.output

    return text


def test_requirements_are_listed_with_level_and_sentence(listed: Callable[..., str]) -> None:
    lines = [" ".join(line.split()) for line in listed().splitlines()]
    starts = [line.split()[0] for line in lines if line.split() and line.split()[0] in load().by_id]
    assert starts == list(load().by_id)
    assert any(line.startswith("chat.stream.role-first MUST Each choice sends role") for line in lines)


def test_requirements_are_listed_for_programs(listed: Callable[..., str]) -> None:
    rows = json.loads(listed("--json"))
    assert [row["id"] for row in rows] == list(load().by_id)
    fields = json.loads(json.dumps(dataclasses.asdict(ROW), default=sorted))
    assert next(row for row in rows if row["id"] == ROW.id) == fields


def test_scenarios_are_listed_with_modes_and_title(listed: Callable[..., str]) -> None:
    lines = [" ".join(line.split()) for line in listed("--scenarios").splitlines()]
    assert "text-hello stream, whole A short answer in four deltas" in lines
    assert any(line.startswith("flush stream The backend waits until the client") for line in lines)
    names = {scenario.name for scenario in (*SCENARIOS, *LIVE)}
    assert names == {line.partition(" ")[0] for line in lines}


def test_scenarios_are_listed_for_programs(listed: Callable[..., str]) -> None:
    assert json.loads(listed("--scenarios", "--json")) == [scenario_data(one) for one in (*SCENARIOS, *LIVE)]


def test_a_requirement_is_explained_in_full(console: Console, printed: Printed) -> None:
    explain(console, ROW, SCENARIOS[:2], load().seeds)
    said = printed()
    assert said.startswith(f"chat.stream.role-first  MUST  stream; {', '.join(CHATS)}\n")
    joined = " ".join(said.split())
    assert ROW.text in joined
    assert f"To do: {ROW.hint}" in joined
    for effect in ROW.breaks:
        assert f"Breaks {effect}" in joined
    for cited in ROW.source:
        assert f"Source “{load().seeds[cited.seed]}”, line {cited.line}: “{' '.join(cited.quote.split())}”" in joined
    assert "Scenarios: text-hello, text-empty" in joined


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chat.stream.role-first", "At both levels a violation is a failure."),
        ("chat.stream.text", "a failure. The user reads another text than the one that the model wrote."),
        ("chat.stream.stable-created", "At level strict a violation is a failure, at level compat a warning"),
        (
            "chat.stream.finish-once",
            "is a failure. A finish beside a delta that is not empty is a warning",
        ),
        ("http.request-id", "At both levels a violation is a warning."),
    ],
)
def test_an_explanation_says_what_a_violation_is_at_both_levels(
    console: Console, printed: Printed, name: str, said: str
) -> None:
    explain(console, load().find(name), (), {})
    assert said in " ".join(printed().split())


def test_lines_of_an_explanation_are_wrapped_and_indented(console: Console, printed: Printed) -> None:
    terminal = Console(file=console.file, width=100, color_system=None, force_terminal=True)
    explain(terminal, ROW, (), {})
    _, *lines = printed().rstrip("\n").split("\n")
    assert all(line.startswith("  ") and len(line) <= 100 for line in lines)
    assert lines[-2:] == ["  Scenarios: none", "  Page: docs/catalogue/chat-stream.md#chat.stream.role-first"]
