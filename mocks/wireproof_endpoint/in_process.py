"""An endpoint without a socket: a transport for clients of httpx and httpx2, sync and async.

    client = openai.OpenAI(api_key="k", http_client=httpx.Client(transport=transport({"name": "hi", …})))

Nothing leaves the process: whatever address a request names, the endpoint answers, and one that it does not serve is an
error that says so. Waits of scripts are real time. One transport may serve several clients and threads.
"""

from __future__ import annotations

import asyncio
import math
import sys
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx

from wireproof_endpoint.endpoint import Endpoint, EndpointRequest
from wireproof_endpoint.endpoint.requested import json_reply
from wireproof_endpoint.journal.entry import AnswerEnding, Bounds
from wireproof_endpoint.journal.requests import SeenRequests
from wireproof_endpoint.journal.ring import Journal
from wireproof_endpoint.play import CloseConnection, Noise, StreamHead, WholeReply
from wireproof_endpoint.scripts import Given, scripts_in, with_library
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.player import Until
from wireproof_surfaces.errors import INVALID, Problem, envelope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
    from types import ModuleType

    import httpx2

    from wireproof_endpoint.journal.entry import JournalEntry
    from wireproof_endpoint.play import Output, PlayedAnswer
    from wireproof_scripts.steps import Script

_INCOMPLETE = "peer closed connection without sending complete message body (incomplete chunked read)"
KEPT = 1000
"""Requests in the journal."""
BOUNDS = Bounds(body=2**20, sent=2**20, pieces=10_000)
"""How much of each: a test asserts over what it has just done, and ends soon."""
SIZE = 2**28
"""Bytes of all together."""
LEAVING = Problem(421, INVALID, "not_served_here", "Nothing leaves this process.")


def transport(scripts: Given = (), *, strict: bool | None = None, api_key: str | None = None) -> Transport:
    """A transport that answers by these scripts; without any by the default answer.

    `strict`: whether a request that no script matches is refused; None: if there are scripts. `api_key`: the key that
    clients must send; None: any.

    Raises:
        ScriptError: a script cannot be read; it names the place, and what would be right there.
        UnsendableError: no client could send the key.
    """
    own = scripts_in(scripts)
    return Transport(endpoint_of(lambda: own, strict=strict, api_key=api_key))


def endpoint_of(
    scripts: Callable[[], Mapping[str, Script]], *, strict: bool | None = None, api_key: str | None = None
) -> Endpoint:
    """An endpoint that begins now, with a journal; the arguments are those of `transport`."""

    def refuses() -> bool:
        return bool(scripts()) if strict is None else strict

    settings = EndpointSettings(api_key=api_key)
    journal = Journal(KEPT, BOUNDS, size=SIZE)
    return Endpoint(
        settings, lambda: with_library(scripts()), created=int(time.time()), strict=refuses, journal=journal
    )


if TYPE_CHECKING:
    # To a type checker that does not find httpx2 its classes are anything.
    class _Bases(httpx.BaseTransport, httpx.AsyncBaseTransport, httpx2.BaseTransport, httpx2.AsyncBaseTransport):
        """What clients of both libraries take for a transport."""

        def handle_request(self, request: Any) -> Any: ...  # noqa: ANN401 - of either library
        async def handle_async_request(self, request: Any) -> Any: ...  # noqa: ANN401 - of either library

else:

    class _Bases(httpx.BaseTransport, httpx.AsyncBaseTransport):
        """The same as the program runs: clients of httpx2 ask for the methods alone, and it need not be there."""


class Transport(_Bases):
    """Answers the requests of a client, of httpx or httpx2."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        # Threads may share a client, and each may wait for what another one does.
        self._lock = threading.RLock()

    @property
    def requests(self) -> SeenRequests:
        """What was asked so far, oldest first."""
        with self._lock:
            return SeenRequests(self._endpoint.journal.entries)

    def respond(self, request: httpx.Request) -> httpx.Response:
        """The same for a route of respx, as its `side_effect`; for async clients it is `arespond`."""
        asked, answer = self._asked(request, request.read())
        if isinstance(answer, WholeReply):
            return self._replied(request, asked, answer)
        playing = self._playing(request, answer, asked.entry)
        return self._begun(request, asked, playing.begin(request), playing)

    async def arespond(self, request: httpx.Request) -> httpx.Response:
        """The same for a route of respx that async clients use."""
        asked, answer = self._asked(request, await request.aread())
        if isinstance(answer, WholeReply):
            return self._replied(request, asked, answer)
        playing = self._playing(request, answer, asked.entry)
        return self._begun(request, asked, await playing.abegin(request), playing)

    def handle_request(self, request: Any) -> Any:  # noqa: ANN401 - of either library
        """The response; its body is played as it is read."""
        return self.respond(request)

    async def handle_async_request(self, request: Any) -> Any:  # noqa: ANN401 - of either library
        """The response; its body is played as it is read."""
        return await self.arespond(request)

    def _playing(self, request: httpx.Request, play: PlayedAnswer, entry: JournalEntry) -> _Playing:
        module = _module(request)
        # A body that both kinds of client can read.
        kind = type("Body", (_Playing, module.SyncByteStream, module.AsyncByteStream), {})
        made: _Playing = kind(self._endpoint, play, entry, self._lock)
        return made

    def _begun(
        self, request: httpx.Request, asked: EndpointRequest, first: StreamHead | WholeReply, playing: _Playing
    ) -> httpx.Response:
        if isinstance(first, WholeReply):
            return self._replied(request, asked, first)
        headers, module = self._endpoint.dressed(first.headers, asked), _module(request)
        asked.entry.open(200, headers)
        made: httpx.Response = module.Response(200, headers=headers, stream=playing, request=request)
        return made

    def _replied(self, request: httpx.Request, asked: EndpointRequest, reply: WholeReply) -> httpx.Response:
        now, headers = time.monotonic(), self._endpoint.dressed(reply.headers, asked)
        with self._lock:
            self._endpoint.journal.whole(asked.entry, now, reply.status, headers, reply.body)
        made: httpx.Response = _module(request).Response(
            reply.status, headers=headers, content=reply.body, request=request
        )
        return made

    def _asked(self, request: httpx.Request, body: bytes) -> tuple[EndpointRequest, WholeReply | PlayedAnswer]:
        method, path, query = request.method, request.url.path, request.url.query.decode()
        headers = {name.lower(): value for name, value in request.headers.items()}
        with self._lock:
            entry = self._endpoint.journal.begin(
                method=method, path=path, query=query, headers=headers, now=time.monotonic(), when=time.time()
            )
            asked = EndpointRequest(method=method, path=path, query=query, headers=headers, body=body, entry=entry)
            refusal = self._endpoint.admit(asked, len(body))
            if refusal is not None and refusal.status == 404:  # noqa: PLR2004 - there is nothing at this path
                message = f"{request.method} {request.url} would leave this process: the endpoint serves no such path."
                return asked, json_reply(envelope(LEAVING, message=message), LEAVING.status)
            return asked, refusal or self._endpoint.answer(asked)


def _module(request: httpx.Request) -> ModuleType:
    """The library that a request is of: httpx or httpx2."""
    return sys.modules[type(request).__module__.partition(".")[0]]


class _Playing:
    """A play, with its waits, as the body of a response."""

    def __init__(self, endpoint: Endpoint, play: PlayedAnswer, entry: JournalEntry, lock: threading.RLock) -> None:
        self._endpoint = endpoint
        self._play = play
        self._entry = entry
        self._lock = lock
        self._outputs: Generator[Output, float, None] = play.outputs(time.monotonic())
        self._started = False
        self._request: Any = None
        """What is answered, of either library."""

    def close(self) -> None:
        """End it; that comes after its end, too, and means nothing then."""
        with self._lock:
            self._outputs.close()
            self._play.close()
            self._endpoint.journal.end(self._entry, time.monotonic(), AnswerEnding.GONE)

    async def aclose(self) -> None:
        """The same."""
        self.close()

    def begin(self, request: Any) -> StreamHead | WholeReply:  # noqa: ANN401 - of either library
        """The head of a stream, or all of an answer.

        Raises:
            httpx.TransportError: the script ends the connection before there is either.
        """
        first = self._first(request, self._ready())
        if isinstance(first, StreamHead) and first.seconds:
            time.sleep(first.seconds)
        return first

    async def abegin(self, request: Any) -> StreamHead | WholeReply:  # noqa: ANN401 - of either library
        """The same on an event loop."""
        try:
            first = self._first(request, await self._aready())
            if isinstance(first, StreamHead) and first.seconds:
                await asyncio.sleep(first.seconds)
        # A client that gives up before there is a response has nothing that it could close.
        except BaseException:
            self.close()
            raise
        return first

    def _first(self, request: Any, output: Output | None) -> StreamHead | WholeReply:  # noqa: ANN401 - of either library
        """What an answer begins with."""
        self._request = request
        if isinstance(output, CloseConnection | Noise):
            ended = self._end(output, "Server disconnected without sending a response.")
            self.close()
            raise ended
        if not isinstance(output, StreamHead | WholeReply):
            raise TypeError(f"an answer begins with {output!r}")
        return output

    def _end(self, output: CloseConnection | Noise, closed: str) -> Exception:
        """The exception that a client would get by a socket."""
        self._endpoint.journal.end(self._entry, time.monotonic(), AnswerEnding.CUT)
        module = _module(self._request)
        made: Exception
        if isinstance(output, Noise):
            made = module.RemoteProtocolError("illegal status line or chunk header", request=self._request)
        elif output.reset:
            made = module.ReadError("[Errno 104] Connection reset by peer", request=self._request)
        else:
            made = module.RemoteProtocolError(closed, request=self._request)
        return made

    def __iter__(self) -> Iterator[bytes]:
        """The pieces of a stream's body."""
        while (output := self._ready()) is not None:
            if piece := self._piece(output):
                yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The same on an event loop."""
        while (output := await self._aready()) is not None:
            if piece := self._piece(output):
                yield piece

    def _piece(self, output: Output) -> bytes:
        if isinstance(output, CloseConnection | Noise):
            raise self._end(output, _INCOMPLETE)
        return output if isinstance(output, bytes) else b""

    def _ready(self) -> Output | None:
        """What comes next, when its time has come; None at the end."""
        output = self._next()
        if isinstance(output, Until):
            changed = threading.Event()
            with self._listening(changed.set):
                # Looked at again: it may have changed before anyone listened.
                while isinstance(output := self._next(), Until):
                    changed.wait(_seconds(output))
                    changed.clear()
        return output

    async def _aready(self) -> Output | None:
        """The same on an event loop."""
        output = self._next()
        if isinstance(output, Until):
            changed = asyncio.Event()
            # Another thread may have changed it.
            wake = partial(asyncio.get_running_loop().call_soon_threadsafe, changed.set)
            with self._listening(wake):
                while isinstance(output := self._next(), Until):
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_seconds(output)):
                            await changed.wait()
                    changed.clear()
        return output

    def _next(self) -> Output | None:
        with self._lock:
            now = time.monotonic()
            try:
                output = self._outputs.send(now) if self._started else next(self._outputs)
            except StopIteration:
                self._endpoint.journal.end(self._entry, now, AnswerEnding.COMPLETED)
                return None
            self._started = True
            if isinstance(output, bytes):
                self._entry.send(now, output)
            return output

    @contextmanager
    def _listening(self, wake: Callable[[], object]) -> Iterator[None]:
        """Have `wake` called whenever something changes under the nonces of the play."""
        with self._lock:
            self._endpoint.answerer.listen(self._play.nonces, wake)
        try:
            yield
        finally:
            with self._lock:
                self._endpoint.answerer.unlisten(self._play.nonces, wake)


def _seconds(until: Until) -> float | None:
    return None if until.time == math.inf else max(0.0, until.time - time.monotonic())
