"""Serves Responses over WebSockets for an application that serves them over HTTP: each message is a request to it.

A connection has one answer at a time; messages that come meanwhile wait. It is closed when nothing was asked for a
while, and asks no more once it is 60 minutes old, as OpenAI's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_surfaces.errors import BAD_REQUEST
from wireproof_surfaces.surfaces import chatgpt_service

if TYPE_CHECKING:
    from wireproof_surfaces.http.client_connection import Application
    from wireproof_surfaces.http.request_head import RequestHead
    from wireproof_surfaces.http.served_exchange import ServedExchange
    from wireproof_surfaces.http.socket_session import SocketSession

PATHS = frozenset({b"/v1/responses", chatgpt_service.PATH.encode()})

Refusal = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body."""


@dataclass(frozen=True, slots=True)
class SocketApplication:
    """Serves `application`, and its Responses over WebSockets.

    `gate` refuses a handshake by its head, as the same POST would be; None: it lets it in.
    """

    _application: Application
    _gate: Callable[[ServedExchange], Refusal | None]
    _sessions: set[SocketSession] = field(default_factory=set)

    def wants(self, exchange: ServedExchange) -> int:
        """How many bytes of a body are looked at."""
        return self._application.wants(exchange)

    def answer(self, exchange: ServedExchange) -> None:
        """Open a WebSocket where one is offered, else answer."""
        if exchange.head.path in PATHS and _is_offer(exchange.head):
            self._open(exchange)
        else:
            self._application.answer(exchange)

    def _open(self, exchange: ServedExchange) -> None:
        # Not at the head: few clients want a WebSocket, and what reads one is a tenth of what a start imports.
        from wireproof_surfaces.http.socket_session import SocketSession  # noqa: PLC0415
        from wireproof_surfaces.http.web_socket import handshake  # noqa: PLC0415

        if (refusal := self._gate(exchange)) is not None:
            exchange.closes = True
            exchange.reply(*refusal)
        elif (accept := handshake(exchange.head)) is None:
            exchange.refuse(BAD_REQUEST, "The offer of a WebSocket needs `Sec-WebSocket-Version: 13` and a key.")
        else:
            SocketSession(self._application, exchange, self._sessions).open(accept)

    def stop(self) -> None:
        """The server stops."""
        for session in tuple(self._sessions):
            session.shut()
        self._application.stop()


def _is_offer(head: RequestHead) -> bool:
    """Whether a request offers a WebSocket, right or not."""
    options = {option.strip().lower() for value in head.values(b"connection") for option in value.split(b",")}
    names = {name.strip().lower() for value in head.values(b"upgrade") for name in value.split(b",")}
    return head.method == "GET" and head.version == "1.1" and b"upgrade" in options and b"websocket" in names
