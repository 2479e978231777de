"""What the plugin and its items share: the keys of the session's run, and the property of a broken item's report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from wireproof.pytest_plugin.session import WireproofSession

SESSION: pytest.StashKey[WireproofSession] = pytest.StashKey()
FOLDER = pytest.StashKey[str]()
"""The folder that the workers of pytest-xdist share, where it is made: in their controller."""
BROKEN = "broken"
"""The property of a failed item's report that holds a requirement with its sentence; JUnit's XML has it, too."""
