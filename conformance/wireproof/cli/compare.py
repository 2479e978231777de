"""`wireproof compare`: several saved results beside each other."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from wireproof.cli.arguments import FOLDERS, JSON, level_option
from wireproof.cli.complaint import refusal
from wireproof.cli.console import console
from wireproof.cli.saved import saved, transcripts
from wireproof.model.verdict import VerdictLevel
from wireproof.report.comparison import ResultToCompare, comparison
from wireproof.report.explain import as_json_text
from wireproof.report.phrases import STYLES
from wireproof.results.cells import BROKEN
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import Console

    from wireproof.report.comparison import Compared, Comparison, RowVerdict

FEWEST = 2
SHOWN = 160
"""Characters of what was seen that are printed."""


@click.command("compare")
@FOLDERS
@level_option(VerdictLevel.COMPAT, "Level whose verdicts are compared.")
@JSON
def compare_command(folders: Sequence[Path], level: str, *, as_json: bool) -> None:
    """Print saved results beside each other: one model behind several vendors or servers, or several proxies.

    It shows the requirements whose verdicts differ, the time until the first token and the tokens a second, over all
    runs of repeated results (certify --repeat). The first column is that of the first folder.
    """
    if len(folders) < FEWEST:
        raise click.UsageError("name two results or more; `wireproof certify --output DIR` writes one")
    names = _names(folders)
    found = comparison([_read(path, name) for path, name in zip(folders, names, strict=True)], VerdictLevel(level))
    if as_json:
        click.echo(as_json_text(dataclasses.asdict(found)))
    else:
        _print(console(), found)


def _names(folders: Sequence[Path]) -> list[str]:
    """What the results are called: as their folders, with the folders above where those are called alike."""
    short = [path.resolve().name for path in folders]
    names = [name if short.count(name) == 1 else str(path) for path, name in zip(folders, short, strict=True)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise refusal(f"{twice} is named twice; a result does not differ from itself")
    return names


def _read(path: Path, name: str) -> ResultToCompare:
    result = saved(path)
    every = [saved(result.folder / one.folder) for one in result.report.repeats if one.folder] or [result]
    runs = [transcripts(one).runs for one in every if one.report.transcripts]
    return ResultToCompare(name=name, report=result.report, runs=runs)


def _print(to: Console, found: Comparison) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for one in found.compared:
        table.add_column(Text(visible(one.name)), overflow="fold")
    for title, cells in _head(found.compared):
        table.add_row(Text(title, style="dim"), *(Text(visible(cell)) for cell in cells))
    for row in found.differing:
        verdicts = zip(row.verdicts, found.compared, strict=True)
        table.add_row(Text(row.requirement, style="bold"), *(_verdict(said, of) for said, of in verdicts))
    to.print(table)
    for row in found.differing:
        to.print()
        to.print(Text.assemble((row.requirement, "bold"), f"  {row.text}"), soft_wrap=True)
        for said, of in zip(row.verdicts, found.compared, strict=True):
            if said.seen and said.verdict in BROKEN:
                to.print(Text(f"  {visible(of.name)}: {visible(said.seen)[:SHOWN]}"), soft_wrap=True)
    to.print()
    alike = f", {found.broken_by_all} more are broken alike" if found.broken_by_all else ""
    some = "1 requirement is" if len(found.differing) == 1 else f"{len(found.differing)} requirements are"
    to.print(f"level {found.level}: {some} broken in some results and not in all{alike}")


def _head(compared: Sequence[Compared]) -> Iterator[tuple[str, Sequence[str]]]:
    """The lines above the requirements: (what it is, for each result)."""
    yield "target", [one.url or "not reached" for one in compared]
    yield "model", [one.model for one in compared]
    yield "result", [one.summary or f"nothing judged: {one.reason}" for one in compared]
    yield "surfaces", [", ".join(one.surfaces) for one in compared]
    yield "requirements judged", [str(one.judged) for one in compared]
    yield "broken", [str(one.broken) for one in compared]
    yield "runs", [str(one.runs) for one in compared]
    yield "streams", [str(one.speed.streams) for one in compared]
    yield "first token", [_number(one.speed.first_token, " s") for one in compared]
    yield "tokens a second", [_number(one.speed.tokens_per_second) for one in compared]


def _number(value: float | None, unit: str = "") -> str:
    return "not seen" if value is None else f"{value:.3g}{unit}"


def _verdict(said: RowVerdict, of: Compared) -> Text:
    runs = f" in {said.broken_in} of {of.runs} runs" if said.broken_in else ""
    return Text(f"{said.verdict.value}{runs}", style=STYLES.get(said.verdict, ""))
