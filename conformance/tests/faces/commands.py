"""The commands of `assay` in this process, as a person runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner, Result

from assay.faces.cli import main
from assay.results.certificate import Exit

if TYPE_CHECKING:
    from pathlib import Path


def assay(*words: str | Path, said: str | None = None) -> Result:
    """What a command did; `said` is what the person types."""
    return CliRunner().invoke(main, [str(word) for word in words], input=said)


def refused(*words: str | Path) -> str:
    """The one line on stderr about what cannot be done."""
    result = assay(*words)
    assert (result.exit_code, result.stdout) == (Exit.USAGE, "")
    assert result.stderr.startswith("assay: ")
    assert result.stderr.count("\n") == 1
    return result.stderr
