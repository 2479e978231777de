from __future__ import annotations

import io
import json
from typing import Any

import pytest

from wireproof_mocks.miniatures import FAULTS
from wireproof_mocks.miniatures.fault import CONNECTION_KEY, Fault, FaultHead, SentRequest
from wireproof_mocks.miniatures.http_faults import HTTP_FAULTS, field_of

HEADERS = [
    ("Allow", "POST"),
    ("X-Request-Id", "req_7"),
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Allow-Headers", "x-anything"),
    ("Retry-After", "1"),
]
CHAT, NOWHERE = "/v1/chat/completions", "/v1/nothing"
LARGE, TEXT = b" " * (2**20 + 1), {"content-type": "text/plain"}
UNKNOWN = b'{"model": "wireproof-no-such-model", "temperature": "hot"}'
STATUSES: list[tuple[str, int, dict[str, Any], int]] = [
    ("unknown-route-is-400", 404, {"path": NOWHERE}, 400),
    ("unknown-route-is-400", 404, {"path": "/v1/models/x"}, 404),
    ("wrong-method-is-404", 405, {}, 404),
    ("preflight-needs-a-key", 204, {"method": "OPTIONS"}, 401),
    ("key-before-route", 404, {"path": NOWHERE}, 401),
    ("key-before-route", 404, {"path": NOWHERE, "key": "Bearer k"}, 404),
    ("media-type-before-size", 413, {"body": LARGE, "headers": TEXT}, 415),
    ("media-type-before-size", 413, {"body": LARGE}, 413),
    ("json-before-media-type", 415, {"body": b"Hello."}, 400),
    ("json-before-media-type", 415, {"body": b"{}"}, 415),
    ("model-before-parameters", 400, {"body": UNKNOWN}, 404),
    ("full-is-503", 429, {}, 503),
    ("full-is-503", 400, {}, 400),
    ("not-ready-is-502", 503, {}, 502),
    ("unknown-model-is-400", 404, {"path": "/v1/models/x"}, 400),
    ("no-health", 200, {"path": "/healthz"}, 404),
    ("ready-at-once", 503, {"path": "/readyz"}, 200),
    ("never-ready", 200, {"path": "/readyz"}, 503),
]
FORGOTTEN: list[tuple[str, int, dict[str, Any], str]] = [
    ("methods-not-listed", 405, {}, "Allow"),
    ("no-request-id", 404, {}, "X-Request-Id"),
    ("cors-not-on-errors", 404, {}, "Access-Control-Allow-Origin"),
    ("cors-not-where-nothing-is", 405, {}, "Access-Control-Allow-Origin"),
    ("cors-for-web-pages-only", 200, {"headers": {"origin": "app://obsidian.md"}}, "Access-Control-Allow-Origin"),
    ("full-and-no-word-of-when", 429, {}, "Retry-After"),
]
BLAMED: list[tuple[str, str | None, bytes, str | None]] = [
    ("no-json-is-an-empty-object", None, b'{"messages": [', "model"),
    ("no-json-is-an-empty-object", None, b'{"model": ', None),
    ("messages-before-model", "model", b"{}", "messages"),
    ("messages-before-model", "model", b'{"messages": []}', "model"),
    ("parameters-before-messages", "messages", UNKNOWN, "temperature"),
    ("parameters-before-messages", "messages", b"[]", "messages"),
]
ENVIRONS: list[tuple[str, dict[str, Any], str, str]] = [
    ("bearer-in-one-spelling", {"HTTP_AUTHORIZATION": "bEARER k"}, "HTTP_AUTHORIZATION", ""),
    ("bearer-in-one-spelling", {"HTTP_AUTHORIZATION": "Bearer k"}, "HTTP_AUTHORIZATION", "Bearer k"),
    ("key-compared-by-prefix", {"HTTP_AUTHORIZATION": "Bearer ri"}, "HTTP_AUTHORIZATION", "Bearer right"),
    ("key-compared-by-prefix", {"HTTP_AUTHORIZATION": "Bearer left"}, "HTTP_AUTHORIZATION", "Bearer left"),
    ("key-compared-by-prefix", {"HTTP_AUTHORIZATION": "Bearer"}, "HTTP_AUTHORIZATION", "Bearer"),
    ("key-compared-as-far-as-known", {"HTTP_AUTHORIZATION": "Bearer rights"}, "HTTP_AUTHORIZATION", "Bearer right"),
    ("key-compared-as-far-as-known", {"HTTP_AUTHORIZATION": "Token right"}, "HTTP_AUTHORIZATION", "Token right"),
    ("form-taken-for-json", {"CONTENT_TYPE": "application/x-www-form-urlencoded"}, "CONTENT_TYPE", "application/json"),
    ("form-taken-for-json", {"CONTENT_TYPE": "text/plain"}, "CONTENT_TYPE", "text/plain"),
    ("charset-is-415", {"CONTENT_TYPE": "application/json; charset=utf-8"}, "CONTENT_TYPE", "text/plain"),
    ("charset-is-415", {"CONTENT_TYPE": "application/json"}, "CONTENT_TYPE", "application/json"),
    ("size-before-key", {"CONTENT_LENGTH": "9999999"}, "HTTP_AUTHORIZATION", "Bearer right"),
    ("size-before-key", {"CONTENT_LENGTH": "9", "HTTP_AUTHORIZATION": ""}, "HTTP_AUTHORIZATION", ""),
]


def request(**changes: Any) -> SentRequest:
    return SentRequest(**{"method": "POST", "path": CHAT, "body": b"{}", "key": "", **changes})


def head_of(name: str, code: int, changes: dict[str, Any]) -> FaultHead:
    fault = FAULTS[name]
    assert fault.head is not None
    return fault.head(FaultHead(status=f"{code} Any", headers=HEADERS), request(**changes))


def test_names_are_unique_and_known() -> None:
    assert all(FAULTS[fault.name] is fault for fault in HTTP_FAULTS)


@pytest.mark.each("fault", HTTP_FAULTS, ids=lambda fault: fault.name)
def test_each_fault_is_one_change_and_breaks_one_requirement(fault: Fault) -> None:
    changes = [fault.frames, fault.whole, fault.request, fault.head, fault.environ]
    assert len([change for change in changes if change]) == 1
    assert fault.breaks.startswith("http.")


@pytest.mark.parametrize(("name", "code", "changes", "sent"), STATUSES)
def test_a_status_is_sent_as_another(name: str, code: int, changes: dict[str, Any], sent: int) -> None:
    head = head_of(name, code, changes)
    assert (head.code, head.headers) == (sent, HEADERS)


@pytest.mark.parametrize(("name", "code", "changes", "lost"), FORGOTTEN)
def test_a_header_is_forgotten(name: str, code: int, changes: dict[str, Any], lost: str) -> None:
    assert [header for header in HEADERS if header[0] != lost] == head_of(name, code, changes).headers


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("one-request-id", ("x-request-id", "req_1")),
        ("cors-for-few-headers", ("access-control-allow-headers", "authorization, content-type")),
    ],
)
def test_a_header_says_always_the_same(name: str, header: tuple[str, str]) -> None:
    headers = head_of(name, 200, {}).headers
    assert [one for one in headers if one[0].lower() == header[0]] == [header]
    assert len(headers) == len(HEADERS)


@pytest.mark.parametrize(("name", "param", "body", "sent"), BLAMED)
def test_an_error_names_another_field(name: str, param: str | None, body: bytes, sent: str | None) -> None:
    fault = FAULTS[name]
    assert fault.whole is not None
    head = FaultHead(status="400 Bad Request", headers=[])
    assert fault.whole({"error": {"param": param}}, request(body=body), head) == {"error": {"param": sent}}
    assert fault.whole({"object": "list"}, request(body=body), head) == {"object": "list"}


@pytest.mark.parametrize(("name", "environ", "variable", "value"), ENVIRONS)
def test_a_header_is_received_as_another(name: str, environ: dict[str, Any], variable: str, value: str) -> None:
    fault = FAULTS[name]
    assert fault.environ is not None
    received = {"wireproof.key": "right", **environ}
    fault.environ(received)
    assert received[variable] == value


def test_what_is_not_a_number_is_taken_for_null() -> None:
    received = FAULTS["not-a-number-is-json"].environ
    assert received is not None
    environ: dict[str, Any] = {"wsgi.input": io.BytesIO(b'{"user": NaN}')}
    received(environ)
    assert environ["wsgi.input"].read() == b'{"user": null}'
    assert environ["CONTENT_LENGTH"] == "14"


@pytest.mark.parametrize(
    ("in_chunks", "kind", "left"),
    [(True, "application/json", b""), (False, "application/json", b"{}"), (True, "text/plain", b"{}")],
)
def test_a_body_without_a_length_is_taken_for_empty(in_chunks: bool, kind: str, left: bytes) -> None:  # noqa: FBT001
    change = FAULTS["chunked-body-taken-for-empty"].environ
    assert change is not None
    environ: dict[str, Any] = {
        "wireproof.in_chunks": in_chunks, "CONTENT_TYPE": kind, "wsgi.input": io.BytesIO(b"{}"), "CONTENT_LENGTH": "2",
    }  # fmt: skip
    change(environ)
    assert environ["wsgi.input"].read() == left
    assert environ["CONTENT_LENGTH"] == str(len(left))


@pytest.mark.parametrize(("full", "model"), [(True, "codex"), (False, "wireproof-no-such-model")])
def test_the_model_is_not_looked_at_while_all_slots_are_taken(full: bool, model: str) -> None:  # noqa: FBT001
    received = FAULTS["capacity-before-model"].environ
    assert received is not None
    environ = {"wireproof.full": full, "wsgi.input": io.BytesIO(b'{"model": "wireproof-no-such-model"}')}
    received(environ)
    body = environ["wsgi.input"].read()  # type: ignore[attr-defined]
    assert json.loads(body) == {"model": model}
    assert environ["CONTENT_LENGTH"] == str(len(body))


def test_an_unknown_model_is_served_when_any_will_do() -> None:
    asked = FAULTS["any-model-will-do"].request
    assert asked is not None
    assert asked({"model": "wireproof-no-such-model"}) == {"model": "codex"}
    assert asked({"model": "other"}) == {"model": "other"}
    assert asked({"model": "wireproof-no-such-model", "temperature": "hot"})["model"] == "wireproof-no-such-model"


def test_one_model_has_no_owner() -> None:
    whole, head = FAULTS["model-without-owner"].whole, FaultHead(status="200 OK", headers=[])
    assert whole is not None
    assert whole({"id": "x", "owned_by": "y"}, request(path="/v1/models/x"), head) == {"id": "x"}
    assert whole({"id": "x", "owned_by": "y"}, request(), head) == {"id": "x", "owned_by": "y"}


def test_a_body_that_is_no_object_has_no_fields() -> None:
    assert [field_of(request(body=body), "n") for body in (b'{"n": 1}', b"[1]", b"{")] == [1, None, None]


class _Connection:
    """What stands for a socket: something that can be referred to weakly."""


def over(connection: object, body: bytes, **environ: str) -> dict[str, Any]:
    return {CONNECTION_KEY: connection, "PATH_INFO": CHAT, "wsgi.input": io.BytesIO(body), **environ}


def received(name: str, environ: dict[str, Any]) -> bytes:
    change = FAULTS[name].environ
    assert change is not None
    change(environ)
    body: bytes = environ["wsgi.input"].read()
    return body


@pytest.mark.parametrize(
    ("name", "spoils"),
    [
        ("unread-body-is-the-next-request", {"body": b"{}", "CONTENT_TYPE": "text/plain"}),
        ("streams-spoil-their-connection", {"body": b'{"stream": true}'}),
    ],
)
def test_a_request_spoils_the_next_one_over_its_connection_alone(name: str, spoils: dict[str, Any]) -> None:
    one, other = _Connection(), _Connection()
    assert received(name, over(one, **spoils)) == spoils["body"]
    assert received(name, over(other, b"{}")) == b"{}"
    assert received(name, over(one, b"{}")) == b""
    assert received(name, over(one, b"{}")) == b"{}"
    assert received(name, {"wsgi.input": io.BytesIO(b"{}")}) == b"{}"


def test_the_first_body_of_a_connection_is_kept() -> None:
    name, one, first, second = (
        "first-body-of-a-connection-kept",
        _Connection(),
        b'"[[wireproof:a#1]]"',
        b'"[[wireproof:b#2]]"',
    )
    assert received(name, over(one, first)) == first
    assert received(name, over(one, second)) == first
    assert received(name, over(one, b"{}")) == b"{}"
    assert received(name, over(_Connection(), second)) == second
    assert received(name, {**over(one, second), "PATH_INFO": "/v1/models"}) == second


@pytest.mark.parametrize(
    ("name", "shown"), [("refused-key-shown", "0123456789ab"), ("refused-key-cut-short", "01234567…")]
)
def test_a_key_is_shown_where_it_is_refused(name: str, shown: str) -> None:
    whole, body = FAULTS[name].whole, {"error": {"message": "Wrong.", "code": "invalid_api_key"}}
    assert whole is not None
    refused = FaultHead(status="401 Unauthorized", headers=[])
    answer = whole(body, request(key="Bearer 0123456789ab"), refused)
    assert answer["error"]["message"] == f"Incorrect API key provided: {shown}."
    assert whole(body, request(), refused) == body
    assert whole(body, request(key="Bearer k"), FaultHead(status="404 Not Found", headers=[])) == body
