"""A connection to the endpoint without a socket: what is answered where it is read, and what has a task."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_endpoint.http.application import EndpointApplication
from wireproof_endpoint.journal.entry import AnswerEnding
from wireproof_endpoint.serving import endpoint_of
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.files.json_form import script_from_json
from wireproof_surfaces.http.client_connection import ClientConnection
from wireproof_surfaces.http.edge_limits import EdgeLimits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from wireproof_endpoint.endpoint import Endpoint

CHAT = "/v1/chat/completions"


def endpoint(*steps: Mapping[str, Any], **settings: Any) -> Endpoint:
    script = script_from_json({"name": "one", "when": "go", "parts": [list(steps)]}, "")
    return endpoint_of(EndpointSettings(**settings), lambda: {"one": script})


def post(*, stream: bool = False, path: str = CHAT, **headers: str) -> tuple[bytes, bytes]:
    """Head and body of a request."""
    body = json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "go"}]}).encode()
    more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}{more}\r\n".encode(), body


class Wire(asyncio.Transport):
    """Keeps what is written, and how much may be held back."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.high: int | None = None
        self.closed = False

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def write_eof(self) -> None:
        self.closed = True

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert low is None
        self.high = high

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    @property
    def all(self) -> bytes:
        return b"".join(self.writes)


class Connection:
    """A connection to an endpoint."""

    def __init__(self, served: Endpoint) -> None:
        self.wire = Wire()
        self.application = EndpointApplication(served)
        self.protocol = ClientConnection(self.application, EdgeLimits(), {}, lambda: b"now")
        self.protocol.connection_made(self.wire)

    def feed(self, *data: bytes) -> list[bytes]:
        """What is written before the loop goes on."""
        before = len(self.wire.writes)
        for piece in data:
            self.protocol.data_received(piece)
        return self.wire.writes[before:]

    async def until(self, what: bytes) -> bytes:
        """All that is written, when this is."""
        async with asyncio.timeout(20):
            while what not in self.wire.all:  # noqa: ASYNC110 - round by round
                await asyncio.sleep(0)
        return self.wire.all


def connected(served: Endpoint, main: Callable[[Connection], Awaitable[None]]) -> None:
    async def run() -> None:
        connection = Connection(served)
        await main(connection)
        connection.protocol.connection_lost(None)
        while connection.application.running:  # noqa: ASYNC110 - round by round
            await asyncio.sleep(0)

    asyncio.run(run())


def test_a_whole_answer_is_written_at_once_where_its_request_is_read() -> None:
    async def main(connection: Connection) -> None:
        for _ in range(2):  # the connection serves on
            [written] = connection.feed(b"".join(post()))
            head, _, body = written.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 OK\r\n")
            assert f"\r\ncontent-length: {len(body)}".encode() in head.lower()
            assert json.loads(body)["choices"][0]["message"]["content"] == "Yes."
        assert not connection.application.running
        assert connection.wire.high == 0, "what is written leaves at once"

    served = endpoint({"say": ["Yes."]})
    connected(served, main)
    assert [entry.ended for entry in served.journal.entries] == [AnswerEnding.COMPLETED] * 2
    assert served.answerer.playing == 0


def test_the_head_and_the_first_piece_of_a_stream_are_one_write_and_the_rest_follows() -> None:
    async def main(connection: Connection) -> None:
        [written] = connection.feed(b"".join(post(stream=True)))
        head, _, body = written.partition(b"\r\n\r\n")
        assert b"\r\ntransfer-encoding: chunked" in head.lower()
        assert body.count(b'"content":"x"') == 1
        data = await connection.until(b"\r\n0\r\n\r\n")
        assert data.count(b'"content":"x"') == 100
        assert data.count(b"HTTP/1.1 200 OK") == 1

    served = endpoint({"say": {"pieces": ["x"], "times": 100}})
    connected(served, main)
    [entry] = served.journal.entries
    assert (entry.status, entry.ended) == (200, AnswerEnding.COMPLETED)
    assert entry.sent.count(b'"content":"x"') > 50
    assert served.answerer.playing == 0


def test_a_stream_goes_on_after_the_first_pieces_of_others() -> None:
    async def main(one: Connection) -> None:
        other = Connection(served)
        one.feed(b"".join(post(stream=True)))
        assert len(other.feed(b"".join(post(stream=True)))) == 1
        assert len(one.wire.writes) == 1
        await one.until(b"\r\n0\r\n\r\n")

    served = endpoint({"say": {"pieces": ["x"], "times": 100}})
    connected(served, main)


def test_a_body_may_come_later_and_in_pieces() -> None:
    async def main(connection: Connection) -> None:
        head, body = post()
        assert connection.feed(head, body[:9], body[9:-1]) == []
        assert len(connection.feed(body[-1:])) == 1

    connected(endpoint({"say": ["Yes."]}), main)


def test_a_client_that_leaves_before_its_body_is_noted() -> None:
    async def main(connection: Connection) -> None:
        connection.feed(post()[0])

    served = endpoint({"say": ["Yes."]})
    connected(served, main)
    assert [entry.ended for entry in served.journal.entries] == [AnswerEnding.GONE]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ((post()[0].replace(b"1.1", b"1.0"), post()[1]), b"200"),
        (post(Connection="close"), b"200"),
        (post(path="/v1/nothing"), b"404"),
        (post(path="/v1/chat%2Fcompletions"), b"200"),
        (post(path=f"{CHAT}?a=b"), b"200"),
        (post(Expect="100-continue")[:1], b"100"),
        ((b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", b""), b"200"),
    ],
)
def test_what_is_less_usual_is_answered_like_the_rest(request_: tuple[bytes, ...], status: bytes) -> None:
    async def main(connection: Connection) -> None:
        assert b"".join(connection.feed(*request_)).startswith(b"HTTP/1.1 " + status)

    connected(endpoint({"say": ["Yes."]}), main)


@pytest.mark.parametrize("step", [{"pause": 0.01}, {"head": {"seconds": 0.01}}])
def test_an_answer_that_waits_is_written_when_it_is_there(step: Mapping[str, Any]) -> None:
    async def main(connection: Connection) -> None:
        assert connection.feed(b"".join(post())) == []
        assert (await connection.until(b"Yes.")).count(b"HTTP/1.1 200 OK") == 1

    served = endpoint(step, {"say": ["Yes."]})
    connected(served, main)
    assert len(served.journal.entries) == 1


def test_requests_in_one_read_are_answered_in_order() -> None:
    async def main(connection: Connection) -> None:
        whole, stream = b"".join(post()), b"".join(post(stream=True))
        connection.feed(whole + stream + whole)
        async with asyncio.timeout(20):
            while connection.wire.all.count(b"HTTP/1.1 200 OK") < 3:  # noqa: ASYNC110 - round by round
                await asyncio.sleep(0)
        first, second, third = connection.wire.all.split(b"HTTP/1.1 200 OK")[1:]
        assert b'"chat.completion"' in first
        assert b'"chat.completion.chunk"' in second
        assert second.endswith(b"\r\n0\r\n\r\n")
        assert b'"chat.completion"' in third

    connected(endpoint({"say": ["Yes."]}), main)


def test_what_fails_is_an_error_of_the_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    served = endpoint({"say": ["Yes."]})

    def answer(_request: object) -> None:
        raise LookupError("a bug")

    monkeypatch.setattr(served, "answer", answer)

    async def main(connection: Connection) -> None:
        [written] = connection.feed(b"".join(post()))
        assert written.startswith(b"HTTP/1.1 500 ")
        assert b"a bug" not in written

    connected(served, main)
    assert [entry.ended for entry in served.journal.entries] == [AnswerEnding.FAILED]
    assert "a bug" in caplog.text


@pytest.mark.parametrize("stream", [True, False])
def test_what_is_sent_is_noted_with_a_time_at_which_no_client_had_it(
    monkeypatch: pytest.MonkeyPatch, *, stream: bool
) -> None:
    times = [0.0]
    monkeypatch.setattr("wireproof_endpoint.http.application.monotonic", lambda: times[-1])

    class Late(Wire):
        """Where the process is held up as soon as something is written."""

        def write(self, data: Any) -> None:
            super().write(data)
            times.append(times[-1] + 5)

    async def main(connection: Connection) -> None:
        connection.protocol.connection_made(Late())
        connection.protocol.data_received(b"".join(post(stream=stream)))
        await asyncio.sleep(0)

    served = endpoint({"say": ["Yes."]})
    connected(served, main)
    assert served.journal.entries[0].pieces[0].at == 0
