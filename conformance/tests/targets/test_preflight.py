from __future__ import annotations

import asyncio
import gzip
import json
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.dialect import MODE_HEADER, ArgumentsMode, Dialect, Surface
from wireproof.model.target import Backend, KeyStyle, Missing, SurfaceState, Target
from wireproof.model.verdict import HarnessError
from wireproof.reading.asked import LIMITS
from wireproof.targets import budget as budgets
from wireproof.targets import probe
from wireproof.targets.ports import free_port
from wireproof.targets.preflight import detect_argument_mode, preflight
from wireproof.targets.probe import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.tests.conftest import TinyExchange, TinyServer

pytestmark = pytest.mark.sampled(72)

MOCK = "Wireproof: the scripted backend is here."
CHAT, RESPONSES = Surface.CHAT, Surface.RESPONSES
JUDGED, ABSENT, NOT_JUDGED = SurfaceState.JUDGED, SurfaceState.ABSENT, SurfaceState.NOT_JUDGED
NOT_FOUND = {"error": {"message": "There is nothing here.", "type": "invalid_request_error"}}


def a_target(url: str, *, model: str = "m", key: str | None = None, timeout: float = 10.0, **more: Any) -> Target:
    return Target(base_url=url, model=model, api_key=key, timeout=timeout, **more)


def refusal(target: Target) -> str:
    with pytest.raises(HarnessError) as raised:
        preflight(target)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def is_chat(exchange: TinyExchange) -> bool:
    return bool(exchange.path.partition("?")[0].endswith("/chat/completions"))


def routes(
    *,
    chat: Callable[[Any], None] | None = None,
    responses: Callable[[Any], None] | None = None,
    messages: Callable[[Any], None] | None = None,
) -> Any:
    """A server whose routes answer so; a route that is not named does not exist."""

    def nothing(exchange: TinyExchange) -> None:
        exchange.whole(NOT_FOUND, "404 Not Found")

    def respond(exchange: TinyExchange) -> None:
        path = exchange.path.partition("?")[0]
        there = next((one for end, one in named.items() if path.endswith(end)), responses)
        (there or nothing)(exchange)

    named = {"/chat/completions": chat, "/messages": messages}
    return respond


def text(exchange: TinyExchange, said: str = MOCK) -> None:
    """The right answer of the chat surface, in the mode that was asked for."""
    exchange.answer(said)


def response(exchange: TinyExchange, said: str = MOCK) -> None:
    """A right enough answer of the Responses surface."""
    part = {"type": "output_text", "text": said, "annotations": []}
    whole = {"id": "resp_1", "object": "response", "status": "completed", "output": [
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]},
    ]}  # fmt: skip
    if not exchange.streamed:
        exchange.whole(whole)
        return
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    exchange.send(b"data: " + json.dumps({"type": "response.output_text.delta", "delta": said}).encode() + b"\n\n")
    exchange.send(b"data: " + json.dumps({"type": "response.completed", "response": whole}).encode() + b"\n\n")


def states(target: Target) -> tuple[SurfaceState, SurfaceState]:
    return target.surfaces[CHAT].state, target.surfaces[RESPONSES].state


# What answers


def test_a_text_alone_makes_a_surface_spoken(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=text)
    found = preflight(a_target(tiny.base_url, key="k"))
    assert (found.backend, found.model, found.base_url) == (Backend.MOCK, "m", tiny.base_url)
    assert (states(found), found.dialects) == ((JUDGED, ABSENT), (Dialect.OPENAI_JSON,))
    assert found.surfaces[RESPONSES].reason == "HTTP 404 (There is nothing here.)"
    assert (found.surfaces[RESPONSES].status, found.surfaces[RESPONSES].said) == (404, json.dumps(NOT_FOUND))
    assert found.unspoken == {
        Dialect.OBSIDIAN_XML: "it is not served: asked for, the answer carries no call",
        Dialect.FUNCTION_CALL: "it is not served: asked for, the answer carries no call",
    }
    assert tiny.requests[0].marker == "probe"
    assert tiny.requests[0].headers["authorization"] == "Bearer k"


def test_responses_alone_make_a_target(tiny: TinyServer) -> None:
    tiny.respond = routes(responses=response)
    found = preflight(a_target(tiny.base_url))
    assert (states(found), found.dialects) == ((ABSENT, JUDGED), (Dialect.RESPONSES,))
    assert (found.backend, found.arguments, found.unspoken) == (Backend.MOCK, None, {})


def message(exchange: TinyExchange, said: str = MOCK) -> None:
    """The right answer of the surface of Messages."""
    content = [{"type": "text", "text": said}]
    whole = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    exchange.whole(whole)


def test_messages_alone_make_a_target(tiny: TinyServer) -> None:
    tiny.respond = routes(messages=message)
    found = preflight(a_target(tiny.base_url))
    assert (found.dialects, found.backend) == ((Dialect.MESSAGES,), Backend.MOCK)
    assert states(found) == (ABSENT, ABSENT)
    asked = [one for one in tiny.requests if one.path.endswith("/messages")]
    assert {one.headers.get("anthropic-version") for one in asked} == {"2023-06-01"}


def test_messages_that_are_refused_are_absent(tiny: TinyServer) -> None:
    refused = {"type": "error", "error": {"type": "invalid_request_error", "message": "not served here"}}
    tiny.respond = routes(chat=text, messages=lambda exchange: exchange.whole(refused, "400 Bad Request"))
    found = preflight(a_target(tiny.base_url))
    assert found.surfaces[Surface.MESSAGES].state is ABSENT
    assert found.surfaces[Surface.MESSAGES].reason == "HTTP 400 (not served here)"


def test_both_surfaces_are_found_where_both_answer(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=text, responses=response)
    found = preflight(a_target(tiny.base_url))
    assert (states(found), found.dialects) == ((JUDGED, JUDGED), (Dialect.OPENAI_JSON, Dialect.RESPONSES))


@pytest.mark.parametrize("status", ["400 Bad Request", "422 Unprocessable", "500 Oh", "502 Bad Gateway"])
@pytest.mark.parametrize("route", ["chat", "responses"])
def test_a_surface_that_only_streams_is_spoken(tiny: TinyServer, route: str, status: str) -> None:
    right = {"chat": text, "responses": response}[route]
    tiny.respond = routes(
        **{route: lambda e: right(e) if e.streamed else e.whole({"error": {"message": "stream, please"}}, status)}
    )
    found = preflight(a_target(tiny.base_url))
    assert states(found) == ((JUDGED, ABSENT) if route == "chat" else (ABSENT, JUDGED))
    assert (found.backend, found.surfaces[Surface(route)].reason) == (Backend.MOCK, "")


@pytest.mark.parametrize("kind", ["text/plain", "text/event-stream", "application/octet-stream", ""])
def test_a_wrong_content_type_hides_no_surface(tiny: TinyServer, kind: str) -> None:
    said = {"choices": [{"index": 0, "message": {"role": "assistant", "content": MOCK}, "finish_reason": "stop"}]}
    tiny.respond = routes(chat=lambda exchange: exchange.whole(said, kind=kind))
    found = preflight(a_target(tiny.base_url))
    assert (states(found), found.backend) == ((JUDGED, ABSENT), Backend.MOCK)


def streamed_always(exchange: TinyExchange) -> None:
    exchange.begin(MOCK[:12])
    exchange.chunk({"content": MOCK[12:]})
    exchange.chunk({}, "stop")
    exchange.send(b"data: [DONE]\n\n")


def test_a_stream_that_is_forced_on_hides_no_surface(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=streamed_always)
    found = preflight(a_target(tiny.base_url))
    assert (states(found), found.backend) == ((JUDGED, ABSENT), Backend.MOCK)


@pytest.mark.nightly
def test_a_stream_that_never_ends_hides_no_surface(tiny: TinyServer) -> None:
    def endless(exchange: TinyExchange) -> None:
        exchange.begin(MOCK)
        while not exchange.gone(0.02):
            exchange.chunk({"content": "!"})

    tiny.respond = routes(chat=endless)
    found = preflight(a_target(tiny.base_url, timeout=0.2))
    assert (states(found), found.backend, found.dialects) == ((JUDGED, ABSENT), Backend.MOCK, (Dialect.OPENAI_JSON,))


def test_an_answer_that_is_compressed_against_the_request_is_read(tiny: TinyServer) -> None:
    data = gzip.compress(json.dumps({"choices": [{"message": {"content": MOCK}}]}).encode())
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    tiny.respond = routes(chat=lambda exchange: exchange.send(head % len(data), data))
    assert preflight(a_target(tiny.base_url)).backend is Backend.MOCK


def test_an_answer_that_is_not_compressed_as_it_says_is_a_finding(tiny: TinyServer) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n"
    tiny.respond = routes(chat=lambda exchange: exchange.send(head, b"{oh}"), responses=response)
    found = preflight(a_target(tiny.base_url))
    assert states(found) == (JUDGED, JUDGED)
    assert found.surfaces[CHAT].reason == "although its answer has another form: HTTP 200"


# What does not answer, and is there


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        ("500 Oh", {"error": {"message": "No\n way."}}, "although no text came: HTTP 500 (No way.)"),
        ("500 Oh", b"Internal Server Error", "although no text came: HTTP 500 with application/json"),
        ("502 Bad Gateway", b"<html>nginx", "although no text came: HTTP 502 with application/json"),
        ("200 OK", {"error": {"message": "No."}}, "although no text came: HTTP 200 (No.)"),
        ("200 OK", b"", "although no text came: HTTP 200 with application/json and an empty body"),
        ("400 Bad Request", {"error": {"message": "No."}}, "although it refuses a plain request: HTTP 400 (No.)"),
        ("422 No", {"detail": "No."}, "although it refuses a plain request: HTTP 422 (No.)"),
        ("308 There", {}, "although no text came: HTTP 308 redirects to /x; name the URL that it leads to"),
    ],
)
def test_a_route_that_gives_no_text_is_judged_where_nothing_else_does(
    tiny: TinyServer, status: str, body: Any, reason: str
) -> None:
    def fails(exchange: TinyExchange) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        location = "Location: /x\r\n" if status.startswith("308") else ""
        exchange.send(f"{head}{location}\r\n".encode(), data)

    tiny.respond = routes(chat=fails)
    found = preflight(a_target(tiny.base_url))
    assert (states(found), found.dialects) == ((JUDGED, ABSENT), (Dialect.OPENAI_JSON,))
    assert (found.surfaces[CHAT].reason, found.pace, found.backend) == (reason, None, Backend.MOCK)
    assert set(found.unspoken.values()) == {"no text came, so it was not asked for"}


def test_a_plain_refusal_is_an_absence_where_another_surface_answers(tiny: TinyServer) -> None:
    said = {"error": {"message": "Responses are not supported."}}
    tiny.respond = routes(chat=text, responses=lambda exchange: exchange.whole(said, "400 Bad Request"))
    found = preflight(a_target(tiny.base_url))
    assert (states(found), found.surfaces[RESPONSES].reason) == (
        (JUDGED, ABSENT), "HTTP 400 (Responses are not supported.)",
    )  # fmt: skip


def test_a_server_error_is_no_absence_where_another_surface_answers(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=text, responses=lambda exchange: exchange.whole(b"", "500 Oh"))
    assert states(preflight(a_target(tiny.base_url))) == (JUDGED, JUDGED)


def test_a_surface_that_wants_another_key_is_not_judged_where_another_answers(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=text, responses=lambda exchange: exchange.whole({}, "403 Forbidden"))
    found = preflight(a_target(tiny.base_url))
    assert (states(found), found.surfaces[RESPONSES].reason) == (
        (JUDGED, NOT_JUDGED), "it wants another key: HTTP 403 with application/json",
    )  # fmt: skip


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"])
def test_a_route_that_closes_the_connection_is_judged_where_the_server_speaks_http(
    tiny: TinyServer, said: bytes
) -> None:
    def respond(exchange: TinyExchange) -> None:
        exchange.send(said) if exchange.method == "POST" else exchange.whole({"data": []})

    tiny.respond = respond
    found = preflight(a_target(tiny.base_url))
    assert states(found) == (JUDGED, JUDGED)
    assert found.surfaces[CHAT].reason.startswith("although no text came: ")


def test_a_route_that_hangs_is_judged_where_the_server_speaks_http(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=lambda exchange: exchange.gone())
    found = preflight(a_target(tiny.base_url, timeout=0.2))
    assert (states(found), found.surfaces[CHAT].reason) == (
        (JUDGED, ABSENT), "although no text came: no answer came within the limit (--timeout sets it)",
    )  # fmt: skip


# Waiting for capacity


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
@pytest.mark.parametrize("after", ["Retry-After: 0", "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT", ""])
def test_what_lacks_capacity_is_asked_again(
    tiny: TinyServer, monkeypatch: pytest.MonkeyPatch, status: str, after: str
) -> None:
    monkeypatch.setattr(budgets, "FIRST", 0.01)
    busy = {f"{path}{stream}" for path in ("chat", "responses") for stream in (True, False)}

    def respond(exchange: TinyExchange) -> None:
        name = f"{'chat' if is_chat(exchange) else 'responses'}{exchange.streamed}"
        if name in busy:
            busy.remove(name)
            head = f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n{after}"
            exchange.send(f"{head.strip()}\r\n\r\n".encode())
        else:
            (text if is_chat(exchange) else response)(exchange)

    tiny.respond = respond
    found = preflight(a_target(tiny.base_url))
    assert (states(found), found.backend) == ((JUDGED, JUDGED), Backend.MOCK)
    assert found.surfaces[CHAT].reason == ""


def test_what_never_has_capacity_is_judged_all_the_same(tiny: TinyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PATIENCE", 0.1)
    monkeypatch.setattr(budgets, "FIRST", 0.02)
    tiny.respond = routes(chat=lambda exchange: exchange.whole({}, "429 Too Many Requests"))
    found = preflight(a_target(tiny.base_url))
    assert (states(found), found.surfaces[CHAT].status) == ((JUDGED, ABSENT), 429)
    # Two more tries for all probes together: the patience is not that of each.
    assert 1 < sum(map(is_chat, tiny.requests)) <= 4


def test_a_wait_that_is_too_long_is_not_begun(tiny: TinyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    async def sleep(seconds: float) -> None:
        begun.append(seconds)

    monkeypatch.setattr(budgets, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
    busy = b"HTTP/1.1 429 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n"
    tiny.respond = routes(chat=lambda exchange: exchange.send(busy), responses=response)
    assert states(preflight(a_target(tiny.base_url))) == (JUDGED, JUDGED)
    assert begun == []


# The pace


def test_the_pace_is_that_of_a_text(tiny: TinyServer) -> None:
    def late(exchange: TinyExchange) -> None:
        time.sleep(0.2)  # this is what is measured
        text(exchange)

    tiny.respond = routes(chat=late)
    found = preflight(a_target(tiny.base_url))
    assert found.pace is not None
    assert 0.2 <= found.pace < 5
    first, last = found.surfaces[CHAT].first_byte, found.surfaces[CHAT].seconds
    assert first is not None
    assert last is not None
    assert 0.2 <= first <= last


# What is behind it


@pytest.mark.parametrize(
    ("said", "backend"),
    [
        (MOCK, Backend.MOCK),
        (MOCK.upper().replace(" ", ""), Backend.MOCK),
        ("I am a model.", Backend.LIVE),
        # No model says nothing at all; a proxy that loses all text does.
        ("", Backend.MOCK),
    ],
)
def test_the_words_of_the_answer_show_the_backend(tiny: TinyServer, said: str, backend: Backend) -> None:
    tiny.respond = routes(chat=lambda exchange: text(exchange, said))
    assert preflight(a_target(tiny.base_url)).backend is backend


def test_a_live_model_is_asked_for_a_text_on_each_surface_and_no_more(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=lambda e: text(e, "I am a model."), responses=lambda e: response(e, "Hello!"))
    found = preflight(a_target(tiny.base_url))
    assert (found.backend, found.dialects) == (Backend.LIVE, (Dialect.OPENAI_JSON, Dialect.RESPONSES))
    assert all("a live model is behind the target" in why for why in found.unspoken.values())
    # One for each, and one for the surface that is not there.
    assert len(tiny.requests) == 3


def limits_asked(tiny: TinyServer, path: str) -> list[list[int | None]]:
    """The limits of tokens of the requests to a path: each name's value, None where it is not set."""
    bodies = [one.json for one in tiny.requests if one.method == "POST" and one.path.endswith(path)]
    return [[body.get(name) for name in LIMITS] for body in bodies]


def test_what_may_be_paid_for_is_asked_for_few_tokens(tiny: TinyServer) -> None:
    live = a_target(tiny.base_url, backend=Backend.LIVE)
    tiny.respond = routes(chat=lambda e: text(e, "Hi."), responses=lambda e: response(e, "Hi."), messages=message)
    preflight(live)
    assert limits_asked(tiny, "/chat/completions") == [[64, None, None]]
    assert limits_asked(tiny, "/responses") == [[None, None, 64]]
    # A text that says so is asked what it is; Messages have its script, and no proof.
    assert limits_asked(tiny, "/messages") == [[64, None, None], [512, None, None]]


def test_a_limit_that_is_refused_has_its_other_name_and_then_none(tiny: TinyServer) -> None:
    live = a_target(tiny.base_url, backend=Backend.LIVE)
    tiny.respond = refusing(lambda body: next((f"{one} is not supported" for one in LIMITS if one in body), ""))
    found = preflight(live)
    assert (found.surfaces[CHAT].state, found.surfaces[RESPONSES].state, ways(found)) == (JUDGED, JUDGED, set())
    assert limits_asked(tiny, "/chat/completions")[:3] == [[64, None, None], [None, 64, None], [None, None, None]]
    assert limits_asked(tiny, "/responses")[:2] == [[None, None, 64], [None, None, None]]


def test_a_limit_that_a_route_fails_at_without_a_word_is_left_out_of_the_next_request(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=lambda e: e.whole(b"", "500 Oh") if "max_tokens" in e.json else text(e))
    assert states(preflight(a_target(tiny.base_url, backend=Backend.LIVE)))[0] is JUDGED


def test_what_a_mock_says_has_no_limit(tiny: TinyServer) -> None:
    def respond(exchange: TinyExchange) -> None:
        nonce = exchange.body.partition(b"reflect/backend#")[2].partition(b"]")[0].decode()
        text(exchange, json.dumps({"nonce": nonce}) if nonce else MOCK)

    tiny.respond = routes(chat=respond)
    assert preflight(a_target(tiny.base_url, backend=Backend.LIVE)).backend is Backend.MOCK
    first, proof, *rest = limits_asked(tiny, "/chat/completions")
    assert (first, proof) == ([64, None, None], [512, None, None])
    assert rest
    assert [one for one in rest if 64 in one] == []


# What each request carries


def test_no_key_is_sent_where_none_was_given(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=text)
    preflight(a_target(tiny.base_url))
    assert "authorization" not in tiny.requests[0].headers


def test_headers_query_and_style_of_the_key_are_kept(tiny: TinyServer) -> None:
    def respond(exchange: TinyExchange) -> None:
        right = exchange.headers.get("api-key") == "k" and exchange.headers.get("x-team") == "blue"
        if right and exchange.path.endswith("?version=1%202"):
            exchange.answer(MOCK) if exchange.method == "POST" else exchange.whole({"data": [{"id": "m"}]})
        else:
            exchange.whole({}, "401 Unauthorized")

    tiny.respond = respond
    more: Any = {"headers": (("X-Team", "blue"),), "query": (("version", "1 2"),), "key_style": KeyStyle.API_KEY}
    assert preflight(a_target(tiny.base_url, model="", key="k", **more)).model == "m"
    assert all("authorization" not in exchange.headers for exchange in tiny.requests)


# What is no target


def test_the_first_model_of_the_list_is_chosen(tiny: TinyServer) -> None:
    models = {"object": "list", "data": [{"id": "first"}, {"id": "second"}]}
    tiny.respond = lambda e: e.whole(models) if e.path == "/v1/models" else e.completion(MOCK)
    assert preflight(a_target(tiny.base_url, model="")).model == "first"
    assert tiny.requests[1].json["model"] == "first"


def test_the_second_request_does_not_count_on_the_connection_of_the_first(tiny: TinyServer) -> None:
    closed: list[bool] = []

    def respond(exchange: TinyExchange) -> None:
        if exchange.path == "/v1/models":
            exchange.whole({"data": [{"id": "first"}]})
            closed.append(exchange.gone())
        else:
            exchange.completion(MOCK)

    tiny.respond = respond
    assert preflight(a_target(tiny.base_url, model="")).model == "first"
    assert closed == [True]


@pytest.mark.parametrize("data", [{"data": []}, {"data": [{"id": ""}]}, {"data": [{"id": 1}]}, {}])
def test_a_list_without_a_model_asks_for_one(tiny: TinyServer, data: Any) -> None:
    tiny.respond = lambda exchange: exchange.whole(data)
    assert refusal(a_target(tiny.base_url, model="")) == (
        f"{tiny.base_url}/models lists no model; name one with --model"
    )


@pytest.mark.parametrize(
    ("status", "body", "seen"),
    [
        ("404 Not Found", NOT_FOUND, "HTTP 404 (There is nothing here.)"),
        ("500 Oh", {"error": "x"}, "HTTP 500 (x)"),
        ("200 OK", [], "HTTP 200 with application/json"),
    ],
)
def test_where_there_is_no_list_of_models_one_must_be_named(
    tiny: TinyServer, status: str, body: Any, seen: str
) -> None:
    tiny.respond = lambda exchange: exchange.whole(body, status)
    said = f"{seen}, so no model is known"
    named = f"{tiny.base_url}/models answers {said}; name one with --model"
    assert refusal(a_target(tiny.base_url, model="")) == named
    hint = f"; did you mean {tiny.base_url}? Else" if status.startswith("404") else ";"
    assert refusal(a_target(tiny.root, model="")) == f"{tiny.root}/models answers {said}{hint} name one with --model"


def test_a_server_that_is_not_there(tiny: TinyServer) -> None:
    tiny.close()
    assert refusal(a_target(tiny.base_url)).startswith(f"nothing answers at {tiny.base_url}/chat/completions: ")


def test_a_server_that_dies_at_the_first_request_is_there(tiny: TinyServer) -> None:
    def respond(exchange: TinyExchange) -> None:
        tiny.close()  # nothing listens any more
        exchange.answer(MOCK)

    tiny.respond = respond
    found = preflight(a_target(tiny.base_url))
    assert states(found) == (JUDGED, JUDGED)
    assert found.surfaces[RESPONSES].reason == "although no text came: nothing listens any more"


def test_a_name_that_no_one_has() -> None:
    assert refusal(a_target("http://nobody.invalid/v1")).startswith("nothing answers at http://nobody.invalid/v1/")


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8787/v1",
        "localhost/v1",
        "ftp://127.0.0.1/v1",
        "http://[::1/v1",
        "http://127.0.0.1:99999/v1",
        "http:///v1",
        "x y",
        "",
    ],
)
def test_a_url_that_is_none(url: str) -> None:
    assert refusal(a_target(url)).startswith(f"{url!r} is no usable URL: ")


@pytest.mark.parametrize("said", [b"", b"220 ready\r\n"])
def test_a_server_that_speaks_no_http(tiny: TinyServer, said: bytes) -> None:
    tiny.respond = lambda exchange: exchange.send(said)
    message = refusal(a_target(tiny.base_url))
    assert message.startswith(f"{tiny.base_url} does not speak HTTP as it should: POST /chat/completions: ")


def test_a_server_that_hangs(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.gone()
    # It ends at all: each request is given up, and few are sent.
    message = refusal(a_target(tiny.base_url, timeout=0.2))
    assert "POST /responses: no answer came within the limit (--timeout sets it)" in message
    assert len(tiny.requests) == 7


def test_a_server_that_drips_forever_is_judged(tiny: TinyServer) -> None:
    def respond(exchange: TinyExchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while not exchange.gone(0.02):
            exchange.send(b" ")

    tiny.respond = respond
    found = preflight(a_target(tiny.base_url, timeout=0.2))
    assert found.surfaces[CHAT].reason.endswith("HTTP 200 with application/json, and then nothing more came")


def test_a_server_that_pours_forever_is_read_no_further_than_needed(tiny: TinyServer) -> None:
    def respond(exchange: TinyExchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\n\r\n<html>")
        while True:
            exchange.send(bytes(LONGEST))

    tiny.respond = respond
    assert "HTTP 200 with audio/mpeg" in refusal(a_target(tiny.base_url))


@pytest.mark.parametrize(
    ("status", "kind", "body", "seen"),
    [
        ("404 Not Found", "text/html; charset=utf-8", b"<html>no such page", "HTTP 404 with text/html"),
        ("400 No", "text/html", b"<!DOCTYPE html><html>", "HTTP 400 with text/html"),
        ("200 OK", "text/html", b"<html>welcome", "HTTP 200 with text/html"),
        ("200 OK", "application/json", b"<html>", "HTTP 200 with application/json"),
        ("200 OK", "text/plain", b"data", "HTTP 200 with text/plain"),
        ("404 Not Found", "application/json", b"{}", "HTTP 404 with application/json"),
        ("405 Method", "application/json", b"{}", "HTTP 405 with application/json"),
    ],
)
def test_what_has_no_such_routes_is_no_target(tiny: TinyServer, status: str, kind: str, body: bytes, seen: str) -> None:
    tiny.respond = lambda exchange: exchange.whole(body, status, kind)
    each = f"POST /chat/completions: {seen}; POST /responses: {seen}; POST /messages: {seen}"
    assert refusal(a_target(tiny.base_url)) == f"{tiny.base_url} is no OpenAI-compatible API: {each}"
    assert refusal(a_target(tiny.root)).endswith(f"; did you mean {tiny.base_url}?")
    assert refusal(a_target(f"{tiny.base_url}/responses")).endswith(f"; did you mean {tiny.base_url}?")


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
@pytest.mark.parametrize(
    ("key", "wants"),
    [(None, "it wants a key; name its variable with --api-key-env"), ("k", "it wants another key than the one given")],
)
def test_a_proxy_that_wants_another_key(tiny: TinyServer, status: str, key: str | None, wants: str) -> None:
    tiny.respond = lambda exchange: exchange.whole({"error": {"message": "No\n  way."}}, status)
    url = f"{tiny.base_url}/chat/completions"
    assert refusal(a_target(tiny.base_url, key=key)) == f"{url} refuses with {status[:3]}: {wants} (No way.)"
    assert refusal(a_target(tiny.base_url, key=key, model="")).startswith(f"{tiny.base_url}/models refuses with ")


def test_a_door_that_says_html(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.whole(b"<html>forbidden", "403 Forbidden", "text/html")
    assert refusal(a_target(tiny.base_url)).endswith("it wants a key; name its variable with --api-key-env")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("404 Not Found", {"message": "There is no nope."}),
        ("404 Not Found", {"message": "What?", "code": "model_not_found"}),
        ("400 Bad Request", {"message": "What?", "param": "model"}),
    ],
)
def test_a_model_that_is_not_known(tiny: TinyServer, status: str, error: Any) -> None:
    tiny.respond = lambda exchange: exchange.whole({"error": error}, status)
    said = f"answers HTTP {status[:3]} ({error['message']}) to a plain request for the model 'nope'"
    url = f"{tiny.base_url}/chat/completions"
    assert refusal(a_target(tiny.base_url, model="nope")) == f"{url} {said}; name one with --model"


def test_a_slash_at_the_end_of_the_url_does_not_matter(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.completion(MOCK)
    preflight(a_target(f"{tiny.base_url}/"))
    assert tiny.requests[0].path == "/v1/chat/completions"


def test_a_free_port_answers_nothing() -> None:
    assert "nothing answers" in refusal(a_target(f"http://127.0.0.1:{free_port()}/v1"))


# Dialects

FUNCTION = {"name": "localSearch", "arguments": "{}"}
TOOL_CALLS = [{"id": "call_1", "type": "function", "function": FUNCTION}]
ANSWERS: dict[str, dict[str, Any]] = {
    "openai-json": {"content": None, "tool_calls": TOOL_CALLS},
    "obsidian-xml": {"content": "<use_tool>\n  <name>localSearch</name>\n</use_tool>", "tool_calls": TOOL_CALLS},
    "function-call": {"content": None, "function_call": FUNCTION},
    "text": {"content": "I call nothing."},
}


def look(tiny: TinyServer, *, echo: bool = False, **speaks: str) -> Target:
    """What is found of a server that answers what is asked for in a dialect by what is named for it."""

    def chat(exchange: TinyExchange) -> None:
        if exchange.marker == "probe":
            exchange.completion(MOCK)
            return
        legacy = "functions" in exchange.json
        asked = "function-call" if legacy else exchange.headers[MODE_HEADER]
        message = {"role": "assistant", **ANSWERS[speaks.get(asked.replace("-", "_"), asked)]}
        said = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        echoed = f"{MODE_HEADER}: {asked}\r\n" if echo else ""
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{echoed}Content-Length: {len(said)}\r\n\r\n"
        exchange.send(head.encode(), said.encode())

    tiny.respond = routes(chat=chat, responses=response, messages=message)
    return preflight(a_target(tiny.base_url))


def test_every_dialect_is_spoken_where_a_call_comes_in_it(tiny: TinyServer) -> None:
    assert look(tiny).dialects == tuple(Dialect)
    asked = [one for one in tiny.requests if is_chat(one) and one.marker in {"call/one", "shapes/a"}]
    assert [("functions" in exchange.json, "tools" in exchange.json) for exchange in asked] == [
        (False, True), (True, False), (False, True),
    ]  # fmt: skip


ALL: Any = dict.fromkeys(("openai_json", "obsidian_xml", "function_call"), "text")


@pytest.mark.parametrize(
    ("speaks", "missing", "carried"),
    [
        ({"obsidian_xml": "openai-json"}, [Dialect.OBSIDIAN_XML], "tool_calls"),
        ({"function_call": "openai-json"}, [Dialect.FUNCTION_CALL], "tool_calls"),
        # Whatever calls look like: openai-json is the dialect of every chat surface, and its faults are findings.
        ({"openai_json": "obsidian-xml"}, [], ""),
        (ALL, [Dialect.OBSIDIAN_XML, Dialect.FUNCTION_CALL], "no call"),
    ],
)
def test_a_dialect_is_not_judged_where_another_answers(
    tiny: TinyServer, speaks: Any, missing: list[Dialect], carried: str
) -> None:
    found = look(tiny, **speaks)
    assert found.dialects == tuple(one for one in Dialect if one not in missing)
    why = f"it is not served: asked for, the answer carries {carried}"
    assert found.unspoken == dict.fromkeys(missing, why)


def test_an_output_mode_that_is_echoed_is_spoken_although_no_call_came(tiny: TinyServer) -> None:
    found = look(tiny, echo=True, **ALL)
    assert Dialect.OBSIDIAN_XML in found.dialects
    assert list(found.unspoken) == [Dialect.FUNCTION_CALL]


def test_an_output_mode_that_is_echoed_is_spoken_although_the_answer_cannot_be_read(tiny: TinyServer) -> None:
    def chat(exchange: TinyExchange) -> None:
        if "tools" in exchange.json:
            mode = exchange.headers.get(MODE_HEADER, "")
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n")
            exchange.send(f"{MODE_HEADER}: {mode}\r\n\r\n".encode(), b'{"choices": ')
        else:
            text(exchange)

    tiny.respond = routes(chat=chat)
    assert Dialect.OBSIDIAN_XML in preflight(a_target(tiny.base_url)).dialects


def test_tools_that_are_refused_hide_no_surface(tiny: TinyServer) -> None:
    def chat(exchange: TinyExchange) -> None:
        if "tools" in exchange.json or "functions" in exchange.json:
            exchange.whole({"error": {"message": "tools are not supported", "param": "tools"}}, "422 No")
        else:
            text(exchange)

    tiny.respond = routes(chat=chat)
    found = preflight(a_target(tiny.base_url))
    assert (states(found), found.dialects) == ((JUDGED, ABSENT), (Dialect.OPENAI_JSON,))
    assert set(found.unspoken.values()) == {"it is not served: HTTP 422 (tools are not supported)"}


def test_dialects_that_were_named_are_not_tried(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=text, responses=response)
    named = preflight(a_target(tiny.base_url, dialects=(Dialect.FUNCTION_CALL,)))
    assert named.dialects == (Dialect.FUNCTION_CALL,)
    assert (states(named), named.surfaces[RESPONSES].reason) == ((JUDGED, NOT_JUDGED), "--dialect names others")
    assert [exchange.marker for exchange in tiny.requests] == ["probe", "reflect/backend", "probe"]


@pytest.mark.parametrize("named", [{"dialects": (Dialect.RESPONSES,)}, {"wanted": (RESPONSES,)}])
def test_a_surface_that_is_named_is_judged_whatever_it_answers(tiny: TinyServer, named: dict[str, Any]) -> None:
    tiny.respond = routes(chat=text)
    found = preflight(a_target(tiny.base_url, **named))
    assert (states(found), found.dialects) == ((NOT_JUDGED, JUDGED), (Dialect.RESPONSES,))
    said = "as it was asked for, although no text came: HTTP 404 (There is nothing here.)"
    assert found.surfaces[RESPONSES].reason == said


@pytest.mark.parametrize("said", [{"id": "x", "text": "Hello"}, {"choices": None}, {}, "Hello", b"<html>"])
def test_a_success_of_another_form_is_no_absent_surface(tiny: TinyServer, said: Any) -> None:
    tiny.respond = routes(chat=text, responses=lambda exchange: exchange.whole(said))
    found = preflight(a_target(tiny.base_url))
    assert states(found) == (JUDGED, JUDGED)
    reason = "although its answer has another form: HTTP 200 with application/json"
    assert found.surfaces[RESPONSES].reason == reason


@pytest.mark.parametrize("said", [{}, {"choices": None}])
def test_a_success_of_another_form_is_judged_where_nothing_else_answers(tiny: TinyServer, said: Any) -> None:
    tiny.respond = routes(chat=lambda exchange: exchange.whole(said))
    assert states(preflight(a_target(tiny.base_url))) == (JUDGED, ABSENT)


# Ways round


def ways(target: Target) -> set[tuple[str, Surface | None]]:
    return {(one.name, one.surface) for one in target.ways}


def refusing(wrong: Callable[[dict[str, Any]], str]) -> Callable[[Any], None]:
    """The right answer of a surface, but for requests that are refused in these words."""

    def respond(exchange: TinyExchange) -> None:
        said = wrong(exchange.json)
        if said:
            exchange.whole({"detail": said}, "400 Bad Request")
        else:
            (text if is_chat(exchange) else response)(exchange)

    return respond


def test_a_target_that_takes_all_is_asked_once_for_all(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=text)
    assert ways(preflight(a_target(tiny.base_url))) == set()
    asked = [one.json for one in tiny.requests if is_chat(one) and "temperature" in one.json]
    assert len(asked) == 1
    assert asked[0].keys() >= {"temperature", "max_tokens", "parallel_tool_calls", "tools"}


def test_what_a_surface_refuses_to_do_without_is_sent_one_by_one(tiny: TinyServer) -> None:
    def wrong(body: dict[str, Any]) -> str:
        if body.get("store") is not False:
            return "Store must be set to false"
        if "instructions" not in body:
            return "Instructions are required"
        return "" if body.get("stream") else "Stream must be set to true"

    tiny.respond = routes(responses=refusing(wrong))
    found = preflight(a_target(tiny.base_url))
    assert states(found) == (ABSENT, JUDGED)
    assert ways(found) == {(name, RESPONSES) for name in ("store-false", "instructions", "only-streams")}


def test_a_refusal_that_no_way_helps_is_none(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=text, responses=refusing(lambda _: "Store must be set to false"))
    found = preflight(a_target(tiny.base_url))
    assert (states(found), ways(found)) == ((JUDGED, ABSENT), set())


@pytest.mark.parametrize(
    ("member", "name"),
    [
        ("temperature", "without-temperature"),
        ("max_tokens", "max-completion-tokens"),
        ("parallel_tool_calls", "without-parallel-tool-calls"),
        ("developer", "developer-as-system"),
    ],
)
def test_what_a_surface_refuses_in_passing_is_found_alone(tiny: TinyServer, member: str, name: str) -> None:
    tiny.respond = routes(chat=refusing(lambda body: "No." if f'"{member}"' in json.dumps(body) else ""))
    assert ways(preflight(a_target(tiny.base_url))) == {(name, CHAT)}


@pytest.mark.parametrize("members", [("tools",), ("max_tokens", "max_completion_tokens"), ("developer", "system")])
def test_a_member_is_not_blamed_for_what_is_refused_without_it_too(tiny: TinyServer, members: tuple[str, ...]) -> None:
    def wrong(body: dict[str, Any]) -> str:
        return "No." if any(f'"{member}"' in json.dumps(body) for member in members) else ""

    tiny.respond = routes(chat=refusing(wrong))
    assert ways(preflight(a_target(tiny.base_url))) == set()


def test_no_stream_is_asked_for_in_so_many_words_where_one_comes_otherwise(tiny: TinyServer) -> None:
    tiny.respond = routes(
        chat=lambda exchange: streamed_always(exchange) if "stream" not in exchange.json else text(exchange)
    )
    assert ways(preflight(a_target(tiny.base_url))) == {("stream-false", CHAT)}


def test_where_a_stream_comes_whatever_is_asked_for_there_is_no_way(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=streamed_always)
    assert ways(preflight(a_target(tiny.base_url))) == set()


def test_a_usual_name_is_asked_for_where_the_list_of_models_fails(tiny: TinyServer) -> None:
    def respond(exchange: TinyExchange) -> None:
        if exchange.method == "GET":
            exchange.whole({"error": {"message": "No list."}}, "500 Oh")
        elif exchange.json["model"] == "codex":
            text(exchange)
        else:
            exchange.whole({"error": {"message": "?", "code": "model_not_found"}}, "404 Not Found")

    tiny.respond = respond
    found = preflight(a_target(tiny.base_url, model=""))
    assert (found.model, ways(found)) == ("codex", {("model-by-hand", None)})


def test_a_live_model_is_not_chosen_by_a_usual_name(tiny: TinyServer) -> None:
    tiny.respond = lambda e: text(e, "I am a model.") if e.method == "POST" else e.whole({"data": []})
    assert "name one with --model" in refusal(a_target(tiny.base_url, model=""))


# Arguments


def streaming(*fragments: str) -> Callable[[Any], None]:
    """A server that speaks OpenAI's dialect, and streams the arguments of a call like this."""

    def respond(exchange: TinyExchange) -> None:
        if exchange.marker == "probe":
            exchange.completion(MOCK)
        elif not exchange.streamed:
            exchange.completion(None, TOOL_CALLS)
        else:
            exchange.begin("")
            exchange.chunk({"tool_calls": [{"index": 0, **TOOL_CALLS[0], "function": {"name": "f", "arguments": ""}}]})
            for fragment in fragments:
                exchange.chunk({"tool_calls": [{"index": 0, "function": {"arguments": fragment}}]})
            exchange.chunk({}, "tool_calls")
            exchange.send(b"data: [DONE]\n\n")

    return respond


@pytest.mark.parametrize(
    ("fragments", "found"),
    [(('{"a"', '{"a": 1', '{"a": 1}'), ArgumentsMode.CUMULATIVE), (('{"a"', ": 1", "}"), None), (('{"a": 1}',), None)],
)
def test_how_arguments_are_reported_is_found_out(
    tiny: TinyServer, fragments: tuple[str, ...], found: ArgumentsMode | None
) -> None:
    tiny.respond = streaming(*fragments)
    assert preflight(a_target(tiny.base_url)).arguments is found


def test_where_no_call_is_answered_the_way_of_their_arguments_is_not_waited_for(tiny: TinyServer) -> None:
    tiny.respond = routes(chat=lambda e: text(e) if e.marker in {"probe", "reflect/backend"} else e.hang())
    found = preflight(a_target(tiny.base_url, timeout=0.2))
    assert {*found.unspoken} == {Dialect.OBSIDIAN_XML, Dialect.FUNCTION_CALL}
    assert [one.marker for one in tiny.requests if one.marker.partition("/")[0] in {"call", "shapes"}] == [
        "call/one"
    ] * 2


def test_a_way_that_was_declared_is_not_looked_for(tiny: TinyServer) -> None:
    tiny.respond = streaming("{", "}")
    declared = Target(base_url=tiny.base_url, model="m", arguments=ArgumentsMode.CUMULATIVE)
    assert preflight(declared).arguments is ArgumentsMode.CUMULATIVE
    assert not any(exchange.streamed for exchange in tiny.requests if exchange.marker != "probe")


def fragments_of_one_call(*fragments: str) -> bytes:
    deltas = [{"index": 0, "function": {"arguments": fragment}} for fragment in fragments]
    opened = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]} for delta in (opened, *deltas)]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)


@pytest.mark.parametrize(
    ("fragments", "way"),
    [
        (("{", '{"a"', '{"a": 1}'), ArgumentsMode.CUMULATIVE),
        (("{", '"a"', ": 1}"), ArgumentsMode.INCREMENTAL),
        (("1", "1"), ArgumentsMode.INCREMENTAL),
        (("{}",), None),
        ((), None),
    ],
)
def test_fragments_show_the_argument_mode(fragments: tuple[str, ...], way: ArgumentsMode | None) -> None:
    assert detect_argument_mode(fragments_of_one_call(*fragments)) is way


@pytest.mark.parametrize("body", [b"", b"{}", b"data: no\n\n"])
def test_what_is_no_stream_shows_nothing(body: bytes) -> None:
    assert detect_argument_mode(body) is None


@pytest.mark.parametrize(
    ("report", "missing"),
    [
        ('{"codex": "0.107.0", "protocol": "v1"}', {Missing.TOOLS, Missing.ROLES, Missing.COUNTS}),
        ('{"codex": "0.169.0", "protocol": "v2"}', set()),
        # What says nothing of itself is taken for what was declared.
        (MOCK, {Missing.ENDS}),
    ],
)
def test_the_mock_says_which_codex_it_plays(tiny: TinyServer, report: str, missing: set[Missing]) -> None:
    tiny.respond = routes(chat=lambda e: text(e, report if e.marker == "reflect/backend" else MOCK))
    assert preflight(a_target(tiny.base_url, missing=frozenset({Missing.ENDS}))).missing == missing
