"""The service as an ASGI application: procedures by path, bodies in and out.

A server that speaks HTTP/1.1 and HTTP/2 runs it (`serving`). Every stream is played in the task of its own request, so
a client that does not read holds up no other.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf.message import DecodeError

from wireproof_cursor import unary
from wireproof_cursor.runs.outputs import Begin, ClosedConnection, CutStream, RefusedRun, StreamEnd
from wireproof_cursor.wire.errors import ServiceProblem, http_body
from wireproof_cursor.wire.framing import FAMILIES, Envelopes, Family, FramingError, envelope, one_message
from wireproof_cursor.wire.messages import read_client_message
from wireproof_cursor_protos import agent_pb2 as pb
from wireproof_cursor_protos import aiserver_pb2
from wireproof_scripts.player import Until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping

    from wireproof_cursor.runs.run import Run
    from wireproof_cursor.service import AgentService

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    Read = Callable[[], Awaitable[None]]
    CloseConnection = Callable[[tuple[str, int]], None]

_T = TypeVar("_T")

HEADERS_AFTER = 1.0
"""Seconds after which a stream begins although its run request has not come: a client may wait for its headers."""


class Disconnected(Exception):  # noqa: N818 - no error: clients may disconnect at any time
    """The client has disconnected before its request was complete."""


class RefusedRequestError(Exception):
    """A request is answered with a problem as an HTTP error."""

    def __init__(self, problem: ServiceProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class CursorRequest:
    """A request, as far as it was received."""

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.path: str = scope["path"]
        self.method: str = scope["method"]
        self.http: str = scope["http_version"]
        self.client: tuple[str, int] = scope["client"]
        self.headers: Mapping[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        self.send = send
        self._receive = receive
        self.whole = False
        """Whether the body is complete."""
        self.begun = False
        """Whether the head of a stream was sent."""

    @property
    def content_type(self) -> str:
        """The content type without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def piece(self) -> bytes:
        """The next piece of the body, b"" when it is complete.

        Raises:
            Disconnected: there will be no more.
        """
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        self.whole = not message.get("more_body", False)
        body: bytes = message.get("body", b"")
        return body

    async def body(self) -> bytes:
        """The whole body."""
        pieces = []
        while not self.whole:
            pieces.append(await self.piece())
        return b"".join(pieces)

    async def disconnect(self) -> None:
        """Return when the client has disconnected."""
        with suppress(Disconnected):
            while True:
                await self.piece()

    async def answer(self, status: int, content_type: str, body: bytes) -> None:
        """Send a whole response."""
        headers = [(b"content-type", content_type.encode()), (b"content-length", b"%d" % len(body))]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})

    async def refuse(self, problem: ServiceProblem) -> None:
        """Send a problem as an HTTP error."""
        await self.answer(problem.http, "application/json", http_body(problem))

    async def begin(self) -> None:
        """Send the head of a stream, once; its content type is that of the request."""
        if not self.begun:
            self.begun = True
            headers = [(b"content-type", self.content_type.encode()), (b"cache-control", b"no-cache")]
            await self.send({"type": "http.response.start", "status": 200, "headers": headers})

    async def write(self, body: bytes, *, last: bool = False) -> None:
        """Send a piece of a stream; returns when the client reads on."""
        await self.send({"type": "http.response.body", "body": body, "more_body": not last})


class App:
    """The ASGI application; `close_connection` closes the connection of a client, by its address."""

    def __init__(self, service: AgentService, close_connection: CloseConnection) -> None:
        self._service = service
        self._close_connection = close_connection
        self._procedures: Mapping[str, Callable[[CursorRequest], Awaitable[None]]] = {
            "/agent.v1.AgentService/RunSSE": self._run_sse,
            "/agent.v1.AgentService/Run": self._run,
            "/aiserver.v1.BidiService/BidiAppend": self._append,
            **dict.fromkeys(unary.PROCEDURES, self._unary),
        }

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or follow the server's start and end."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            # A client that disconnects needs no answer.
            with suppress(Disconnected):
                await self._answer(CursorRequest(scope, receive, send))

    async def _answer(self, request: CursorRequest) -> None:
        try:
            procedure = self._procedures.get(request.path)
            if procedure is None:
                raise _refused("unimplemented", f"no {request.path} here", 404)
            if request.method != "POST":
                raise _refused("unimplemented", "only POST is served", 405)
            if not _token(request):
                raise _refused("unauthenticated", "expected Authorization: Bearer with a token")
            await procedure(request)
        except RefusedRequestError as refused:
            await request.refuse(refused.problem)

    # Streams

    async def _run_sse(self, request: CursorRequest) -> None:
        family = _served(request, FAMILIES)
        with _reading():
            asked = pb.BidiRequestId.FromString(one_message(await request.body()))
        run = self._attached(asked.request_id, "RunSSE")
        self._check_id(run, request)
        await self._play(run, family, request, request.disconnect)

    async def _run(self, request: CursorRequest) -> None:
        family = _served(request, FAMILIES)
        run = self._attached(request.headers.get("x-request-id") or self._service.request_id(), "Run")
        await self._play(run, family, request, lambda: _read_run(run, request))

    def _attached(self, request_id: str, rpc: str) -> Run:
        run = self._service.attach(request_id, rpc)
        if isinstance(run, ServiceProblem):
            raise RefusedRequestError(run)
        return run

    async def _play(self, run: Run, family: Family, request: CursorRequest, read: Read) -> None:
        """Send all that a run sends, while `read` takes what its client sends on the same stream."""
        run.link.opened(request.http, request.headers)
        bell = asyncio.Event()
        run.link.ring = bell.set
        reader = asyncio.create_task(_read(run, read))
        try:
            await self._send_all(run, family, request, bell)
        finally:
            run.disconnected()
            self._service.leave(run)
            reader.cancel()
            with suppress(asyncio.CancelledError):
                await reader

    async def _send_all(self, run: Run, family: Family, request: CursorRequest, bell: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        late = loop.time() + HEADERS_AFTER
        outputs = run.outputs(loop.time())
        output = next(outputs, None)
        while output is not None:
            match output:
                case Until(time):
                    await _wait(bell, time if request.begun else min(time, late), loop)
                    if loop.time() >= late:
                        await request.begin()
                case ClosedConnection():
                    run.link.sent(output)
                    await _let_the_server_write()
                    self._close_connection(request.client)
                case pb.AgentServerMessage():
                    run.link.sent(output)
                    await request.write(envelope(output.SerializeToString()))
                case _:
                    run.link.sent(output)
                    await _begin_or_end(output, family, request)
            # A write that does not wait lets nothing else run: not even the reader, which hears that the client left.
            await asyncio.sleep(0)
            try:
                output = outputs.send(loop.time())
            except StopIteration:
                output = None

    # Unary calls

    async def _append(self, request: CursorRequest) -> None:
        codec = _served(request, unary.CODECS)
        with _reading():
            append = codec.read(await request.body(), aiserver_pb2.BidiAppendRequest())
            message = read_client_message(append.data_binary or bytes.fromhex(append.data))
        problem = self._service.append(append.request_id.request_id, append.append_seqno, message)
        run = self._service.run(append.request_id.request_id)
        if run is not None:
            self._check_id(run, request)
        if problem is not None:
            raise RefusedRequestError(problem)
        await request.answer(200, request.content_type, codec.write(aiserver_pb2.BidiAppendResponse()))

    async def _unary(self, request: CursorRequest) -> None:
        codec = _served(request, unary.CODECS)
        with _reading():
            answer = unary.PROCEDURES[request.path](codec, await request.body())
        await request.answer(200, request.content_type, codec.write(answer))

    def _check_id(self, run: Run, request: CursorRequest) -> None:
        named = request.headers.get("x-request-id")
        if named and named != run.request_id:
            run.link.fault(f"{request.path} has the x-request-id {named}, and {run.request_id} in its body")


async def _begin_or_end(
    output: Begin | RefusedRun | StreamEnd | CutStream, family: Family, request: CursorRequest
) -> None:
    """Begin or end the response."""
    if isinstance(output, RefusedRun) and not request.begun:
        await request.refuse(output.problem)
        return
    await request.begin()
    match output:
        case RefusedRun(problem) | StreamEnd(problem):
            await request.write(family.end(problem), last=True)
        case CutStream():
            await request.write(b"", last=True)


async def _read(run: Run, read: Read) -> None:
    """Take what the client sends; the run ends when the client has disconnected."""
    try:
        await read()
    finally:
        run.disconnected()


async def _read_run(run: Run, request: CursorRequest) -> None:
    envelopes = Envelopes()
    try:
        while not request.whole:
            for payload in envelopes.feed(await request.piece()):
                run.receive(read_client_message(payload))
    except (FramingError, DecodeError) as error:
        run.link.unreadable(f"the stream of the client cannot be read: {error}")
    except Disconnected:
        return
    if request.whole and envelopes.incomplete:
        run.link.fault("the stream of the client ends within an envelope")
    # The client's half is closed; the run goes on as long as the service's half is read.
    await request.disconnect()


_ROUNDS = 50


async def _let_the_server_write() -> None:
    """Let the server write what was sent before: over HTTP/2 another task does that, some rounds of the loop later."""
    for _ in range(_ROUNDS):
        # Without time: on a busy machine each millisecond becomes many, and a proxy takes that for the last call.
        await asyncio.sleep(0)


async def _wait(bell: asyncio.Event, until: float, loop: asyncio.AbstractEventLoop) -> None:
    """Wait for the bell or the time."""
    seconds = None if until == float("inf") else max(until - loop.time(), 0)
    with suppress(TimeoutError):
        await asyncio.wait_for(bell.wait(), seconds)
    bell.clear()


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def _token(request: CursorRequest) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _refused(code: str, message: str, status: int | None = None) -> RefusedRequestError:
    return RefusedRequestError(ServiceProblem(code=code, message=message, http_status=status))


@contextmanager
def _reading() -> Iterator[None]:
    """Refuse a request whose body cannot be read."""
    try:
        yield
    except (FramingError, DecodeError, ValueError) as error:
        raise _refused("invalid_argument", f"the body cannot be read: {error}") from error


def _served(request: CursorRequest, known: Mapping[str, _T]) -> _T:
    """What a request's content type stands for."""
    if request.content_type not in known:
        message = f"the content type {json.dumps(request.content_type)} is not served; known: {', '.join(known)}"
        raise _refused("unimplemented", message, 415)
    return known[request.content_type]
