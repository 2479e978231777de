"""How much the tests play, and how soon the mocks that they start answer: at once, unless ASSAY_PACE says otherwise.

`--hypothesis-profile` names how many examples of properties are tried; `--whole` plays every scenario over miniatures.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

# No deadlines: the tests share their cores with servers and with each other.
settings.register_profile("ci", max_examples=60, deadline=None)
settings.register_profile("dev", max_examples=200, deadline=None)
settings.register_profile("nightly", max_examples=10_000, deadline=None)
settings.load_profile("dev")  # what `--hypothesis-profile` names is loaded after this, and before tests are imported

os.environ.setdefault("ASSAY_PACE", "0")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--whole`, which the nightly run gives."""
    parser.addoption(
        "--whole",
        action="store_true",
        help="play every scenario in which a miniature may differ from the faultless proxy, not a sample of them",
    )
