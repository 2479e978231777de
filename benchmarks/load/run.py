"""Locust's users against the bundled proxy, headless: fails when one answer was wrong, or the proxy grew.

python benchmarks/load/run.py [SECONDS [USERS]]
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import resident, saying_its_url

KEY = "key-under-load"
GROWTH = 64
"""MiB that the proxy may have more at the end than after its first seconds."""
SETTINGS = {"PROXY_PORT": "0", "PROXY_API_KEY": KEY, "PROXY_OUTPUT_MODE": "openai-json", "PROXY_LOG_LEVEL": "warning"}


def locust(url: str, seconds: int, users: int) -> int:
    """Locust's exit status: 1 when an answer failed."""
    file = Path(__file__).with_name("locustfile.py")
    words = ["-f", str(file), "--host", url, "--headless", "-u", str(users), "-r", str(users), "-t", f"{seconds}s"]
    env = {**os.environ, "WIREPROOF_LOAD_KEY": KEY}
    return subprocess.run([sys.executable, "-m", "locust", *words, "--only-summary"], env=env, check=False).returncode


def main(seconds: int = 60, users: int = 32) -> int:
    """Load the proxy for so long; the exit status."""
    codex = str(Path(sys.executable).with_name("wireproof-codex"))
    env = {**SETTINGS, "CODEX_BIN": codex, "CODEX_HOME": "", "WIREPROOF_PACE": "0"}
    with saying_its_url("-m", "wireproof_proxy", **env) as (url, pid):
        host = url.removesuffix("/v1")
        status = locust(host, min(seconds, 10), users)
        before = resident(pid)
        status = status or locust(host, seconds, users)
        grown = resident(pid) - before
    print(f"status {status}, grown by {grown:.1f} MiB")  # noqa: T201 - the result
    return status or int(grown > GROWTH)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
