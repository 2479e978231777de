"""Some scenarios of all kinds, driven once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from wireproof.driving.drive import drive
from wireproof.driving.planning import planned
from wireproof.scenarios import CONVERSATIONS, PLAIN, SCENARIOS
from wireproof.targets import bundled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.target import Target


@pytest.fixture(scope="session")
def driven() -> tuple[Target, Sequence[ScenarioRun]]:
    """Some scenarios of all kinds, driven against the bundled proxy."""
    several = {one.name for one in CONVERSATIONS if one.tools or one.choices > 1} | {one.name for one in PLAIN}
    chosen = [scenario for scenario in SCENARIOS if scenario.name in several][::12]
    with bundled.proxy() as target:
        return target, asyncio.run(drive(planned(chosen, target), target)).runs
