"""The proxy that a persona talks to: a request goes out, the data of a stream or the JSON of a whole answer comes back.

An answer is bounded in bytes and in time, whatever the proxy sends.

Whatever is not an answer becomes a `NotServedError` with the words that a user of the client would get to see.
"""

from __future__ import annotations

import json
import threading
from codecs import getincrementaldecoder
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from io import IncrementalNewlineDecoder
from typing import TYPE_CHECKING

import httpx

from wireproof_mocks.personas.answer import Json, NotServedError
from wireproof_mocks.personas.line import short
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

LOCAL = frozenset({"127.0.0.1", "localhost", "::1", "0.0.0.0", "::"})  # noqa: S104 - as servers print their address
DONE = "[DONE]"
"""The data that ends a stream of chat."""
MOST_BYTES = 1 << 26
"""Bytes that an answer may have."""
SILENCES = 10
"""An answer may take so many times as long as the proxy may be silent."""
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
        url = httpx.URL(self.url)
        with httpx.Client(
            # Uncompressed: some kilobytes can unpack to what fills the memory.
            headers={"accept-encoding": "identity", **own, **self.headers},
            timeout=self.timeout,
            # A proxy of the environment would stand between, and cannot reach this machine.
            trust_env=url.host not in LOCAL,
            # Of what the environment says, the authorities of certificates hold here, too.
            verify=httpx.create_ssl_context(trust_env=url.scheme == "https"),
            # None is kept: what a proxy sets need not be what a request can carry.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
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
            # Whatever type it says: all clients that were tried read the body as a stream.
            for data in event_data(response.iter_bytes()):
                if data == DONE:
                    return
                frame = _json_object(data, "a frame of the stream")
                if error := frame.get("error"):
                    raise NotServedError(f"the stream failed: {_message(error)}")
                yield frame

    def models(self) -> Json:
        """The list of models; raises as `whole`."""
        with self._sent("GET", "/models") as response:
            response.read()
            return _json_object(response.text, "the answer")

    def _posted(self, path: str, body: Json) -> AbstractContextManager[httpx.Response]:
        return self._sent("POST", path, {"model": self.endpoint.model, **body})

    @contextmanager
    def _sent(self, method: str, path: str, body: Json | None = None) -> Iterator[httpx.Response]:
        url = self.endpoint.url.rstrip("/") + path
        content = None if body is None else _json_bytes(body)
        headers = None if body is None else {"content-type": "application/json"}
        # By closing what is read: heads of status 100 may come without end, behind which nothing of ours runs.
        late = threading.Event()
        clock = threading.Timer(SILENCES * self.endpoint.timeout, self._leave, (late,))
        clock.daemon = True
        clock.start()
        try:
            with self.client.stream(method, url, content=content, headers=headers) as response:
                _bound(response)
                if response.status_code >= _FAILING:
                    response.read()
                    raise NotServedError(f"HTTP {response.status_code}: {_of_envelope(response)}")
                yield response
        except httpx.ConnectError as error:
            raise UnreachableError(f"{url} cannot be reached: {error}") from error
        except httpx.TimeoutException as error:
            seconds = self.endpoint.timeout
            raise NotServedError(f"{path} was silent for {seconds:g} s; the client has given up") from error
        except (httpx.TransportError, RuntimeError) as error:
            if late.is_set():
                seconds = SILENCES * self.endpoint.timeout
                raise NotServedError(f"the answer of {path} went on for {seconds:g} s; the client has left") from error
            if isinstance(error, RuntimeError):
                raise
            raise NotServedError(f"the answer of {path} broke off: {error}") from error
        finally:
            clock.cancel()

    def _leave(self, late: threading.Event) -> None:
        late.set()
        self.client.close()


@dataclass(frozen=True, kw_only=True)
class _Bounded(httpx.SyncByteStream):
    """A body that ends with an error where it is too long."""

    body: httpx.SyncByteStream

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self.body:
            size += len(piece)
            if size > MOST_BYTES:
                raise NotServedError(f"the answer has more than {MOST_BYTES:,} bytes; the client has left")
            yield piece

    def close(self) -> None:
        """Close the connection, or give it back."""
        self.body.close()


def event_data(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of each event of a stream, whose lines end as the specification has it: with CR, LF or both."""
    decoder = IncrementalNewlineDecoder(getincrementaldecoder("utf-8")("replace"), translate=True)
    data: list[str] = []
    line = ""
    for piece in pieces:
        first, *more = decoder.decode(piece).split("\n")
        line += first
        for following in more:
            name, _, value = line.partition(":")
            if name == "data":
                data.append(value.removeprefix(" "))
            elif not line and data:
                yield "\n".join(data)
                data = []
            line = following


def _bound(response: httpx.Response) -> None:
    encoding = response.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        raise NotServedError(f"the answer is compressed ({short(encoding)}), though the request asks for identity")
    if isinstance(response.stream, httpx.SyncByteStream):
        response.stream = _Bounded(body=response.stream)


def _json_bytes(body: Json) -> bytes:
    """As JavaScript writes it: half a character, which an answer may have had, becomes an escape."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")


def _json_object(text: str, what: str) -> Json:
    try:
        value = parse_json(text)
    except ValueError:
        raise NotServedError(f"{what} is no JSON: {short(text)}") from None
    if not isinstance(value, dict):
        raise NotServedError(f"{what} is no JSON object: {short(text)}")
    return value


def _of_envelope(response: httpx.Response) -> str:
    try:
        return _message(response.json()["error"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return short(response.text) or "an empty body"


def _message(error: object) -> str:
    """What a user gets to see of an error."""
    return str(error.get("message", error)) if isinstance(error, dict) else str(error)
