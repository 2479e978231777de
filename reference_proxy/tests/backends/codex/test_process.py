from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.backends.codex import process as process_module
from wireproof_proxy.backends.codex.process import LINE, CodexProcess, lines

if TYPE_CHECKING:
    import queue

    from reference_proxy.tests.conftest import Until

ECHO = "import sys\nfor line in sys.stdin.buffer:\n sys.stdout.buffer.write(line)\n sys.stdout.buffer.flush()"
DEAF = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(600)"
CHILD = "import sys, time\nprint('child', flush=True)\ntime.sleep(600)"
LAUNCHER = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], start_new_session=len(sys.argv) > 1)
print("launched", child.pid, flush=True)
child.wait()
"""
SLEEPER = "import time\nprint('up', flush=True)\ntime.sleep(600)"


def start(code: str, inbox: queue.Queue[Any], *arguments: str) -> CodexProcess:
    process = CodexProcess([sys.executable, "-c", code, *arguments], os.environ)
    process.start(on_bytes=inbox.put, on_exit=inbox.put)
    return process


def ending(inbox: queue.Queue[Any]) -> Any:
    """The exit status, after whatever was said before."""
    while isinstance(sent := inbox.get(timeout=20), bytes):
        pass
    return sent


def gone(pid: int) -> bool:
    """Whether it has ended; one that the init of a container has not reaped yet counts."""
    try:
        return " Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def launched(inbox: queue.Queue[Any]) -> int:
    """The process id of what the launcher launched, once it runs."""
    sent = b""
    while not (b"child" in sent and b"launched" in sent):
        sent += inbox.get(timeout=20)
    return int(sent.split(b"launched ")[1].split()[0])


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


def test_a_stopped_process_that_much_was_written_to_is_killed(inbox: queue.Queue[Any]) -> None:
    process = start(SLEEPER, inbox)
    assert inbox.get(timeout=20).startswith(b"up")
    os.kill(process.pid, signal.SIGSTOP)
    process.send(b"x" * 2_000_000)
    process.stop(0.1)
    assert ending(inbox) == -signal.SIGKILL
    assert not any(thread.is_alive() for thread in process._threads)


def test_what_it_started_goes_with_it(inbox: queue.Queue[Any], until: Until) -> None:
    child = "import subprocess, sys\np = subprocess.Popen(['sleep', '600'])\nprint(p.pid, flush=True)\nsys.stdin.read()"
    process = start(child, inbox)
    pid = int(inbox.get(timeout=20))
    process.stop(patience=5)
    until(lambda: gone(pid), "its child to end")


def test_a_launcher_that_dies_takes_along_what_it_launched(inbox: queue.Queue[Any], until: Until) -> None:
    process = start(LAUNCHER, inbox)
    child = launched(inbox)
    os.kill(process.pid, signal.SIGKILL)
    assert ending(inbox) == -signal.SIGKILL
    until(lambda: gone(child), "the program to end")
    process.stop()


def test_a_stop_that_a_launcher_ignores_ends_both(inbox: queue.Queue[Any], until: Until) -> None:
    process = start(LAUNCHER.replace("import ", "import signal; signal.signal(15, signal.SIG_IGN); import ", 1), inbox)
    child = launched(inbox)
    process.stop(0.1)
    assert ending(inbox) == -signal.SIGKILL
    until(lambda: gone(child), "the program to end")


def test_an_escaped_program_that_holds_the_pipes_is_not_waited_for(inbox: queue.Queue[Any]) -> None:
    process = start(LAUNCHER, inbox, "escaped")
    child = launched(inbox)
    try:
        os.kill(process.pid, signal.SIGKILL)
        assert ending(inbox) == -signal.SIGKILL
        process.stop()
        assert not gone(child)
        assert not any(thread.is_alive() for thread in process._threads)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_process_that_closes_its_stdout_is_ended(inbox: queue.Queue[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "PATIENCE", 0.1)
    process = CodexProcess([sys.executable, "-c", "import os, time\nos.close(1)\ntime.sleep(600)"], os.environ)
    process.start(on_bytes=inbox.put, on_exit=inbox.put)
    assert inbox.get(timeout=20) == -signal.SIGKILL
    process.stop()


def test_its_own_death_is_reported_with_the_status(inbox: queue.Queue[Any]) -> None:
    process = start("raise SystemExit(7)", inbox)
    assert inbox.get(timeout=20) == 7
    process.send(b"too late\n")
    process.stop()


def test_its_stderr_goes_to_the_log(inbox: queue.Queue[Any], caplog: pytest.LogCaptureFixture, until: Until) -> None:
    with caplog.at_level("INFO"):
        process = start("import sys\nsys.stderr.buffer.write(b'careful \\xff\\n')", inbox)
        until(lambda: "careful \ufffd" in caplog.text, "the line in the log")
        process.stop()


def test_lines_are_those_of_any_pieces_without_colours_and_not_endless() -> None:
    colourful = b"\x1b[2m12:00\x1b[0m \x1b[33mWARN\x1b[0m careful\r\n\n\xff"
    assert list(lines([colourful])) == ["12:00 WARN careful", "\ufffd"]
    assert list(lines(colourful[at : at + 1] for at in range(len(colourful)))) == ["12:00 WARN careful", "\ufffd"]
    assert [len(line) for line in lines([b"x" * LINE] * 3 + [b"\n" + b"y" * LINE * 2 + b"\nz"])] == [LINE, LINE, 1]


def test_an_executable_that_is_not_there_is_an_error() -> None:
    with pytest.raises(OSError, match="no-such"):
        CodexProcess(["/no-such/codex"], {}).start(on_bytes=print, on_exit=print)
