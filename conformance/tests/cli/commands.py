"""The commands of `wireproof` in this process, as a person runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner, Result

from wireproof.cli.root import root
from wireproof.results.certificate import ExitStatus

if TYPE_CHECKING:
    from pathlib import Path


def wireproof(*words: str | Path, said: str | None = None) -> Result:
    """What a command did; `said` is what the person types."""
    return CliRunner().invoke(root, [str(word) for word in words], input=said)


def refused(*words: str | Path) -> str:
    """The one line on stderr about what cannot be done."""
    result = wireproof(*words)
    assert (result.exit_code, result.stdout) == (ExitStatus.USAGE, "")
    assert result.stderr.startswith("wireproof: ")
    assert result.stderr.count("\n") == 1
    return result.stderr
