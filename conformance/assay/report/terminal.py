"""The terminal report: progress while the run goes on, then counts, then each failure with what to do about it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from assay.model.dialect import DEFAULT, Arguments, Dialect
from assay.model.verdict import Verdict
from assay.report.phrases import STYLES, told
from assay.results.certificate import NOT_RUN, Certificate, Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from assay.driving import drive
    from assay.model.catalogue import Catalogue
    from assay.model.scenario import Form, Scenario

INCREMENTAL = Arguments.INCREMENTAL
REPEATS = " when each delta repeats the arguments so far"
"""How the catalogue says what the clients meet there."""
SCENARIOS = 6
"""How many scenarios of one broken requirement are named."""


@contextmanager
def progress(console: Console, scenarios: Sequence[Scenario], dialects: Sequence[Dialect]) -> Iterator[drive.Progress]:
    """A bar while scenarios are driven; nothing where the output is no terminal."""
    total = sum(len(scenario.forms(dialects)) for scenario in scenarios)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("driving", total=total)

        def advance(scenario: Scenario, form: Form) -> None:
            bar.update(task, advance=1, description=f"{scenario.name} ({form})")

        yield advance


def report(console: Console, certificate: Certificate, catalogue: Catalogue, *, again: str) -> None:
    """Everything, in the order in which a person wants it. `again` is the command that makes the run again."""
    _heading(console, certificate)
    _counts(console, certificate)
    _incompatible(console, certificate, catalogue)
    _failures(console, certificate, catalogue, again)
    _known(console, certificate)
    _errors(console, certificate)
    _conclusion(console, certificate)


def _heading(console: Console, certificate: Certificate) -> None:
    target = certificate.target
    said = (
        f"  model {target.model}, {target.backend} backend, {', '.join(target.dialects)}, "
        f"catalogue of {certificate.date}, {certificate.seconds:.1f} s"
    )
    console.print(Text.assemble((target.base_url, "bold"), said), soft_wrap=True)


def _counts(console: Console, certificate: Certificate) -> None:
    table = Table(box=None, show_header=False, padding=(0, 1))
    for verdict in Verdict:
        count = certificate.counts[verdict]
        if count:
            table.add_row(Text(str(count), style=STYLES[verdict], justify="right"), verdict.value)
    if certificate.known:
        table.add_row(Text(str(len(certificate.known)), justify="right"), "known failing")
    console.print(table)


def _incompatible(console: Console, certificate: Certificate, catalogue: Catalogue) -> None:
    """Who breaks on a target that tells arguments cumulatively in OpenAI's own dialect: it may, but not for them."""
    target = certificate.target
    if DEFAULT not in target.dialects or target.argument_mode(DEFAULT) is INCREMENTAL:
        return
    console.print()
    console.print(
        "[bold yellow]incompatible with OpenAI clients[/]: in openai-json each delta repeats the arguments so far"
    )
    for effect in catalogue.find("chat.stream.arguments-incremental").breaks:
        if REPEATS in effect:
            console.print(Padding(Text(f"breaks {effect.removesuffix(REPEATS)}", style="yellow"), (0, 0, 0, 2)))


def _failures(console: Console, certificate: Certificate, catalogue: Catalogue, again: str) -> None:
    """Requirement by requirement; the first scenario in full, the others by name."""
    for row in catalogue.requirements:
        broken = [
            outcome
            for outcome in certificate.outcomes
            if outcome.requirement == row.id and outcome.verdict in {Verdict.FAIL, Verdict.WARN} and not outcome.known
        ]
        if not broken:
            continue
        console.print()
        head, *lines = told(certificate, row, broken[0])
        console.print(head)
        names = [outcome.scenario for outcome in broken]
        more = f" and {len(names) - SCENARIOS} more" if len(names) > SCENARIOS else ""
        lines += [Text(f"in: {', '.join(names[:SCENARIOS])}{more}"), Text(f"again: {again} --only {names[0]}")]
        for line in lines:
            console.print(Padding(line, (0, 0, 0, 2)))


def _known(console: Console, certificate: Certificate) -> None:
    for outcome in certificate.known:
        console.print(Text(f"known failing  {outcome.key}  {outcome.known}", style="dim"), soft_wrap=True)


def _errors(console: Console, certificate: Certificate) -> None:
    for reason in dict.fromkeys(o.reason for o in certificate.outcomes if o.verdict is Verdict.ERROR):
        console.print(Text.assemble(("ERROR ", STYLES[Verdict.ERROR]), reason), soft_wrap=True)


def _conclusion(console: Console, certificate: Certificate) -> None:
    console.print()
    match certificate.exit:
        case Exit.CERTIFIED if certificate.unobserved:
            console.print("[bold green]certified, in part[/]: no violation, but these MUSTs could not be observed:")
            for line in _unobserved(certificate):
                console.print(Padding(Text(line), (0, 0, 0, 2)))
        case Exit.CERTIFIED:
            console.print("[bold green]certified[/]")
        case Exit.FAILED:
            failed = len({o.requirement for o in certificate.outcomes if o.verdict is Verdict.FAIL and not o.known})
            plural = "requirement" if failed == 1 else "requirements"
            console.print(f"[bold red]not certified[/]: {failed} {plural} broken")
        case _:
            console.print("[bold magenta]no certificate[/]: the target could not be driven to the end")


def _unobserved(certificate: Certificate) -> Iterator[str]:
    """Those that this run was not asked for are only counted."""
    asked = {row: reason for row, reason in certificate.unobserved.items() if reason != NOT_RUN}
    yield from (f"{row}: {reason}" for row, reason in asked.items())
    not_run = len(certificate.unobserved) - len(asked)
    if not_run:
        yield f"{not_run} {'MUST' if not_run == 1 else 'MUSTs'}{' more' if asked else ''}: {NOT_RUN}"
