"""How long the certificate of the bundled proxy takes, beside what a bare Flask answers in the same run.

    python benchmarks/certificate.py --runs 3

For each run: requests a second of a Flask that says a word, on its own server, by eight clients with a connection for
each request; then `wireproof certify`: time, time of all processors, exchanges, memory of the largest process. At the
end `wireproof judge` of what was saved, on one core, as often as it takes to judge 10,000 transcripts.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from measured import saying_its_url

if TYPE_CHECKING:
    from collections.abc import Sequence

# This is a script, in no package.
# ruff: noqa: INP001, T201

WIREPROOF = [sys.executable, "-m", "wireproof"]
TRANSCRIPTS = 10_000
CLIENTS = 8
SECONDS = 3.0
FLASK = """
from flask import Flask
app = Flask(__name__)
app.get("/")(lambda: "hello")
import logging; logging.getLogger("werkzeug").disabled = True
from werkzeug.serving import make_server
server = make_server("127.0.0.1", 0, app, threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
"""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a command and all that it started took."""

    seconds: float
    processor: float
    """Seconds, of all processes."""
    memory: float
    """MiB of the largest process."""


def cost(words: Sequence[str]) -> Cost:
    """Run a command to its end, which has to be a good one."""
    began = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}")
    return Cost(
        seconds=time.perf_counter() - began, processor=used.ru_utime + used.ru_stime, memory=used.ru_maxrss / 1024
    )


def requests_a_second(port: int) -> float:
    """How many requests it answers."""
    until, counts = time.perf_counter() + SECONDS, [0] * CLIENTS

    def client(number: int) -> None:
        while time.perf_counter() < until:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", "/")
            connection.getresponse().read()
            connection.close()
            counts[number] += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / SECONDS


def exchanges_in(folder: Path) -> int:
    """How many exchanges a saved result has."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return int(report["transcripts"]["exchanges"])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            with saying_its_url("-c", FLASK) as (port, _):
                rate = requests_a_second(int(port))
            saved = Path(folder, str(number))
            of_run = cost([*WIREPROOF, "certify", "--output", str(saved)])
            count = exchanges_in(saved)
            print(
                f"a bare Flask {rate:4.0f} requests/s; certificate {of_run.seconds:5.1f} s,"
                f" processors {of_run.processor:5.1f} s, {count} exchanges,"
                f" {1000 * of_run.seconds / count:4.1f} ms each, {of_run.memory:3.0f} MiB"
            )
        judging(Path(folder, "0"), count)


def judging(saved: Path, count: int) -> None:
    """How long saved transcripts take on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    times = -(-TRANSCRIPTS // count)
    each = [cost([*WIREPROOF, "judge", str(saved)]) for _ in range(times)]
    print(
        f"judging {times * count} transcripts on one core, {times} commands: {sum(one.seconds for one in each):.1f} s,"
        f" a run {statistics.median(one.seconds for one in each):.1f} s"
        f" (processor {statistics.median(one.processor for one in each):.1f} s),"
        f" {max(one.memory for one in each):.0f} MiB"
    )


if __name__ == "__main__":
    main()
