"""Clients that come and go at random, while the backend is killed and stopped: what is answered is right."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from contextlib import suppress
from typing import Any

import httpx
import pytest

# The endpoint has no backend that could be killed.
pytestmark = [pytest.mark.usefixtures("unharmed"), pytest.mark.parametrize("attacked", ["proxy"], indirect=True)]

CLIENTS = 24
PAUSE = 2.0
"""Seconds between two blows at the backend."""


def test_answers_are_whole_and_ones_own_while_clients_leave_and_the_backend_dies(
    attacked: Any, seconds: float, until: Any
) -> None:
    over = time.monotonic() + seconds
    counts = {"right": 0, "failed": 0, "left": 0}
    wrong: list[str] = []

    def client(number: int) -> None:
        chosen = random.Random(number)  # noqa: S311 - no secret
        while time.monotonic() < over and not wrong:
            # No difference of two numbers, which the mock would work out.
            name = f"client-{number}.{chosen.random()}"
            try:
                found = ask(attacked, name, stream=chosen.random() < 0.5, leaves=chosen.random() < 0.3)
            except httpx.HTTPError as error:
                wrong.append(f"{name}: {error!r}")
                return
            counts[found] += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    blows = 0
    while any(thread.is_alive() for thread in threads):
        time.sleep(PAUSE)
        for pid in attacked.backends:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if blows % 2 else signal.SIGSTOP)
                if not blows % 2:
                    time.sleep(0.5)
                    os.kill(pid, signal.SIGCONT)
        blows += 1
    for thread in threads:
        thread.join()
    assert not wrong
    assert counts["right"] > 0 < counts["left"]
    assert blows > 1
    until(lambda: len(attacked.backends) == 1, "one backend")


def ask(attacked: Any, name: str, *, stream: bool, leaves: bool) -> str:
    """What became of a request: "right", "failed" with an error that says so, or "left" by us.

    Anything else is an AssertionError or an httpx.HTTPError.
    """
    body = {"model": "codex", "messages": [{"role": "user", "content": f"You are {name}."}], "stream": stream}
    headers = {"Authorization": "Bearer key-under-attack"}
    with httpx.Client(timeout=60, trust_env=False) as http:
        url = f"http://{attacked.host}:{attacked.port}/v1/chat/completions"
        with http.stream("POST", url, json=body, headers=headers) as answer:
            if leaves:
                return "left"
            said = answer.read().decode()
    if answer.status_code != 200:
        assert answer.status_code in {429, 502, 503, 504}, (answer.status_code, said)
        assert "error" in json.loads(said)
        return "failed"
    if not stream:
        return "right" if name in json.loads(said)["choices"][0]["message"]["content"] else f"wrong: {said}"
    frames = [line.removeprefix("data: ") for line in said.splitlines() if line.startswith("data: ")]
    assert frames[-1] == "[DONE]"
    chunks = [json.loads(frame) for frame in frames[:-1]]
    if any("error" in chunk for chunk in chunks):
        return "failed"
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"])
    assert name in text
    return "right"
