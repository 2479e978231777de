"""For a change one fault of each requirement is played, for a night all: those after the first are marked `nightly`."""

from __future__ import annotations

from pathlib import Path

import pytest

from wireproof_mocks.clients import FAULTS as CLIENT_FAULTS
from wireproof_mocks.miniatures import FAULTS

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what plays a second fault of a requirement, before such items are left out."""
    breaks = {name: fault.breaks for name, fault in FAULTS.items()}
    breaks |= {name: fault.breaks for name, fault in CLIENT_FAULTS.items()}
    first = {row: name for name, row in reversed(breaks.items())}
    for item in items:
        if HERE in item.path.parents:
            name = item.name.partition("[")[2].removesuffix("]")
            if name in breaks and first[breaks[name]] != name:
                item.add_marker(pytest.mark.nightly)
