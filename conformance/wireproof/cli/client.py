"""`wireproof client`: judge a client by what it sends to Wireproof's own endpoint."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.arguments import level_option
from wireproof.cli.certify import EXIT_STATUSES
from wireproof.cli.complaint import complain, refusal
from wireproof.cli.console import console
from wireproof.cli.results import FORMAT, show
from wireproof.clients.judged import certify_client
from wireproof.clients.passive import JournalFileError, run_of_lines
from wireproof.clients.program import ClientCommand, ProgramError, heed_interrupts, words_of
from wireproof.clients.program_client import IDLE, TIMEOUT, ProgramClient
from wireproof.clients.running import MODEL, SilentClientError, target_of
from wireproof.clients.tool_use import named_tool
from wireproof.model.catalogue import load
from wireproof.model.client_scenario import ClientScenario
from wireproof.model.verdict import VerdictLevel
from wireproof.reading.applicable import UnknownScenarioError, select
from wireproof.report.data import report_of
from wireproof.results import folder
from wireproof.results.certificate import ExitStatus
from wireproof.results.document import Configuration
from wireproof.results.folder import FolderError
from wireproof.results.judge_run import RunInfo, Terms, judge_run
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS, JOURNAL
from wireproof.targets.interrupts import terminable
from wireproof_scripts.files.regular import content_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.clients.tool_use import ToolUse
    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.results.certificate import Certificate

LARGEST = 2**28
"""Bytes that a journal's file may have."""
USED = """\b
Examples:
  wireproof client -- python my_agent.py '{prompt}'
  wireproof client -- python my_chat.py                       # reads prompts from standard input, a line each
  wireproof client -- node agent.mjs --url '{base_url}' --key '{key}' --model '{model}' '{prompt}'
  wireproof client --env LLM_URL='{base_url}' -- ./agent '{prompt}'

The program has OPENAI_BASE_URL and OPENAI_API_KEY in its environment, and ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY.

"""


@dataclass(frozen=True, kw_only=True)
class ClientOptions:
    """What a person asked for besides the command."""

    journal: Path | None
    variables: tuple[str, ...]
    model: str
    tool: str | None
    only: tuple[str, ...]
    timeout: float
    idle: float
    jobs: int
    output: Path | None
    level: str
    allow_partial: bool


@click.command(
    "client", epilog=USED + EXIT_STATUSES.replace("wireproof certify", "wireproof client"),
    context_settings={"ignore_unknown_options": True},
)  # fmt: skip
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[--] COMMAND…")
@click.option(
    "--journal", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Judge what `wireproof serve --journal FILE` has noted of a client, and start none.",
)  # fmt: skip
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="Variable of the program; repeatable.")
@click.option("--model", default=MODEL, show_default=True, help="What {model} stands for.")
@click.option(
    "--tool", metavar="NAME[=JSON]",
    help="Tool that is called, with its arguments. If omitted, one that the client declares and that only looks.",
)  # fmt: skip
@click.option("--only", multiple=True, metavar="NAME", help="Scenario or requirement; repeatable.")
@click.option("--timeout", type=click.FloatRange(1), default=TIMEOUT, show_default=True, help="Seconds of a scenario.")
@click.option(
    "--idle", type=click.FloatRange(0.1), default=IDLE, show_default=True,
    help="Seconds without a request after which a program that goes on is ended.",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 32), default=4, show_default=True, help="Scenarios at the same time.")
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="Folder for the result.")
@level_option(VerdictLevel.STRICT, "What decides the exit status.")
@click.option("--allow-partial", is_flag=True, help="Exit with 0 where nothing is broken and some was not observed.")
@FORMAT
def client_command(command: tuple[str, ...], form: str, **values: Any) -> None:  # noqa: ANN401 (as click reads them)
    """Start a client once for each scenario, and judge what it sends.

    The endpoint knows the right conversation: which results are due, what was said, what was no answer, how long to
    wait. The command gets the prompt where {prompt} stands in it, else on standard input.
    """
    asked = ClientOptions(**values)
    if bool(command) is bool(asked.journal):
        raise click.UsageError("give the command of a client, or --journal FILE with what one has sent")
    if asked.journal:
        raise SystemExit(_reported(_of_journal(asked.journal, asked), _of_file(asked), asked.output, form))
    try:
        there = ClientCommand(words=words_of(command), variables=_variables(asked.variables))
        chosen, used = _chosen(asked.only), _tool(asked.tool)
        if asked.output:
            folder.check(asked.output)
    except (UnknownScenarioError, FolderError, ValueError) as error:
        raise refusal(error) from error
    heed_interrupts()
    client = ProgramClient(command=there, timeout=asked.timeout, idle=asked.idle)
    terms = Terms(selection=asked.only, level=VerdictLevel(asked.level), jobs=asked.jobs)
    try:
        with terminable():
            certificate = certify_client(
                client, scenarios=chosen, terms=terms, tool=used, model=asked.model, progress=_say
            )
    except (ProgramError, SilentClientError) as error:
        complain(error)
        raise SystemExit(ExitStatus.UNREACHABLE) from error
    except KeyboardInterrupt as error:
        complain("interrupted")
        raise SystemExit(ExitStatus.INTERRUPTED) from error
    raise SystemExit(_reported(certificate, _configuration(there, terms, asked), asked.output, form))


def _of_journal(file: Path, asked: ClientOptions) -> Certificate:
    """What a journal shows of a client; it is a selection, since nobody has asked for the rest."""
    try:
        run = run_of_lines(content_of(file, LARGEST).decode(errors="replace"), str(file))
    except OSError as error:
        raise refusal(f"{file} cannot be read: {folder.why(error)}") from error
    except JournalFileError as error:
        raise refusal(error) from error
    if not run.exchanges:
        raise refusal(f"{file} has no request for an answer")
    terms = Terms(selection=(JOURNAL.name,), level=VerdictLevel(asked.level), jobs=1)
    return judge_run(
        [run],
        target_of([run], asked.model, f"the client of {file.name}"),
        load(),
        terms,
        RunInfo(began="", seconds=0.0),
    )


def _of_file(asked: ClientOptions) -> Configuration:
    return Configuration(
        command=f"wireproof client --journal {shlex.quote(str(asked.journal))}",
        jobs=1,
        at_a_time=0,
        selection=(JOURNAL.name,),
        level=VerdictLevel(asked.level),
        allow_partial=asked.allow_partial,
        known={},
    )


def _variables(given: Sequence[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    wrong = next((name + sep for name, sep, _ in pairs if not name or not sep), None)
    if wrong is not None:
        raise ValueError(f"--env {wrong!r} is no NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _chosen(only: Sequence[str]) -> tuple[ClientScenario, ...]:
    found = select(CLIENT_SCENARIOS, load(), only)
    return tuple(one for one in found if isinstance(one, ClientScenario))


def _tool(given: str | None) -> ToolUse | None:
    if given is None:
        return None
    name, _, arguments = given.partition("=")
    return named_tool(name, arguments)


def _say(run: ScenarioRun) -> None:
    """A line for a scenario in which the program did not end by itself."""
    if run.ended:
        console(stderr=True).print(f"{run.scenario.name}: {run.ended}", markup=False, highlight=False, soft_wrap=True)


def _configuration(command: ClientCommand, terms: Terms, asked: ClientOptions) -> Configuration:
    """How the run was asked for; the command judges the same client again."""
    tool = [f"--tool={asked.tool}"] if asked.tool else []
    words = ["wireproof", "client", *(f"--env={one}" for one in asked.variables), *tool]
    return Configuration(
        command=f"{shlex.join(words)} -- {command}",
        jobs=terms.jobs,
        at_a_time=0,
        selection=terms.selection,
        level=terms.level or VerdictLevel.STRICT,
        allow_partial=asked.allow_partial,
        known={},
    )


def _reported(certificate: Certificate, configuration: Configuration, output: Path | None, form: str) -> int:
    """Write and print a result; its exit status."""
    report = report_of(certificate, load(), configuration, folder.versions())
    if output:
        folder.write(output, report, certificate)
    show(report, certificate, load(), form=form, demonstration=False)
    return report.status
