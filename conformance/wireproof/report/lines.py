"""Indented lines of a report: wrapped to the width of a terminal, and whole where they are piped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

BY = 2
"""Characters of the indentation."""
GAP = 2
"""Characters between columns."""


def indented(console: Console, line: Text) -> None:
    """Print a line; one that is `no_wrap` is a command, which could not be copied if it was wrapped."""
    if console.is_terminal and not line.no_wrap:
        console.print(Padding(line, (0, 0, 0, BY)))
    else:
        # What is piped is searched line by line, and has no width.
        console.print(Text(" " * BY) + line, soft_wrap=True)


def columns(console: Console, rows: Sequence[Sequence[Text]], *, by: int = 0) -> None:
    """Print rows of columns, indented by `by`; only the last column may wrap: names are there to be copied."""
    if not rows:
        return
    widths = [max(len(cell) for cell in column) for column in list(zip(*rows, strict=True))[:-1]]
    if console.is_terminal:
        table = Table(box=None, show_header=False, padding=(0, GAP, 0, 0), pad_edge=False)
        for _ in widths:
            table.add_column(no_wrap=True)
        for row in rows:
            table.add_row(*row)
        console.print(Padding(table, (0, 0, 0, by)))
        return
    for *names, said in rows:
        filled = [name + Text(" " * (width - len(name) + GAP)) for name, width in zip(names, widths, strict=True)]
        console.print(Text.assemble(" " * by, *filled, said), soft_wrap=True)
