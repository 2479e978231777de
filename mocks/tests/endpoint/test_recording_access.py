"""Who may have a request passed on to a live endpoint, with the key of its user."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from wireproof_endpoint.recording.access import below, is_let_in, refusal
from wireproof_endpoint.recording.app import Recorder
from wireproof_endpoint.serving import running
from wireproof_surfaces.http.request_head import RequestHead

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wireproof_surfaces.http.served_exchange import ServedExchange

JSON = (b"content-type", b"application/json")
CHAT = b"/v1/chat/completions"


def head(path: bytes = CHAT, *fields: tuple[bytes, bytes], method: str = "POST") -> RequestHead:
    given = dict(fields)
    usual = [(b"host", b"127.0.0.1:8788")] if b"host" not in given else []
    return RequestHead(method=method, target=path, path=path, fields=[*usual, *fields])


def status(of: RequestHead) -> int:
    found = refusal(of)
    return 0 if found is None else found[0].status


@pytest.mark.each(
    ("host", "expected"),
    [
        (b"127.0.0.1:8788", 0),
        (b"localhost", 0),
        (b"[::1]:8788", 0),
        (b"example.com", 421),
        (b"127.0.0.1.example.com:8788", 421),
        (b"192.0.2.1", 421),
    ],
)
def test_a_host_is_this_machines(host: bytes, expected: int) -> None:
    assert status(head(CHAT, JSON, (b"host", host))) == expected


@pytest.mark.each(
    ("origin", "allowed"),
    [
        ("http://localhost:3000", True),
        ("http://127.0.0.1", True),
        ("app://obsidian.md", True),
        ("https://example.com", False),
        ("http://localhost.example.com", False),
        ("null", False),
        ("file://", False),
        ("http://[", False),
    ],
)
def test_a_page_is_of_this_machine(origin: str, *, allowed: bool) -> None:
    assert is_let_in(origin) is allowed
    assert status(head(CHAT, JSON, (b"origin", origin.encode()))) == (0 if allowed else 403)


def test_a_picture_in_another_sites_page_is_refused_though_it_has_no_origin() -> None:
    assert status(head(b"/v1/models", (b"sec-fetch-site", b"cross-site"), method="GET")) == 403
    assert status(head(b"/v1/models", (b"sec-fetch-site", b"none"), method="GET")) == 0


def test_what_a_form_can_send_is_no_json() -> None:
    assert status(head(CHAT, (b"content-type", b"text/plain"))) == 415
    assert status(head(CHAT)) == 415
    assert status(head(b"/v1/files", (b"content-type", b"multipart/form-data; boundary=a"))) == 0


@pytest.mark.each(
    "path",
    [
        b"/v1/../admin",
        b"/v1/%2e%2e/admin",
        b"/v1/%2E./admin",
        b"/v1/a/%2e%2e/%2e%2e/admin",
        b"/v1/%252e%252e/admin",
        b"/v1/..%2fadmin",
        b"/v1/..%5cadmin",
        b"/v1/./models",
        b"/v1",
        b"/admin",
        b"//v1/models",
    ],
)
def test_what_is_not_below_the_base_url_is_not_passed_on(path: bytes) -> None:
    assert below(head(path)) is None
    assert status(head(path, JSON)) == 404


def test_a_path_is_passed_on_as_it_was_sent() -> None:
    assert below(head(b"/v1/models/a%2Fb..c")) == "/models/a%2Fb..c"


class Upstream:
    """Answers everything, and lets every page read it, as OpenAI does."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.fields: list[list[tuple[bytes, bytes]]] = []

    def wants(self, exchange: ServedExchange) -> int:
        del exchange
        return 2**20

    def answer(self, exchange: ServedExchange) -> None:
        self.asked.append(exchange.head.target)
        self.fields.append(list(exchange.head.fields))
        exchange.reply(200, {"Content-Type": "application/json", "Access-Control-Allow-Origin": "*"}, b"{}")

    def stop(self) -> None:
        """There is nothing to end."""


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


@pytest.fixture
def recorder(upstream: Upstream, tmp_path: Path) -> Iterator[http.client.HTTPConnection]:
    with running(upstream) as live, running(Recorder(live, tmp_path / "recorded.yaml")) as url:
        client = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
        yield client
        client.close()


def asked(client: http.client.HTTPConnection, method: str, path: str, **headers: str) -> Any:
    spelled = {name.replace("_", "-"): value for name, value in headers.items()}
    client.request(method, path, b"{}" if method == "POST" else None, spelled)
    answer = client.getresponse()
    answer.read()
    return answer


def test_what_is_refused_never_reaches_the_upstream(recorder: http.client.HTTPConnection, upstream: Upstream) -> None:
    page = "https://example.com"
    for method, path, headers, expected in (
        ("POST", "/v1/chat/completions", {"Origin": page, "Content_Type": "application/json"}, 403),
        ("POST", "/v1/chat/completions", {"Content_Type": "text/plain"}, 415),
        ("OPTIONS", "/v1/chat/completions", {"Origin": page, "Access_Control_Request_Method": "POST"}, 403),
        ("GET", "/v1/%2e%2e/admin", {}, 404),
        ("GET", "/v1/models", {"Host": "example.com"}, 421),
    ):
        answer = asked(recorder, method, path, **headers)
        assert answer.status == expected
        assert answer.getheader("x-request-id", "").startswith("req_")
        assert answer.getheader("access-control-allow-origin") is None
    assert upstream.asked == []


def test_a_page_of_this_machine_may_ask_and_read_and_no_other(
    recorder: http.client.HTTPConnection, upstream: Upstream
) -> None:
    own = "http://localhost:3000"
    asks = asked(recorder, "OPTIONS", "/v1/models", Origin=own, Access_Control_Request_Method="GET")
    assert (asks.status, asks.getheader("access-control-allow-origin")) == (204, own)
    assert upstream.asked == []
    read = asked(recorder, "GET", "/v1/models?limit=2", Origin=own)
    assert (read.status, read.getheader("access-control-allow-origin")) == (200, own)
    assert asked(recorder, "GET", "/v1/models").getheader("access-control-allow-origin") is None
    assert upstream.asked == [b"/v1/models?limit=2", b"/v1/models"]


def test_a_header_of_any_bytes_is_passed_on_as_it_is(recorder: http.client.HTTPConnection, upstream: Upstream) -> None:
    # Blanks around a value are none of it.
    for value in ("M\xfcller", "Mueller \t"):
        assert asked(recorder, "GET", "/v1/models", x_user=value).status == 200
        assert (b"x-user", value.rstrip().encode("latin-1")) in upstream.fields[-1]
