"""Users of a proxy who read streams and check every answer, for Locust.

    locust -f benchmarks/load/locustfile.py --host http://127.0.0.1:8787 --headless -u 50 -r 10 -t 1m

Distributed with Locust's own `--master` and `--worker`. WIREPROOF_LOAD_KEY holds the proxy's key, if it has one. What
comes back must be the very answer to what was asked: the echo of the mock repeats the user's words.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any
from uuid import uuid4

from locust import HttpUser, constant, task

KEY = os.environ.get("WIREPROOF_LOAD_KEY", "")


class WrongError(Exception):
    """An answer is not the right one."""


class Reader(HttpUser):  # type: ignore[misc] # Locust has no types
    """Asks, reads to the end, and compares."""

    wait_time = constant(0)

    @task(3)
    def stream(self) -> None:
        """A stream, its chunks put together; the time of the first one is noted as a request of its own."""
        name, began = uuid4().hex, time.perf_counter()
        with self.client.post(
            "/v1/chat/completions", json=asked(name, stream=True), headers=headers(), stream=True, catch_response=True
        ) as answer:
            text, done, first = "", False, None
            for line in answer.iter_lines():
                if not line.startswith(b"data: "):
                    continue
                first = first or time.perf_counter() - began
                if line == b"data: [DONE]":
                    done = True
                else:
                    text += said(json.loads(line[6:]), "delta")
            self._note("first chunk", first)
            judge(answer, text, name, whole=done)

    @task(1)
    def whole(self) -> None:
        """A whole answer."""
        name = uuid4().hex
        with self.client.post(
            "/v1/chat/completions", json=asked(name), headers=headers(), name="whole", catch_response=True
        ) as answer:
            judge(answer, said(answer.json(), "message"), name)

    def _note(self, name: str, seconds: float | None) -> None:
        if seconds is not None:
            self.environment.events.request.fire(
                request_type="SSE", name=name, response_time=seconds * 1000, response_length=0, exception=None
            )


def asked(name: str, *, stream: bool = False) -> dict[str, Any]:
    """A request that no other one is like."""
    return {"model": "codex", "messages": [{"role": "user", "content": f"I am {name}."}], "stream": stream}


def headers() -> dict[str, str]:
    """The key, if there is one."""
    return {"Authorization": f"Bearer {KEY}"} if KEY else {}


def said(answer: dict[str, Any], where: str) -> str:
    """The text of an answer, or of a chunk."""
    if "error" in answer:
        raise WrongError(answer["error"])
    return "".join(choice[where].get("content") or "" for choice in answer["choices"])


def judge(answer: Any, text: str, name: str, *, whole: bool = True) -> None:  # noqa: ANN401 - Locust's
    """Fail an answer that is not the right one."""
    if answer.status_code != 200:  # noqa: PLR2004 - HTTP
        answer.failure(f"status {answer.status_code}")
    elif name not in text:
        answer.failure(f"not the answer to {name}: {text[:80]}")
    elif not whole:
        answer.failure("broken off")
    else:
        answer.success()
