"""The command of the container's file runs; where it may listen is the container's matter."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx

FILE = Path(__file__).parents[3] / "examples" / "container" / "Dockerfile"


def test_its_command_serves() -> None:
    [written] = re.findall(r"^ENTRYPOINT (\[.*\])$", FILE.read_text(encoding="utf-8"), re.MULTILINE)
    words = json.loads(written)
    assert (words[0], words[words.index("--host") + 1]) == ("python", "0.0.0.0")
    # Here on loopback alone, and at a free port.
    named = {"--host": "127.0.0.1", "--port": "0"}
    command = [named.get(before, word) for before, word in zip(["", *words], words, strict=False)]
    with subprocess.Popen([sys.executable, *command[1:]], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        assert httpx.get(f"{url}/models").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
