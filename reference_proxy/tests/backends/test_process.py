from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay_proxy.backends import process as process_module
from assay_proxy.backends.process import Process

if TYPE_CHECKING:
    import queue

ECHO = "import sys\nfor line in sys.stdin.buffer:\n sys.stdout.buffer.write(line)\n sys.stdout.buffer.flush()"
DEAF = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(600)"
SLEEPER = "import time\nprint('up', flush=True)\ntime.sleep(600)"


def start(code: str, inbox: queue.Queue[Any]) -> Process:
    process = Process([sys.executable, "-c", code], os.environ)
    process.start(on_bytes=inbox.put, on_exit=inbox.put)
    return process


def ending(inbox: queue.Queue[Any]) -> Any:
    """The exit status, after whatever was said before."""
    while isinstance(told := inbox.get(timeout=20), bytes):
        pass
    return told


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_what_is_sent_comes_back_and_closing_stdin_ends_it(inbox: queue.Queue[Any]) -> None:
    process = start(ECHO, inbox)
    process.send(b"hello\n")
    assert inbox.get(timeout=20) == b"hello\n"
    process.stop()
    assert inbox.get(timeout=20) == 0
    assert gone(process.pid)


def test_more_than_a_pipe_holds_is_written_without_blocking_the_sender(inbox: queue.Queue[Any]) -> None:
    process = start(ECHO, inbox)
    data = b"x" * 2_000_000 + b"\n"
    process.send(data)
    received = b""
    while len(received) < len(data):
        received += inbox.get(timeout=20)
    assert received == data
    process.stop()


@pytest.mark.parametrize(
    ("code", "patience", "status"),
    [(SLEEPER, 1.0, -signal.SIGTERM), (DEAF, 0.1, -signal.SIGKILL)],
    ids=["slow", "deaf"],
)
def test_a_process_that_does_not_go_is_made_to(
    code: str, patience: float, status: int, inbox: queue.Queue[Any]
) -> None:
    process = start(code, inbox)
    assert inbox.get(timeout=20).startswith(b"up")
    process.stop(patience)
    assert ending(inbox) == status
    assert gone(process.pid)


def test_what_it_started_goes_with_it(inbox: queue.Queue[Any], until: Any) -> None:
    child = "import subprocess, sys\np = subprocess.Popen(['sleep', '600'])\nprint(p.pid, flush=True)\nsys.stdin.read()"
    process = start(child, inbox)
    pid = int(inbox.get(timeout=20))
    process.stop(patience=5)
    until(lambda: gone(pid) or " Z " in Path(f"/proc/{pid}/stat").read_text(), "its child to end (or be reaped)")


def test_a_process_that_closes_its_stdout_is_ended(inbox: queue.Queue[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "PATIENCE", 0.1)
    process = Process([sys.executable, "-c", "import os, time\nos.close(1)\ntime.sleep(600)"], os.environ)
    process.start(on_bytes=inbox.put, on_exit=inbox.put)
    assert inbox.get(timeout=20) == -signal.SIGKILL
    process.stop()


def test_its_own_death_is_told_with_the_status(inbox: queue.Queue[Any]) -> None:
    process = start("raise SystemExit(7)", inbox)
    assert inbox.get(timeout=20) == 7
    process.send(b"too late\n")
    process.stop()


def test_its_stderr_goes_to_the_log(inbox: queue.Queue[Any], caplog: pytest.LogCaptureFixture, until: Any) -> None:
    with caplog.at_level("INFO"):
        process = start("import sys\nsys.stderr.buffer.write(b'careful \\xff\\n')", inbox)
        until(lambda: "careful \ufffd" in caplog.text, "the line in the log")
        process.stop()


def test_an_executable_that_is_not_there_is_an_error() -> None:
    with pytest.raises(OSError, match="no-such"):
        Process(["/no-such/codex"], {}).start(on_bytes=print, on_exit=print)
