from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.report.progress import LONG, progress
from wireproof.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.model.scenario import Scenario

NAMED = {scenario.name: scenario for scenario in SCENARIOS}
OPENAI = (Dialect.OPENAI_JSON,)
WHOLE = Form(Dialect.OPENAI_JSON, Mode.WHOLE)


def shown(scenarios: Sequence[Scenario], dialects: tuple[Dialect, ...], form: Form, *, terminal: bool) -> str:
    """What is shown of a run of all these scenarios after each has been driven in one form."""
    out = io.StringIO()
    console = Console(file=out, width=120, force_terminal=terminal, force_interactive=terminal, legacy_windows=False)
    with progress(console, scenarios, dialects) as advance:
        for scenario in scenarios:
            advance(scenario, form)
    return out.getvalue()


def test_a_terminal_has_a_bar_with_the_step_and_the_time_left() -> None:
    said = shown([NAMED["text-hello"], NAMED["flush"]], OPENAI, WHOLE, terminal=True)
    assert "driving flush (whole)" in said
    assert "2/3" in said
    assert said.count(":") > 1  # the time that it took, and the time left


def test_every_form_is_counted_and_the_dialect_is_named_that_is_not_openais() -> None:
    said = shown([NAMED["text-hello"]], tuple(Dialect), Form(Dialect.OBSIDIAN_XML, Mode.STREAM), terminal=True)
    assert "text-hello (stream, obsidian-xml)" in said
    assert "1/10" in said


def test_a_short_run_that_is_piped_prints_nothing() -> None:
    assert shown([NAMED["text-hello"], NAMED["flush"]], OPENAI, WHOLE, terminal=False) == ""


def test_a_long_run_that_is_piped_prints_a_plain_line_for_each_tenth() -> None:
    few = [one for one in SCENARIOS if len(one.forms(OPENAI)) == 1][:10]
    many = few * (LONG // len(few))
    lines = shown(many, OPENAI, WHOLE, terminal=False).splitlines()
    assert [line.rpartition(", about")[0] for line in lines] == [
        f"driving: {done} of {LONG}" for done in range(10, LONG, 10)
    ]
    assert all(line.endswith(" s left") for line in lines)


@pytest.mark.parametrize("terminal", [True, False])
def test_nothing_to_do_is_no_fault(terminal: bool) -> None:  # noqa: FBT001 (a case)
    assert "Traceback" not in shown([], OPENAI, WHOLE, terminal=terminal)
