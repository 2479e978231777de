from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from flask import current_app, request, session

from wireproof_proxy.http.plain_flask import PlainFlask, PlainRequest, PlainResponse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flask import Response
    from flask.testing import FlaskClient


@pytest.fixture
def app() -> PlainFlask:
    app = PlainFlask(__name__)

    @app.get("/models/<path:name>")
    def show(name: str) -> str:
        return name

    @app.post("/kept")
    def keep() -> str:
        session["a"] = "b"
        return ""

    @app.get("/fixed")
    def fixed() -> Response:
        assert current_app == app
        return PlainResponse(request.args["a"].encode())

    @app.get("/broken")
    def broken() -> str:
        raise OverflowError

    @app.get("/worse")
    def worse() -> str:
        raise ZeroDivisionError

    return app


@pytest.fixture
def client(app: PlainFlask) -> FlaskClient:
    @app.before_request
    def refuse() -> tuple[str, int] | None:
        return ("refused", 403) if "x-refused" in request.headers else None

    @app.before_request
    def after_that() -> None:
        assert "x-refused" not in request.headers

    @app.after_request
    def last(response: Response) -> Response:
        response.headers["x-order"] += ", last"
        return response

    @app.after_request
    def first(response: Response) -> Response:
        response.headers["x-order"] = "first"
        return response

    @app.errorhandler(OverflowError)
    def lacking(_error: OverflowError) -> tuple[str, int]:
        return "lacking", 418

    return app.test_client()


@pytest.mark.parametrize(
    ("path", "found"), [("a/b", "a/b"), ("m%C3%A4h", "mäh"), ("%FF", "\N{REPLACEMENT CHARACTER}"), ("a%2Fb", "a/b")]
)
def test_paths_are_matched_as_text(client: FlaskClient, path: str, found: str) -> None:
    assert client.get(f"/models/{path}").text == found


def test_what_has_no_route_or_another_method_is_refused(client: FlaskClient) -> None:
    assert [client.get("/nothing").status_code, client.post("/models/a").status_code] == [404, 405]


def test_the_host_decides_nothing(client: FlaskClient) -> None:
    assert client.get("/models/a", headers={"Host": "any.example:1"}).text == "a"


def test_nothing_is_kept_between_requests(client: FlaskClient) -> None:
    client.application.testing = True
    with pytest.raises(RuntimeError, match="session is unavailable"):
        client.post("/kept")


@pytest.mark.parametrize(
    ("path", "headers", "status", "text"),
    [
        ("/fixed?a=b", {}, 200, "b"),
        ("/models/a", {}, 200, "a"),
        ("/fixed?a=b", {"x-refused": "1"}, 403, "refused"),
        ("/broken", {}, 418, "lacking"),
    ],
)
def test_hooks_routes_and_handlers_are_called_as_in_any_flask(
    client: FlaskClient, path: str, headers: dict[str, str], status: int, text: str
) -> None:
    response = client.get(path, headers=headers)
    assert (response.status_code, response.text, response.headers["x-order"]) == (status, text, "first, last")


def test_a_route_without_parts_that_vary_takes_its_own_methods_alone(client: FlaskClient) -> None:
    refused = client.delete("/fixed")
    assert (refused.status_code, sorted(refused.headers["Allow"].split(", "))) == (405, ["GET", "HEAD", "OPTIONS"])
    assert client.get("/fixed/").status_code == 404


def test_what_handlers_do_not_take_is_an_internal_error(client: FlaskClient) -> None:
    assert client.get("/worse").status_code == 500


def test_an_answer_to_head_has_the_length_and_no_body(client: FlaskClient) -> None:
    response = client.head("/fixed?a=four")
    assert (response.data, response.headers["Content-Length"]) == (b"", "4")


def test_a_request_has_its_other_attributes_when_they_are_asked_for() -> None:
    asked = PlainRequest({"REQUEST_METHOD": "POST", "PATH_INFO": "/a", "QUERY_STRING": "b=c", "CONTENT_TYPE": "text/x"})
    assert (asked.method, asked.path, asked.args["b"], asked.mimetype) == ("POST", "/a", "c", "text/x")
    with pytest.raises(AttributeError, match="nothing"):
        _ = asked.nothing


def test_a_streamed_body_and_whoever_waits_for_its_end_are_closed() -> None:
    closed = []

    def body() -> Iterator[bytes]:
        try:
            yield b"a"
            yield b"b"
        finally:
            closed.append("body")

    app = PlainFlask(__name__)

    @app.get("/")
    def stream() -> Response:
        response = PlainResponse(body())
        response.call_on_close(lambda: closed.append("response"))
        return response

    response = app.test_client().get("/", buffered=False)
    assert next(iter(response.response)) == b"a"
    response.close()
    assert closed == ["body", "response"]


def test_no_route_is_added_behind_the_first_request(app: PlainFlask, client: FlaskClient) -> None:
    client.get("/fixed?a=b")
    with pytest.raises(AssertionError, match="can no longer be called"):
        app.add_url_rule("/more", view_func=lambda: "")
