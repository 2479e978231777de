"""Requests by a grammar that goes wrong anywhere, in any pieces; and requests that are right by their schemas."""

from __future__ import annotations

import contextlib
import json
import re
import time
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("unharmed")

KEY = b"Authorization: Bearer key-under-attack\r\n"
BODY = b'{"model": "codex", "messages": [{"role": "user", "content": "hi"}]}'

ends = st.sampled_from([b"\r\n"] * 12 + [b"\n", b"\r", b"\n\r", b"\r\r\n", b"", b"\r\n "])
methods = st.sampled_from([b"GET", b"POST", b"OPTIONS", b"DELETE", b"HEAD", b"PRI", b"get", b"", b"\0", b"CONNECT"])
targets = st.one_of(
    st.sampled_from(
        [b"/v1/models", b"/v1/chat/completions", b"/v1//models", b"*", b"http://x/healthz", b"", b"//", b"/%"]
    ),
    st.binary(max_size=30).map(lambda tail: b"/" + tail),
    st.integers(1, 30_000).map(lambda size: b"/" + b"a" * size),
)
versions = st.sampled_from([b"HTTP/1.1"] * 6 + [b"HTTP/1.0", b"HTTP/2.0", b"HTTP/1.10", b"http/1.1", b"", b"HTTP/1.1 "])
lengths = st.sampled_from([b"0", b"2", str(len(BODY)).encode(), b"-1", b"+2", b"9" * 30, b"2, 2", b"0x2", b"", b"1e3"])
codings = st.sampled_from(
    [b"chunked", b"Chunked", b"chunked, chunked", b"gzip, chunked", b"identity", b"", b"\x0bchunked"]
)
fields = st.one_of(
    st.just(b"Host: localhost"),
    st.just(KEY.strip()),
    st.just(b"Content-Type: application/json"),
    lengths.map(lambda value: b"Content-Length: " + value),
    codings.map(lambda value: b"Transfer-Encoding: " + value),
    st.sampled_from(
        [b"Expect: 100-continue", b"Expect: x", b"Connection: close", b"Upgrade: h2c", b"Connection: Upgrade"]
    ),
    st.tuples(st.binary(max_size=12), st.binary(max_size=40)).map(b":".join),
    st.integers(1, 70_000).map(lambda size: b"A: " + b"a" * size),
)
sizes = st.sampled_from([b"2", b"0", b"ffffffffffffffffff", b"-1", b"0x2", b"2;a=b", b"2 ", b""])
chunk = st.tuples(sizes, ends, st.binary(max_size=4), ends).map(b"".join)
bodies = st.one_of(st.just(BODY), st.just(b""), st.binary(max_size=200), st.lists(chunk, max_size=4).map(b"".join))


@st.composite
def requests(draw: Callable[..., Any]) -> bytes:
    """A request in which anything may be wrong."""
    line = b" ".join((draw(methods), draw(targets), draw(versions)))
    head = [line, *draw(st.lists(fields, max_size=6))]
    if draw(st.booleans()):
        head.insert(1, b"Host: localhost")
    made: bytes = b"".join(part + draw(ends) for part in head) + draw(ends) + draw(bodies)
    return made


STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


def read(client: Any) -> bytes:
    """All that comes until the connection ends, or says no more."""
    said = b""
    with contextlib.suppress(OSError):
        while piece := client.recv(65536):
            said += piece
    return said


def judge(said: bytes) -> None:
    """Every answer is HTTP, none is a failure of the proxy's own, and each error has the envelope."""
    if not said:
        return
    assert said.startswith(b"HTTP/1.1 ")
    for head in re.finditer(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n", said):
        status, raw = int(head[1]), head[2].lower()
        assert status < 500 or status == 505
        length = re.search(rb"content-length: (\d+)\r\n", raw)
        if status >= 400 and length and int(length[1]) and len(said) >= head.end() + int(length[1]):
            body = said[head.end() : head.end() + int(length[1])]
            if body.startswith(b"{"):  # an answer to HEAD has none
                assert set(json.loads(body)["error"]) == {"message", "type", "param", "code"}


def test_whatever_is_sent_is_answered_or_refused(attacked: Any, seconds: float) -> None:
    over = time.monotonic() + seconds
    statuses = set[bytes]()

    @settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(sent=st.lists(requests(), min_size=1, max_size=3).map(b"".join), cuts=st.lists(st.integers(0, 400)))
    # Of a name of this machine, which the recorder answers at alone.
    @example(sent=b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n" + KEY + b"\r\n", cuts=[5])
    @example(sent=b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", cuts=[])
    @example(sent=b"GET /healthz HTTP/1.1\r\n\r\n", cuts=[])
    def attack(sent: bytes, cuts: list[int]) -> None:
        with attacked.dial() as client:
            client.settimeout(5)
            with contextlib.suppress(OSError):
                at = 0
                for cut in sorted(cuts):
                    client.sendall(sent[at:cut])
                    at = max(at, cut)
                client.sendall(sent[at:])
                client.shutdown(1)
            said = read(client)
        judge(said)
        statuses.update(STATUS.findall(said))

    while time.monotonic() < over:
        attack()
    # It has seen both what is right and what is wrong, or it would show nothing.
    assert {b"200", b"400", b"404"} <= statuses


def _object(optional: Any = None, /, **required: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def _messages(role: Any, content: Any) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": _object(role=role, content=content)}


def _taking(schema: Any) -> dict[str, Any]:
    return {
        "post": {**ANSWERED, "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
    }


ANSWERED = {"responses": {"default": {"description": "What the test says of it."}}}
GOT = {"get": ANSWERED}
STRING = {"type": "string"}
TEXT = {**STRING, "minLength": 1}
STREAMED = {"stream": {"type": "boolean"}}
NAMED = {"parameters": [{"name": "name", "in": "path", "required": True, "schema": TEXT}]}
FUNCTION = _object(
    {"description": STRING, "parameters": {"type": "object"}}, name={**STRING, "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
)
CHAT = _object(
    {
        **STREAMED,
        "n": {"type": "integer", "minimum": 1, "maximum": 8},
        "tools": {"type": "array", "items": _object(type={"const": "function"}, function=FUNCTION)},
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
    },
    model=TEXT,
    messages=_messages({"enum": ["system", "developer", "user"]}, STRING),
)
MESSAGE = _object(
    STREAMED,
    model=TEXT,
    max_tokens={"type": "integer", "minimum": 1},
    messages=_messages({"const": "user"}, TEXT),
)
PATHS = {
    "/v1/models": GOT,
    "/v1/models/{name}": {**NAMED, **GOT},
    "/v1/chat/completions": _taking(CHAT),
    "/v1/responses": _taking(_object(STREAMED, model=TEXT, input=STRING)),
    "/v1/messages": _taking(MESSAGE),
    "/v1/messages/count_tokens": _taking(MESSAGE),
    "/v1/responses/{name}": {**NAMED, **GOT, "delete": ANSWERED},
    "/v1/responses/{name}/input_items": {**NAMED, **GOT},
    "/healthz": GOT,
    "/livez": GOT,
    "/readyz": GOT,
}
"""What the proxy serves, with the schemas of what it takes."""


@pytest.mark.parametrize("attacked", ["proxy"], indirect=True)
def test_what_schemas_allow_is_answered_without_a_failure_of_the_proxys_own(attacked: Any) -> None:
    document = {"openapi": "3.1.0", "info": {"title": "the proxy", "version": "1"}, "paths": PATHS}
    seen = set[int]()
    for found in schemathesis.openapi.from_dict(document).get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr] # the document is valid

        @settings(max_examples=30, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def attack(case: Any) -> None:
            headers = {"Authorization": "Bearer key-under-attack"}
            answer = case.call(base_url=f"http://{attacked.host}:{attacked.port}", headers=headers)
            case.validate_response(answer, checks=[schemathesis.checks.not_a_server_error])
            seen.add(answer.status_code)

        attack()
    assert {200, 404} <= seen
