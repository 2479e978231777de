"""Clients of the service for tests, on libraries that the mock does not use: httpx for RunSSE, h2 on a socket for Run.

Both send what a test gives them and hand over what comes back, one message after the other.
"""

from __future__ import annotations

import hashlib
import json
import queue
import socket
import ssl
import struct
import threading
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import h2.config
import h2.connection
import h2.events
import httpx

from wireproof_cursor_protos import agent_pb2 as pb
from wireproof_cursor_protos import aiserver_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

GRPC_WEB, CONNECT = "application/grpc-web+proto", "application/connect+proto"
WAIT = 20.0
"""Seconds after which a test gives up."""


def framed(message: bytes, flags: int = 0) -> bytes:
    return struct.pack(">BI", flags, len(message)) + message


def frames(data: bytearray) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 5:
        flags, length = struct.unpack_from(">BI", data)
        if len(data) < 5 + length:
            return
        payload = bytes(data[5 : 5 + length])
        del data[: 5 + length]
        yield flags, payload


def run_request(
    text: str = "", *, tools: Sequence[pb.McpToolDefinition] = (), roots: Sequence[bytes] = (), model: str = "mock"
) -> pb.AgentClientMessage:
    """A run request with its context, as the clients of RunSSE send it."""
    request = pb.AgentRunRequest(
        conversation_state=pb.ConversationStateStructure(root_prompt_messages_json=roots),
        model_details=pb.ModelDetails(model_id=model),
        mcp_tools=pb.McpTools(mcp_tools=tools),
    )
    if text:
        action = request.action.user_message_action
        action.user_message.text = text
        action.request_context.env.os_version = "test"
    else:
        request.action.resume_action.request_context.SetInParent()
    return pb.AgentClientMessage(run_request=request)


class Agent:
    """What both clients do: keep blobs, and hand over the rest."""

    def __init__(self) -> None:
        self.request_id = str(uuid.uuid4())
        self.blobs: dict[bytes, bytes] = {}
        self.keeps = True
        """Whether blobs are kept and given by itself."""
        self.frames: queue.Queue[tuple[int, bytes] | None] = queue.Queue()
        self.seen: list[pb.AgentServerMessage] = []
        self.end: tuple[int, bytes] | None = None
        """The flags and payload of the envelope that ended the stream; None if there was none."""

    def send(self, message: pb.AgentClientMessage) -> None:
        raise NotImplementedError

    def leave(self) -> None:
        """Disconnect."""
        raise NotImplementedError

    def error(self) -> bytes:
        """The body of an HTTP error."""
        raise NotImplementedError

    def http_status(self) -> int:
        raise NotImplementedError

    def message(self) -> pb.AgentServerMessage | None:
        """The next message that is not about blobs the client keeps; None at the end of the stream."""
        while True:
            frame = self.frames.get(timeout=WAIT)
            if frame is None:
                return None
            if frame[0] != 0:
                self.end = frame
                continue
            message = pb.AgentServerMessage.FromString(frame[1])
            self.seen.append(message)
            if self.keeps and message.HasField("kv_server_message"):
                self.send(pb.AgentClientMessage(kv_client_message=self.kept(message.kv_server_message)))
                continue
            return message

    def kept(self, asked: pb.KvServerMessage) -> pb.KvClientMessage:
        if asked.HasField("set_blob_args"):
            self.blobs[asked.set_blob_args.blob_id] = asked.set_blob_args.blob_data
            return pb.KvClientMessage(id=asked.id, set_blob_result=pb.SetBlobResult())
        found = self.blobs.get(asked.get_blob_args.blob_id)
        return pb.KvClientMessage(id=asked.id, get_blob_result=pb.GetBlobResult(blob_data=found))

    def keep(self, *messages: dict[str, Any]) -> list[bytes]:
        """Keep messages of a conversation; the names of their blobs."""
        data = [json.dumps(message, ensure_ascii=False).encode() for message in messages]
        names = [hashlib.sha256(blob).digest() for blob in data]
        self.blobs.update(zip(names, data, strict=True))
        return names

    def rest(self) -> list[pb.AgentServerMessage]:
        """All messages up to the end of the stream."""
        return list(iter(self.message, None))

    def until(self, field: str) -> pb.AgentServerMessage:
        """The next message with this field, or update with it; those before it are skipped."""
        while (message := self.message()) is not None:
            if named(message) == field:
                return message
        raise AssertionError(f"the stream ended before {field}; it ended with {self.end}")

    def ended(self) -> Any:
        """How the stream ended: the trailer as a dict, or the JSON of Connect."""
        assert self.end is not None, "the stream has no end"
        flags, payload = self.end
        if flags == 0x02:
            return json.loads(payload)
        assert flags == 0x80
        return dict(line.split(": ", 1) for line in payload.decode().split("\r\n") if line)


@contextmanager
def agent(transport: str, url: str) -> Iterator[Agent]:
    """A client of a transport: `grpc-web` or `connect` (both RunSSE), or `run`."""
    if transport == "run":
        with Connection(url) as connection:
            yield Run(connection)
    else:
        with RunSSE(url, GRPC_WEB if transport == "grpc-web" else CONNECT) as client:
            yield client


TRANSPORTS = ("grpc-web", "connect", "run")


def tool(name: str) -> pb.McpToolDefinition:
    """A tool that a client declares."""
    return pb.McpToolDefinition(name=f"own-{name}", tool_name=name, provider_identifier="own", description=name)


def result_of(asked: pb.AgentServerMessage, **result: Any) -> pb.AgentClientMessage:
    """The answer to a request of the service."""
    answer = pb.ExecClientMessage(id=asked.exec_server_message.id, **result)
    return pb.AgentClientMessage(exec_client_message=answer)


def mcp_result(asked: pb.AgentServerMessage, text: str) -> pb.AgentClientMessage:
    """The answer to a call."""
    content = pb.McpToolResultContentItem(text=pb.McpTextContent(text=text))
    return result_of(asked, mcp_result=pb.McpResult(success=pb.McpSuccess(content=[content])))


def closed(asked: pb.AgentServerMessage) -> pb.AgentClientMessage:
    """The `stream_close` for a request."""
    close = pb.ExecClientStreamClose(id=asked.exec_server_message.id)
    return pb.AgentClientMessage(exec_client_control_message=pb.ExecClientControlMessage(stream_close=close))


def named(message: pb.AgentServerMessage) -> str:
    """The field of a message, or the update in it."""
    kind = str(message.WhichOneof("message"))
    return str(message.interaction_update.WhichOneof("message")) if kind == "interaction_update" else kind


def text_of(messages: Sequence[pb.AgentServerMessage]) -> str:
    return "".join(message.interaction_update.text_delta.text for message in messages)


PLAIN = ssl.create_default_context()
"""Not used: but a client that is given none makes one of its own, which takes longer than a run."""


class RunSSE(Agent):
    """A client of RunSSE and BidiAppend over HTTP/1.1."""

    def __init__(self, url: str, content_type: str = GRPC_WEB, token: str = "t") -> None:  # noqa: S107
        super().__init__()
        headers = {"content-type": content_type, "authorization": f"Bearer {token}", "x-request-id": self.request_id}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=WAIT, verify=PLAIN)
        self.number = 0
        self.status = 0
        self.content_type = ""
        self.body = b""
        """Of an HTTP error."""
        self.begun = threading.Event()
        """Set when the head of the response has come."""
        self.reads = threading.Event()
        """Whether the body is read."""
        self.reads.set()
        self._response: httpx.Response | None = None
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.leave()
        self._thread.join(WAIT)
        self.http.close()

    def leave(self) -> None:
        """Disconnect."""
        # Not closed: a thread that reads from it would never know.
        if self.begun.wait(WAIT) and self._socket is not None:
            shut_down(self._socket)

    _socket: socket.socket | None = None

    def _read(self) -> None:
        body = framed(pb.BidiRequestId(request_id=self.request_id).SerializeToString())
        data = bytearray()
        try:
            with self.http.stream("POST", "/agent.v1.AgentService/RunSSE", content=body) as response:
                self.status, self.content_type = response.status_code, response.headers["content-type"]
                self.begun.set()
                self._socket = response.extensions["network_stream"].get_extra_info("socket")
                if self.status != 200:
                    self.body = response.read()
                    return
                self.reads.wait(WAIT)
                for piece in response.iter_raw():
                    data += piece
                    for frame in frames(data):
                        self.frames.put(frame)
        except (httpx.HTTPError, httpx.StreamError, OSError):
            pass
        finally:
            self.frames.put(None)

    def send(self, message: pb.AgentClientMessage) -> None:
        assert self.append(message).status_code == 200

    def error(self) -> bytes:
        return self.body

    def http_status(self) -> int:
        return self.status

    def append(self, message: pb.AgentClientMessage, number: int | None = None) -> httpx.Response:
        """Send an append, by default with the next number."""
        if number is None:
            number, self.number = self.number, self.number + 1
        return self.append_bytes(message.SerializeToString(), number)

    def append_bytes(self, data: bytes, number: int) -> httpx.Response:
        return self.post(self.append_message(data, number))

    def append_message(self, data: bytes, number: int) -> aiserver_pb2.BidiAppendRequest:
        request_id = aiserver_pb2.BidiRequestId(request_id=self.request_id)
        return aiserver_pb2.BidiAppendRequest(data=data.hex(), request_id=request_id, append_seqno=number)

    def post(self, append: aiserver_pb2.BidiAppendRequest) -> httpx.Response:
        return self.http.post("/aiserver.v1.BidiService/BidiAppend", content=framed(append.SerializeToString()))


def shut_down(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class Connection:
    """An HTTP/2 connection by prior knowledge, on which several runs can be opened."""

    def __init__(self, url: str, *, window: int | None = None) -> None:
        parts = urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=WAIT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.authority = parts.netloc
        self.lock = threading.Lock()
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.runs: dict[int, Run] = {}
        self.closed = False
        with self.lock:
            self.h2.initiate_connection()
            if window is not None:
                self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
            self.flush()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def flush(self) -> None:
        self.socket.sendall(self.h2.data_to_send())

    def close(self) -> None:
        shut_down(self.socket)
        self._thread.join(WAIT)
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> None:
        try:
            while data := self.socket.recv(65536):
                with self.lock:
                    for event in self.h2.receive_data(data):
                        self._take(event)
                    self.flush()
        except OSError:
            pass
        self.closed = True
        for run in self.runs.values():
            run.frames.put(None)

    def _take(self, event: h2.events.Event) -> None:
        run = self.runs.get(getattr(event, "stream_id", 0) or 0)
        if run is None:
            return
        match event:
            case h2.events.ResponseReceived():
                run.headers = dict(event.headers or [])  # type: ignore[arg-type]
                run.answered.set()
            case h2.events.DataReceived():
                run.take(event.data or b"")
                if run.reads:
                    self.h2.acknowledge_received_data(event.flow_controlled_length or 0, run.stream)
                else:
                    # The window of the connection stays open: what is not read is held back for this stream alone.
                    self.h2.increment_flow_control_window(event.flow_controlled_length or 1)
                    run.unread += event.flow_controlled_length or 0
                    run.more_unread.notify_all()
            case h2.events.StreamEnded() | h2.events.StreamReset():
                run.frames.put(None)


class Run(Agent):
    """A client of Run over HTTP/2."""

    def __init__(self, connection: Connection, content_type: str = CONNECT, **headers: str) -> None:
        super().__init__()
        self.connection = connection
        self.headers: dict[str, str] = {}
        self.answered = threading.Event()
        self.reads = True
        """Whether flow control lets the service send on."""
        self.unread = 0
        self.more_unread = threading.Condition(connection.lock)
        self.body = bytearray()
        with connection.lock:
            self.stream = connection.h2.get_next_available_stream_id()
            connection.runs[self.stream] = self
            sent = {
                ":method": "POST", ":path": "/agent.v1.AgentService/Run", ":scheme": "http",
                ":authority": connection.authority, "content-type": content_type, "te": "trailers",
                "authorization": "Bearer t", "x-request-id": self.request_id, "connect-protocol-version": "1",
                **{name.replace("_", "-"): value for name, value in headers.items()},
            }  # fmt: skip
            connection.h2.send_headers(self.stream, list(sent.items()))
            connection.flush()

    def take(self, data: bytes) -> None:
        self.body += data
        if self.headers.get(":status") == "200":
            for frame in frames(self.body):
                self.frames.put(frame)

    def send(self, message: pb.AgentClientMessage) -> None:
        self.send_bytes(framed(message.SerializeToString()))

    def error(self) -> bytes:
        return bytes(self.body)

    def http_status(self) -> int:
        return int(self.headers[":status"])

    def send_bytes(self, data: bytes) -> None:
        with self.connection.lock:
            # The window of the service is as wide as a test needs it: what is sent here is small.
            self.connection.h2.send_data(self.stream, data)
            self.connection.flush()

    def full(self, window: int) -> None:
        """Wait until the window of the stream is full."""
        with self.more_unread:
            assert self.more_unread.wait_for(lambda: self.unread >= window, WAIT)

    def read_on(self) -> None:
        """Let the service send what it held back."""
        with self.connection.lock:
            self.reads = True
            self.connection.h2.increment_flow_control_window(self.unread, self.stream)
            self.unread = 0
            self.connection.flush()

    def close_half(self) -> None:
        """Send no more."""
        with self.connection.lock:
            self.connection.h2.end_stream(self.stream)
            self.connection.flush()

    def leave(self) -> None:
        """Disconnect: reset the stream."""
        with self.connection.lock:
            self.connection.h2.reset_stream(self.stream, 8)
            self.connection.flush()
