"""Where an endpoint's scripts come from: a file beside the library of Assay, or the library alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from assay_scripts.files.errors import ScriptError
from assay_scripts.library import LIBRARY

if TYPE_CHECKING:
    from pathlib import Path

    from assay_endpoint.endpoint import Scripts
    from assay_scripts.steps import Library

log = logging.getLogger(__name__)


def scripts_of(path: Path | None) -> Scripts:
    """The scripts of a file, which is read again when it changes, together with the library; None: the library."""
    if path is None:
        return lambda: LIBRARY
    # Not at the head: YAML takes its time, and most endpoints have no file.
    from assay_scripts.files.read import ScriptFile  # noqa: PLC0415

    return _reported(ScriptFile(path, LIBRARY).library)


def _reported(scripts: Scripts) -> Scripts:
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
