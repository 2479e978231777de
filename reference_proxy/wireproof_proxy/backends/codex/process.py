"""One run of a backend executable: its pipes, its threads, and its end.

Three threads serve the pipes: one hands on what the process writes to stdout, one logs its stderr, one writes to
its stdin, so that whoever sends never waits for a full pipe. The process is a session of its own: a Ctrl-C in the
terminal reaches the proxy alone, and whatever the process started is ended with it. It often is but a launcher: the
`codex` of npm is, for a program that inherits its pipes and would outlive it, and keep them open. When the proxy is
killed, its backend is, too; what that has started sees the end of its input.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import re
import select
import signal
import subprocess
import threading
from typing import TYPE_CHECKING

from wireproof_proxy.backends.orphans import ending_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import IO

log = logging.getLogger(__name__)

PIECE = 65536
PATIENCE = 2.0
"""Seconds that a process gets to end by itself."""
TICK = 0.5
"""Seconds after which a silent pipe is looked at for a dead process."""
LINE = 4096
"""Bytes of a line on stderr that are logged."""

# Codex colours its log, also for a pipe.
_COLOURS = re.compile(rb"\x1b\[[0-9;]*m")


class CodexProcess:
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
            bufsize=0,  # a read gives what there is, and a write goes out at once
            start_new_session=True,  # its own group, which `_signal` reaches as a whole
            preexec_fn=ending_with_parent(signal.SIGKILL),  # noqa: PLW1509 - it calls the kernel and nothing else
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
        """End it: close its stdin and wait; then SIGTERM; then SIGKILL. Waits `patience` seconds for each.

        Not for the threads that call back.
        """
        self._outbox.put(None)
        # The end of its stdin is mostly enough: Codex exits within 0.12 s. 0.89.0 stays if an approval is unanswered.
        for stronger in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(patience)
                break
            self._signal(stronger)
        self._popen.wait()
        # A second signal, to the whole group: a launcher, as npm's `codex` is, ends at once and leaves the program that
        # it started, which would keep our pipes open and our turns running.
        self._signal(signal.SIGKILL)
        for thread in self._threads:
            thread.join(patience)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the group has ended already, or is not ours
            os.killpg(self.pid, number)

    def _read(self) -> None:
        assert self._popen.stdout  # noqa: S101 - a pipe was asked for
        with self._popen.stdout as stdout:
            try:
                for data in self._pieces(stdout):
                    self._on_bytes(data)
            finally:
                self._outbox.put(None)
                self._on_exit(self._reap())

    def _pieces(self, pipe: IO[bytes]) -> Iterator[bytes]:
        """What comes out of a pipe, up to its end, or to the death of the process, whoever still holds the pipe."""
        poll, ended = select.poll(), False
        poll.register(pipe, select.POLLIN)
        while True:
            if poll.poll(TICK * 1000):
                data = pipe.read(PIECE)
                if not data:
                    return
                yield data
            elif ended:
                return
            # Dead, but something that it started holds the pipe: end that, and read once more what it left.
            elif self._popen.poll() is not None:
                self._signal(signal.SIGKILL)
                ended = True

    def _reap(self) -> int:
        """The exit status; a process that closed its stdout has nothing more to say and is ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._popen.wait(PATIENCE)
        self._signal(signal.SIGKILL)
        return self._popen.wait()

    def _drain(self) -> None:
        assert self._popen.stderr  # noqa: S101 - a pipe was asked for
        with self._popen.stderr as stderr:
            for line in lines(self._pieces(stderr)):
                log.info("backend %d: %s", self.pid, line)

    def _write(self) -> None:
        assert self._popen.stdin  # noqa: S101 - a pipe was asked for
        # A write to a process that has died fails; its end is noticed, and reported, where its stdout is read.
        with contextlib.suppress(OSError), self._popen.stdin as stdin:
            while (data := self._outbox.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[stdin.write(view) :]  # unbuffered, so a write may take a part only


def lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """The lines that are not empty, without colours; of a long one only the beginning."""
    held = b""
    for piece in pieces:
        *ended, rest = piece.split(b"\n")
        for line in ended:
            yield from _line(held + line)
            held = b""
        held = (held + rest)[:LINE]
    yield from _line(held)


def _line(data: bytes) -> Iterator[str]:
    text = _COLOURS.sub(b"", data[:LINE]).decode(errors="replace").strip()
    if text:
        yield text
