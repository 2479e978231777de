"""The two directions of a turn, however they travel: messages to the service, and its own.

A channel is used by one task that reads and by others that send. What goes wrong on the way is raised from `receive`,
or from `send` if it is found there: `ServiceError` when the service says so, `LostError` when the connection breaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import SplitResult, urlsplit

from google.protobuf.message import DecodeError

from wireproof_cursor_protos.agent_pb2 import AgentServerMessage
from wireproof_proxy.backends.cursor.envelope import GarbledError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager

    from wireproof_cursor_protos.agent_pb2 import AgentClientMessage

RUN = "/agent.v1.AgentService/Run"
RUN_SSE = "/agent.v1.AgentService/RunSSE"
APPEND = "/aiserver.v1.BidiService/BidiAppend"


class UnreachedError(Exception):
    """No connection could be made."""


class LostError(Exception):
    """The connection broke, or the stream ended without its end."""


class Channel(Protocol):
    """One turn's connection to the service."""

    async def send(self, message: AgentClientMessage) -> None:
        """Send a message; returns when it is on its way, or has been accepted."""

    def receive(self) -> AsyncGenerator[AgentServerMessage]:
        """The service's messages up to the end of the stream."""


class ServiceTransport(Protocol):
    """How turns reach the service."""

    heartbeats: bool
    """Whether the client shows on this transport that it lives."""

    def open(self, request_id: str) -> AbstractAsyncContextManager[Channel]:
        """A channel for a turn; closing it interrupts the turn if it still runs.

        Raises:
            UnreachedError: on entering, or from `receive`.
        """

    async def close(self) -> None:
        """Release what the channels share."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceAddress:
    """Where the service is, and what every request carries."""

    base_url: str
    token: str

    @property
    def parts(self) -> SplitResult:
        """The parts of its URL."""
        return urlsplit(self.base_url)

    @property
    def secure(self) -> bool:
        """Whether it is reached by TLS."""
        return self.parts.scheme == "https"

    @property
    def at(self) -> tuple[str, int]:
        """Its host and its port."""
        return self.parts.hostname or "", self.parts.port or (443 if self.secure else 80)

    def headers(self, request_id: str, content_type: str) -> list[tuple[str, str]]:
        """The headers of a request of this turn."""
        return [
            ("authorization", f"Bearer {self.token}"),
            ("content-type", content_type),
            ("connect-protocol-version", "1"),
            ("x-request-id", request_id),
            ("x-cursor-client-type", "cli"),
            # Privacy mode: the service keeps nothing of what it is sent.
            ("x-ghost-mode", "true"),
            ("user-agent", "wireproof-proxy"),
        ]


def message_of(payload: bytes) -> AgentServerMessage:
    """A message of the service.

    Raises:
        GarbledError: it cannot be read.
    """
    try:
        return AgentServerMessage.FromString(payload)
    except DecodeError as error:
        raise GarbledError("a message that cannot be decoded") from error
