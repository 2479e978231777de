"""How much the tests play, and how soon the mocks that they start answer: at once, if WIREPROOF_PACE is unset.

`--hypothesis-profile` names how many examples of properties are tried; `--whole` plays every scenario over miniatures,
and runs the tests that are marked `nightly`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

try:
    from hypothesis import settings
except ModuleNotFoundError:
    # Where Wireproof is installed as editable, some versions of pytest read this file for `--pyargs wireproof.suites`,
    # too. What the tests of Wireproof itself need is not in such an environment.
    pass
else:
    # No deadlines: the tests share their cores with servers and with each other.
    settings.register_profile("ci", max_examples=60, deadline=None)
    settings.register_profile("dev", max_examples=200, deadline=None)
    settings.register_profile("nightly", max_examples=10_000, deadline=None)
    settings.load_profile("dev")  # what `--hypothesis-profile` names is loaded after this, before tests are imported

os.environ.setdefault("WIREPROOF_PACE", "0")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--whole`, which the nightly run gives."""
    parser.addoption(
        "--whole",
        action="store_true",
        help="play every scenario in which a miniature may differ from the faultless proxy, not a sample of them",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark of tests that are too long for every change."""
    config.addinivalue_line("markers", "nightly: run with --whole alone, as the nightly run does")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, and count as deselected, what is for the nightly run."""
    if config.getoption("whole", default=False):
        return
    left_out = [one for one in items if one.get_closest_marker("nightly")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [one for one in items if one not in left_out]
