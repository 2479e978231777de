from __future__ import annotations

import io
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_mocks.miniatures.fault import Fault, FaultHead, FaultReply
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


# Several faults


def stream(*frames: bytes) -> Callable[..., Iterable[bytes]]:
    """A proxy that answers with a stream."""

    def sent(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        del environ
        start_response("200 OK", [("Content-Type", "text/event-stream")])
        return list(frames)

    return sent


def each_number(change: Callable[[int], int]) -> Callable[[Iterable[Any], SentRequest], Iterable[Any]]:
    """A fault of the member `n` of each frame, which it takes for granted."""

    def changed(frames: Iterable[Any], _: SentRequest) -> Iterable[Any]:
        for frame in frames:
            yield {**frame, "n": change(frame["n"])}

    return changed


def with_frames(*changes: Callable[[Iterable[Any], SentRequest], Iterable[Any]]) -> tuple[Fault, ...]:
    return tuple(Fault(name=f"x-{n}", breaks="y", frames=change) for n, change in enumerate(changes))  # type: ignore[arg-type]


ONE, TWO = b'data: {"n":1}\n\n', b'data: {"n":2}\n\n'


def test_what_a_later_fault_changes_it_changes_after_the_earlier_ones() -> None:
    twice, more = each_number(lambda n: 2 * n), each_number(lambda n: n + 1)
    for faults, then in ((with_frames(twice, more), 3), (with_frames(more, twice), 4)):
        assert ask(WithFaults(app=stream(ONE), faults=faults), environ()) == b'data: {"n":%d}\n\n' % then
    asked = [Fault(name=name, breaks="y", request=lambda it, name=name: {**it, "by": name}) for name in "ab"]  # type: ignore[misc]
    said = json.loads(ask(WithFaults(app=echo, faults=tuple(asked)), environ(b'{"messages": []}')))
    assert said == {"messages": [], "by": "b"}


def test_frames_that_one_fault_has_made_unreadable_for_another_pass_it_and_it_goes_on_behind_them() -> None:
    def first_as_text(frames: Iterable[Any], _: SentRequest) -> Iterable[Any]:
        for number, frame in enumerate(frames):
            yield frame if number else "no number"

    faults = with_frames(first_as_text, each_number(lambda n: n + 7))
    said = ask(WithFaults(app=stream(ONE, TWO), faults=faults), environ())
    assert said == b'data: no number\n\ndata: {"n":9}\n\n'


def test_a_whole_answer_that_one_fault_has_made_unreadable_for_another_passes_it() -> None:
    lost = Fault(name="x-0", breaks="y", whole=lambda body, _, __: {"left": len(body)})
    reads = Fault(name="x-1", breaks="y", whole=lambda body, _, __: {"n": body["n"]})
    assert json.loads(ask(WithFaults(app=echo, faults=(lost, reads)), environ(b'{"n": 1}'))) == {"left": 1}


def test_a_fault_alone_that_cannot_read_an_answer_raises() -> None:
    with pytest.raises(KeyError):
        ask(WithFaults(app=stream(b'data: {"m":1}\n\n'), faults=with_frames(each_number(abs))), environ())
    reads = Fault(name="x", breaks="y", whole=lambda body, _, __: {"n": body["n"]})
    with pytest.raises(KeyError):
        ask(WithFaults(app=echo, faults=(reads,)), environ())


def test_an_error_of_messages_under_another_status_has_the_type_of_that_status() -> None:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "m"}}

    def failing(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        del environ
        start_response("405 Method Not Allowed", [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    lost = Fault(name="x", breaks="y", head=lambda head, _: FaultHead(status="404 Not Found", headers=head.headers))
    said = json.loads(ask(WithFaults(app=failing, faults=(lost,)), environ()))
    assert said == {"type": "error", "error": {"type": "not_found_error", "message": "m"}}


def test_of_several_faults_that_answer_instead_of_the_proxy_the_first_does() -> None:
    def by(name: str) -> Fault:
        head = FaultHead(status="503 Service Unavailable", headers=[])
        return Fault(
            name=name,
            breaks="y",
            instead=lambda _, number: (
                FaultReply(head=head, body=b"%s %d" % (name.encode(), number)) if number > 1 else None
            ),
        )

    faulty = WithFaults(app=echo, faults=(by("a"), by("b")))
    assert [ask(faulty, environ()) for _ in range(3)] == [b"{}", b"a 2", b"a 3"]


def test_a_stream_that_a_fault_makes_of_an_error_is_changed_by_those_behind_it() -> None:
    def failing(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        start_response("500 Internal Server Error", [("Content-Type", "application/json")])
        return [environ["wsgi.input"].read()]

    salvaged = Fault(
        name="x-0",
        breaks="y",
        salvage=lambda body: [body],
        head=lambda head, _: FaultHead(status="200 OK", headers=head.headers),
    )
    (behind,) = with_frames(each_number(lambda n: -n))
    assert ask(WithFaults(app=failing, faults=(salvaged, behind)), environ(b'{"n": 1}')) == b'data: {"n":-1}\n\n'
