from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from flask import session

from assay_proxy.http.plain_flask import PlainFlask

if TYPE_CHECKING:
    from flask.testing import FlaskClient


@pytest.fixture
def client() -> FlaskClient:
    app = PlainFlask(__name__)

    @app.get("/models/<path:name>")
    def show(name: str) -> str:
        return name

    @app.post("/kept")
    def keep() -> str:
        session["a"] = "b"
        return ""

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
