"""`wireproof scripts`: what is wrong with files of scripts, and the schema that editors check them against."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.complaint import refusal, say
from wireproof.report.grouping import counted
from wireproof.results.certificate import ExitStatus
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.read import check_scripts
from wireproof_scripts.files.schema import file_schema

if TYPE_CHECKING:
    from wireproof_scripts.files.read import FileReading

SHOWN = 100
"""Mistakes that are printed; the rest is counted."""
NAMED = 10
"""Scripts that are named in one line; the rest is counted."""
STATUSES = """\b
Exit statuses:
  0  every script is right, and can be chosen
  1  a script is wrong, or is hidden by an earlier one
  2  a file or folder cannot be read at all
"""


@click.group("scripts")
def scripts_group() -> None:
    """Check scripts, and print their schema for editors."""


@scripts_group.command("check", epilog=STATUSES)
@click.argument("paths", metavar="FILE…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def check_command(paths: tuple[Path, ...], *, as_json: bool) -> None:
    """Say every mistake in files of scripts, and in folders of them, with its line and what would be right.

    The files are read as one library, as `wireproof serve --scripts` reads them.
    """
    try:
        found = check_scripts(paths)
    except ScriptError as error:
        raise refusal(error) from error
    wrong = [*found.mistakes, *found.hidden]
    say(_as_json(found) if as_json else _as_text(found))
    unreadable = any(mistake.unread for mistake in found.mistakes)
    raise SystemExit(ExitStatus.USAGE if unreadable else 1 if wrong else 0)


def _as_text(found: FileReading) -> str:
    wrong = [*found.mistakes, *found.hidden]
    lines = [str(mistake) for mistake in wrong[:SHOWN]]
    lines += [f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
    marked = _by_marker_alone(found)
    more = f" and {len(marked) - NAMED} more" if len(marked) > NAMED else ""
    lines += [f"no `when`, so a marker alone chooses: {', '.join(marked[:NAMED])}{more}"] if marked else []
    right = f"{counted(len(found.scripts), 'script')} read"
    return "\n".join([*lines, f"{right}, {counted(len(wrong), 'mistake')}" if wrong else f"{right}, all right"])


def _by_marker_alone(found: FileReading) -> list[str]:
    """The scripts without `when`, which only a marker selects; some people forget it."""
    mistaken = {mistake.script for mistake in found.mistakes}
    return [name for name, script in found.scripts.items() if script.when is None and name not in mistaken]


def _as_json(found: FileReading) -> str:
    wrong = {"mistakes": list(map(_mistake, found.mistakes)), "hidden": list(map(_mistake, found.hidden))}
    said = {"scripts": list(found.scripts), "by_marker_alone": _by_marker_alone(found), **wrong}
    return json.dumps(said, ensure_ascii=False, indent=2)


def _mistake(error: ScriptError) -> dict[str, object]:
    line, column = error.at or (None, None)
    return {"file": error.file, "line": line, "column": column, "place": error.place, "problem": error.problem}


@scripts_group.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of a file of scripts, for editors that check YAML while you type."""
    click.echo(json.dumps(file_schema(), ensure_ascii=False, indent=2))
