from __future__ import annotations

from flask import Flask

from wireproof_proxy.app import WireJson
from wireproof_surfaces.random_ids import request_id


def sent(value: dict[str, object]) -> bytes:
    app = Flask(__name__)
    app.json = WireJson(app)
    app.add_url_rule("/", view_func=lambda: value)
    response = app.test_client().get("/")
    assert response.content_type == "application/json"
    return response.get_data()


def test_keys_and_characters_stay_as_they_are() -> None:
    assert sent({"b": "é😀", "a": 1}) == '{"b":"é😀","a":1}'.encode()


def test_half_a_character_does_not_break_the_body() -> None:
    assert sent({"a": "\ud83d"}) == b'{"a":"?"}'


def test_every_request_has_an_id_of_its_own() -> None:
    assert len({request_id() for _ in range(10)}) == 10
