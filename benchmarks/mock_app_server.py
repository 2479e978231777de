"""Measure the mock app-server: how soon it answers, and what many turns, requests and deltas cost.

    python benchmarks/mock_app_server.py

It needs `wireproof_mocks` and prints a row of a Markdown table for each question, over pipes:

- ready: from the start of the process to the answer to `initialize`: the median and the worst of 20, and the ratio to a
  Python that does nothing;
- played: from the start of the process to the end of a first short turn, likewise;
- crowd: 40 turns at once, each of 20 deltas 100 ms apart: until all have ended, and the ratio to one alone;
- burst: 5 000 requests in one write: until all are answered, and whether in order;
- flood: a turn of 100 000 deltas that are read as they arrive: until it ends, and by how much the resident size grows
  at most during the turn (from /proc: Linux).
"""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measured import resident

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STARTS = 20
TURNS, TICKS, GAP = 40, 20, 0.1
REQUESTS = 5_000
DELTAS = 100_000
SCRIPTS = [
    {"name": "ticks", "parts": [[step for _ in range(TICKS) for step in ({"say": "tick "}, {"pause": GAP})]]},
    {"name": "flood", "parts": [[{"say": {"pieces": [" word"], "times": DELTAS}}]]},
]

Message = dict[str, Any]


class Mock:
    """A running mock after its handshake."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin  # noqa: S101 - pipes were asked for
        assert process.stdout  # noqa: S101 - same
        self._stdin, self._stdout = process.stdin, process.stdout
        client = {"clientInfo": {"name": "benchmark", "version": "1"}, "capabilities": {"experimentalApi": True}}
        self.ask("initialize", client)

    def send(self, *messages: Message) -> None:
        """Send messages in one write."""
        self._stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        self._stdin.flush()

    def lines(self) -> Iterator[bytes]:
        """Its output, line by line."""
        return iter(self._stdout.readline, b"")

    def ask(self, method: str, params: Message) -> Message:
        """Send a request; its result."""
        self.send({"id": method, "method": method, "params": params})
        answers = (message for message in map(json.loads, self.lines()) if message.get("id") == method)
        result: Message = next(answers)["result"]
        return result

    def play(self, script: str, turns: int, sample: Callable[[], object] = lambda: None) -> float:
        """Play a script in several turns at once; the seconds until all have ended. `sample` is called now and then."""
        threads = [self.ask("thread/start", {"ephemeral": True})["thread"]["id"] for _ in range(turns)]
        given = [{"type": "text", "text": f"[[wireproof:{script}#1]]"}]
        begun = time.perf_counter()
        asked = [{"threadId": thread, "input": given} for thread in threads]
        self.send(*({"id": params["threadId"], "method": "turn/start", "params": params} for params in asked))
        for number, line in enumerate(self.lines()):
            if number % 1000 == 0:
                sample()
            turns -= line.startswith(b'{"method":"turn/completed"')
            if not turns:
                break
        return time.perf_counter() - begun


@contextmanager
def mock(scripts: str | None = None) -> Iterator[Mock]:
    """A mock that runs for the length of a `with` block."""
    more = ("--scripts", scripts) if scripts else ()
    command = [sys.executable, "-m", "wireproof_codex", *more, "app-server"]
    env = {**os.environ, "WIREPROOF_PACE": "0"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        yield Mock(process)
        assert process.stdin  # noqa: S101 - a pipe was asked for
        process.stdin.close()


def ready() -> str:
    """The time until `initialize` is answered."""
    return _start(lambda _: None)


def played() -> str:
    """The time until a first turn has ended."""
    return _start(lambda playing: playing.play("text/hello", 1))


def _start(then: Callable[[Mock], object]) -> str:
    """The time from the start of a process until `then` has returned, beside that of a bare Python."""
    times, bare = [], []
    for _ in range(STARTS):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        with mock() as playing:
            then(playing)
            times.append(time.perf_counter() - begun)
    median, nothing = statistics.median(times), statistics.median(bare)
    return f"{median * 1000:.0f} ms, at worst {max(times) * 1000:.0f} ms | {median / nothing:.1f} times a bare Python"


def crowd(playing: Mock) -> str:
    """The time of many turns at once."""
    alone, together = playing.play("ticks", 1), playing.play("ticks", TURNS)
    return f"{together:.2f} s | {together / alone:.2f} times one alone"


def burst(playing: Mock) -> str:
    """The time of many requests in one write."""
    begun = time.perf_counter()
    playing.send(*({"id": number, "method": "thread/loaded/list", "params": {}} for number in range(REQUESTS)))
    answered = [json.loads(line)["id"] for _, line in zip(range(REQUESTS), playing.lines(), strict=False)]
    taken = time.perf_counter() - begun
    order = "in order" if answered == list(range(REQUESTS)) else "out of order"
    return f"{taken:.2f} s | {len(set(answered))} answered, {order}"


def flood(playing: Mock) -> str:
    """The time and memory of very many deltas."""
    before, sizes = resident(playing.process.pid), [0]
    taken = playing.play("flood", 1, lambda: sizes.append(resident(playing.process.pid)))
    return f"{taken:.2f} s, {DELTAS / taken:.0f} a second | {max(sizes) - before:.1f} MiB more"


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        scripts = Path(folder) / "scripts.json"
        scripts.write_text(json.dumps(SCRIPTS), encoding="utf-8")
        sys.stdout.write(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}\n\n| | time | |\n|---|---|---|\n")
        sys.stdout.write(f"| ready | {ready()} |\n| played | {played()} |\n")
        with mock(str(scripts)) as playing:
            for measure in (crowd, burst, flood):
                sys.stdout.write(f"| {measure.__name__} | {measure(playing)} |\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
