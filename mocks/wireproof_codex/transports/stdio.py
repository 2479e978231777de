"""The stdio edge of the mock app-server: one loop over `poll`, no threads.

Output is fetched from the core only while the client reads, so a flood that is not read costs no memory. Input is read
meanwhile (an interrupt must work in the middle of a flood), until too many answers wait to be fetched. The end of
stdin ends the process with status 0 at once, as SIGTERM does from 0.155.0 on; before, and by SIGINT in every version,
it is ended by the signal itself. Running turns are dropped, as the real server does it.
A signal raises where it finds the loop; one that comes just before `poll` begins to wait, or that hits another thread,
interrupts nothing, so the wake-up pipe that `poll` listens to as well ends the waiting. All is put back as found.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import termios
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from wireproof_codex.protocol.outputs import GarbageLine, Pieces, ProcessExit, StderrLine
from wireproof_codex.protocol.rpc import LineSplitter
from wireproof_codex.transports.outbox import Outbox
from wireproof_codex.transports.stopping import Stop, stopping_on, wake_up_pipe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_codex.context import ServerContext
    from wireproof_codex.protocol.outputs import Output
    from wireproof_codex.transports.journal import Direction, LineJournal

_STDIN, _STDOUT = 0, 1
_MOST_WAITING = 64 * 1024  # bytes fetched but not yet written
_MOST_ANSWERS = 10_000  # not yet fetched
_READ_SIZE = 256 * 1024
_LOOK_AGAIN = 1  # milliseconds; poll does not report that a pipe was emptied
_DAY = 86_400_000.0  # milliseconds; poll takes no more than 24 days
_FLUSH = 0.05  # seconds that the client has to read what is left at the end
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Served(Protocol):
    """What is served: an app-server, or another process of codex that lines go into and come out of."""

    context: ServerContext
    """Has the version, the time, and when there may be more to write although no input came."""

    @property
    def backlog(self) -> int:
        """How many outputs wait to be fetched."""

    @property
    def outlives_input(self) -> bool:
        """Whether the process outlives its stdin."""

    def receive(self, line: bytes) -> None:
        """Take a line of stdin."""

    def output(self) -> Output | None:
        """The next thing to write, None while there is nothing."""

    def prepare(self) -> None:
        """Import what will be needed."""


class StdioEdge:
    """Moves lines between the descriptors and the core until the process is to end."""

    def __init__(self, server: Served, journal: LineJournal | None, signalled: int) -> None:
        self._server = server
        self._signalled = signalled
        self.stopped_by = 0
        """The signal that ended it, 0 if none did."""
        self._journal = journal
        self._lines = LineSplitter()
        self._outbox = Outbox()
        self._status: int | None = None
        self._input_over = False
        self._poll = select.poll()
        self._poll.register(signalled, select.POLLIN)

    def run(self) -> int:
        """Serve until the end; the exit status."""
        try:
            while self._status is None:
                self._fetch()
                if self._status is None:
                    self._exchange()
        except Stop as stop:
            self.stopped_by = stop.signum
            return 0
        except BrokenPipeError:  # the client is gone: status 0, as at the end of its input
            return 0
        self._flush()
        return self._status

    def _fetch(self) -> None:
        """Take outputs of the core, as long as there is room."""
        while len(self._outbox) < _MOST_WAITING and self._status is None:
            match self._server.output():
                case bytes() as line:
                    self._outbox.add(line)
                    self._note("sent", line, self._server.context.now, message=True)
                case GarbageLine(line):
                    self._outbox.add(line)
                    self._note("sent", line, self._server.context.now)
                case Pieces(sizes):
                    self._outbox.cut(sizes)
                case StderrLine(text):
                    sys.stderr.write(f"{text}\n")
                case ProcessExit(status):
                    self._status = status
                case None:
                    break
        if self._journal is not None:
            self._journal.flush()

    def _exchange(self) -> None:
        """Wait until something can be read or written, and do it."""
        if not self._outbox:
            self._server.prepare()  # in a pause: else the first turn would wait for imports
        listening = self._server.backlog < _MOST_ANSWERS
        if not self._input_over:
            self._poll.register(_STDIN, select.POLLIN if listening else 0)  # with 0, `poll` still reports a hang-up
        # A piece waits until the client has read the one before: in the pipe they would become one again.
        held = self._outbox.in_pieces and _unread(_STDOUT)
        self._poll.register(_STDOUT, select.POLLOUT if self._outbox and not held else 0)
        ready = dict(self._poll.poll(_LOOK_AGAIN if held else self._patience()))
        if self._signalled in ready:
            raise Stop(os.read(self._signalled, 1)[0])
        if ready.get(_STDOUT, 0) & _GONE:
            raise Stop
        if ready.get(_STDOUT):
            self._write()
        if ready.get(_STDIN) and listening:
            self._read()
        elif ready.get(_STDIN):  # a hang-up while too many answers wait: no more is read
            self._status = 0

    def _patience(self) -> float | None:
        """How long to wait, in milliseconds."""
        wake = self._server.context.wake_at()
        return None if wake is None else min(max(0.0, (wake - self._server.context.clock()) * 1000 + 0.5), _DAY)

    def _write(self) -> None:
        with suppress(BlockingIOError):
            self._outbox.written(os.write(_STDOUT, self._outbox.next))

    def _read(self) -> None:
        with suppress(BlockingIOError):
            self._take(os.read(_STDIN, _READ_SIZE))

    def _take(self, piece: bytes) -> None:
        """Hand what was read to the core; nothing read is the end."""
        lines = self._lines.feed(piece) if piece else self._lines.end()
        for line in lines:
            self._note("received", line, self._server.context.clock())
            self._server.receive(line)
        # First, what the last line asks for: a turn may keep the process, a crash set its status.
        if not piece:
            self._fetch()
            self._end_input()

    def _end_input(self) -> None:
        """Stdin has ended, and with it the process, unless a turn keeps it alive."""
        if self._server.outlives_input:
            self._input_over = True
            self._poll.unregister(_STDIN)
        else:
            self._status = self._status or 0  # a crash that the last line asked for keeps its status

    def _note(self, direction: Direction, line: bytes, now: float, *, message: bool = False) -> None:
        if self._journal is not None:
            self._journal.note(direction, line, now, message=message)

    def _flush(self) -> None:
        """Write what is left before the end: what the pipe takes at once, the rest if the client reads it soon."""
        deadline = self._server.context.clock() + _FLUSH
        poll = select.poll()
        poll.register(_STDOUT, select.POLLOUT)
        while self._outbox:
            ready = poll.poll(max(0.0, deadline - self._server.context.clock()) * 1000)
            if not ready or any(event & _GONE for _, event in ready):
                return
            self._write()


def serve(server: Served, journal: LineJournal | None = None) -> int:
    """Serve stdin and stdout until the end; the exit status."""
    with ExitStack() as stack:
        signalled = stack.enter_context(wake_up_pipe())
        for signum in (signal.SIGTERM, signal.SIGINT):
            stack.enter_context(stopping_on(signum))
        for descriptor in (_STDIN, _STDOUT):
            stack.enter_context(_unblocked(descriptor))
        edge = StdioEdge(server, journal, signalled)
        status = edge.run()
    # Not at once, by the signal's own action: the descriptors are to be left as they were found.
    if edge.stopped_by == signal.SIGINT or (edge.stopped_by and not server.context.version.transport.ends_on_sigterm):
        signal.signal(edge.stopped_by, signal.SIG_DFL)
        os.kill(os.getpid(), edge.stopped_by)
    return status


def _unread(descriptor: int) -> int:
    """How many bytes in a pipe were not yet read; 0 where the system does not say."""
    count = bytearray(4)
    with suppress(OSError):
        fcntl.ioctl(descriptor, termios.FIONREAD, count)
    return int.from_bytes(count, sys.byteorder)


@contextmanager
def _unblocked(descriptor: int) -> Iterator[None]:
    # The setting belongs to the open file, which the process that started this one may share.
    before = os.get_blocking(descriptor)
    os.set_blocking(descriptor, False)
    try:
        yield
    finally:
        os.set_blocking(descriptor, before)
