"""A short soak: `benchmarks/soak.py --minutes 30` is the long one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[3] / "benchmarks" / "soak.py"


@pytest.mark.nightly
def test_memory_is_flat_and_every_answer_right_at_half_of_capacity() -> None:
    command = [sys.executable, str(SOAK), "--minutes", "1"]
    soak = subprocess.run(command, capture_output=True, text=True, check=False)
    assert soak.returncode == 0, soak.stdout + soak.stderr
    assert " 0 wrong " in soak.stdout
