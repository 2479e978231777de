"""The tables of the manual that are made of definitions: options, ways round, exit statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.requests.ways_round import WAYS
from wireproof.results.certificate import MEANINGS
from wireproof.targets.options import RunOptions, TargetOptions
from wireproof_pages.markup import table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof.targets.option import Option

BEGIN = "<!-- {name}: written by tools/generate.py -->"
END = "<!-- end of {name} -->"


def options_table() -> str:
    """Every option of `wireproof certify`; the pytest plugin has the same, with `--wireproof-` before the name."""
    rows = [(f"`{_written(option)}`", option.full_help) for option in (*TargetOptions.options(), *RunOptions.options())]
    return table(("option", "meaning"), rows)


def _written(option: Option) -> str:
    """How it is written; a flag with the name that turns it off where a target file turns it on."""
    names = [f"--{name}" for name in (option.name, option.off) if name]
    return " / ".join([" ".join(filter(None, (names[0], option.kind.metavar))), *names[1:]])


def ways_table() -> str:
    """The ways round known faults: how each fault is recognised, and how the rest is judged."""
    rows = (f"| {way.fault} | {way.recognised} | {way.taken} |" for way in WAYS)
    return "\n".join(["| since | how it is recognised | judged |", "| --- | --- | --- |", *rows])


def exit_table() -> str:
    """Every exit status of `wireproof certify`."""
    return table(("exit status", "meaning"), [(f"`{status:d}`", meaning) for status, meaning in MEANINGS.items()])


TABLES: Mapping[str, Callable[[], str]] = {
    "options": options_table,
    "ways": ways_table,
    "exit-statuses": exit_table,
}
"""The name of a block in a page → what writes it. What is no matter of the suite, tools/generate.py adds."""


def blocks(text: str, tables: Mapping[str, Callable[[], str]] = TABLES) -> list[str]:
    """The names of the blocks that a page has a place for."""
    return [name for name in tables if BEGIN.format(name=name) in text]


def filled(text: str, tables: Mapping[str, Callable[[], str]] = TABLES) -> str:
    """A page with its blocks written again; a page without a place for a block is as it was.

    Raises:
        ValueError: a block begins but does not end.
    """
    for name in blocks(text, tables):
        begin, end = BEGIN.format(name=name), END.format(name=name)
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"the block {name} has no end; write {end} behind it")
        # The marks stay, so that the page can be written again.
        text = f"{before}{begin}\n{tables[name]()}\n{end}{after}"
    return text
