"""The command line: every command of `wireproof`; those of more than a few lines have a module of their own.

Exit statuses: `certificate.MEANINGS`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.certificates import certificate_group, verify_command
from wireproof.cli.certify import certify_command
from wireproof.cli.completion import completion_command
from wireproof.cli.console import console
from wireproof.cli.init import init_command
from wireproof.cli.persona import APPROVALS, Asked, list_personas, persona
from wireproof.cli.record import record_command
from wireproof.cli.replay import replay_command
from wireproof.cli.results import diff_command, judge_command, known_failing_group, report_command
from wireproof.cli.scripts import scripts_group
from wireproof.cli.serve import serve_command
from wireproof.cli.site import site_command
from wireproof.model.catalogue import UnknownRequirementError, load
from wireproof.model.dialect import Dialect
from wireproof.model.verdict import HarnessError
from wireproof.reading.applicable import applicable
from wireproof.reading.selection import UnknownScenarioError, select
from wireproof.report import explain
from wireproof.report.scenario_json import scenario_data
from wireproof.results.certificate import Exit
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE
from wireproof.targets.interrupts import terminable
from wireproof.targets.kinds import OptionError, Pair, Pairs, secret

PERSONA_STATUSES = (
    "\b\nExit status:\n  0    served\n  1    not served\n  2    wrong usage\n  3    not reached\n  130  interrupted"
)
"""The end of the help of `wireproof persona`."""


if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:  # generic in the stubs of newer versions only
    _ParamType = click.ParamType


class _Header(_ParamType):
    """A header, written as for `wireproof certify`."""

    name = "header"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Pair:  # noqa: ANN401 (as click's)
        """The name and the value."""
        try:
            return Pairs(header=True).read(value)
        except OptionError as error:
            self.fail(f"a header should be {error}.", param, ctx)


_HEADER = _Header()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="wireproof", prog_name="wireproof")
def main() -> None:
    """Certify OpenAI-compatible proxies in front of coding agents."""


for _command in (
    certify_command, init_command, report_command, judge_command, diff_command, replay_command, known_failing_group,
    certificate_group, verify_command, site_command, serve_command, scripts_group, record_command,
    completion_command,
):  # fmt: skip
    main.add_command(_command)


@main.command("list")
@click.option("--scenarios", is_flag=True, help="List the scenarios instead of the requirements.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(*, scenarios: bool, as_json: bool) -> None:
    """List the requirements, or the scenarios."""
    if scenarios:
        explain.list_scenarios(console(), (*SCENARIOS, *LIVE), as_json=as_json)
    else:
        explain.list_requirements(console(), load(), as_json=as_json)


@main.command("explain")
@click.argument("requirement")
def explain_command(requirement: str) -> None:
    """Print what a requirement asks, its sources, the clients that break without it, and its scenarios."""
    try:
        row = load().find(requirement)
    except UnknownRequirementError as error:
        raise click.UsageError(str(error)) from error
    # In all dialects, since no target is asked about.
    scenarios = [scenario for scenario in (*SCENARIOS, *LIVE) if row in applicable(scenario, load(), Dialect)]
    explain.explain(console(), row, scenarios, load().seeds)


@main.command("show")
@click.argument("scenario")
def show_command(scenario: str) -> None:
    """Print a scenario and the script that answers it, as JSON."""
    try:
        # `select` also takes requirements: a name that is one deserves a better answer than "unknown".
        found = next((one for one in select((*SCENARIOS, *LIVE), load(), (scenario,)) if one.name == scenario), None)
    except UnknownScenarioError as error:
        raise click.UsageError(str(error)) from error
    if found is None:
        raise click.UsageError(f"{scenario} is a requirement, not a scenario; see: wireproof explain {scenario}")
    click.echo(explain.as_json_text(scenario_data(found)))


@main.command("persona", epilog=PERSONA_STATUSES)
@click.argument("name", required=False)
@click.option("--list", "as_list", is_flag=True, help="List the personas.")
@click.option("--url", help="Base URL of the proxy, up to and including /v1; the bundled proxy if omitted.")
@click.option("--model", default="", help="Model to ask for. If omitted, the first that /models lists.")
@click.option("--api-key-env", metavar="VAR", help="Environment variable that holds the API key of the proxy.")
@click.option("--header", type=_HEADER, multiple=True, metavar=Pairs.metavar, help="Header of each request.")
@click.option(
    "--approve",
    type=click.Choice(APPROVALS),
    default=APPROVALS[0],
    show_default=True,
    help="Who decides whether a call may see the vault: you, here or on a page for your browser, or nobody.",
)
@click.option(
    "--vault",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of notes for the personas of ChatGPT MD. If omitted, a sample.",
)
@click.option("--no-tools", is_flag=True, help="Switch the tools of chatgpt-md off.")
@click.option("--whole", is_flag=True, help="Ask for whole answers instead of streams.")
@click.option(
    "--say",
    default="",
    metavar="TEXT",
    help="Ask this instead of the persona's question, which the mock answers by a script; for a model.",
)
@click.option("--timeout", type=click.FloatRange(min=0.1), default=120.0, show_default=True, help="Longest silence.")
def persona_command(name: str | None, *, as_list: bool, no_tools: bool, api_key_env: str | None, **values: Any) -> None:  # noqa: ANN401 (one for each option)
    """Hold a whole conversation as a known client does, and say whether the proxy served it."""
    if as_list or name is None:
        list_personas(console())
        raise SystemExit(Exit.CERTIFIED if as_list else Exit.USAGE)
    try:
        key = "" if api_key_env is None else secret(api_key_env, "the key")
        headers = dict(pair.resolved() for pair in values.pop("header"))
        with terminable():
            status = persona(Asked(name=name, key=key, headers=headers, tools=not no_tools, **values), console())
    except OptionError as error:
        raise click.UsageError(str(error)) from error
    except HarnessError as error:
        click.echo(f"wireproof: {error}", err=True)
        status = Exit.UNREACHABLE
    except KeyboardInterrupt:
        click.echo("wireproof: interrupted", err=True)
        status = Exit.INTERRUPTED
    raise SystemExit(status)
