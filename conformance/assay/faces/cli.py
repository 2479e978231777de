"""The command line: `assay certify`, `list`, `explain`, `show` and `serve`. Exit statuses: `certificate.MEANINGS`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console

from assay.faces.plan import USAGE_ERRORS, plan
from assay.faces.replay import replay_command
from assay.faces.results import FORMAT, TERMINAL, diff_command, judge_command, known_failing_group, report_command, show
from assay.faces.serve import serve
from assay.model.catalogue import UnknownRequirementError, load
from assay.model.dialect import Dialect
from assay.model.verdict import HarnessError
from assay.reading.applicable import applicable
from assay.reading.selection import UnknownScenarioError, select
from assay.report import explain, terminal
from assay.report.scenario_json import scenario_data
from assay.results.certificate import MEANINGS, Exit
from assay.results.report import Ended
from assay.scenarios import SCENARIOS
from assay.scenarios.live import LIVE
from assay.targets.interrupts import terminable
from assay.targets.options import Flag, Option, OptionError, Options, RunOptions, TargetOptions

if TYPE_CHECKING:
    from collections.abc import Callable

_Command = TypeVar("_Command", bound="Callable[..., Any]")

EXIT_STATUSES = (
    "\b\nExit status:\n"  # this first character keeps click from joining the lines
    + "\n".join(f"  {one:<5d}{meaning}" for one, meaning in MEANINGS.items())
    + "\n\nWith --only, 0, 1 and 4 speak of the selected requirements; with --allow-partial, 4 becomes 0."
)
"""The end of the help of `assay certify`."""


if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:  # generic in the stubs of newer versions only
    _ParamType = click.ParamType


class _Value(_ParamType):
    """What an option takes, read as the option itself reads it."""

    def __init__(self, option: Option) -> None:
        self.name, self._option = option.name, option

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 (as click's)
        """The value; click calls it for a default, too."""
        try:
            return self._option.kind.read(value)
        # Also float("x") and int("x"), whose own messages name Python's types.
        except ValueError:
            self.fail(f"{self._option.shown(value)} should be {self._option.kind.right}.", param, ctx)


def _with_options(*groups: type[Options]) -> Callable[[_Command], _Command]:
    """A decorator that gives a command every option of these groups; each arrives by the name of its field."""

    def decorate(command: _Command) -> _Command:
        # Decorators apply from the last to the first, so the last option must be added first to be shown last.
        for option in reversed([option for group in groups for option in group.options()]):
            command = _click_option(option)(command)
        return command

    return decorate


def _click_option(option: Option) -> Callable[[_Command], _Command]:
    names = (f"--{option.name}", option.field)
    if isinstance(option.kind, Flag):
        return click.option(*names, is_flag=True, help=option.full_help)
    return click.option(
        *names, type=_Value(option), metavar=option.kind.metavar, multiple=option.repeatable, help=option.full_help
    )


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="assay", prog_name="assay")
def main() -> None:
    """Certify OpenAI-compatible proxies in front of coding agents."""


@main.command("certify", epilog=EXIT_STATUSES)
@_with_options(TargetOptions, RunOptions)
@FORMAT
def certify_command(form: str, **values: Any) -> None:  # noqa: ANN401 (one for each option)
    """Certify the proxy at --url, or the one that --launch or --gateway starts.

    Without either, certify the proxy that comes with Assay, as a demonstration.
    """
    # click ends a command with 0 whatever it returns; the status has to be raised.
    raise SystemExit(_certify(TargetOptions.from_values(values), RunOptions.from_values(values), form))


def _certify(target: TargetOptions, run: RunOptions, form: str) -> int:
    # What a program reads from stdout has no bar and no line of ours in it.
    console = Console(stderr=form != TERMINAL)
    try:
        # Outside `terminable`: nothing has been started that a signal would have to stop.
        planned = plan(target, run)
        with terminable():
            certificate = planned.certify(
                lambda reached: terminal.progress(console, planned.scenarios_for(reached), reached.dialects),
                lambda said: console.print(said, soft_wrap=True, markup=False),
            )
        report = planned.write(certificate)
    except USAGE_ERRORS as error:
        raise click.UsageError(str(error)) from error
    except HarnessError as error:
        click.echo(f"assay: {error}", err=True)
        planned.write_not_driven(Ended.UNREACHABLE, str(error))
        return Exit.UNREACHABLE
    # click would print "Aborted!" and exit with 1, which here means that a MUST is broken.
    except KeyboardInterrupt as interrupt:
        kept = planned.write_interrupted(interrupt)
        click.echo(f"assay: interrupted{f'; {run.output} has what was driven until then' if kept else ''}", err=True)
        return Exit.INTERRUPTED
    show(report, certificate, planned.catalogue, form=form, demonstration=target.bundled)
    return report.status


for _command in (report_command, judge_command, diff_command, replay_command, known_failing_group):
    main.add_command(_command)


@main.command("list")
@click.option("--scenarios", is_flag=True, help="List the scenarios instead of the requirements.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(*, scenarios: bool, as_json: bool) -> None:
    """List the requirements, or the scenarios."""
    if scenarios:
        explain.list_scenarios(Console(), (*SCENARIOS, *LIVE), as_json=as_json)
    else:
        explain.list_requirements(Console(), load(), as_json=as_json)


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
    explain.explain(Console(), row, scenarios, load().seeds)


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
        raise click.UsageError(f"{scenario} is a requirement, not a scenario; see: assay explain {scenario}")
    click.echo(explain.as_json_text(scenario_data(found)))


@main.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8787,
    show_default=True,
    help="Port to listen on; 0 for any free one.",
)
@click.option("--api-key", default="assay", show_default=True, help="API key that clients must send.")
@click.option(
    "--scripts", type=click.Path(path_type=Path, dir_okay=False), help="YAML or JSON file with scripts of your own."
)
def serve_command(port: int, api_key: str, scripts: Path | None) -> None:
    """Serve an endpoint to develop a client with, or as the upstream of a gateway.

    It is the reference proxy with the scripted mock behind it.
    """
    try:
        serve(port=port, api_key=api_key, scripts=scripts, say=click.echo)
    except OptionError as error:
        click.echo(f"assay: {error}", err=True)
        raise SystemExit(Exit.USAGE) from error
    except HarnessError as error:
        click.echo(f"assay: {error}", err=True)
        raise SystemExit(Exit.UNREACHABLE) from error
