"""`wireproof-codex record`, in front of the mock and of small programs."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from wireproof_fidelity.recording import read_recording

from wireproof_codex.transports.record import Recording

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PATIENCE = 30.0
MOCK = (sys.executable, "-m", "wireproof_codex", "app-server")


def _command(file: Path, command: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "wireproof_codex", "record", "--output", str(file), "--", *command]


def _record(file: Path, command: Sequence[str], said: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "HOME": str(file.parent / "home")}
    return subprocess.run(
        _command(file, command), input=said, capture_output=True, timeout=PATIENCE, check=False, env=environment
    )


def _entries(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]


def _echo(program: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"import os, sys; {program}")


def test_a_session_is_passed_on_and_written_down(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    hello = b'{"id":0,"method":"initialize","params":{"clientInfo":{"name":"x","version":"1"}}}\n'
    done = _record(file, MOCK, hello + b"no json\n" + b'{"method":"initialized"}\n')
    assert done.returncode == 0
    assert b"Failed to deserialize JSONRPCMessage" in done.stderr
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    lines = read_recording(file)
    masked = json.loads(json.dumps(printed[0]).replace(str(tmp_path / "home" / ".codex"), "/srv/codex-home"))
    assert masked["result"]["codexHome"] == "/srv/codex-home"
    assert [line.message for line in lines if not line.sent] == [masked, *printed[1:]]
    assert [(line.message or {}).get("method", line.raw) for line in lines if line.sent] == [
        "initialize",
        "no json\n",
        "initialized",
    ]
    entries = _entries(file)
    assert entries[0]["data"]["cmd"][1:] == list(MOCK[1:])
    assert entries[-1]["data"] == {"exit": 0}
    assert {entry["dir"] for entry in entries} == {"META", "C->", "S->", "ERR", "EOF"}
    assert [entry["t"] for entry in entries] == sorted(entry["t"] for entry in entries)


def test_bytes_are_passed_on_as_they_are(tmp_path: Path) -> None:
    data = bytes(range(256)) * 2000 + b"no end"
    done = _record(tmp_path / "r.jsonl", _echo("os.write(1, sys.stdin.buffer.read())"), data)
    assert done.stdout == data
    said = dict.fromkeys(("C->", "S->"), "")
    for entry in _entries(tmp_path / "r.jsonl"):
        if entry["dir"] in said:
            said[entry["dir"]] += entry["raw"]
    assert said["C->"] == said["S->"]
    assert said["S->"].encode("latin-1") == data


@pytest.mark.parametrize(("program", "status"), [("sys.exit(7)", 7), ("os.kill(os.getpid(), 9)", 137)])
def test_the_exit_status_is_passed_on(tmp_path: Path, program: str, status: int) -> None:
    assert _record(tmp_path / "r.jsonl", _echo(program)).returncode == status
    assert _entries(tmp_path / "r.jsonl")[-1]["data"] == {"exit": status}


def test_a_process_that_ends_while_its_client_still_speaks_ends_the_recording(tmp_path: Path) -> None:
    with subprocess.Popen(
        _command(tmp_path / "r.jsonl", _echo("sys.exit(3)")), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.wait(PATIENCE) == 3


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_is_passed_on(tmp_path: Path, signum: signal.Signals) -> None:
    program = (
        f"import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [{int(signum)}]); print('ready', flush=True); "
        f"signal.sigwait([{int(signum)}]); os._exit(5)"
    )
    with subprocess.Popen(
        _command(tmp_path / "r.jsonl", _echo(program)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signum)
        assert process.wait(PATIENCE) == 5


def test_what_nobody_reads_is_written_down_all_the_same(tmp_path: Path) -> None:
    program = "sys.stdin.readline(); os.write(1, b'first\\n' * 50000); os.write(1, b'last\\n')"
    with subprocess.Popen(
        _command(tmp_path / "r.jsonl", _echo(program)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(b"go\n")
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
    said = [entry["raw"] for entry in _entries(tmp_path / "r.jsonl") if entry["dir"] == "S->"]
    assert said[-1] == "last\n"


def test_a_command_that_does_not_exist_is_one_line(tmp_path: Path) -> None:
    done = _record(tmp_path / "r.jsonl", ["/nowhere/codex", "app-server"])
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"wireproof-codex: [Errno 2] No such file or directory: '/nowhere/codex'\n"


def test_the_longest_path_is_masked_first_and_messages_keep_their_spelling() -> None:
    file, times = io.StringIO(), count(0, 0.25)
    recording = Recording(file, {"/home/me": "/srv/home", "/home/me/.codex": "/srv/codex-home"}, lambda: next(times))
    recording.line("S->", b'{ "path":"/home/me/.codex/x", "n":1.50 }\r\n')
    recording.line("C->", '{"é": "/home/me/y"}'.encode())
    recording.line("ERR", b"in /home/me\n")
    recording.line("C->", b'["\xff"]\n')
    recording.note(cmd=["/home/me/codex"])
    recording.end()
    assert file.getvalue().splitlines() == [
        '{"t": 0.25, "dir": "S->", "msg": { "path":"/srv/codex-home/x", "n":1.50 }}',
        '{"t": 0.5, "dir": "C->", "msg": {"é": "/srv/home/y"}}',
        '{"t": 0.75, "dir": "ERR", "msg": "in /srv/home"}',
        '{"t": 1.0, "dir": "C->", "raw": "[\\"ÿ\\"]\\n"}',
        '{"t": 1.25, "dir": "META", "data": {"cmd": ["/srv/home/codex"]}}',
        '{"t": 1.5, "dir": "EOF", "raw": "stdout closed"}',
    ]
