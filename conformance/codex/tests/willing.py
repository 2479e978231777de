"""Stands where a proxy starts `codex app-server`, and makes it a Codex that has a shell and asks before it is used.

    python willing.py BINARY JOURNAL app-server [ARGUMENT …]

What the proxy says to forbid it is left out or said otherwise; every other line passes as it is. JOURNAL gets a line
for each request of the Codex and each answer to one: its method, or the answer as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

FORBIDDING = "features.shell_tool=false"
BEGINNING = "thread/start"


def willing(arguments: list[str]) -> list[str]:
    """The arguments of the app-server, without what takes its shell away."""
    if FORBIDDING not in arguments:
        return arguments
    place = arguments.index(FORBIDDING)
    return [*arguments[: place - 1], *arguments[place + 1 :]]


def said(line: bytes) -> bytes:
    """What the proxy says, less that nothing may be asked, and that there is no place to run anything."""
    message: dict[str, Any] = json.loads(line)
    if message.get("method") != BEGINNING:
        return line
    params = {name: value for name, value in message["params"].items() if name != "environments"}
    params["approvalPolicy"] = "on-request"
    return json.dumps({**message, "params": params}).encode() + b"\n"


def main(binary: str, journal: Path, arguments: list[str]) -> int:
    """Relay until the app-server ends; its exit status."""
    with (
        journal.open("a", encoding="utf-8") as file,
        subprocess.Popen([binary, *willing(arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        threading.Thread(target=_hand_in, args=(server.stdin, file), daemon=True).start()
        for line in server.stdout:
            message = json.loads(line)
            if "id" in message and "method" in message:
                _note(file, message["method"])
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    return server.returncode


def _hand_in(pipe: IO[bytes], file: IO[str]) -> None:
    with pipe:
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "method" not in message:
                _note(file, json.dumps(message.get("result")))
            pipe.write(said(line))
            pipe.flush()


def _note(file: IO[str], text: str) -> None:
    file.write(f"{text}\n")
    file.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
