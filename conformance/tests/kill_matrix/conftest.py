"""For a change the faults of some requirements are played, for a night all: the others are marked `nightly`."""

from __future__ import annotations

from pathlib import Path

import pytest

from wireproof_mocks.clients import FAULTS as CLIENT_FAULTS
from wireproof_mocks.miniatures import FAULTS

HERE = Path(__file__).parent
SHARE = 12
"""For a change the fault of one requirement in so many is played."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is for the night, before such items are left out."""
    breaks = {name: fault.breaks for name, fault in FAULTS.items()}
    breaks |= {name: fault.breaks for name, fault in CLIENT_FAULTS.items()}
    first = {row: name for name, row in reversed(breaks.items())}
    # Neighbours in the order of the faults are of one topic, so that every topic is played.
    played = {*[*dict.fromkeys(map(first.__getitem__, breaks.values()))][::SHARE]}
    for item in items:
        if HERE in item.path.parents:
            name = item.name.partition("[")[2].removesuffix("]")
            if name in breaks and name not in played:
                item.add_marker(pytest.mark.nightly)
