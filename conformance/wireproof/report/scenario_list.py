"""The list of all scenarios, for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from wireproof.model.dialect import Dialect
from wireproof.report.explain import as_json_text
from wireproof.report.lines import columns
from wireproof.report.scenario_json import scenario_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from wireproof.model.scenario import Scenario


def list_scenarios(console: Console, scenarios: Sequence[Scenario], *, as_json: bool) -> None:
    """All scenarios: name, modes, title."""
    if as_json:
        # Past rich, which would wrap the lines at the width of the terminal.
        console.file.write(as_json_text([scenario_data(one) for one in scenarios]) + "\n")
        return
    columns(console, [(Text(one.name, style="bold"), Text(_modes(one)), Text(one.title)) for one in scenarios])


def _modes(scenario: Scenario) -> str:
    return ", ".join(sorted({form.mode for form in scenario.forms(Dialect)}))
