"""Events on their way from the one thread that reads the backend to the thread that serves a client.

The reader must never wait for a client: it serves every turn. So `put` does not block, and memory is bounded another
way. Text for a client that falls behind is joined to fewer and larger pieces, which is how it catches up, and those go
to a file, from which it gets all of them in the end, however slowly it reads. Dropping events silently, or slowing the
reader and with it all other turns, would be worse for everybody.

A client that does not read at all is another matter: when it has taken nothing for `patience` seconds while text waits
in the file, its turn fails, and what is unread is dropped. So it does when the file gets too large, or cannot be
written. The choices of one answer share a mailbox; the failure of one of them does not close it.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING

from wireproof_surfaces.events import ArgumentsAdded, ChoiceFailed, Event, FailureReason, TextAdded, Texts, Working

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

LIMIT = 4 * 2**20
"""Characters of text in memory for one answer."""
CROWDED = 8
"""Text is joined and put aside from an eighth of the limit on; the rest is room for events that cannot be joined."""
JOINED = 2**16
"""Characters to join into one piece, about."""
ASIDE = 2**30
"""Bytes that are put aside at most."""
PATIENCE = 30.0
"""Seconds."""
TOGETHER = 256
"""Pieces of text that are read at once at most."""
HEAVIEST = 2**15
"""What they weigh together at most, if they are more than one: each is held several times while it is written."""
WEIGHT = 64
"""What an event weighs besides its text, in characters."""

_TEXTUAL = (TextAdded, ArgumentsAdded)
_SPECIAL = (ChoiceFailed, Working)
"""One closes the mailbox, the other is dropped where there is more to read."""


@dataclass(eq=False)
class Spool:
    """A file for text that is written once and read once, each in any order; `unread` is in bytes.

    It has no name, and so is gone when it is closed or the process ends.

    Not for several threads at a time. All methods raise OSError when the disk fails or is full.
    """

    unread: int = 0
    _file: IO[bytes] | None = field(default=None, repr=False)
    _end: int = 0

    def write(self, text: str) -> tuple[int, int]:
        """Put a text aside; returns its place."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="wireproof-proxy-")  # noqa: SIM115 - lives as long as the turn
        # Halves of characters stay: `assembly.characters` joins them later.
        data = text.encode(errors="surrogatepass")
        self._file.seek(self._end)  # a read may have moved it
        self._file.write(data)
        place = (self._end, len(data))
        self._end += len(data)
        self.unread += len(data)
        return place

    def read(self, place: tuple[int, int]) -> str:
        """The text at a place, which is dropped by that; once all is read, the file starts again at its beginning."""
        if self._file is None:
            raise ValueError("nothing was put aside")
        start, size = place
        self._file.seek(start)
        data = self._file.read(size)
        self.unread -= size
        if not self.unread:
            self._end = 0
            self._file.truncate(0)
        return data.decode(errors="surrogatepass")

    def close(self) -> None:
        """Drop everything."""
        if self._file is not None:
            self._file.close()
        self._file, self._end, self.unread = None, 0, 0


@dataclass(eq=False)
class _Run:
    """Pieces of the same text, to be read as one; `place` is where they were put aside."""

    first: TextAdded | ArgumentsAdded
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    place: tuple[int, int] | None = None

    def takes(self, event: TextAdded | ArgumentsAdded) -> bool:
        """Whether the event goes on with the text."""
        return replace(event, text="") == self.first

    def add(self, text: str) -> None:
        """Go on by this text."""
        self.pieces.append(text)
        self.size += len(text)


@dataclass(eq=False, slots=True)
class _Pieces:
    """Pieces of one choice's text that are read together; `size` is what they weigh."""

    choice: int
    texts: list[str]
    size: int

    def takes(self, choice: int, size: int) -> bool:
        """Whether another piece is read together with these."""
        return choice == self.choice and len(self.texts) < TOGETHER and self.size + size <= HEAVIEST


@dataclass(eq=False)
class Mailbox:
    """A queue of events for one reader.

    `limit` is in characters of text in memory, `aside` in bytes of text in the file; `patience` and `clock` in seconds.
    """

    limit: int = LIMIT
    aside: int = ASIDE
    patience: float = PATIENCE
    clock: Callable[[], float] = time.monotonic
    _events: deque[Event | _Pieces | _Run] = field(default_factory=deque)
    _last: TextAdded | _Pieces | None = None
    """Text at the end of the queue, to which more may be added; None where something else is there."""
    _spoken: bool = False
    """Whether there was text before. The first piece of all is read alone, since it is what a client waits for."""
    _open: dict[int, _Run] = field(default_factory=dict)
    _size: int = 0
    _spool: Spool = field(default_factory=Spool)
    _closed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _bell: threading.Lock | None = None
    """What the reader waits for, while it does: a lock that is released for it. A condition is many times as dear."""

    def __post_init__(self) -> None:
        self._read_at = self.clock()

    def put(self, event: Event) -> bool:
        """Add an event. False when it will not be read: the mailbox is closed, has failed, or fails just now."""
        with self._lock:
            if self._closed:
                return False
            if not self._put_short(event):
                self._put(event)
            self._ring()
            return not self._closed

    def get(self, timeout: float) -> Event | Texts | None:
        """The oldest unread event, or pieces of text; None when none comes within `timeout` seconds, or it is closed.

        Pieces of text that follow each other and are there already come together; none is waited for.
        """
        with self._lock:
            self._read_at = self.clock()
            if not self._events:
                self._wait(timeout)
            if not self._events:
                return None
            event = self._events.popleft()
            if event is self._last:
                self._last = None
            if isinstance(event, _Pieces):
                self._size -= event.size
                return Texts(choice=event.choice, texts=tuple(event.texts))
            if isinstance(event, _Run):
                return self._taken(event)
            self._size -= weight(event)
            return event

    def close(self) -> None:
        """Drop what is unread and take no more."""
        with self._lock:
            self._closed = True
            self._drop()
            self._ring()

    def _wait(self, timeout: float) -> None:
        """Let others have the lock until there is an event, or the mailbox is closed, or the time is over."""
        if self._closed or timeout <= 0:
            return
        bell = self._bell = threading.Lock()
        bell.acquire()
        self._lock.release()
        try:
            bell.acquire(timeout=timeout)
        finally:
            self._lock.acquire()
            self._bell = None
        # A reader that waits here does not stall: the time counts from the last look, before and after the wait.
        self._read_at = self.clock()

    def _ring(self) -> None:
        """Wake the reader, if it waits."""
        if self._bell is not None:
            self._bell.release()
            self._bell = None

    def _put_short(self, event: Event) -> bool:
        """The short way of nearly all events, for a reader that keeps up. Whether it was one."""
        if self._open or self._spool.unread or isinstance(event, _SPECIAL):
            return False
        weighs = weight(event)
        if self._size + weighs > self.limit // CROWDED:
            return False
        self._size += weighs
        if not isinstance(event, TextAdded):
            self._last = None
            self._events.append(event)
        elif not self._goes_on(event, weighs):
            self._events.append(event)
            self._last, self._spoken = (event if self._spoken else None), True
        return True

    def _goes_on(self, event: TextAdded, weighs: int) -> bool:
        """Whether the piece is read together with what is at the end of the queue."""
        last = self._last
        pieces = _Pieces(last.choice, [last.text], weight(last)) if isinstance(last, TextAdded) else last
        if pieces is None or not pieces.takes(event.choice, weighs):
            return False
        self._last = self._events[-1] = pieces
        pieces.texts.append(event.text)
        pieces.size += weighs
        return True

    def _put(self, event: Event) -> None:
        try:
            self._append(event)
            hopeless = self._hopeless()
        except OSError as error:  # the disk is full, or fails, or there is no folder for temporary files
            log.warning("text for a slow client cannot be put aside: %s", error)
            hopeless = True
        if hopeless:
            self._drop()
            event = ChoiceFailed(FailureReason.LAGGING)
            self._events.append(event)
        # Nothing follows a failure of all.
        self._closed = isinstance(event, ChoiceFailed) and event.choice is None

    def _append(self, event: Event) -> None:
        if isinstance(event, TextAdded | ArgumentsAdded) and self._size + weight(event) > self.limit // CROWDED:
            self._last = None
            self._join(event)
        elif not isinstance(event, Working) or not self._events:  # whoever has something to read sees work anyway
            # An event that cannot be joined keeps its place: every run ends before it.
            self._last = None
            self._part(*self._open)
            self._events.append(event)
            self._size += weight(event)

    def _join(self, event: TextAdded | ArgumentsAdded) -> None:
        """Add text to the run of its choice. Choices are independent, so events of others do not end the run."""
        run = self._open.get(event.choice)
        if run is None or not run.takes(event):
            self._part(event.choice)
            run = self._open[event.choice] = _Run(replace(event, text=""))
            self._events.append(run)
            self._size += WEIGHT
        run.add(event.text)
        self._size += len(event.text)
        if run.size >= JOINED:
            self._part(event.choice)

    def _part(self, *choices: int) -> None:
        """End the runs of these choices and put their text aside."""
        for choice in choices:
            run = self._open.pop(choice, None)
            if run is not None:
                run.place = self._spool.write("".join(run.pieces))
                run.pieces.clear()
                self._size -= run.size

    def _taken(self, run: _Run) -> Event:
        """All of a run that is read now."""
        self._size -= WEIGHT
        if run.place is not None:
            return replace(run.first, text=self._spool.read(run.place))
        del self._open[run.first.choice]
        self._size -= run.size
        return replace(run.first, text="".join(run.pieces))

    def _hopeless(self) -> bool:
        """Whether to give up on the reader: it stalls, or the file or the memory is full."""
        unread = self._spool.unread
        # Only with text in the file: a reader that has little to take is waited for.
        stalled = unread > 0 and self.clock() - self._read_at > self.patience
        return stalled or unread > self.aside or self._size > self.limit

    def _drop(self) -> None:
        self._events.clear()
        self._last = None
        self._open.clear()
        self._size = 0
        self._spool.close()


def weight(event: Event) -> int:
    """Characters an event holds, and something for the object itself."""
    return WEIGHT + len(event.text) if isinstance(event, _TEXTUAL) else WEIGHT
