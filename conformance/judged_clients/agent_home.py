"""What the programs that start agents share: a home that nobody has used, and no network but loopback."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping

INSTALLED = Path(__file__).parent / "node_modules"
"""Where npm has put the agents: this folder's programs are copied beside it, see tests/pinned.py."""
MODEL = "gpt-4.1"
_NOWHERE = "http://127.0.0.1:9"
"""A proxy at which nobody listens: an agent that asks for news of itself gets none."""
_AWAY = {
    "HTTP_PROXY": "",
    "HTTPS_PROXY": _NOWHERE,
    "NO_PROXY": "127.0.0.1,localhost",
}


def new_home() -> Path:
    """A home with the folder `work` in it, below TMPDIR: whoever starts this program removes it."""
    home = Path(tempfile.mkdtemp(prefix="wireproof-agent-"))
    (home / "work").mkdir()
    return home


def become(home: Path, words: list[str], variables: Mapping[str, str]) -> NoReturn:
    """Go on as an agent, in the folder `work` of its home: a signal to this program is one to the agent itself."""
    os.chdir(home / "work")
    # At the end of its input it does not wait for more of the prompt.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Some take the folder from PWD, which is that of whoever started this program.
    os.execve(words[0], words, {**os.environ, "PWD": str(home / "work"), **_AWAY, **variables})  # noqa: S606 - no shell is meant


def native(pattern: str) -> str:
    """The agent's native program, without the launcher in JavaScript, which would keep signals to itself.

    Raises:
        SystemExit: it is not installed.
    """
    found = sorted(INSTALLED.glob(pattern))
    if not found:
        raise SystemExit(f"no {pattern} in {INSTALLED}: run conformance/clients/install.py conformance/judged_clients")
    return str(found[0])
