from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from wireproof.report.lines import columns, indented

LONG = "word " * 40 + "end"


def printed(line: Text, *, terminal: bool) -> list[str]:
    console = Console(file=io.StringIO(), width=60, color_system=None, force_terminal=terminal)
    indented(console, line)
    columns(console, [(Text("name"), Text("short")), (Text("longer name"), Text(LONG))], by=2)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_what_is_piped_is_a_line_each() -> None:
    assert printed(Text(LONG), terminal=False) == [
        f"  {LONG}", "  name         short", f"  longer name  {LONG}",
    ]  # fmt: skip


def test_a_terminal_wraps_below_the_beginning() -> None:
    first, second, *others = [line.rstrip() for line in printed(Text(LONG), terminal=True)]
    assert len(first) <= 60
    assert first.startswith("  word")
    assert second.startswith("  word")
    assert "  name         short" in others
    assert others[-1].startswith(" " * 15)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_command_is_never_wrapped(terminal: bool) -> None:  # noqa: FBT001 (a case)
    assert printed(Text(LONG, no_wrap=True), terminal=terminal)[0] == f"  {LONG}"


def test_no_rows_are_nothing() -> None:
    console = Console(file=io.StringIO())
    columns(console, [])
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == ""
