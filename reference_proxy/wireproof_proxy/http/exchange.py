"""One request and its answer: a thread writes the answer, the event loop sends it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed.wsgi import WSGIEnvironment

    from wireproof_proxy.http.strictness import Head

ROOM = 65536
"""Bytes of an answer that may wait to be handed to the event loop."""


class LeftError(Exception):
    """The client has left: nothing more can be sent."""


class Exchange:
    """A request, and what its thread and the event loop hand to each other.

    `wake` is called with it, in any thread, when there is something to send; the loop takes it with `take`.
    """

    # Nothing that it refers to refers back to it once it is answered: a request's memory is free then, its body's too,
    # and the collector of cycles, which looks at much that has nothing to do with it, is seldom called.

    # Many of them wait at once.
    __slots__ = (
        "_callbacks", "_changed", "_gone", "_over", "_pieces", "_size", "_stalled", "_status", "_wake", "_woken",
        "begun", "body", "chunked", "closes", "complete", "connection", "environ", "head", "left", "started", "wanted",
    )  # fmt: skip

    def __init__(self, head: Head, connection: object, wake: Callable[[Exchange], object]) -> None:
        self.head = head
        self.connection = connection
        """What identifies the connection over which it came."""
        self.environ: WSGIEnvironment | None = None
        """What WSGI says of it, once that was asked for and until it is answered; without its body."""
        self.body = bytearray()
        self.wanted = 0
        """The most bytes of the body that the application looks at; 0: none."""
        self.complete = False
        """Whether the request has been read to its end."""
        self.started = False
        """Whether it is being answered."""
        self.begun = False
        """Whether its head has been sent."""
        self.closes = False
        """Whether the connection ends with the answer."""
        self.chunked = False
        """Whether the answer is sent in chunks."""
        self.left: int | None = None
        """Bytes that the answer has announced and not sent; None: it has announced none."""
        self._wake = wake
        self._changed = threading.Condition(threading.Lock())
        self._pieces: list[bytes] = []
        self._size = 0
        self._status: tuple[str, list[tuple[str, str]]] | None = None
        self._woken = False
        self._over = False
        self._gone = False
        self._stalled = False
        self._callbacks: list[Callable[[], object]] = []

    # for the application's thread

    def gone(self) -> bool:
        """Whether the client has left."""
        return self._gone

    def stalled(self) -> bool:
        """Whether the client has taken nothing for so long that its answer is given up."""
        return self._stalled

    def when_gone(self, callback: Callable[[], object]) -> None:
        """Call this when the client leaves, in another thread; at once when it has left. It must not block."""
        with self._changed:
            if not self._gone:
                self._callbacks.append(callback)
                return
        callback()

    def begin(self, status: str, headers: list[tuple[str, str]]) -> None:
        """Set status line and headers; they go out with the first piece, or with the end."""
        self._status = (status, headers)

    def put(self, piece: bytes) -> None:
        """Send a piece, soon; waits while a client that reads slowly has much to take.

        Raises:
            LeftError: the client has left.
        """
        with self._changed:
            if self._gone:
                raise LeftError
            self._pieces.append(piece)
            self._size += len(piece)
            self._notify()
            self._changed.wait_for(lambda: self._size < ROOM or self._gone or self._stalled)

    def end(self) -> None:
        """Say that nothing more follows."""
        with self._changed:
            self._over = True
            self._callbacks.clear()  # a departure ends nothing any more
            self._notify()

    def _notify(self) -> None:
        # Once, however many pieces come before the loop gets to it: they share a write then.
        if not self._woken:
            self._woken = True
            self._wake(self)

    # for the event loop

    def take(self) -> tuple[tuple[str, list[tuple[str, str]]] | None, bytes, bool]:
        """Status and headers, once; all bytes since; and whether they are the last."""
        with self._changed:
            self._woken = False
            data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
            self._pieces.clear()
            self._size = 0
            self._changed.notify_all()
            status, self._status = self._status, None
            return status, data, self._over

    def leave(self) -> None:
        """The client has left."""
        with self._changed:
            self._gone = True
            callbacks, self._callbacks = self._callbacks, []
            self._pieces.clear()
            self._size = 0
            self._changed.notify_all()
        for callback in callbacks:
            callback()

    def stall(self) -> None:
        """The client takes nothing: its answer is given up, but for an end that says so."""
        with self._changed:
            self._stalled = True
            self._changed.notify_all()
