from __future__ import annotations

import io
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_mocks.miniatures.fault import Fault, FaultHead
from wireproof_mocks.miniatures.middleware import WithFaults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from _typeshed.wsgi import StartResponse

    from wireproof_mocks.miniatures.fault import SentRequest


def environ(body: bytes = b"{}", **more: str) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": "POST", "PATH_INFO": "/v1/chat/completions", "CONTENT_LENGTH": str(len(body)),
        "CONTENT_TYPE": "application/json", "wsgi.input": io.BytesIO(body), **more,
    }  # fmt: skip


def echo(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "application/json")])
    return [environ["wsgi.input"].read()]


def ask(app: Callable[..., Iterable[bytes]], asked: dict[str, Any]) -> bytes:
    return b"".join(app(asked, lambda *_: lambda _: None))


def test_a_fault_knows_the_headers_of_the_request() -> None:
    seen: list[SentRequest] = []

    def head(head: FaultHead, request: SentRequest) -> FaultHead:
        seen.append(request)
        return head

    ask(WithFaults(app=echo, faults=(Fault(name="x", breaks="y", head=head),)), environ(HTTP_X_STAINLESS_LANG="js"))
    assert seen[0].headers == {"content-type": "application/json", "x-stainless-lang": "js"}


def test_a_body_in_chunks_reaches_the_proxy_whole() -> None:
    chunked = {**environ(b'{"n": 1}', HTTP_TRANSFER_ENCODING="chunked"), "CONTENT_LENGTH": ""}
    assert ask(WithFaults(app=echo, faults=(Fault(name="x", breaks="y"),)), chunked) == b'{"n": 1}'
    assert (chunked["CONTENT_LENGTH"], "HTTP_TRANSFER_ENCODING" in chunked) == ("8", False)
    # So that a fault can tell.
    assert chunked["wireproof.in_chunks"] is True


@pytest.mark.parametrize("error", [KeyError, TypeError, AttributeError])
def test_a_request_that_a_fault_cannot_read_goes_on_as_it_is(error: type[Exception]) -> None:
    def asked(_: dict[str, Any]) -> dict[str, Any]:
        raise error("role")

    faulty = WithFaults(app=echo, faults=(Fault(name="x", breaks="y", request=asked),))
    assert json.loads(ask(faulty, environ(b'{"messages": 7}'))) == {"messages": 7}


def test_events_are_taken_by_what_their_data_says_and_named_for_it_again() -> None:
    frame = b'event: response.created\ndata: {"type":"response.created","sequence_number":0}\n\n'
    seen: list[object] = []

    def sent(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        del environ
        start_response("200 OK", [("Content-Type", "text/event-stream")])
        return [frame[:30], frame[30:], b": hm\n\n", b"event: ping\n\n"]

    def frames(said: Iterable[object], _: SentRequest) -> Iterable[Any]:
        for one in said:
            seen.append(one)
            yield one

    fault = Fault(name="x", breaks="y", frames=frames, dialects=("responses",))  # type: ignore[arg-type]  # a list will do
    path = {"PATH_INFO": "/v1/responses"}
    assert ask(WithFaults(app=sent, faults=(fault,)), {**environ(), **path}) == frame + b": hm\n\nevent: ping\n\n"
    assert seen == [{"type": "response.created", "sequence_number": 0}, b": hm\n\n", b"event: ping\n\n"]


def test_a_fault_knows_when_all_slots_are_taken() -> None:
    inside, go, full = threading.Event(), threading.Event(), []

    def waiting(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("HTTP_WAIT"):
            inside.set()
            go.wait(5)
        return echo(environ, start_response)

    fault = Fault(name="x", breaks="y", environ=lambda environ: full.append(environ["wireproof.full"]))
    faulty = WithFaults(app=waiting, faults=(fault,), slots=1)
    holder = threading.Thread(target=ask, args=(faulty, environ(HTTP_WAIT="1")))
    holder.start()
    assert inside.wait(5)
    ask(faulty, environ())
    go.set()
    holder.join()
    ask(faulty, environ())
    assert full == [False, True, False]
