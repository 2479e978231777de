"""The recording endpoint on the edge: it passes requests on, answers as they come back, and notes both."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from dataclasses import fields
from time import monotonic
from typing import TYPE_CHECKING, Any

import h11
import httpx
import yaml

from wireproof_endpoint.recording import messages
from wireproof_endpoint.recording.access import MESSAGES, RECORDED, TEST, below, is_let_in, refusal, test_of
from wireproof_endpoint.recording.answer import RecordedAnswer, steps_of
from wireproof_endpoint.recording.scripts import Scripts
from wireproof_scripts.asked.header_keys import keys_in, keys_in_query
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.json_form import script_to_json
from wireproof_scripts.json_text import parse_json
from wireproof_surfaces.api_forms import AUTHORIZATION, KEY
from wireproof_surfaces.errors import TOO_LARGE, Problem
from wireproof_surfaces.http.cors import Cors, reaches_this_machine
from wireproof_surfaces.http.served_exchange import status_line
from wireproof_surfaces.random_ids import request_id

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from wireproof_scripts.steps import Script, Step
    from wireproof_surfaces.http.served_exchange import ServedExchange

    Headers = Iterable[tuple[str, str]]

log = logging.getLogger(__name__)

LONGEST = 2**26
"""Bytes of an answer: one that has more is passed on so far, cut off, and not recorded."""
AN_HOUR = 3600.0
"""Seconds that an answer may take; one that goes on without end is cut off, and not recorded."""
LARGEST = 2**26
"""Bytes of a request: more than any upstream takes, and so many that a few of them fit into memory."""
HEAD_TOO_LONG = 431
"""The status by which h11 says that it has read its most bytes of a head."""
_BAD_GATEWAY = Problem(502, "api_error", "upstream_failed", "The upstream does not answer.")
_HOP = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
    "upgrade", "host", "content-length", "accept-encoding", "content-encoding",
})  # fmt: skip
"""Headers that belong to one connection, and those of an encoding: what is recorded is plain."""


UNNAMED = "recorded"
"""The file of requests that name no test."""


class Recorder:
    """Passes requests on to the base URL `upstream`, with `key` if there is one, and writes scripts to a file.

    `paced`: with their times. `apart`: into the folder `path`, a file for each test: those that `access.test_of` names.
    """

    def __init__(
        self, upstream: str, path: Path, *, key: str | None = None, paced: bool = False, apart: bool = False
    ) -> None:
        self._upstream = upstream.rstrip("/")
        # A proxy of the environment (HTTP_PROXY) may be the only way to another machine, and cannot reach this one.
        self._by_environment = not reaches_this_machine(httpx.URL(upstream).host)
        self._path = path
        self._key = key
        self._paced = paced
        self._keys = {key} if key else set[str]()
        self._apart = apart
        self._scripts: dict[Path, Scripts] = {}
        # The authorities that the environment names (SSL_CERT_FILE) hold for any machine that is asked by https.
        self._tls = httpx.create_ssl_context(trust_env=httpx.URL(upstream).scheme == "https")
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
            problem, message = refused
            exchange.reply_error(problem, message, _allowed(exchange))
            return
        if exchange.head.method == "OPTIONS":
            # A preflight is the browser's own question, whether a page may ask: only this end knows.
            exchange.reply(204, {**_allowed(exchange, preflight=True), "x-request-id": request_id()}, b"")
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
                httpx.AsyncClient(timeout=None, verify=self._tls, trust_env=self._by_environment) as client,  # noqa: S113 - see above
            ):
                await self._pass_on(client, exchange, below(exchange.head) or "/")
        except (httpx.HTTPError, TimeoutError) as error:
            why = str(error) or type(error).__name__
            log.warning("%s does not answer: %s", self._upstream, why)
            if exchange.begun:
                exchange.cut()  # it ends without its end, as the upstream's did
            else:
                message = f"The upstream does not answer: {why}."
                exchange.reply_error(_BAD_GATEWAY, message, _allowed(exchange))
        except Exception:
            log.exception("a request could not be passed on")
            exchange.fail()

    async def _pass_on(self, client: httpx.AsyncClient, exchange: ServedExchange, path: str) -> None:
        head, body = exchange.head, bytes(exchange.body)
        query = head.query.decode("latin-1")
        url = f"{self._upstream}{path}{f'?{query}' if query else ''}"
        given = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.fields)
        self._keys |= keys_in_query(query)
        began, pieces, head_of = monotonic(), list[tuple[float, bytes]](), dict[str, str]()
        status, records = 0, head.method == "POST" and path in RECORDED

        def record(*, cut: bool = False) -> None:
            if records:
                recorded = RecordedAnswer(status=status, headers=head_of, pieces=pieces, cut=cut)
                self._record(body, recorded, path, test_of(head))

        try:
            # As bytes: of a text httpx takes ASCII alone, and a client may send any.
            sent = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self._headers(given)]
            async with client.stream(head.method, url, headers=sent, content=body) as response:
                headers = [(name, value) for name, value in response.headers.multi_items() if _passes(name)]
                status, head_of = response.status_code, dict(headers)
                exchange.begin(status_line(status), [*headers, *_allowed(exchange).items()])
                exchange.send()
                size = 0
                # To its end, also when the client has left: half an answer is no script.
                async for piece in response.aiter_bytes():
                    size += len(piece)
                    if size > LONGEST:
                        raise httpx.DecodingError(f"its answer has more than {LONGEST:,} bytes")
                    pieces.append((monotonic() - began, piece))
                    exchange.send(piece)
        except (httpx.RemoteProtocolError, httpx.ReadError) as error:
            if _is_too_long(error):
                raise
            # The connection ended: so does the client's, and that of whoever plays it again.
            log.warning("%s ended the connection: %s", self._upstream, str(error) or type(error).__name__)
            if not pieces:
                pieces.append((monotonic() - began, b""))
            record(cut=True)
            exchange.cut()
            return
        record()
        exchange.end()

    def _headers(self, given: Headers) -> list[tuple[str, str]]:
        """The headers for the upstream; one that came several times goes on several times."""
        headers = [(name, value) for name, value in given if name not in _HOP and name != TEST]
        for name, value in headers:
            self._keys |= keys_in({name: value})
        if self._key:
            # Where both are sent, Anthropic's service looks at its own.
            headers = [one for one in headers if one[0] not in {KEY, AUTHORIZATION}]
            headers.append((AUTHORIZATION, f"Bearer {self._key}"))
        return [*headers, ("accept-encoding", "identity")]

    def _record(self, body: bytes, recorded: RecordedAnswer, path: str, test: str) -> None:
        file, scripts = self._file(test)
        try:
            asked = parse_json(body)
            steps, id_ = steps_of(recorded, paced=self._paced)
            if not isinstance(asked, dict):
                return
            original = asked if path == MESSAGES else None
            problem = scripts.add(messages.as_chat(asked), steps, id_, original=original)
        except ScriptError as error:
            log.warning("an answer is not recorded: %s", error)
            return
        # Whatever an upstream sends: the client has its answer, and the other recordings stay.
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            log.warning("an answer could not be read, and is not recorded: %r", error)
            return
        if problem:
            log.warning("%s", problem)
        self.recorded += 1
        try:
            write(file, scripts.scripts(self._keys))
        except OSError as error:
            log.warning("%s cannot be written: %s", file, error)

    def _file(self, test: str) -> tuple[Path, Scripts]:
        """Where the answers to a test are written, and its scripts."""
        path = self._path / f"{test or UNNAMED}.yaml" if self._apart else self._path
        return path, self._scripts.setdefault(path, Scripts())


def write(path: Path, scripts: Iterable[Script]) -> None:
    """Write a file of scripts, which is whole at any time.

    Raises:
        OSError: it cannot be written; what was there is as before.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(_text(path, {"scripts": [_short(script) for script in scripts]}), encoding="utf-8")
    beside.replace(path)


def _short(script: Script) -> dict[str, Any]:
    """A script as a person would write it: without what goes without saying."""
    data = script_to_json(script)
    parts = zip(script.parts, data["parts"], strict=True)
    written = [[_short_step(*pair) for pair in zip(steps, part, strict=True)] for steps, part in parts]
    sequence = {"sequence": data["sequence"]} if data.get("sequence") else {}
    return {name: data[name] for name in ("name", "title", "when")} | sequence | {"parts": written}


def _short_step(step: Step, written: dict[str, dict[str, Any]]) -> dict[str, Any]:
    [(name, values)] = written.items()
    usual = {field.name: field.default for field in fields(step)}
    said = {key: value for key, value in values.items() if value != usual[key]}
    if name == "say" and said.keys() == {"pieces"}:
        return {name: said["pieces"] if len(said["pieces"]) > 1 else said["pieces"][0]}
    return {name: said}


def _text(path: Path, data: object) -> str:
    if path.suffix == ".json":
        return json.dumps(data, indent=2) + "\n"
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=110)


def _passes(name: str) -> bool:
    """Whether a header of an answer is passed on. Which pages may read it is for this end to say."""
    return name not in _HOP and not name.startswith("access-control-")


def _allowed(exchange: ServedExchange, *, preflight: bool = False) -> dict[str, str]:
    """The headers that let a page of this machine read an answer."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in exchange.head.fields}
    origin = headers.get("origin", "")
    cors = Cors((origin,) if is_let_in(origin) else ())
    return {**cors.allow(headers), **(cors.preflight(headers) if preflight else {})}


def _is_too_long(error: BaseException | None) -> bool:
    """Whether an upstream's head was too long for our reader: the connection had not ended, so none is played again."""
    while error is not None:
        if isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == HEAD_TOO_LONG:
            return True
        error = error.__cause__ or error.__context__
    return False
