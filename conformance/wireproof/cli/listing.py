"""`wireproof list`: the requirements, or the scenarios."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click
from rich.text import Text

from wireproof.cli.arguments import JSON
from wireproof.cli.console import console
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.report.explain import as_json_text
from wireproof.report.lines import columns

if TYPE_CHECKING:
    from wireproof.model.scenario import Scenario


@click.command("list")
@click.option("--scenarios", is_flag=True, help="List the scenarios instead of the requirements.")
@JSON
def list_command(*, scenarios: bool, as_json: bool) -> None:
    """List the requirements, or the scenarios."""
    if scenarios:
        # The scenarios with their scripts take longer to import than all else that this command needs.
        from wireproof.report.scenario_json import scenario_data  # noqa: PLC0415
        from wireproof.scenarios import SCENARIOS  # noqa: PLC0415
        from wireproof.scenarios.live import LIVE  # noqa: PLC0415

        every = (*SCENARIOS, *LIVE)
        data = [scenario_data(one) for one in every] if as_json else []
        lines = [(one.name, _modes(one), one.title) for one in every]
    else:
        rows = load().requirements
        # Field by field, so that a new field of a row is there without a word here.
        data = [dataclasses.asdict(row) for row in rows] if as_json else []
        lines = [(row.id, row.level.value, row.text) for row in rows]
    if as_json:
        # Past rich, which would wrap the lines at the width of the terminal.
        click.echo(as_json_text(data))
    else:
        # `Text`, since rich would take brackets in a plain string for its markup: `tools[i]` would vanish.
        columns(console(), [(Text(name, style="bold"), Text(about), Text(said)) for name, about, said in lines])


def _modes(scenario: Scenario) -> str:
    return ", ".join(sorted({form.mode for form in scenario.forms(Dialect)}))
