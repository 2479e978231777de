"""The service with the suite's scripts, for the tests that look at it from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wireproof_cursor.serving import CursorMock, serving
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def mock() -> Iterator[CursorMock]:
    """A service of its own for each test."""
    with serving(LIBRARY) as running:
        yield running


@pytest.fixture
def turns(request: pytest.FixtureRequest) -> int:
    """How many turns a test of leaks plays."""
    return 1000 if request.config.getoption("whole") else 100
