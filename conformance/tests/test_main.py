from __future__ import annotations

import subprocess
import sys


def test_the_module_is_the_command() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "wireproof", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert printed.startswith("Usage: wireproof ")
