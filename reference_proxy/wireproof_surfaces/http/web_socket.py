"""A WebSocket on a connection of the edge: its handshake, and messages out of its frames (RFC 6455). No I/O.

wsproto reads and writes the frames. No extension is taken: messages are short, and compression would cost each of them.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Message, Ping, TextMessage
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import LocalProtocolError, generate_accept_token

if TYPE_CHECKING:
    from wireproof_surfaces.http.request_head import RequestHead

VERSION = b"13"
_KEY_BYTES = 16
GOING_AWAY, TOO_BIG, POLICY = CloseReason.GOING_AWAY, CloseReason.MESSAGE_TOO_BIG, CloseReason.POLICY_VIOLATION
OVER = CloseReason.NORMAL_CLOSURE


def handshake(head: RequestHead) -> bytes | None:
    """The value of `Sec-WebSocket-Accept` for an offer; None: it is not made as it must be."""
    keys = head.values(b"sec-websocket-key")
    if head.values(b"sec-websocket-version") != [VERSION] or len(keys) != 1:
        return None
    try:
        right = len(base64.b64decode(keys[0].strip(), validate=True)) == _KEY_BYTES
    except binascii.Error:
        return None
    return generate_accept_token(keys[0].strip()) if right else None


@dataclass(frozen=True, slots=True)
class ReceivedMessages:
    """What bytes of a client bring."""

    messages: list[str]
    reply: bytes
    """To be sent at once: answers to pings, and the closing of a connection that the client closes."""
    closed: bool = False
    """Whether nothing more comes."""


class WebSocket:
    """The server's side; a message has at most `largest` bytes."""

    def __init__(self, largest: int) -> None:
        self._connection = Connection(ConnectionType.SERVER)
        self._largest = largest
        self._parts: list[str] = []
        self._size = 0

    def received(self, data: bytes) -> ReceivedMessages:
        """What these bytes bring."""
        self._connection.receive_data(data)
        messages, reply = list[str](), b""
        for event in self._connection.events():
            if isinstance(event, TextMessage):
                messages += self._text(event)
            elif isinstance(event, Ping):
                reply += self._connection.send(event.response())
            elif isinstance(event, BytesMessage):
                return ReceivedMessages(
                    messages, reply + self.close(CloseReason.UNSUPPORTED_DATA, "send JSON as text"), closed=True
                )
            elif isinstance(event, CloseConnection):
                return ReceivedMessages(messages, reply + self._answered(event), closed=True)
            if self._size > self._largest:
                return ReceivedMessages(
                    messages, reply + self.close(TOO_BIG, f"more than {self._largest} bytes"), closed=True
                )
        return ReceivedMessages(messages, reply)

    def _text(self, event: TextMessage) -> list[str]:
        self._parts.append(event.data)
        self._size += len(event.data.encode())
        if not event.message_finished or self._size > self._largest:
            return []
        text, self._parts, self._size = "".join(self._parts), [], 0
        return [text]

    def _answered(self, event: CloseConnection) -> bytes:
        try:
            return self._connection.send(event.response())
        except LocalProtocolError:  # it was closed from here already
            return b""

    def text(self, text: str) -> bytes:
        """The frame of a message."""
        return self._connection.send(Message(data=text))

    def close(self, reason: CloseReason, why: str = "") -> bytes:
        """The frame that closes; none where it was closed already."""
        try:
            return self._connection.send(CloseConnection(code=reason, reason=why))
        except LocalProtocolError:
            return b""
