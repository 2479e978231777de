"""The scripts that the suite and the personas use, by name; each module has those of one topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay_scripts.library.acting import ACTING
from assay_scripts.library.agent import AGENT
from assay_scripts.library.calls import CALLS
from assay_scripts.library.choices import CHOICES
from assay_scripts.library.failures import FAILURES
from assay_scripts.library.leaving import LEAVING
from assay_scripts.library.personas import PERSONAS
from assay_scripts.library.reflect import REFLECT
from assay_scripts.library.sentinel import SENTINEL
from assay_scripts.library.shapes import SHAPES
from assay_scripts.library.text import TEXT
from assay_scripts.library.textual import TEXTUAL
from assay_scripts.library.xml import XML

if TYPE_CHECKING:
    from assay_scripts.steps import Library

LIBRARY: Library = {
    script.name: script  # a test holds that no two share a name: one would be lost here
    for scripts in (
        TEXT,
        CALLS,
        SHAPES,
        TEXTUAL,
        SENTINEL,
        XML,
        CHOICES,
        FAILURES,
        LEAVING,
        REFLECT,
        ACTING,
        AGENT,
        PERSONAS,
    )
    for script in scripts
}

__all__ = ["LIBRARY"]
