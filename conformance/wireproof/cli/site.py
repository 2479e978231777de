"""`wireproof site`: a static site of many saved results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.arguments import FOLDERS, level_option
from wireproof.cli.complaint import refusal, say
from wireproof.cli.saved import runs_of, saved
from wireproof.model.catalogue import load
from wireproof.model.verdict import VerdictLevel
from wireproof.report.examples import SiteEntry
from wireproof.report.grouping import counted
from wireproof.report.site import site
from wireproof.results import folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MARK = ".wireproof-site"
"""The file that marks a folder as a site of ours, which may be replaced."""


@click.command("site")
@FOLDERS
@click.option("--output", "-o", required=True, metavar="FOLDER", type=click.Path(path_type=Path), help="Where it goes.")
@click.option(
    "--example",
    "examples",
    metavar="DIR",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Saved result that shows requirements kept or broken and has no page, such as a miniature's; may be repeated.",
)
@level_option(VerdictLevel.STRICT, "Level whose verdicts the tables show.")
def site_command(folders: Sequence[Path], output: Path, examples: Sequence[Path], level: str) -> None:
    """Make a static site of saved results: a matrix of proxies, a page per proxy and per requirement.

    A folder is named for its proxy; NAME@VERSION names the version, too. Results of one proxy are shown as its
    versions, in the order in which they were run.
    """
    _check(output)
    entries = sorted(map(_entry, folders), key=lambda one: (one.name, one.report.began))
    names = [one.file for one in entries]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise refusal(f"two results are named {twice}; name their folders NAME@VERSION")
    # Examples are named for their proxies alone.
    shown = [replace(_entry(path), version="") for path in examples]
    pages = site(entries, load(), level=VerdictLevel(level), shown=shown)
    try:
        count = _write(output, pages)
    except OSError as error:
        raise refusal(f"{output} cannot be written to: {folder.why(error)}") from error
    targets = len({one.name for one in entries})
    say(f"{output / 'index.html'}: {counted(count, 'page')} of {counted(targets, 'target')}")


def _entry(path: Path) -> SiteEntry:
    result = saved(path)
    name, _, version = path.resolve().name.partition("@")
    return SiteEntry(name=name, version=version, report=result.report, runs=runs_of(result))


def _check(output: Path) -> None:
    """Refuse a folder that holds something else, which a site would be mixed with."""
    try:
        others = output.exists() and any(output.iterdir()) and not (output / MARK).exists()
    except OSError as error:
        raise refusal(f"{output} cannot be a folder for a site: {folder.why(error)}") from error
    if others:
        raise refusal(f"{output} holds something other than a site of Wireproof; name a new or an empty folder")


def _write(output: Path, pages: Iterable[tuple[str, str]]) -> int:
    output.mkdir(parents=True, exist_ok=True)
    (output / MARK).touch()
    old, new = set(output.rglob("*.html")), set[Path]()
    for name, text in pages:
        path = output / name
        path.parent.mkdir(exist_ok=True)
        # Lone surrogates: some answers hold them, and no UTF-8 could be written with them.
        path.write_bytes(text.encode(errors="backslashreplace"))
        new.add(path)
    for path in old - new:
        path.unlink()
    return len(new)
