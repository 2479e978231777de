"""One probe: a request before the suite, sent as often as the target asks for patience, and its answer as it came.

What goes wrong in an answer is kept in it: nothing here decides what it means. A target that nothing listens at raises,
and only before anything has answered: one that stops listening later has died, which the suite is to find. So does one
that may be a model's service, where a bound of the run is reached before it is known what it is.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import httpx

from wireproof.model.scenario import Auth
from wireproof.model.target import Backend
from wireproof.model.transcript import End
from wireproof.model.verdict import HarnessError
from wireproof.requests.carried import address, carried_headers
from wireproof.targets.budget import SpentError, TargetClock
from wireproof.targets.clients import with_remedy
from wireproof.targets.launch import launched_at, until_ended
from wireproof.targets.recognition import error_of, is_over, lasting, payloads
from wireproof.wire.asked_wait import asked_wait

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.target import Target
    from wireproof.targets.budget import Budget

LONGEST = 2**20
"""Bytes of an answer that are read; what is longer is no answer to a plain request."""
TAIL = 2**16
"""Bytes at the end of a stream in which its last frame is looked for."""
STREAMED = 4
"""How many times the limit on silence a stream may take that never ends."""
BUSY = frozenset({429, 503})
"""Statuses of a target that lacks capacity, or is not ready yet."""
REFUSED = range(400, 500)
"""Statuses of a request that no model was sent."""
FAILED = range(500, 600)
PATIENCE = 30.0
"""Seconds that a target with a mock behind it is waited for; if it never has capacity, it is judged all the same."""
MORE_TRIES = 2
"""How often all probes together are sent again that failed, where a model's service may have done so in passing."""
MOST_STARTS = 8
"""How often a launched proxy is started again that dies of probes."""
PORTS = {"http": 80, "https": 443}
"""The port of a URL that names none, by its scheme."""
_ENCODINGS = {"gzip", "x-gzip", "deflate"}


@dataclass(kw_only=True, slots=True)
class ProbeAnswer:
    """What came back."""

    url: str
    status: int | None = None
    """None: no response head came."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower-case name."""
    body: bytes = b""
    """As far as it was read, see `LONGEST`; decompressed."""
    end: End = End.COMPLETE
    """`OPEN`: there was more, and it was not read."""
    fault: str = ""
    """What went wrong with the connection, in the words of the HTTP library."""
    first_byte: float | None = None
    """Seconds to the first byte of the body; None: none came."""
    seconds: float = 0.0
    """Seconds to the end."""

    @property
    def kind(self) -> str:
        """The media type, in lower case and without parameters; "" for none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004 (the class of HTTP statuses)


@dataclass(kw_only=True)
class Prober:
    """Sends probes, one at a time: before its limits are known, a small target is not to be met with a burst."""

    client: httpx.AsyncClient
    target: Target
    budget: Budget
    """What the run may cost; probes count."""
    reached: bool = field(default=False, init=False)
    """Whether anything has taken a connection so far."""
    _left: int = field(default=MORE_TRIES, init=False)
    """How many probes that failed may still be sent again."""

    def __post_init__(self) -> None:
        """Wait by the run's clock where a model's service may be asked, else by one of these probes."""
        self._paid = self.target.backend is Backend.LIVE
        self._clock = self.budget.clock if self._paid else TargetClock(max_wait=PATIENCE)

    async def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        more: Mapping[str, str] | None = None,
        *,
        streamed: bool = False,
    ) -> ProbeAnswer:
        """The answer to a request.

        Raises:
            HarnessError: nothing listens there; or the run may send nothing more, and the target be paid for.
        """
        while True:
            try:
                await self._clock.wait()
                sent_after = self._clock.refusals
                await self.budget.take(body)
            except SpentError as spent:
                raise HarnessError(f"it is not known yet what answers at {self.target.base_url}: {spent}") from spent
            await self._revive()
            answer = await self._once(method, path, body, more or {}, streamed=streamed)
            await self._settle(answer)
            if not self._again(answer, sent_after):
                used = _used(answer)
                if used is not None:
                    self.budget.settle(body, used)
                return answer
            self.budget.give_back(body)

    def _again(self, answer: ProbeAnswer, sent_after: int) -> bool:
        """Whether a request is to be sent again, after what the clock then says."""
        busy = answer.status in BUSY and not lasting(answer.status, error_of(answer.body))
        failed = self._paid and answer.status in FAILED and self._left > 0
        if not busy and not failed:
            if answer.status is not None:
                self._clock.served()
            return False
        self._left -= not busy
        asked = asked_wait(answer.headers, datetime.now(UTC)) if busy else None
        try:
            self._clock.refused(answer.status or 0, asked, sent_after=sent_after)
        except SpentError as spent:
            if self._paid:
                raise HarnessError(f"{answer.url} gives no text: {spent}") from spent
            self._clock.over = ""
            return False  # a wait that is too long is not begun: the answer says what the target lacks
        return True

    async def _revive(self) -> None:
        """Start a launched proxy again that has died: what comes next is not to be taken for absent."""
        launched = launched_at(self.target.base_url)
        if launched is not None and launched.starts <= MOST_STARTS and launched.death() is not None:
            # One that does not start again is what the next answer shows.
            with suppress(HarnessError):
                await asyncio.to_thread(launched.restart)

    async def _settle(self, answer: ProbeAnswer) -> None:
        """Where a launched proxy dies of a probe, notice it now: else the next probe, or the run, would meet that."""
        launched = launched_at(self.target.base_url)
        if launched is None or answer.end not in {End.CUT, End.REFUSED}:
            return
        if launched.death() is None:
            await until_ended(lambda: launched.death() is not None, lives=await self._takes_connections())
        await self._revive()

    async def _takes_connections(self) -> bool:
        """Whether anything listens at the target, which runs here."""
        at = httpx.URL(self.target.base_url)
        with suppress(OSError):
            async with asyncio.timeout(self.target.timeout):
                _, writer = await asyncio.open_connection(at.host, at.port or PORTS[at.scheme])
            writer.close()
            return True
        return False

    async def _once(
        self, method: str, path: str, body: bytes, more: Mapping[str, str], *, streamed: bool
    ) -> ProbeAnswer:
        url = address(self.target.url(path), self.target)
        kind = {"content-type": "application/json"} if body else {}
        # As in the suite: a proxy that compresses badly is not to stop here.
        headers = {**kind, "accept-encoding": "identity", **carried_headers(self.target, Auth.RIGHT), **more}
        answer, began, silence = ProbeAnswer(url=self.target.url(path)), time.monotonic(), self.target.timeout
        try:
            async with (
                # One bound for the whole request: httpx would start its own again with each byte.
                asyncio.timeout(silence) as limit,
                self.client.stream(method, url, headers=headers, content=body or None) as response,
            ):
                answer.status = response.status_code
                answer.headers = {name.lower(): value for name, value in response.headers.items()}
                last = asyncio.get_running_loop().time() + STREAMED * silence
                # Raw: what does not decompress is an answer, too.
                async for piece in response.aiter_raw():
                    answer.first_byte = answer.first_byte or time.monotonic() - began
                    answer.body += piece
                    if len(answer.body) > LONGEST or is_over(answer.body[-TAIL:]):
                        answer.end = End.OPEN
                        break
                    # A comment is no answer: a target that sends only those is silent.
                    if streamed and b"data:" in piece:
                        limit.reschedule(min(asyncio.get_running_loop().time() + silence, last))
        # Before RequestError, of which it is one: a port that is not listened on is the most likely mistake.
        except httpx.ConnectError as error:
            if not self.reached:
                raise HarnessError(with_remedy(f"nothing answers at {answer.url}: {error}")) from error
            answer.end, answer.fault = End.REFUSED, str(error)
        except TimeoutError:
            answer.end = End.TIMEOUT if not answer.body else End.OPEN
        except httpx.RequestError as error:
            answer.end, answer.fault = End.CUT, str(error) or type(error).__name__
        self.reached, answer.seconds = True, time.monotonic() - began
        answer.body = _decoded(answer.body, answer.headers.get("content-encoding", ""))
        return answer


def _decoded(body: bytes, encoding: str) -> bytes:
    """A body without its compression; as it is where it has none, or another than it says."""
    if encoding.strip().lower() not in _ENCODINGS:
        return body
    try:
        # 32 + MAX_WBITS: the header says whether it is gzip or zlib (https://zlib.net/manual.html, inflateInit2).
        return zlib.decompressobj(32 + zlib.MAX_WBITS).decompress(body, LONGEST)
    except zlib.error:
        return body


def _used(answer: ProbeAnswer) -> int | None:
    """How many tokens an answer says were used; None: it does not say."""
    if answer.status in REFUSED:
        return 0
    for payload in reversed(payloads(answer.body)):
        match payload:
            case {"usage": {"total_tokens": int(total)}} | {"response": {"usage": {"total_tokens": int(total)}}}:
                return total if total > 0 else None
    return None
