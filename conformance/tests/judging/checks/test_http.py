from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.judging.checks.answered import answered
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import WRONG_KEY, Auth, Form, Mode, PlainScenario, Request
from wireproof.model.served import SERVED_KEY
from wireproof.model.target import Backend, Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading.exchange import Exchange, read

Make = Callable[..., Exchange]
MODEL = {"id": "codex", "object": "model", "created": 1, "owned_by": "codex"}
ENVELOPE = {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}}
ASKED = {
    "origin": "app://obsidian.md",
    "access-control-request-method": "POST",
    "access-control-request-headers": "Authorization, content-type",
}
ALLOWED = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "authorization,Content-Type",
}
PREFLIGHT = Request(method="OPTIONS", auth=Auth.NONE, headers=ASKED, expect=204)
MODELS = [
    ({"object": "list", "data": [MODEL]}, ""),
    ({"object": "list", "data": [{**MODEL, "id": "other"}]}, '"codex" is served and not listed'),
    ({"object": "list", "data": [{"id": "codex"}]}, "missing"),
    ("no list", "should be object"),
]
ONE_MODEL = [
    (MODEL, ""),
    ({**MODEL, "id": "other"}, 'id is "other"'),
    ({k: v for k, v in MODEL.items() if k != "owned_by"}, "owned_by is missing"),
]
PREFLIGHTS = [
    ({}, ""),
    ({"access-control-allow-origin": "app://obsidian.md"}, ""),
    ({"access-control-allow-origin": "https://x"}, 'access-control-allow-origin is "https://x"'),
    ({"access-control-allow-origin": None}, "there is no access-control-allow-origin header"),
    ({"access-control-allow-methods": "*"}, ""),
    ({"access-control-allow-methods": "GET"}, "it should list POST"),
    ({"access-control-allow-headers": "authorization"}, "does not list content-type"),
    ({"access-control-allow-headers": "*"}, "does not list authorization"),
    ({"access-control-allow-headers": "*, Authorization"}, ""),
    ({"access-control-allow-headers": None}, "does not list authorization, content-type"),
]
INTERNALS = [
    ("the file /usr/lib/proxy.py", "a path"),
    ("Traceback (most recent call last)", "a stack trace"),
    ("code -32601", "a JSON-RPC code"),
    ("pid 4711 died", "a process id"),
    ("http://127.0.0.1:99 refused", "an address"),
    ("sk-1234567890", "a key"),
    ("The backend failed.", ""),
]


def exchange(
    row: str, request: Request, status: int, body: Any, headers: dict[str, Any] | None = None, number: int = 0
) -> Exchange:
    all_headers = {"Content-Type": "application/json", **(headers or {})}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    transcript = Transcript(
        method=request.method, url=f"http://proxy/v1{request.path}", request_headers=(), request_body=b"",
        status=status,
        headers=tuple((name, value) for name, value in all_headers.items() if value is not None),
        pieces=(Piece(at=0.0, data=data),), end=End.COMPLETE, seconds=0.1,
    )  # fmt: skip
    scenario = PlainScenario(name="x", title="", exercises=(row,), requests=(request,) * (number + 1))
    form = Form(Dialect.OPENAI_JSON, Mode.WHOLE)
    target = Target(base_url="http://proxy/v1", model="codex")
    return Exchange(
        scenario=scenario, number=number, turn=None, form=form, target=target, transcript=transcript, reading=None
    )


def seen(row: str, one: Exchange) -> str:
    found = list(answered(row, one, CHECKS))
    assert {violation.requirement for violation in found} <= {row}
    return found[0].seen if found else ""


@pytest.mark.parametrize(("body", "wanted"), MODELS)
def test_a_list_of_models(body: Any, wanted: str) -> None:
    found = seen("http.models.list", exchange("http.models.list", Request(method="GET", path="/models"), 200, body))
    assert wanted in found
    assert bool(found) == bool(wanted)


def test_a_list_of_models_that_is_no_json() -> None:
    one = exchange("http.models.list", Request(method="GET", path="/models"), 200, b"<html>")
    assert seen("http.models.list", one) == "the body is not JSON"


@pytest.mark.parametrize(("body", "wanted"), ONE_MODEL)
def test_one_model(body: Any, wanted: str) -> None:
    found = seen("http.models.get", exchange("http.models.get", Request(method="GET", path="/models/codex"), 200, body))
    assert wanted in found
    assert bool(found) == bool(wanted)


@pytest.mark.parametrize(("changes", "wanted"), PREFLIGHTS)
def test_a_preflight(changes: dict[str, Any], wanted: str) -> None:
    one = exchange("http.cors.preflight", PREFLIGHT, 204, b"", {**ALLOWED, **changes})
    found = seen("http.cors.preflight", one)
    assert wanted in found
    assert bool(found) == bool(wanted)


@pytest.mark.parametrize(("origin", "wanted"), [("*", ""), (None, "there is no access-control-allow-origin header")])
def test_an_error_that_a_page_may_read(origin: str | None, wanted: str) -> None:
    request = Request(headers={"origin": "app://obsidian.md"}, expect=400)
    one = exchange("http.cors.preflight", request, 400, ENVELOPE, {"access-control-allow-origin": origin})
    assert wanted in seen("http.cors.preflight", one)
    about = [str(violation.about) for violation in answered("http.cors.preflight", one, CHECKS)]
    assert about == (["access-control-allow-origin is missing among the headers"] if wanted else [])


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        (("a", "b"), ""),
        (("a", "a"), "two responses have the same x-request-id"),
        (("a", None), "POST /chat/completions (200) has no x-request-id"),
        (("a", "b", "a", "a"), "two responses have the same x-request-id"),
    ],
)
def test_request_ids(ids: tuple[str | None, ...], wanted: str) -> None:
    request = Request()
    exchanges = [exchange("http.request-id", request, 200, {}, {"x-request-id": id_}, n) for n, id_ in enumerate(ids)]
    found = list(CHECKS.look("http.request-id", *exchanges))
    assert [one.seen for one in found] == [wanted] * bool(wanted)


@pytest.mark.parametrize(("message", "what"), INTERNALS)
def test_an_error_that_shows_internals(message: str, what: str) -> None:
    body = {"error": {**ENVELOPE["error"], "message": message}}
    found = list(CHECKS.look("http.error.no-internals", exchange("x", Request(expect=500), 500, body)))
    assert len(found) == bool(what)
    assert not what or what in found[0].seen


def test_an_error_in_a_stream_is_looked_at_too() -> None:
    frame = b'data: {"error": {"message": "pid 4711 died", "type": "server_error", "param": null, "code": null}}\n\n'
    one = exchange("x", Request(), 200, frame)
    form = Form(Dialect.OPENAI_JSON, Mode.STREAM)
    object.__setattr__(one, "reading", read(one.transcript, form))
    assert [v.seen for v in CHECKS.look("http.error.no-internals", one)] == ["the error shows a process id: pid 4711"]


@pytest.mark.parametrize(("status", "body", "count"), [(200, b"fine", 0), (404, ENVELOPE, 0), (404, b"<html>", 1)])
def test_the_envelope_of_errors(status: int, body: Any, count: int) -> None:
    assert len(list(CHECKS.look("http.error.envelope", exchange("x", Request(), status, body)))) == count


@pytest.mark.parametrize(
    ("key", "message", "shown"),
    [
        (WRONG_KEY, f"Incorrect API key provided: {WRONG_KEY}.", WRONG_KEY),
        (WRONG_KEY, f"Incorrect API key provided: {WRONG_KEY[:8]}….", WRONG_KEY[:8]),
        (WRONG_KEY, f"Incorrect API key provided: {WRONG_KEY[:4]}****{WRONG_KEY[-4:]}.", ""),
        (WRONG_KEY, f"Incorrect API key provided: {WRONG_KEY[:5]}****.", WRONG_KEY[:5]),
        ("the-key-of-a-test", "The key of this test is wrong.", ""),
        ("the-key-of-a-test", "No such key: the-key-of-a-test", "the-key-of-a-test"),
        ("k", "The key k is wrong.", ""),
        ("", "There is no key.", ""),
    ],
)
def test_a_refused_key_that_is_repeated(key: str, message: str, shown: str) -> None:
    row, body = "http.echo-no-key", {"error": {**ENVELOPE["error"], "message": message}}
    one = exchange(row, Request(expect=401), 401, body)
    carried = (("authorization", f"Bearer {key}"),) if key else ()
    sent = replace(one, transcript=replace(one.transcript, request_headers=carried))
    found = [violation.seen for violation in CHECKS.look(row, sent)]
    assert [f"repeats {len(shown)} characters in a row" in one and one.endswith(shown) for one in found] == [
        True
    ] * bool(shown)
    assert list(CHECKS.look("http.error.no-internals", sent)) == []


def test_a_refused_key_in_a_header() -> None:
    one = exchange("http.echo-no-key", Request(expect=401), 401, ENVELOPE, {"x-refused": WRONG_KEY})
    sent = replace(one, transcript=replace(one.transcript, request_headers=(("Authorization", f"Bearer {WRONG_KEY}"),)))
    (found,) = CHECKS.look("http.echo-no-key", sent)
    assert found.seen.startswith("x-refused repeats")


@pytest.mark.parametrize(("header", "found"), [("Server", 0), ("llm_provider-server", 0), ("x-refused", 1)])
def test_the_endpoints_key_is_its_name_where_a_header_names_the_server(header: str, found: int) -> None:
    one = exchange("http.echo-no-key", Request(expect=401), 401, ENVELOPE, {header: f"{SERVED_KEY}-proxy"})
    carried = (("Authorization", f"Token {SERVED_KEY}"),)
    sent = replace(one, transcript=replace(one.transcript, request_headers=carried))
    assert len(list(CHECKS.look("http.echo-no-key", sent))) == found


def completion(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "codex", "choices": [choice]}


@pytest.mark.parametrize(
    ("status", "body", "wanted"),
    [
        (200, completion('{"input": ["It follows."]}'), ""),
        (200, completion("Hello."), 'the answer is to something else: "Hello."'),
        (200, {"object": "list", "data": []}, "the answer is to something else"),
        (400, ENVELOPE, "was answered HTTP 400; it should be 200"),
    ],
)
def test_a_request_over_a_kept_connection(status: int, body: Any, wanted: str) -> None:
    request = Request(kept=True, reflects=("It follows.",))
    found = seen("http.connection-reuse", exchange("http.connection-reuse", request, status, body))
    assert wanted in found
    assert bool(found) == bool(wanted)


def test_a_model_that_answers_in_its_own_words_is_not_asked_what_it_received() -> None:
    one = exchange("http.connection-reuse", Request(kept=True, reflects=("It follows.",)), 200, completion("Hello."))
    assert seen("http.connection-reuse", replace(one, target=replace(one.target, backend=Backend.LIVE))) == ""


@pytest.mark.parametrize(
    ("status", "body", "wanted"),
    [
        (200, completion('{"input": ["It came."]}'), ""),
        (200, completion("Hello."), '"It came." was sent in chunks; the backend has not received it: "Hello."'),
        (400, ENVELOPE, "was answered HTTP 400; it should be 200"),
    ],
)
def test_a_body_in_chunks(status: int, body: Any, wanted: str) -> None:
    request = Request(headers={"transfer-encoding": "chunked"}, reflects=("It came.",))
    found = seen("http.body.chunked", exchange("http.body.chunked", request, status, body))
    assert wanted in found
    assert bool(found) == bool(wanted)


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({"Content-Length": "5"}, []),
        ({"Transfer-Encoding": "chunked"}, []),
        ({"Content-Length": "5", "Transfer-Encoding": "chunked"},
         ["the answer has Content-Length: 5 beside Transfer-Encoding: chunked; one of them is wrong"]),
    ],
)  # fmt: skip
def test_a_body_has_one_framing(headers: dict[str, str], wanted: list[str]) -> None:
    one = exchange("http.one-framing", Request(), 200, completion("Hello."), headers)
    assert [violation.seen for violation in CHECKS.look("http.one-framing", one)] == wanted


@pytest.mark.parametrize(("status", "broken"), [(429, False), (500, True), (503, True), (400, True), (200, False)])
def test_a_rate_limit_of_the_backend_is_one_of_the_proxy(plain: Make, status: int, *, broken: bool) -> None:
    found = list(CHECKS.look("http.error.rate-limit", plain("fail-rate", status, json.dumps(ENVELOPE).encode())))
    said = [f"the backend is rate limited, and the answer is HTTP {status}"] if broken else []
    assert [one.seen for one in found] == said
