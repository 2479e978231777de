"""One run of a backend executable: its pipes, its threads, and its end.

Three threads serve the pipes: one hands on what the process writes to stdout, one logs its stderr, one writes to
its stdin, so that whoever sends never waits for a full pipe. The process is a session of its own: a Ctrl-C in the
terminal reaches the proxy alone, and whatever the process started can be ended with it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import subprocess
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

log = logging.getLogger(__name__)

PIECE = 65536
PATIENCE = 2.0
"""Seconds that a process gets to end by itself."""


class Process:
    """An executable that runs from `start` on; `environment` is all of its environment."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self._argv = argv
        self._environment = environment
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def start(self, *, on_bytes: Callable[[bytes], None], on_exit: Callable[[int], None]) -> None:
        """Start it: `on_bytes` gets its stdout, then `on_exit` its exit status, both on the reading thread.

        Raises:
            OSError: when it cannot be started.
        """
        self._on_bytes = on_bytes
        self._on_exit = on_exit
        self._popen = subprocess.Popen(
            self._argv,
            env=dict(self._environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        jobs = {"stdout": self._read, "stderr": self._drain, "stdin": self._write}
        self._threads = [
            threading.Thread(target=job, name=f"backend-{self.pid}-{pipe}", daemon=True) for pipe, job in jobs.items()
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    def send(self, data: bytes) -> None:
        """Write to its stdin, soon; never blocks. What is sent after its end is lost."""
        self._outbox.put(data)

    def stop(self, patience: float = PATIENCE) -> None:
        """End it: close its stdin and wait; then SIGTERM; then SIGKILL. Waits `patience` seconds for each."""
        self._outbox.put(None)
        for last_word in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(patience)
                break
            self._signal(last_word)
        self._popen.wait()
        self._signal(signal.SIGKILL)  # whatever it started and left behind
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(patience)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _read(self) -> None:
        assert self._popen.stdout  # noqa: S101 - a pipe was asked for
        with self._popen.stdout as stdout:
            try:
                while data := stdout.read(PIECE):
                    self._on_bytes(data)
            finally:
                self._outbox.put(None)
                self._on_exit(self._reap())

    def _reap(self) -> int:
        """The exit status; a process that closed its stdout has nothing more to say and is ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._popen.wait(PATIENCE)
        self._signal(signal.SIGKILL)
        return self._popen.wait()

    def _drain(self) -> None:
        assert self._popen.stderr  # noqa: S101 - a pipe was asked for
        with self._popen.stderr as stderr:
            for line in stderr:
                log.info("backend %d: %s", self.pid, line.decode(errors="replace").rstrip())

    def _write(self) -> None:
        assert self._popen.stdin  # noqa: S101 - a pipe was asked for
        # A write to a process that has died fails; its end is noticed, and told, where its stdout is read.
        with contextlib.suppress(OSError), self._popen.stdin as stdin:
            while (data := self._outbox.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[stdin.write(view) :]
