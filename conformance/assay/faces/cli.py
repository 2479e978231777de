"""The command line: `assay certify`, `list`, `explain`, `show` and `serve`. Exit codes: see `certificate.Exit`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from assay.faces.serve import serve
from assay.judging import known_failing
from assay.model.catalogue import UnknownRequirementError, load
from assay.model.dialect import CHATS, Arguments, Dialect
from assay.model.verdict import HarnessError
from assay.reading.applicable import applicable
from assay.reading.selection import UnknownScenarioError, keys, select
from assay.report import explain, terminal
from assay.report.scenario_json import scenario_data
from assay.results.certificate import Exit, certify
from assay.scenarios import SCENARIOS
from assay.targets.interrupts import terminable
from assay.targets.options import OptionError, TargetOptions, reach

if TYPE_CHECKING:
    from collections.abc import Mapping


class Seconds(click.FloatRange):
    """A time that can be waited for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 (as click's)
        """The time in seconds; neither nan nor endless."""
        seconds: float = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is no time in seconds.", param, ctx)
        return seconds


SECONDS = Seconds(min=0.01)
INTERRUPTED = 130
"""The exit status that shells give to what a person interrupted."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="assay", prog_name="assay")
def main() -> None:
    """Certify OpenAI-compatible proxies in front of coding agents."""


@main.command("certify")
@click.option("--url", help="Base URL of the proxy, up to and with /v1.")
@click.option(
    "--launch",
    metavar="CMD",
    help="Command that starts a proxy on 127.0.0.1:{port}, with the mock as its CODEX_BIN. "
    "{port} is replaced (in --url too) and also stands in the variables PORT and PROXY_PORT.",
)
@click.option(
    "--codex",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A real Codex (its native binary) for the proxy to start instead of the mock: its model's service plays the "
    "scripts that it can.",
)
@click.option("--model", default="", help="Model to ask for; the first of /models when not given.")
@click.option("--api-key-env", metavar="VAR", help="Environment variable that holds the key of the proxy.")
@click.option("--keepalive", type=SECONDS, help="The proxy's keep-alive interval in seconds, to have it judged.")
@click.option("--idle-timeout", type=SECONDS, help="How long it lets a backend be silent, to have it judged.")
@click.option("--body-limit", type=click.IntRange(1), help="The largest body in bytes that the proxy takes.")
@click.option("--slots", type=click.IntRange(1), help="How many turns the proxy runs at once, to have it judged.")
@click.option(
    "--dialect",
    "dialects",
    multiple=True,
    type=click.Choice([dialect.value for dialect in Dialect]),
    help="A dialect that it speaks.",
)
@click.option(
    "--default-mode",
    type=click.Choice([dialect.value for dialect in CHATS]),
    help="Its output mode without a header.",
)
@click.option(
    "--arguments", type=click.Choice([way.value for way in Arguments]), help="How its streams tell arguments."
)
@click.option("--timeout", type=SECONDS, default=10.0, show_default=True, help="Seconds of silence allowed.")
@click.option("--start-timeout", type=SECONDS, default=30.0, show_default=True, help="Seconds to become ready.")
@click.option("--only", multiple=True, metavar="NAME", help="Only this scenario, or those exercising a requirement.")
@click.option(
    "--known-failing",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="File of known failures, `<scenario>:<requirement> <reason>` per line.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=8, show_default=True, help="Exchanges at the same time.")
def certify_command(  # noqa: PLR0913 (one parameter per option)
    *,
    url: str | None,
    launch: str | None,
    codex: Path | None,
    model: str,
    api_key_env: str | None,
    keepalive: float | None,
    idle_timeout: float | None,
    body_limit: int | None,
    slots: int | None,
    dialects: tuple[str, ...],
    arguments: str | None,
    default_mode: str | None,
    timeout: float,
    start_timeout: float,
    only: tuple[str, ...],
    known_failing: Path | None,
    jobs: int,
) -> None:
    """Certify a proxy: at --url, started by --launch, or (with neither) the one that comes with Assay.

    Exit status: 0 certified, 1 not certified, 2 wrong usage, 3 the target could not be reached or driven,
    130 interrupted.
    """
    wanted = TargetOptions(
        url=url, command=launch, codex=codex, model=model, api_key_env=api_key_env, keepalive=keepalive,
        idle_timeout=idle_timeout,        body_limit=body_limit, slots=slots,
        dialects=tuple(map(Dialect, dialects)), arguments=Arguments(arguments) if arguments else None,
        default_mode=Dialect(default_mode) if default_mode else None,
        timeout=timeout, start_timeout=start_timeout,
    )  # fmt: skip
    raise SystemExit(_certify(wanted, only, known_failing, jobs))


def _certify(wanted: TargetOptions, only: tuple[str, ...], known_file: Path | None, jobs: int) -> int:
    console, catalogue = Console(), load()
    try:
        scenarios = select(SCENARIOS, catalogue, only)
        known = _known(known_file)
        with (
            terminable(),
            reach(wanted) as target,
            terminal.progress(console, scenarios, target.dialects) as progress,
        ):
            certificate = certify(target, scenarios, catalogue, known=known, jobs=jobs, progress=progress)
    except (UnknownScenarioError, known_failing.KnownFailingError, OptionError) as error:
        raise click.UsageError(str(error)) from error
    except HarnessError as error:
        click.echo(f"assay: {error}", err=True)
        return Exit.UNREACHABLE
    except KeyboardInterrupt:
        click.echo("assay: interrupted", err=True)
        return INTERRUPTED
    terminal.report(console, certificate, catalogue, again=wanted.command_line())
    return certificate.exit


def _known(path: Path | None) -> Mapping[str, str]:
    if path is None:
        return {}
    return known_failing.load(path, keys(SCENARIOS, load()))


@main.command("list")
@click.option("--scenarios", is_flag=True, help="The scenarios instead of the requirements.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def list_command(*, scenarios: bool, as_json: bool) -> None:
    """List the requirements, or the scenarios."""
    if scenarios:
        explain.list_scenarios(Console(), SCENARIOS, as_json=as_json)
    else:
        explain.list_requirements(Console(), load(), as_json=as_json)


@main.command("explain")
@click.argument("requirement")
def explain_command(requirement: str) -> None:
    """Say what a requirement asks, where it comes from, who breaks without it and which scenarios exercise it."""
    try:
        row = load().find(requirement)
    except UnknownRequirementError as error:
        raise click.UsageError(str(error)) from error
    explain.explain(
        Console(), row, [scenario for scenario in SCENARIOS if row in applicable(scenario, load(), Dialect)]
    )


@main.command("show")
@click.argument("scenario")
def show_command(scenario: str) -> None:
    """Print a scenario and the script that answers it, as JSON."""
    try:
        found = next((one for one in select(SCENARIOS, load(), (scenario,)) if one.name == scenario), None)
    except UnknownScenarioError as error:
        raise click.UsageError(str(error)) from error
    if found is None:
        raise click.UsageError(f"{scenario} is a requirement, not a scenario; see: assay explain {scenario}")
    click.echo(explain.as_json_text(scenario_data(found)))


@main.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), default=8787, show_default=True, help="0 takes any free port.")
@click.option("--api-key", default="assay", show_default=True, help="The key that clients must send.")
@click.option("--scripts", type=click.Path(path_type=Path, dir_okay=False), help="YAML or JSON file of your scripts.")
def serve_command(port: int, api_key: str, scripts: Path | None) -> None:
    """Serve a mock endpoint for client development: the reference proxy with the scripted mock behind it."""
    try:
        serve(port=port, api_key=api_key, scripts=scripts, say=click.echo)
    except OptionError as error:
        click.echo(f"assay: {error}", err=True)
        raise SystemExit(Exit.USAGE) from error
    except HarnessError as error:
        click.echo(f"assay: {error}", err=True)
        raise SystemExit(Exit.UNREACHABLE) from error
