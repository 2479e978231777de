"""The command of the container's file runs; where it may listen is the container's matter."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[3]
FILE = ROOT / "examples" / "container" / "Dockerfile"


def test_it_copies_all_that_the_package_is_made_of() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]
    copied = re.findall(r"^COPY (\S+) /src/\1$", FILE.read_text(encoding="utf-8"), re.MULTILINE)
    needed = [*wheel["packages"], *wheel["force-include"]]
    assert [one for one in needed if not any(f"{one}/".startswith(f"{path}/") for path in copied)] == []


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
