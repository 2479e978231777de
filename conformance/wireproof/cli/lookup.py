"""`wireproof explain` and `show`: one requirement, one scenario."""

from __future__ import annotations

import click

from wireproof.cli.console import console
from wireproof.cli.saved import EVERY
from wireproof.model.catalogue import UnknownRequirementError, load
from wireproof.model.dialect import Dialect
from wireproof.reading.applicable import UnknownScenarioError, applicable, select
from wireproof.report import explain
from wireproof.report.scenario_json import scenario_data


@click.command("explain")
@click.argument("requirement")
def explain_command(requirement: str) -> None:
    """Print what a requirement asks, its sources, the clients that break without it, and its scenarios."""
    try:
        row = load().find(requirement)
    except UnknownRequirementError as error:
        raise click.UsageError(str(error)) from error
    # In all dialects, since no target is asked about.
    scenarios = [scenario for scenario in EVERY if row in applicable(scenario, load(), Dialect)]
    explain.explain(console(), row, scenarios, load().seeds)


@click.command("show")
@click.argument("scenario")
def show_command(scenario: str) -> None:
    """Print a scenario and the script that answers it, as JSON."""
    try:
        # `select` also takes requirements: a name that is one deserves a better answer than "unknown".
        found = next((one for one in select(EVERY, load(), (scenario,)) if one.name == scenario), None)
    except UnknownScenarioError as error:
        raise click.UsageError(str(error)) from error
    if found is None:
        raise click.UsageError(f"{scenario} is a requirement, not a scenario; see: wireproof explain {scenario}")
    click.echo(explain.as_json_text(scenario_data(found)))
