from __future__ import annotations

from wireproof_proxy.http.json_response import json_response, request_id


def test_keys_and_characters_stay_as_they_are() -> None:
    response = json_response({"b": "é😀", "a": 1}, 404)
    assert response.get_data() == '{"b":"é😀","a":1}'.encode()
    assert (response.status_code, response.mimetype) == (404, "application/json")


def test_half_a_character_does_not_break_the_body() -> None:
    assert json_response({"a": "\ud83d"}).get_data() == b'{"a":"?"}'


def test_every_request_has_an_id_of_its_own() -> None:
    assert len({request_id() for _ in range(10)}) == 10
