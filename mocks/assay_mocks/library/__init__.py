"""The scripts that the suite uses, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay_mocks.library.acting import ACTING
from assay_mocks.library.calls import CALLS
from assay_mocks.library.choices import CHOICES
from assay_mocks.library.failures import FAILURES
from assay_mocks.library.leaving import LEAVING
from assay_mocks.library.reflect import REFLECT
from assay_mocks.library.sentinel import SENTINEL
from assay_mocks.library.shapes import SHAPES
from assay_mocks.library.text import TEXT
from assay_mocks.library.textual import TEXTUAL
from assay_mocks.library.xml import XML

if TYPE_CHECKING:
    from assay_mocks.script import Library

LIBRARY: Library = {
    script.name: script
    for scripts in (TEXT, CALLS, SHAPES, TEXTUAL, SENTINEL, XML, CHOICES, FAILURES, LEAVING, REFLECT, ACTING)
    for script in scripts
}

__all__ = ["LIBRARY"]
