"""A proxy in front of `codex exec` is driven like any other: its command finds the mock as `codex`, which plays."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

PROXY = shlex.join([sys.executable, str(Path(__file__).with_name("exec_proxy.py")), "{port}"])
SCENARIOS = ("text-hello", "text-utf8", "system-prompt", "fail-first")


def test_what_scripts_say_reaches_the_client_through_exec(tmp_path: Path) -> None:
    named = [word for scenario in SCENARIOS for word in ("--only", scenario)]
    command = [sys.executable, "-m", "wireproof", "certify", "--launch", PROXY, "--surface", "chat", *named]
    done = subprocess.run(
        [*command, "--level", "compat"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert "compat: nothing broken" in done.stdout, done.stdout + done.stderr
    assert "live" not in done.stdout.partition("model codex")[2].partition("\n")[0]
