"""Whether the client of a request has gone, seen at its socket: a WSGI server says nothing before the next write."""

from __future__ import annotations

import select
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SOCKET_KEY = "assay_proxy.socket"

# POLLRDHUP is not everywhere; without it the end is seen by `_at_end`.
_HANG_UP = select.POLLHUP | select.POLLERR | select.POLLNVAL | getattr(select, "POLLRDHUP", 0)


def disconnect_check(client: socket.socket | None) -> Callable[[], bool]:
    """A function that returns whether the client has closed its end; always False where there is no socket.

    It only peeks: bytes of a next request on the connection stay where they are.
    """
    # Under another server, which gives no socket: a disconnect is noticed at the next write.
    if client is None:
        return lambda: False
    # Not `select.select`, which takes no descriptors from 1024 on.
    poll = select.poll()
    poll.register(client, select.POLLIN | _HANG_UP)

    def client_gone() -> bool:
        seen = poll.poll(0)
        if not seen:
            return False
        # POLLIN alone is either the end or the next request, sent early.
        return bool(seen[0][1] & _HANG_UP) or _at_end(client)

    return client_gone


def _at_end(client: socket.socket) -> bool:
    try:
        return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:  # a broken socket is one that no one reads
        return True
