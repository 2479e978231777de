"""Targets that send without end: each exchange ends at its limits, is reported as what it is, and fills no memory."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.driving.drive import drive
from wireproof.driving.planning import planned
from wireproof.judging.judge import judge_runs
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.model.target import Target
from wireproof.model.transcript import End
from wireproof.model.verdict import Verdict
from wireproof.results.certificate import ExitStatus
from wireproof.scenarios import SCENARIOS
from wireproof.targets.budget import Budget
from wireproof.targets.launch import executable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from conformance.tests.conftest import TinyExchange, TinyServer

    from wireproof.judging.outcomes import ScenarioRun

pytestmark = pytest.mark.sampled(8)

HELLO = next(one for one in SCENARIOS if one.name == "text-hello")
STREAM, WHOLE = Form(Dialect.OPENAI_JSON, Mode.STREAM), Form(Dialect.OPENAI_JSON, Mode.WHOLE)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
LONG = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10737418240\r\n\r\n"
MEBIBYTE = 2**20
MOST = 200 * MEBIBYTE
"""Bytes of memory that a run against such a target may take at most."""
OVER = threading.Event()
"""Never set: what a drip waits at, which ends when the client is gone."""


def chunk(text: str) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    said = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(said).encode() + b"\n\n"


def without_end(head: bytes, piece: bytes, pause: float = 0.0) -> Callable[[Any], None]:
    """What sends a head and then a piece again and again, until the client has left."""

    def respond(exchange: TinyExchange) -> None:
        exchange.send(head)
        while True:
            exchange.send(piece)
            if pause:
                OVER.wait(pause)

    return respond


HOSTILE: Mapping[str, Callable[[Any], None]] = {
    "chunks": without_end(HEAD, chunk("x" * 1000)),
    "frames": without_end(HEAD, b"data: {}\n\n" * 1000),
    "comments": without_end(HEAD, b": keep-alive\n\n" * 1000),
    "one frame": without_end(HEAD + b"data: ", b"x" * MEBIBYTE),
    "deep": without_end(HEAD + b"data: ", b"[" * MEBIBYTE),
    "continue": without_end(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "drip": without_end(HEAD, chunk("x"), pause=0.02),
    "bytes": without_end(LONG, b"x" * MEBIBYTE),
}
"""What is sent → how."""


def hostile(name: str) -> Callable[[Any], None]:
    """What is this to every request, and takes it as it comes that the client leaves."""

    def respond(exchange: TinyExchange) -> None:
        # The client has left, as it should.
        with contextlib.suppress(OSError):
            HOSTILE[name](exchange)

    return respond


def run(tiny: TinyServer, form: Form = STREAM, budget: Budget | None = None, **how: Any) -> ScenarioRun:
    target = Target(base_url=tiny.base_url, model="m", dialects=(Dialect.OPENAI_JSON,), **how)
    return asyncio.run(drive(planned([HELLO], target, {HELLO.name: [form]}), target, budget=budget)).runs[0]


def broken(run: ScenarioRun, tiny: TinyServer) -> dict[str, str]:
    """Requirement → what was seen of it."""
    target = Target(base_url=tiny.base_url, model="m", dialects=(Dialect.OPENAI_JSON,))
    outcomes = judge_runs([run], target, load()).outcomes
    return {one.requirement: one.findings[0].violation.seen for one in outcomes if one.verdict is Verdict.FAIL}


@pytest.mark.parametrize(
    ("name", "how", "over"),
    [
        ("chunks", {"answer_bytes": 100_000}, "it has more than 100,000 bytes (--answer-bytes sets the limit)"),
        ("frames", {}, "it has more than 50,000 frames"),
        ("comments", {}, "it has more than 50,000 frames"),
        ("one frame", {"answer_bytes": 300_000}, "it has more than 300,000 bytes (--answer-bytes sets the limit)"),
        ("deep", {"answer_bytes": 300_000}, "it has more than 300,000 bytes (--answer-bytes sets the limit)"),
        ("drip", {"timeout": 0.1, "answer_seconds": 0.5}, "it went on for 0.5 s (--answer-seconds sets the limit)"),
    ],
)  # fmt: skip
def test_a_stream_without_end_is_left_and_reported(tiny: TinyServer, name: str, how: dict[str, Any], over: str) -> None:
    tiny.respond = hostile(name)
    done = run(tiny, **how)
    [exchange] = done.exchanges[STREAM]
    assert (exchange.transcript.end, exchange.transcript.over) == (End.ENDLESS, over)
    assert len(exchange.transcript.body) <= 2**18
    assert any(over in seen or "bytes without end" in seen for seen in broken(done, tiny).values())


@pytest.mark.parametrize("form", [STREAM, WHOLE])
def test_heads_without_end_are_no_answer(tiny: TinyServer, form: Form) -> None:
    tiny.respond = hostile("continue")
    done = run(tiny, form, timeout=0.1, answer_seconds=0.3)
    [exchange] = done.exchanges[form]
    assert (exchange.transcript.status, exchange.transcript.end) == (None, End.ENDLESS)
    assert any("bytes without end instead of an answer" in seen for seen in broken(done, tiny).values())


def test_a_whole_answer_of_ten_gigabytes_is_left_and_reported(tiny: TinyServer) -> None:
    tiny.respond = hostile("bytes")
    done = run(tiny, WHOLE)
    [exchange] = done.exchanges[WHOLE]
    assert exchange.transcript.end is End.ENDLESS
    assert any("endless" in seen for seen in broken(done, tiny).values())


def test_what_ends_within_the_limits_is_whole(tiny: TinyServer) -> None:
    def respond(exchange: TinyExchange) -> None:
        exchange.send(HEAD, chunk("Hello"), b"data: [DONE]\n\n")

    tiny.respond = respond
    [exchange] = run(tiny, answer_bytes=1000).exchanges[STREAM]
    assert (exchange.transcript.end, exchange.transcript.over) == (End.COMPLETE, "")


def test_an_answer_in_very_small_pieces_is_whole(tiny: TinyServer) -> None:
    body = chunk("Hello " * 35_000) + b"data: [DONE]\n\n"
    small = b"".join(b"%x\r\n%s\r\n" % (len(body[at : at + 7]), body[at : at + 7]) for at in range(0, len(body), 7))

    def respond(exchange: TinyExchange) -> None:
        exchange.send(HEAD.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"), small, b"0\r\n\r\n")

    tiny.respond = respond
    [exchange] = run(tiny).exchanges[STREAM]
    assert (exchange.transcript.end, exchange.transcript.over) == (End.COMPLETE, "")
    assert len(exchange.transcript.pieces) > 30_000
    assert exchange.transcript.body == body


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(most_bytes=10_000), "the run received 10,000 bytes of answers; --max-bytes sets the bound"),
        (Budget(seconds=0.3), "the run's 0.3 s are over; --max-seconds sets the bound"),
    ],
)
def test_a_run_that_reaches_its_own_limits_has_not_observed_the_rest(
    tiny: TinyServer, budget: Budget, reason: str
) -> None:
    tiny.respond = hostile("drip" if budget.seconds else "chunks")
    done = run(tiny, budget=replace(budget))
    assert (done.not_driven, done.exchanges) == ({STREAM: reason}, {})


def test_a_run_has_time_for_as_long_as_it_lasts(tiny: TinyServer) -> None:
    budget = Budget(seconds=60.0, most_bytes=MEBIBYTE)
    assert run(tiny, budget=budget).exchanges[STREAM][0].transcript.end is End.COMPLETE
    assert 0 < budget.received < MEBIBYTE


MEASURED = """
import os, subprocess, sys
with open(sys.argv[1], "wb") as file:
    process = subprocess.Popen(sys.argv[2:], stdout=file, stderr=file)
    _, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""
"""A small process that starts a command: the most that a process took counts from before its program is loaded, when it
is still the fork of the one that starts it, and a worker of these tests is large."""


def ended(command: list[str], out: Path) -> tuple[int, int]:
    """The exit status of a command and the most memory it had, in bytes."""
    words = [sys.executable, "-c", MEASURED, str(out), *command]
    status, kibibytes = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return int(status), int(kibibytes) * 1024


def against(tiny: TinyServer, out: Path, *more: str) -> tuple[int, int]:
    command = [
        executable("wireproof"), "certify", "--url", tiny.base_url, "--model", "m", "--dialect", "openai-json",
        "--format", "markdown", *more,
    ]  # fmt: skip
    return ended(command, out)


def test_a_target_that_does_all_of_it_fills_no_memory(tiny: TinyServer, tmp_path: Path) -> None:
    names: Iterator[str] = iter(["chunks", "frames", "one frame", "comments", "deep", "bytes"] * 1000)

    def respond(exchange: TinyExchange) -> None:
        # The probe of the preflight is answered: a target is judged that serves anything at all.
        if exchange.marker == "probe":
            exchange.answer("scripted backend")
        else:
            hostile(next(names))(exchange)

    tiny.respond = respond
    chosen = ("text-hello", "text-empty", "text-utf8")
    only = [word for name in chosen for word in ("--only", name)]
    status, memory = against(tiny, tmp_path / "out", *only)
    said = (tmp_path / "out").read_text()
    assert (status, "Traceback" in said) == (ExitStatus.FAILED, False), said
    assert "without end" in said
    assert memory < MOST


@pytest.mark.nightly
@pytest.mark.parametrize("name", HOSTILE)
def test_a_whole_run_against_a_target_without_end_ends_within_its_limits(
    tiny: TinyServer, tmp_path: Path, name: str
) -> None:
    def respond(exchange: TinyExchange) -> None:
        if b"[[wireproof:probe#" in exchange.body:
            exchange.answer("scripted backend")
        else:
            hostile(name)(exchange)

    tiny.respond = respond
    status, memory = against(tiny, tmp_path / "out", "--timeout", "0.5", "--answer-seconds", "2", "--max-seconds", "60")
    said = (tmp_path / "out").read_text()
    assert (status, "Traceback" in said) == (ExitStatus.FAILED, False), said
    assert memory < MOST
