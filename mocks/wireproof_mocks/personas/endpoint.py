"""The proxy that a persona talks to: a request goes out, the data of a stream or the JSON of a whole answer comes back.

Whatever is not an answer becomes a `NotServedError` with the words that a user of the client would get to see.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx
from httpx_sse import EventSource

from wireproof_mocks.personas.answer import Json, NotServedError
from wireproof_mocks.personas.line import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
DONE = "[DONE]"
"""The data that ends a stream of chat."""
EVENT_STREAM = "text/event-stream"
_FAILING = 400
"""Statuses from this one on are errors."""


class UnreachableError(Exception):
    """Nothing listens at the base URL."""


@dataclass(frozen=True, kw_only=True)
class EndpointAddress:
    """A base URL and how to talk to it."""

    url: str
    model: str
    key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers beside those of the client, such as one that chooses an output mode."""
    timeout: float = 120.0
    """The longest silence, in seconds."""

    @contextmanager
    def connected(self) -> Iterator[OpenEndpoint]:
        """One client for a whole conversation."""
        own = {"authorization": f"Bearer {self.key}"} if self.key else {}
        with httpx.Client(
            headers={**own, **self.headers},
            timeout=self.timeout,
            # A proxy of the environment would stand between, and cannot reach this machine.
            trust_env=httpx.URL(self.url).host not in LOOPBACK,
        ) as client:
            yield OpenEndpoint(endpoint=self, client=client)


@dataclass(frozen=True, kw_only=True)
class OpenEndpoint:
    """An endpoint with a client that is open."""

    endpoint: EndpointAddress
    client: httpx.Client

    def whole(self, path: str, body: Json) -> Json:
        """The JSON of a whole answer.

        Raises:
            NotServedError: it is an error, no JSON object, or breaks off.
            UnreachableError: no server listens there.
        """
        with self._posted(path, {**body, "stream": False}) as response:
            response.read()
            return _json_object(response.text, "the answer")

    def stream(self, path: str, body: Json) -> Iterator[Json]:
        """The JSON of each frame of a stream, up to its end.

        Raises:
            NotServedError: it is an error, a frame is no JSON object, or the stream breaks off.
            UnreachableError: no server listens there.
        """
        with self._posted(path, {**body, "stream": True}) as response:
            if response.headers.get("content-type", "").startswith("application/json"):
                response.read()
                raise NotServedError(f"asked for a stream, it answered with one JSON body: {short(response.text)}")
            # Whatever type it says: all clients that were tried read the body as a stream. httpx-sse would raise.
            response.headers["content-type"] = EVENT_STREAM
            for event in EventSource(response).iter_sse():
                if event.data == DONE:
                    return
                frame = _json_object(event.data, "a frame of the stream")
                if error := frame.get("error"):
                    raise NotServedError(f"the stream failed: {_message(error)}")
                yield frame

    @contextmanager
    def _posted(self, path: str, body: Json) -> Iterator[httpx.Response]:
        url = self.endpoint.url.rstrip("/") + path
        try:
            with self.client.stream("POST", url, json={"model": self.endpoint.model, **body}) as response:
                if response.status_code >= _FAILING:
                    response.read()
                    raise NotServedError(f"HTTP {response.status_code}: {_of_envelope(response)}")
                yield response
        except httpx.ConnectError as error:
            raise UnreachableError(f"{url} cannot be reached: {error}") from error
        except httpx.TimeoutException as error:
            seconds = self.endpoint.timeout
            raise NotServedError(f"{path} was silent for {seconds:g} s; the client has given up") from error
        except httpx.TransportError as error:
            raise NotServedError(f"the answer of {path} broke off: {error}") from error


def _json_object(text: str, what: str) -> Json:
    try:
        value = json.loads(text)
    except ValueError:
        raise NotServedError(f"{what} is no JSON: {short(text)}") from None
    if not isinstance(value, dict):
        raise NotServedError(f"{what} is no JSON object: {short(text)}")
    return value


def _of_envelope(response: httpx.Response) -> str:
    try:
        return _message(response.json()["error"])
    except (ValueError, KeyError, TypeError):
        return short(response.text) or "an empty body"


def _message(error: object) -> str:
    """What a user gets to see of an error."""
    return str(error.get("message", error)) if isinstance(error, dict) else str(error)
