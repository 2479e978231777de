"""The command line: `assay certify`, `list`, `explain`, `show`, `serve` and `persona`.

Exit statuses: `certificate.MEANINGS`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console

from assay.faces.certificates import certificate_group, verify_command
from assay.faces.persona import APPROVALS, Asked, list_personas, persona
from assay.faces.plan import USAGE_ERRORS, plan
from assay.faces.replay import replay_command
from assay.faces.results import FORMAT, TERMINAL, diff_command, judge_command, known_failing_group, report_command, show
from assay.faces.scripts import scripts_group
from assay.faces.serve import serve_command
from assay.faces.site import site_command
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
from assay.targets.options import Flag, Option, OptionError, Options, Pair, Pairs, RunOptions, TargetOptions, secret

if TYPE_CHECKING:
    from collections.abc import Callable

_Command = TypeVar("_Command", bound="Callable[..., Any]")

EXIT_STATUSES = (
    "\b\nExit status:\n"  # this first character keeps click from joining the lines
    + "\n".join(f"  {one:<5d}{meaning}" for one, meaning in MEANINGS.items())
    + "\n\nWith --only, 0, 1 and 4 speak of the selected requirements; with --allow-partial, 4 becomes 0."
)
"""The end of the help of `assay certify`."""
PERSONA_STATUSES = (
    "\b\nExit status:\n  0    served\n  1    not served\n  2    wrong usage\n  3    not reached\n  130  interrupted"
)
"""The end of the help of `assay persona`."""


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


class _Header(_ParamType):
    """A header, written as for `assay certify`."""

    name = "header"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Pair:  # noqa: ANN401 (as click's)
        """The name and the value."""
        try:
            return Pairs(header=True).read(value)
        except OptionError as error:
            self.fail(f"a header should be {error}.", param, ctx)


_HEADER = _Header()


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


for _command in (
    report_command, judge_command, diff_command, replay_command, known_failing_group, certificate_group, verify_command,
    site_command,
):  # fmt: skip
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


main.add_command(serve_command)
main.add_command(scripts_group)


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
        list_personas(Console())
        raise SystemExit(Exit.CERTIFIED if as_list else Exit.USAGE)
    try:
        key = "" if api_key_env is None else secret(api_key_env, "the key")
        headers = dict(pair.resolved() for pair in values.pop("header"))
        with terminable():
            status = persona(Asked(name=name, key=key, headers=headers, tools=not no_tools, **values), Console())
    except OptionError as error:
        raise click.UsageError(str(error)) from error
    except HarnessError as error:
        click.echo(f"assay: {error}", err=True)
        status = Exit.UNREACHABLE
    except KeyboardInterrupt:
        click.echo("assay: interrupted", err=True)
        status = Exit.INTERRUPTED
    raise SystemExit(status)
