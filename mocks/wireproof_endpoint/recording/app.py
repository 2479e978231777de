"""The recording endpoint on the edge: it passes requests on, answers as they come back, and notes both."""

from __future__ import annotations

import asyncio
import json
import logging
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import unquote

import httpx

from wireproof_endpoint.journal.entry import LONG, SECRET
from wireproof_endpoint.recording import messages
from wireproof_endpoint.recording.answer import RecordedAnswer, steps_of
from wireproof_endpoint.recording.file import write
from wireproof_endpoint.recording.scripts import Scripts
from wireproof_surfaces.http.served_exchange import status_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from wireproof_endpoint.recording.answer import Json
    from wireproof_surfaces.http.served_exchange import ServedExchange

    Headers = Iterable[tuple[str, str]]

log = logging.getLogger(__name__)

PREFIX = "/v1"
RECORDED: Mapping[str, Callable[[Json], Json]] = {
    "/chat/completions": lambda body: body,
    "/responses": lambda body: body,
    "/messages": messages.as_chat,
}
"""Path below the base URL whose answers become scripts → what makes a request one of chat or Responses; everything
else is only passed on."""
LONGEST = 2**26
"""Bytes of an answer: one that has more is passed on so far, cut off, and not recorded."""
AN_HOUR = 3600.0
"""Seconds that an answer may take; one that goes on without end is cut off, and not recorded."""
LARGEST = 2**29
"""Bytes of a request: how many it may have is the upstream's matter."""
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
        self._running: set[asyncio.Task[None]] = set()

    def wants(self, exchange: ServedExchange) -> int:
        """How many bytes of a body are looked at."""
        del exchange
        return LARGEST

    def stop(self) -> None:
        """End the answers that go on: the server stops."""
        for task in tuple(self._running):
            task.cancel()

    def answer(self, exchange: ServedExchange) -> None:
        """Have a task answer."""
        task = asyncio.get_running_loop().create_task(self._answer(exchange))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _answer(self, exchange: ServedExchange) -> None:
        path = unquote(exchange.head.path.decode("latin-1"))
        if not path.startswith(f"{PREFIX}/"):
            _refuse(exchange, 404, f"There is nothing at {path}: the base URL ends with {PREFIX}.")
            return
        try:
            # No deadline but that: the client has its own, and a model may think for minutes. Nothing is kept for the
            # next request: a connection that a server has closed meanwhile would fail it.
            async with (
                asyncio.timeout(AN_HOUR),
                httpx.AsyncClient(timeout=None, verify=self._tls) as client,  # noqa: S113 - see above
            ):
                await self._pass_on(client, exchange, path.removeprefix(PREFIX))
        except (httpx.HTTPError, TimeoutError) as error:
            why = str(error) or type(error).__name__
            log.warning("%s does not answer: %s", self._upstream, why)
            if exchange.begun:
                exchange.cut()  # it ends without its end, as the upstream's did
            else:
                _refuse(exchange, 502, f"The upstream does not answer: {why}.")
        except Exception:
            log.exception("a request could not be passed on")
            exchange.fail()

    async def _pass_on(self, client: httpx.AsyncClient, exchange: ServedExchange, path: str) -> None:
        head, body = exchange.head, bytes(exchange.body)
        query = head.query.decode("latin-1")
        url = f"{self._upstream}{path}{f'?{query}' if query else ''}"
        given = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.fields)
        began, pieces = monotonic(), list[tuple[float, bytes]]()
        async with client.stream(head.method, url, headers=self._headers(given), content=body) as response:
            headers = [(name, value) for name, value in response.headers.multi_items() if name not in _HOP]
            exchange.begin(status_line(response.status_code), headers)
            exchange.send()
            try:
                # To its end, also when the client has left: half an answer is no script.
                size = 0
                async for piece in response.aiter_bytes():
                    size += len(piece)
                    if size > LONGEST:
                        pieces.clear()
                        raise httpx.DecodingError(f"its answer has more than {LONGEST:,} bytes")
                    pieces.append((monotonic() - began, piece))
                    exchange.send(piece)
            except asyncio.CancelledError:
                pieces.clear()  # it went on for too long, or the server stops
                raise
            finally:
                if head.method == "POST" and path in RECORDED and pieces:
                    self._record(
                        path, body, RecordedAnswer(status=response.status_code, headers=dict(headers), pieces=pieces)
                    )
        exchange.end()

    def _headers(self, given: Headers) -> dict[str, str]:
        headers = {name: value for name, value in given if name not in _HOP}
        words = (word for name in SECRET for word in headers.get(name, "").split())
        self._keys |= {word for word in words if len(word) >= LONG}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        return {**headers, "accept-encoding": "identity"}

    def _record(self, path: str, body: bytes, recorded: RecordedAnswer) -> None:
        try:
            asked = json.loads(body)
            steps, id_ = steps_of(recorded, paced=self._paced)
        # Whatever an upstream sends: the client has its answer, and the other recordings stay.
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            log.warning("an answer could not be read, and is not recorded: %r", error)
            return
        if not isinstance(asked, dict):
            return
        problem = self._scripts.add(RECORDED[path](asked), steps, id_)
        if problem:
            log.warning("%s", problem)
        self.recorded += 1
        try:
            write(self._path, self._scripts.scripts(self._keys))
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path, error)


def _refuse(exchange: ServedExchange, status: int, message: str) -> None:
    error = {"message": message, "type": "api_error", "param": None, "code": None}
    exchange.reply(status, {"Content-Type": "application/json"}, json.dumps({"error": error}).encode())
