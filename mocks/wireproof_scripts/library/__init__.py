"""The scripts that the suite and the personas use, by name; each module has those of one topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_scripts.library.acting import ACTING
from wireproof_scripts.library.agent import AGENT
from wireproof_scripts.library.calls import CALLS
from wireproof_scripts.library.choices import CHOICES
from wireproof_scripts.library.failures import FAILURES
from wireproof_scripts.library.leaving import LEAVING
from wireproof_scripts.library.personas import PERSONAS
from wireproof_scripts.library.reflect import REFLECT
from wireproof_scripts.library.sentinel import SENTINEL
from wireproof_scripts.library.shapes import SHAPES
from wireproof_scripts.library.surfaces import SURFACES
from wireproof_scripts.library.text import TEXT
from wireproof_scripts.library.textual import TEXTUAL
from wireproof_scripts.library.xml import XML

if TYPE_CHECKING:
    from wireproof_scripts.steps import Library

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
        SURFACES,
        PERSONAS,
    )
    for script in scripts
}

__all__ = ["LIBRARY"]
