"""`wireproof list`: the requirements, or the scenarios."""

from __future__ import annotations

import click

from wireproof.cli.console import console
from wireproof.model.catalogue import load
from wireproof.report.explain import list_requirements


@click.command("list")
@click.option("--scenarios", is_flag=True, help="List the scenarios instead of the requirements.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(*, scenarios: bool, as_json: bool) -> None:
    """List the requirements, or the scenarios."""
    if scenarios:
        # The scenarios with their scripts take longer to import than all else that this command needs.
        from wireproof.report.scenario_list import list_scenarios  # noqa: PLC0415
        from wireproof.scenarios import SCENARIOS  # noqa: PLC0415
        from wireproof.scenarios.live import LIVE  # noqa: PLC0415

        list_scenarios(console(), (*SCENARIOS, *LIVE), as_json=as_json)
    else:
        list_requirements(console(), load(), as_json=as_json)
