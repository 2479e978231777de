"""Where an endpoint's scripts come from: files, what would stand in one, scripts themselves; beside the library."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Script

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_endpoint.endpoint import Scripts
    from wireproof_scripts.steps import Library

log = logging.getLogger(__name__)

Given = str | Path | Script | Mapping[str, Any] | Sequence["str | Path | Script | Mapping[str, Any]"]
"""The path of a file, a script, a script as it would stand in a file, or several of these."""

# The modules that read files are imported where they are needed: YAML takes its time, and most endpoints have no file.


def scripts_of(*paths: Path) -> Scripts:
    """The scripts of files and folders, which are read again when one changes, and the library; or that alone."""
    if not paths:
        return lambda: LIBRARY
    from wireproof_scripts.files.read import ScriptFiles  # noqa: PLC0415

    return now_and_then(ScriptFiles(paths, LIBRARY, "endpoint").library)


SPARED = 100
"""How many times as long as the last look at the files took it is until the next one."""
LONGEST = 0.05
"""Seconds after which they are looked at in any case: whoever changes one does not wait for it."""


def now_and_then(look: Scripts, clock: Callable[[], float] = monotonic) -> Scripts:
    """What `look` gives, without a look for each request: a folder has hundreds of files."""
    found: Library | ScriptError = {}
    due = -math.inf

    def looked() -> Library | ScriptError:
        nonlocal found, due
        now = clock()
        if now >= due:
            found = look()
            took = clock() - now
            due = now + took + min(SPARED * took, LONGEST)
        return found

    return looked


def reported(scripts: Scripts) -> Scripts:
    """The scripts; whatever is wrong with them is logged, once each time it is found."""
    last: Library | ScriptError | None = None

    def looked() -> Library | ScriptError:
        nonlocal last
        found = scripts()
        if found is not last and isinstance(found, ScriptError):
            log.warning("%s", found)
        last = found
        return found

    return looked


def scripts_in(given: Given) -> dict[str, Script]:
    """The scripts by name.

    Raises:
        ScriptError: naming the place, and what would be right there.
    """
    match given:
        case Script():
            return {given.name: given}
        case str() | Path():
            from wireproof_scripts.files.read import load_scripts  # noqa: PLC0415

            return load_scripts(given, player="endpoint")
        case Mapping():
            from wireproof_scripts.files.json_form import script_from_json  # noqa: PLC0415

            one = script_from_json(dict(given), "script")
            return {one.name: one}
    return {name: script for part in given for name, script in scripts_in(part).items()}


def with_library(scripts: Mapping[str, Script]) -> Library:
    """These scripts, and Wireproof's own behind them for requests with a marker; those are chosen by nothing else."""
    return {**scripts, **{name: script for name, script in LIBRARY.items() if name not in scripts}}
