"""Some scenarios of all kinds, driven once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from wireproof.driving.drive import drive
from wireproof.scenarios import SCENARIOS
from wireproof.targets import bundled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.judging.outcomes import Run
    from wireproof.model.target import Target


@pytest.fixture(scope="session")
def driven() -> tuple[Target, Sequence[Run]]:
    """Some scenarios of all kinds, driven against the bundled proxy."""
    chosen = [scenario for scenario in SCENARIOS if scenario.request or scenario.tools or scenario.choices > 1][::12]
    with bundled.proxy() as target:
        return target, asyncio.run(drive(chosen, target)).runs
