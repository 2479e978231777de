"""One probe: a request before the suite, sent as often as the target asks for patience, and its answer as it came.

What goes wrong in an answer is kept in it: nothing here decides what it means. Only a target that nothing listens at
raises, and only before anything has answered: one that stops listening later has died, which the suite is to find.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import httpx

from wireproof.model.scenario import Auth
from wireproof.model.transcript import End
from wireproof.model.verdict import HarnessError
from wireproof.requests.carried import address, carried_headers
from wireproof.targets.launch import launched_at
from wireproof.targets.recognition import is_over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.target import Target

LONGEST = 2**20
"""Bytes of an answer that are read; what is longer is no answer to a plain request."""
TAIL = 2**16
"""Bytes at the end of a stream in which its last frame is looked for."""
STREAMED = 4
"""How many times the limit on silence a stream may take that never ends."""
BUSY = frozenset({429, 503})
"""Statuses of a target that lacks capacity, or is not ready yet."""
PATIENCE = 30.0
"""Seconds that all probes together wait for capacity; a target that never has any is to be judged all the same."""
BACKOFF = 0.5
"""Seconds before the second try where the target does not say how long; doubled for each further one."""
MOST_STARTS = 8
"""How often a launched proxy is started again that dies of probes."""
_ENCODINGS = {"gzip", "x-gzip", "deflate"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeAnswer:
    """What came back."""

    url: str
    status: int | None
    """None: no response head came."""
    kind: str
    """The media type, in lower case and without parameters; "" for none."""
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes
    """As far as it was read, see `LONGEST`; decompressed."""
    end: End
    """`OPEN`: there was more, and it was not read."""
    fault: str = ""
    """What went wrong with the connection, in the words of the HTTP library."""
    first_byte: float | None = None
    """Seconds to the first byte of the body; None: none came."""
    seconds: float = 0.0
    """Seconds to the end."""

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004 (the class of HTTP statuses)


@dataclass(kw_only=True)
class Prober:
    """Sends probes, one at a time: before its limits are known, a small target is not to be met with a burst."""

    client: httpx.AsyncClient
    target: Target
    patience: float = field(default_factory=lambda: PATIENCE)
    """Seconds that may still be waited for capacity."""
    reached: bool = field(default=False, init=False)
    """Whether anything has taken a connection so far."""

    async def send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, more: Mapping[str, str] | None = None
    ) -> ProbeAnswer:
        """The answer to a request.

        Raises:
            HarnessError: nothing listens there.
        """
        backoff = BACKOFF
        while True:
            await self._revive()
            answer = await self._once(method, path, body, more or {})
            wait = _retry_after(answer.headers) if answer.status in BUSY else None
            if answer.status in BUSY and wait is None:
                wait, backoff = backoff, 2 * backoff
            # A wait that is too long is not begun: the answer says what the target lacks.
            if wait is None or wait > self.patience:
                return answer
            # One at least for each try, so that `Retry-After: 0` does not go on endlessly.
            self.patience -= max(wait, BACKOFF)
            await asyncio.sleep(wait)

    async def _revive(self) -> None:
        """Start a launched proxy again that has died: what comes next is not to be taken for absent."""
        launched = launched_at(self.target.base_url)
        if launched is not None and launched.restarts < MOST_STARTS and launched.death() is not None:
            # One that does not start again is what the next answer shows.
            with suppress(HarnessError):
                await asyncio.to_thread(launched.restart)

    async def _once(
        self, method: str, path: str, body: Mapping[str, Any] | None, more: Mapping[str, str]
    ) -> ProbeAnswer:
        url = address(self.target.url(path), self.target)
        # As in the suite: a proxy that compresses badly is not to stop here.
        headers = {"accept-encoding": "identity", **carried_headers(self.target, Auth.RIGHT), **more}
        record = _Record(streamed=bool(body and body.get("stream")), silence=self.target.timeout)
        try:
            async with (
                record.limit() as limit,
                self.client.stream(method, url, headers=headers, json=body) as response,
            ):
                await record.read(response, limit)
        # Before RequestError, of which it is one: a port that is not listened on is the most likely mistake.
        except httpx.ConnectError as error:
            if not self.reached:
                raise HarnessError(f"nothing answers at {self.target.url(path)}: {error}") from error
            record.end, record.fault = End.REFUSED, str(error)
        except TimeoutError:
            record.end = End.TIMEOUT if not record.body else End.OPEN
        except httpx.RequestError as error:
            record.end, record.fault = End.CUT, str(error) or type(error).__name__
        self.reached = True
        return record.answer(self.target.url(path))


class _Record:
    """An answer in the making."""

    def __init__(self, *, streamed: bool, silence: float) -> None:
        self._streamed, self._silence = streamed, silence
        self._began = time.monotonic()
        self._first: float | None = None
        self._status: int | None = None
        self._headers: dict[str, str] = {}
        self.body = b""
        self.end, self.fault = End.COMPLETE, ""

    def limit(self) -> asyncio.Timeout:
        """One bound for the whole request: httpx would start its own again with each byte."""
        return asyncio.timeout(self._silence)

    async def read(self, response: httpx.Response, limit: asyncio.Timeout) -> None:
        self._status = response.status_code
        self._headers = {name.lower(): value for name, value in response.headers.items()}
        last = asyncio.get_running_loop().time() + STREAMED * self._silence
        # Raw: what does not decompress is an answer, too.
        async for piece in response.aiter_raw():
            self._first = self._first if self._first is not None else time.monotonic() - self._began
            self.body += piece
            if len(self.body) > LONGEST or is_over(self.body[-TAIL:]):
                self.end = End.OPEN
                return
            # A comment is no answer: a target that sends only those is silent.
            if self._streamed and b"data:" in piece:
                limit.reschedule(min(asyncio.get_running_loop().time() + self._silence, last))

    def answer(self, url: str) -> ProbeAnswer:
        return ProbeAnswer(
            url=url, status=self._status, headers=self._headers, end=self.end, fault=self.fault,
            kind=self._headers.get("content-type", "").partition(";")[0].strip().lower(),
            body=_decoded(self.body, self._headers.get("content-encoding", "")),
            first_byte=self._first, seconds=time.monotonic() - self._began,
        )  # fmt: skip


def _decoded(body: bytes, encoding: str) -> bytes:
    """A body without its compression; as it is where it has none, or another than it says."""
    if encoding.strip().lower() not in _ENCODINGS:
        return body
    try:
        # 32 + MAX_WBITS: the header says whether it is gzip or zlib (https://zlib.net/manual.html, inflateInit2).
        return zlib.decompressobj(32 + zlib.MAX_WBITS).decompress(body, LONGEST)
    except zlib.error:
        return body


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a target asks to wait (RFC 9110, section 10.2.3); None when it does not say."""
    said = headers.get("retry-after", "").strip()
    if said.isdecimal():
        return float(said)
    try:
        moment = parsedate_to_datetime(said)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((aware - datetime.now(UTC)).total_seconds(), 0.0)
