"""An answer that a thread writes while the event loop sends it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_surfaces.http.served_exchange import ServedExchange

ROOM = 65536
"""Bytes of an answer that may wait to be handed to the event loop."""


class ClientLeftError(Exception):
    """The client has left: nothing more can be sent."""


class ThreadAnswer:
    """What a thread and the event loop hand to each other for one exchange; made on the loop."""

    # Nothing that it refers to refers back to it once it is over: see `ServedExchange`.
    __slots__ = (
        "_callbacks", "_changed", "_exchange", "_failed", "_gone", "_loop", "_opening", "_over", "_pieces", "_size",
        "_stalled", "_woken",
    )  # fmt: skip

    def __init__(self, exchange: ServedExchange) -> None:
        self._exchange = exchange
        self._loop = asyncio.get_running_loop()
        self._changed = threading.Condition(threading.Lock())
        self._opening: tuple[str, list[tuple[str, str]]] | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._woken = False
        self._over = False
        self._failed = False
        self._gone = False
        self._stalled = False
        self._callbacks: list[Callable[[], object]] = []
        exchange.watcher = self

    # For the thread

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
        self._opening = (status, headers)

    def put(self, piece: bytes) -> None:
        """Send a piece, soon; waits while a client that reads slowly has much to take.

        Raises:
            ClientLeftError: the client has left.
        """
        with self._changed:
            if self._gone:
                raise ClientLeftError
            self._pieces.append(piece)
            self._size += len(piece)
            self._wake()
            self._changed.wait_for(lambda: self._size < ROOM or self._gone or self._stalled)

    def end(self, *, failed: bool = False) -> None:
        """Say that nothing more follows; `failed`: the answer could not be written to its end."""
        with self._changed:
            self._over, self._failed = True, failed
            self._callbacks.clear()  # a departure ends nothing any more
            self._wake()

    def _wake(self) -> None:
        # Once, however many pieces come before the loop gets to it: they share a write then.
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):  # the loop is closed, and all that was on it
                self._loop.call_soon_threadsafe(self.on_resume)

    # For the event loop, as a watcher of the exchange

    def on_gone(self) -> None:
        """The client has left."""
        with self._changed:
            self._gone = True
            callbacks, self._callbacks = self._callbacks, []
            self._pieces.clear()
            self._size = 0
            self._changed.notify_all()
        for callback in callbacks:
            callback()

    def on_stall(self) -> None:
        """The client takes nothing: its answer is given up, but for an end that says so."""
        with self._changed:
            self._stalled = True
            self._changed.notify_all()
        self.on_resume()

    def on_resume(self) -> None:
        """Send what the thread has written."""
        exchange = self._exchange
        if exchange.paused and not self._stalled:
            return  # the connection comes back to it
        with self._changed:
            self._woken = False
            data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
            self._pieces.clear()
            self._size = 0
            self._changed.notify_all()
            opening, self._opening = self._opening, None
            over, failed = self._over, self._failed
        if opening is not None:
            exchange.begin(*opening)
        if failed:
            exchange.fail()
        elif over:
            exchange.end(data)
        elif data:
            exchange.send(data)
