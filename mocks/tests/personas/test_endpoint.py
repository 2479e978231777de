"""What a persona makes of what is no answer."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from httpx_sse import EventSource

from wireproof_mocks.personas.answer import NotServedError
from wireproof_mocks.personas.endpoint import EndpointAddress, OpenEndpoint, UnreachableError, event_data

Handler = Callable[[httpx.Request], httpx.Response]


def connection(handler: Handler) -> OpenEndpoint:
    client = httpx.Client(transport=httpx.MockTransport(handler))
    return OpenEndpoint(endpoint=EndpointAddress(url="http://proxy.test/v1/", model="m", timeout=7), client=client)


def stream(text: str, status: int = 200, kind: str = "text/event-stream") -> Handler:
    return lambda _: httpx.Response(status, text=text, headers={"content-type": kind})


def test_the_frames_of_a_stream_up_to_its_end() -> None:
    text = ': hello\n\ndata: {"a": 1}\r\n\r\ndata: {"b":\ndata: 2}\n\ndata: [DONE]\n\ndata: {"c": 3}\n\n'
    assert list(connection(stream(text)).stream("/x", {})) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_cut_of_a_stream_is_read_as_httpx_sse_reads_it(end: bytes) -> None:
    lines = ("event: x", "data: é\u2028", ": c", "data", "retry: 1", "data:  b", "", "", "data: 2", "", "data: 3")
    body = end.join(line.encode() for line in lines)
    events = EventSource(httpx.Response(200, content=body, headers={"content-type": "text/event-stream"})).iter_sse()
    expected = [event.data for event in events]
    assert expected == ["é\u2028\n\n b", "2"]
    for cut in range(len(body) + 1):
        assert list(event_data([body[:cut], body[cut:]])) == expected, cut


def test_a_stream_is_read_whatever_type_it_says() -> None:
    assert list(connection(stream('data: {"a": 1}\n\n', kind="text/plain")).stream("/x", {})) == [{"a": 1}]


@pytest.mark.parametrize(
    ("handler", "why"),
    [
        (stream('data: {"error": {"message": "It broke."}}\n\n'), "the stream failed: It broke."),
        (stream('data: {"error": "It broke."}\n\n'), "the stream failed: It broke."),
        (stream("data: nonsense\n\n"), "a frame of the stream is no JSON: nonsense"),
        (stream("data: 1\n\n"), "a frame of the stream is no JSON object: 1"),
        (stream('{"choices": []}', kind="application/json"), "asked for a stream, it answered with one JSON body"),
        (stream('{"error": {"message": "No."}}', 400), "HTTP 400: No."),
        (stream("<h1>Bad Gateway</h1>", 502), "HTTP 502: <h1>Bad Gateway</h1>"),
        (stream("", 500), "HTTP 500: an empty body"),
    ],
)
def test_what_is_no_stream(handler: Handler, why: str) -> None:
    with pytest.raises(NotServedError) as failed:
        list(connection(handler).stream("/x", {}))
    assert str(failed.value).startswith(why)


@pytest.mark.parametrize(
    ("error", "raised", "why"),
    [
        (httpx.ConnectError("refused"), UnreachableError, "http://proxy.test/v1/x cannot be reached: refused"),
        (httpx.ReadTimeout("slow"), NotServedError, "/x was silent for 7 s; the client has given up"),
        (httpx.RemoteProtocolError("cut"), NotServedError, "the answer of /x broke off: cut"),
    ],
)
def test_what_happens_to_a_connection(error: Exception, raised: type[Exception], why: str) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise error

    with pytest.raises(raised) as failed:
        connection(fail).whole("/x", {})
    assert str(failed.value) == why


def test_a_whole_answer_is_an_object() -> None:
    assert connection(stream('{"a": 1}')).whole("/x", {}) == {"a": 1}
    with pytest.raises(NotServedError, match="the answer is no JSON object"):
        connection(stream("[]")).whole("/x", {})


def test_the_request_names_the_model_and_says_whether_it_streams() -> None:
    seen: list[bytes] = []

    def note(request: httpx.Request) -> httpx.Response:
        seen.append(request.read())
        return httpx.Response(200, text="{}")

    connection(note).whole("/x", {"a": 1})
    assert seen == [b'{"model":"m","a":1,"stream":false}']


def test_the_key_and_the_headers_go_with_every_request() -> None:
    endpoint = EndpointAddress(url="http://127.0.0.1:1/v1", model="m", key="k", headers={"x-mode": "y"})
    with endpoint.connected() as connected:
        assert connected.client.headers["authorization"] == "Bearer k"
        assert connected.client.headers["x-mode"] == "y"
        assert connected.client.trust_env is False


def test_the_authorities_of_the_environment_hold_for_this_machine_by_https(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    with EndpointAddress(url="http://127.0.0.1:1/v1", model="m").connected():
        pass
    with pytest.raises(FileNotFoundError), EndpointAddress(url="https://127.0.0.1:1/v1", model="m").connected():
        pass
