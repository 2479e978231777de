"""The recording endpoint on the edge: it passes requests on, answers as they come back, and notes both."""

from __future__ import annotations

import asyncio
import json
import logging
from time import monotonic
from typing import TYPE_CHECKING

import httpx

from wireproof_endpoint.recording import messages
from wireproof_endpoint.recording.access import RECORDED, below, is_let_in, refusal
from wireproof_endpoint.recording.answer import RecordedAnswer, steps_of
from wireproof_endpoint.recording.file import write
from wireproof_endpoint.recording.scripts import Scripts
from wireproof_scripts.asked.header_keys import keys_in
from wireproof_surfaces.api_forms import KEY, form_of
from wireproof_surfaces.errors import TOO_LARGE, ApiError, Problem
from wireproof_surfaces.http.cors import Cors
from wireproof_surfaces.http.served_exchange import status_line
from wireproof_surfaces.random_ids import random_hex

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from wireproof_surfaces.http.served_exchange import ServedExchange

    Headers = Iterable[tuple[str, str]]

log = logging.getLogger(__name__)

LONGEST = 2**26
"""Bytes of an answer: one that has more is passed on so far, cut off, and not recorded."""
AN_HOUR = 3600.0
"""Seconds that an answer may take; one that goes on without end is cut off, and not recorded."""
LARGEST = 2**26
"""Bytes of a request: more than any upstream takes, and so many that a few of them fit into memory."""
_BAD_GATEWAY = Problem(502, "api_error", "upstream_failed", "The upstream does not answer.")
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
        """How many bytes of a body are looked at: none of a request that is not passed on."""
        exchange.context = refusal(exchange.head)
        return 0 if exchange.context or exchange.head.method == "OPTIONS" else LARGEST

    def stop(self) -> None:
        """End the answers that go on: the server stops."""
        for task in tuple(self._running):
            task.cancel()

    def answer(self, exchange: ServedExchange) -> None:
        """Refuse, or have a task answer."""
        refused = exchange.context or refusal(exchange.head)
        exchange.context = None
        if refused is None and len(exchange.body) > LARGEST:
            refused = TOO_LARGE, f"The request body is larger than {LARGEST} bytes."
        if refused is not None:
            _refuse(exchange, *refused)
            return
        if exchange.head.method == "OPTIONS":
            # A preflight is the browser's own question, whether a page may ask: only this end knows.
            exchange.reply(204, {**_allowed(exchange, preflight=True), "x-request-id": _id()}, b"")
            return
        task = asyncio.get_running_loop().create_task(self._answer(exchange))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _answer(self, exchange: ServedExchange) -> None:
        try:
            # No deadline but that: the client has its own, and a model may think for minutes. Nothing is kept for the
            # next request: a connection that a server has closed meanwhile would fail it.
            async with (
                asyncio.timeout(AN_HOUR),
                httpx.AsyncClient(timeout=None, verify=self._tls) as client,  # noqa: S113 - see above
            ):
                await self._pass_on(client, exchange, below(exchange.head) or "/")
        except (httpx.HTTPError, TimeoutError) as error:
            why = str(error) or type(error).__name__
            log.warning("%s does not answer: %s", self._upstream, why)
            if exchange.begun:
                exchange.cut()  # it ends without its end, as the upstream's did
            else:
                _refuse(exchange, _BAD_GATEWAY, f"The upstream does not answer: {why}.")
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
            headers = [(name, value) for name, value in response.headers.multi_items() if _passes(name)]
            exchange.begin(status_line(response.status_code), [*headers, *_allowed(exchange).items()])
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
                        body, RecordedAnswer(status=response.status_code, headers=dict(headers), pieces=pieces)
                    )
        exchange.end()

    def _headers(self, given: Headers) -> dict[str, str]:
        headers = {name: value for name, value in given if name not in _HOP}
        self._keys |= keys_in(headers)
        if self._key:
            # Where both are sent, Anthropic's service looks at its own.
            headers.pop(KEY, None)
            headers["authorization"] = f"Bearer {self._key}"
        return {**headers, "accept-encoding": "identity"}

    def _record(self, body: bytes, recorded: RecordedAnswer) -> None:
        try:
            asked = json.loads(body)
            steps, id_ = steps_of(recorded, paced=self._paced)
        # Whatever an upstream sends: the client has its answer, and the other recordings stay.
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            log.warning("an answer could not be read, and is not recorded: %r", error)
            return
        if not isinstance(asked, dict):
            return
        problem = self._scripts.add(messages.as_chat(asked), steps, id_)
        if problem:
            log.warning("%s", problem)
        self.recorded += 1
        try:
            write(self._path, self._scripts.scripts(self._keys))
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path, error)


def _passes(name: str) -> bool:
    """Whether a header of an answer is passed on. Which pages may read it is for this end to say."""
    return name not in _HOP and not name.startswith("access-control-")


def _allowed(exchange: ServedExchange, *, preflight: bool = False) -> dict[str, str]:
    """The headers that let a page of this machine read an answer."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in exchange.head.fields}
    origin = headers.get("origin", "")
    cors = Cors((origin,) if is_let_in(origin) else ())
    return {**cors.allow(headers), **(cors.preflight(headers) if preflight else {})}


def _refuse(exchange: ServedExchange, problem: Problem, message: str) -> None:
    id_, form = _id(), form_of(exchange.head.path.decode("latin-1"), ())
    reply = form.reply(ApiError(problem, message=message), id_)
    headers = {"Content-Type": "application/json", **reply.headers, **form.named(id_), **_allowed(exchange)}
    exchange.reply(reply.status, headers, json.dumps(reply.body).encode())


def _id() -> str:
    return f"req_{random_hex(16)}"
