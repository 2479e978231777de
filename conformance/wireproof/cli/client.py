"""`wireproof client`: judge a client by what it sends to Wireproof's own endpoint."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.arguments import level_option, seconds
from wireproof.cli.certify import EXIT_STATUSES
from wireproof.cli.complaint import driving, refusal
from wireproof.cli.console import console
from wireproof.cli.results import FORMAT, show
from wireproof.clients.judged import certify_client
from wireproof.clients.passive import JournalFileError, run_of_lines
from wireproof.clients.program import (
    IDLE,
    TIMEOUT,
    ClientCommand,
    ProgramClient,
    ProgramError,
    heed_interrupts,
    words_of,
)
from wireproof.clients.running import MODEL, SilentClientError, target_of
from wireproof.clients.tool_use import named_tool
from wireproof.model.catalogue import load
from wireproof.model.client_scenario import ClientScenario
from wireproof.model.verdict import VerdictLevel
from wireproof.reading.applicable import UnknownScenarioError, select
from wireproof.report.data import report_of
from wireproof.results import folder
from wireproof.results.document import Configuration
from wireproof.results.folder import FolderError
from wireproof.results.judge_run import judge_run
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS, JOURNAL
from wireproof_scripts.files.regular import content_of

if TYPE_CHECKING:
    from collections.abc import Sequence

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
@click.option("--timeout", type=seconds(1), default=TIMEOUT, show_default=True, help="Seconds of a scenario.")
@click.option(
    "--idle", type=seconds(0.1), default=IDLE, show_default=True,
    help="Seconds without a request after which a program that goes on is ended.",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 32), default=4, show_default=True, help="Scenarios at the same time.")
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="Folder for the result.")
@level_option(VerdictLevel.STRICT, "What decides the exit status.")
@click.option("--allow-partial", is_flag=True, help="Exit with 0 where nothing is broken and some was not observed.")
@FORMAT
def client_command(  # noqa: PLR0913 (one for each option)
    *,
    command: tuple[str, ...],
    journal: Path | None,
    variables: tuple[str, ...],
    model: str,
    tool: str | None,
    only: tuple[str, ...],
    timeout: float,
    idle: float,
    jobs: int,
    output: Path | None,
    level: str,
    form: str,
    allow_partial: bool,
) -> None:
    """Start a client once for each scenario, and judge what it sends.

    The endpoint knows the right conversation: which results are due, what was said, what was no answer, how long to
    wait. The command gets the prompt where {prompt} stands in it, else on standard input.
    """
    if bool(command) is bool(journal):
        raise click.UsageError("give the command of a client, or --journal FILE with what one has sent")
    if journal:
        certificate = _of_journal(journal, model, VerdictLevel(level))
        again = _again("--journal", str(journal), *_unusual("--model", model, MODEL))
    else:
        try:
            there = ClientCommand(words=words_of(command), variables=_variables(variables))
            chosen, used = _chosen(only), named_tool(tool)
            if output:
                folder.check(output)
        except (UnknownScenarioError, FolderError, ValueError) as error:
            raise refusal(error) from error
        heed_interrupts()
        with driving(ProgramError, SilentClientError):
            certificate = certify_client(
                ProgramClient(command=there, timeout=timeout, idle=idle),
                scenarios=chosen, selection=only, level=VerdictLevel(level), jobs=jobs, tool=used, model=model,
                progress=_say,
            )  # fmt: skip
        again = _again(
            *(f"--env={one}" for one in variables), *_unusual("--model", model, MODEL), *_unusual("--tool", tool, None),
            *_unusual("--timeout", timeout, TIMEOUT), *_unusual("--idle", idle, IDLE), "--", *there.words,
        )  # fmt: skip
    configuration = Configuration(
        command=again, jobs=certificate.jobs, at_a_time=0, selection=certificate.selection, level=certificate.level,
        allow_partial=allow_partial, known={},
    )  # fmt: skip
    report = report_of(certificate, load(), configuration, folder.versions())
    if output:
        folder.write(output, report, certificate)
    show(report, certificate, load(), form=form, demonstration=False)
    raise SystemExit(report.status)


def _again(*words: str) -> str:
    """The command that judges the same client again."""
    return shlex.join(["wireproof", "client", *words])


def _unusual(option: str, given: object, usual: object) -> tuple[str, ...]:
    """An option, where its value is not the usual one."""
    return () if given == usual else (f"{option}={given:g}" if isinstance(given, float) else f"{option}={given}",)


def _of_journal(file: Path, model: str, level: VerdictLevel) -> Certificate:
    """What a journal shows of a client; ends the command where there is nothing to judge."""
    try:
        run = run_of_lines(content_of(file, LARGEST).decode(errors="replace"), str(file))
    except OSError as error:
        raise refusal(f"{file} cannot be read: {folder.why(error)}") from error
    except JournalFileError as error:
        raise refusal(error) from error
    if not run.exchanges:
        raise refusal(f"{file} has no request for an answer")
    target = target_of([run], model, f"the client of {file.name}")
    # A selection, since nobody has asked for the rest.
    return judge_run([run], target, load(), selection=(JOURNAL.name,), level=level, jobs=1, seconds=0.0)


def _variables(given: Sequence[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    wrong = next((name + sep for name, sep, _ in pairs if not name or not sep), None)
    if wrong is not None:
        raise ValueError(f"--env {wrong!r} is no NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _chosen(only: Sequence[str]) -> tuple[ClientScenario, ...]:
    found = select(CLIENT_SCENARIOS, load(), only)
    return tuple(one for one in found if isinstance(one, ClientScenario))


def _say(run: ScenarioRun) -> None:
    """A line for a scenario in which the program did not end by itself."""
    if run.ended:
        console(stderr=True).print(f"{run.scenario.name}: {run.ended}", markup=False, highlight=False, soft_wrap=True)
