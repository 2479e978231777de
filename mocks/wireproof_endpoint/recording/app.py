"""The recording endpoint as an ASGI application: it passes requests on, answers as they come back, and notes both."""

from __future__ import annotations

import json
import logging
from time import monotonic
from typing import TYPE_CHECKING, Any

import httpx

from wireproof_endpoint.journal.entry import LONG, SECRET
from wireproof_endpoint.recording.answer import Recorded, steps_of
from wireproof_endpoint.recording.file import write
from wireproof_endpoint.recording.scripts import Scripts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from pathlib import Path

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]
    Headers = Iterable[tuple[str, str]]

log = logging.getLogger(__name__)

PREFIX = "/v1"
RECORDED = frozenset({"/chat/completions", "/responses"})
"""Paths below the base URL whose answers become scripts; everything else is only passed on."""
_HOP = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
    "upgrade", "host", "content-length", "accept-encoding", "content-encoding",
})  # fmt: skip
"""Headers that belong to one connection, and those of an encoding: what is recorded is plain."""


class Recorder:
    """Passes requests on to the base URL `upstream`, with `key` if there is one, and writes scripts to a file."""

    def __init__(self, upstream: str, path: Path, *, key: str | None = None, paced: bool = False) -> None:
        self._upstream = upstream.rstrip("/")
        self._path = path
        self._key = key
        self._paced = paced
        self._keys = {key} if key else set[str]()
        self._scripts = Scripts()
        self._tls = httpx.create_ssl_context()
        self.recorded = 0
        """Answers so far."""

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return
        body = await _body(receive)
        if not scope["path"].startswith(f"{PREFIX}/"):
            await _refuse(send, 404, f"There is nothing at {scope['path']}: the base URL ends with {PREFIX}.")
            return
        began = _Began(send)
        try:
            # No deadline: the client has its own, and a model may think for minutes. Nothing is kept for the next
            # request: a connection that a server has closed meanwhile would fail it.
            async with httpx.AsyncClient(timeout=None, verify=self._tls) as client:  # noqa: S113 - see above
                await self._pass_on(client, scope, body, began.send)
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            log.warning("%s does not answer: %s", self._upstream, why)
            if not began:
                await _refuse(send, 502, f"The upstream does not answer: {why}.")
            # An answer that has begun ends without its end, as the upstream's did.

    async def _pass_on(self, client: httpx.AsyncClient, scope: Mapping[str, Any], body: bytes, send: Send) -> None:
        path, query = scope["path"].removeprefix(PREFIX), scope["query_string"].decode("latin-1")
        url = f"{self._upstream}{path}{f'?{query}' if query else ''}"
        given = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
        began, pieces = monotonic(), list[tuple[float, bytes]]()
        async with client.stream(scope["method"], url, headers=self._headers(given), content=body) as response:
            headers = [(name, value) for name, value in response.headers.multi_items() if name not in _HOP]
            raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
            await send({"type": "http.response.start", "status": response.status_code, "headers": raw})
            try:
                # To its end, also when the client has left: half an answer is no script.
                async for piece in response.aiter_bytes():
                    pieces.append((monotonic() - began, piece))
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            finally:
                if scope["method"] == "POST" and path in RECORDED and pieces:
                    self._record(body, Recorded(status=response.status_code, headers=dict(headers), pieces=pieces))
        await send({"type": "http.response.body", "body": b""})

    def _headers(self, given: Headers) -> dict[str, str]:
        headers = {name: value for name, value in given if name not in _HOP}
        words = (word for name in SECRET for word in headers.get(name, "").split())
        self._keys |= {word for word in words if len(word) >= LONG}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        return {**headers, "accept-encoding": "identity"}

    def _record(self, body: bytes, recorded: Recorded) -> None:
        try:
            asked = json.loads(body)
            steps, id_ = steps_of(recorded, paced=self._paced)
        # Whatever an upstream sends: the client has its answer, and the other recordings stay.
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            log.warning("an answer could not be read, and is not recorded: %r", error)
            return
        if not isinstance(asked, dict):
            return
        problem = self._scripts.add(asked, steps, id_)
        if problem:
            log.warning("%s", problem)
        self.recorded += 1
        try:
            write(self._path, self._scripts.scripts(self._keys))
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path, error)


class _Began:
    """Sends, and is true once it has."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._began = False

    def __bool__(self) -> bool:
        return self._began

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self._began = True
        await self._send(message)


async def _body(receive: Receive) -> bytes:
    pieces, more = [], True
    while more:
        message = await receive()
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(pieces)


async def _refuse(send: Send, status: int, message: str) -> None:
    body = json.dumps({"error": {"message": message, "type": "api_error", "param": None, "code": None}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
