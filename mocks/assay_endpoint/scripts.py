"""Where an endpoint's scripts come from: a file beside the library of Assay, or the library alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay_scripts.files.read import ScriptFile
from assay_scripts.library import LIBRARY

if TYPE_CHECKING:
    from pathlib import Path

    from assay_endpoint.endpoint import Scripts


def scripts_of(path: Path | None) -> Scripts:
    """The scripts of a file, which is read again when it changes, together with the library; None: the library."""
    return ScriptFile(path, LIBRARY).library if path is not None else lambda: LIBRARY
