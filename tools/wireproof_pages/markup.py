"""Markdown for the generated pages: tables, and words that show as they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# With a group, so that `split` keeps the spans.
_CODE_SPAN = re.compile(r"(`[^`]*`)")
_MARKUP = re.compile(r"([\\`*_<>\[\]{}])")


def note(sources: str) -> str:
    """The line that says what a page is made from, and that it is not edited by hand."""
    return f"<!-- Written by tools/generate.py from {sources}. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, without a line break at its end."""
    # Here for all cells, since a bar ends a cell in code spans as well.
    lines = ([cell.replace("|", r"\|") for cell in cells] for cells in (head, ["---"] * len(head), *rows))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def shown(words: str) -> str:
    """Words as Markdown that shows them: code spans stay, all other markup is escaped."""
    spans = _CODE_SPAN.split(words)
    return "".join(span if _CODE_SPAN.fullmatch(span) else _MARKUP.sub(r"\\\1", span) for span in spans)
