"""What the programs of proxies share: they start one in front of `codex exec`, and ask it as its clients do."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from openai import AsyncOpenAI, OpenAIError
from play import SCHEMA, Asked, Play, Turn

_DEADLINE = 40.0
"""Seconds within which a proxy must listen."""
_MATCHING = {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": SCHEMA}}

_MODEL = "codex/gpt-5.4"

Command = Callable[[int], Sequence[str]]
"""The command line of a proxy that listens on this port, after the folder of this Python's programs."""


def proxy(command: Command, path: str, variable: str, more: Mapping[str, str] | None = None) -> Play:
    """Plays turns through a proxy: `path` of its API, the `variable` that names codex to it, `more` of its settings.

    It is started for the first turn, and ends with this process.
    """

    async def play(asked: Asked) -> Turn:
        turn = Turn()
        url = f"http://127.0.0.1:{_start(command, ((variable, asked.codex), *(more or {}).items()))}{path}"
        client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        form: Any = {"response_format": _MATCHING} if asked.structured else {}
        messages: Any = [{"role": "user", "content": asked.prompt}]
        try:
            whole = await client.chat.completions.create(model=_MODEL, messages=messages, **form)
            streamed = await client.chat.completions.create(model=_MODEL, messages=messages, stream=True, **form)
            chunks = [chunk async for chunk in streamed]
        except OpenAIError as error:
            turn.end, turn.error = "failed", str(error)
            return turn
        turn.pieces = [choice.delta.content for chunk in chunks for choice in chunk.choices if choice.delta.content]
        turn.text, turn.end = whole.choices[0].message.content, "completed"
        turn.usage = [whole.usage.prompt_tokens, whole.usage.completion_tokens] if whole.usage else None
        return turn

    return play


@cache
def _start(command: Command, settings: tuple[tuple[str, str], ...]) -> int:
    """The port on which the proxy listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    program, *arguments = command(port)
    home = TemporaryDirectory(ignore_cleanup_errors=True)
    line = [str(Path(sys.executable).with_name(program)), *arguments]
    env = {**os.environ, "HOME": home.name, **dict(settings)}
    with Path(home.name, "output").open("wb") as output:
        process = subprocess.Popen(line, env=env, cwd=home.name, stdout=output, stderr=output)
    atexit.register(home.cleanup)
    atexit.register(process.wait)
    atexit.register(process.terminate)
    _await(port, process)
    return port


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _DEADLINE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return
