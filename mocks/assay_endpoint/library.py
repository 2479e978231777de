"""Scripts in whatever form a program has them: a file, what would stand in one, or scripts themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay_scripts.files.json_form import script_from_json
from assay_scripts.files.read import load_scripts
from assay_scripts.library import LIBRARY
from assay_scripts.steps import Script

if TYPE_CHECKING:
    from assay_scripts.steps import Library

Given = str | Path | Script | Mapping[str, Any] | Sequence["str | Path | Script | Mapping[str, Any]"]
"""The path of a file, a script, a script as it would stand in a file, or several of these."""


def scripts_in(given: Given) -> dict[str, Script]:
    """The scripts by name.

    Raises:
        ScriptError: naming the place, and what would be right there.
    """
    match given:
        case Script():
            return {given.name: given}
        case str() | Path():
            return load_scripts(given)
        case Mapping():
            one = script_from_json(dict(given), "script")
            return {one.name: one}
    return {name: script for part in given for name, script in scripts_in(part).items()}


def with_library(scripts: Mapping[str, Script]) -> Library:
    """These scripts, and Assay's own behind them for requests with a marker; those are chosen by nothing else."""
    return {**scripts, **{name: script for name, script in LIBRARY.items() if name not in scripts}}
