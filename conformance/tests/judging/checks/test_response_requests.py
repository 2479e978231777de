"""What of an input reached the backend, and what was kept."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.judging.checks.answered import answered
from wireproof.model.dialect import Dialect

Json = dict[str, Any]
Make = Callable[..., Any]
RE: Json = {"dialect": Dialect.RESPONSES}


def asked(plain: Make, name: str, number: int, body: object, status: int = 200) -> list[str]:
    rows = {"previous": "responses.previous-id", "input-replayed": "responses.input.replayed"}
    row = rows.get(name, rows["previous"] if name.startswith("previous") else "responses.input.items")
    exchange = plain(name, status, json.dumps(body).encode(), number=number, **RE)
    return [violation.seen for violation in answered(row, exchange, CHECKS)]


@pytest.fixture
def said(hello: Json) -> Callable[[str], Json]:
    """A response of this text."""

    def answer(text: str) -> Json:
        answer = copy.deepcopy(hello)
        answer["output"][0]["content"][0]["text"] = text
        return answer

    return answer


def test_the_input_reaches_the_backend_in_order(plain: Make, said: Callable[[str], Json]) -> None:
    assert asked(plain, "input-string", 0, said('{"developer": "heron-17", "input": "grebe-4"}')) == []
    lost = asked(plain, "input-string", 0, said('{"input": "heron-17"}'))
    assert lost == ['"grebe-4" of the input did not reach the backend, or not in its place']
    swapped = asked(plain, "input-string", 0, said('{"input": "grebe-4 heron-17"}'))
    assert swapped == lost
    assert "what came is not one" in asked(plain, "input-string", 0, said("Hello."))[0]
    assert "what came is not one" in asked(plain, "input-string", 0, [])[0]


def test_an_answer_that_came_as_a_stream_is_read_as_one(
    plain: Make, said: Callable[[str], Json], response_events: Make, event_frames: Make
) -> None:
    def lost(text: str) -> list[str]:
        body = b"".join(event_frames(response_events(said(text))))
        exchange = plain("input-string", 200, body, number=0, **RE)
        headers = (("Content-Type", "text/event-stream"),)
        exchange = replace(exchange, transcript=replace(exchange.transcript, headers=headers))
        return [violation.seen for violation in answered("responses.input.items", exchange, CHECKS)]

    assert lost('{"developer": "heron-17", "input": "grebe-4"}') == []
    assert lost('{"input": "heron-17"}') == ['"grebe-4" of the input did not reach the backend, or not in its place']


def test_what_clients_send_back_reaches_the_backend(plain: Make, said: Callable[[str], Json]) -> None:
    assert asked(plain, "input-replayed", 0, said('{"input": "kudu-1 lemur-2 moose-3 newt-4 otter-5"}')) == []
    lost = asked(plain, "input-replayed", 0, said('{"input": "kudu-1 moose-3 newt-4 otter-5"}'))
    assert lost == ['"lemur-2" of the input did not reach the backend, or not in its place']


def test_a_reference_is_refused(plain: Make, error_body: Callable[..., bytes]) -> None:
    refusal = json.loads(error_body(param="input[0]"))
    assert asked(plain, "input-reference", 0, refusal, 400) == []
    assert "it should be 400 with param input" in asked(plain, "input-reference", 0, refusal)[0]


def test_a_stream_that_came_unasked_is_for_the_rows_of_whole_answers(plain: Make) -> None:
    streamed = {"content-type": "text/event-stream; charset=utf-8"}
    exchange = plain(
        "previous-response", 200, b'data: {"type": "response.created"}\n\n', number=1, headers=streamed, **RE
    )
    assert [*answered("responses.previous-id", exchange, CHECKS)] == []


def test_what_is_kept_is_what_was_said(plain: Make, said: Callable[[str], Json]) -> None:
    right = said('{"developer": "hoopoe-0", "input": "ibis-1 jay-2"}')
    assert asked(plain, "previous-response", 1, right) == []
    assert "hoopoe-0" in asked(plain, "previous-response", 1, said("{}"))[0]
    assert "hoopoe-0" in asked(plain, "previous-response", 2, said("{}"))[0]
    assert asked(plain, "previous-response", 2, right) == []
    assert "not among the published fields" in asked(plain, "previous-response", 2, {**right, "kept": True})[0]
    items = {"object": "list", "data": [], "first_id": "", "last_id": "", "has_more": False}
    assert asked(plain, "previous-response", 3, items) == []
    assert "are missing" in asked(plain, "previous-response", 3, {"object": "list", "data": []})[0]
    assert asked(plain, "previous-response", 4, {"deleted": True}) == []
    assert asked(plain, "previous-response", 5, {}, 404) == []
    assert "it should be 404" in asked(plain, "previous-response", 5, right)[0]


def test_a_response_names_the_one_that_it_continues(plain: Make, said: Callable[[str], Json]) -> None:
    right = {**said('{"developer": "hoopoe-0", "input": "ibis-1 jay-2"}'), "previous_response_id": "resp_1"}
    for id_, wrong in (("resp_1", []), (None, ['previous_response_id is null, the request set "resp_1"'])):
        body = json.dumps({**right, "previous_response_id": id_}).encode()
        exchange = plain("previous-response", 200, body, number=1, **RE)
        sent = json.dumps({"model": "codex", "previous_response_id": "resp_1"}).encode()
        continued = replace(exchange, transcript=replace(exchange.transcript, request_body=sent))
        assert [violation.seen for violation in answered("responses.previous-id", continued, CHECKS)] == wrong


@pytest.mark.parametrize(
    "body", [b"<html>", b"null", b'{"output": ["x"]}', b'{"output": [{"content": {"text": 1}}]}', b""]
)
@pytest.mark.parametrize(("name", "row"), [("input-string", "input.items"), ("previous-response", "previous-id")])
def test_a_body_of_another_form_is_a_finding(plain: Make, name: str, row: str, body: bytes) -> None:
    exchange = plain(name, 200, body, number=0, **RE)
    assert len(list(answered(f"responses.{row}", exchange, CHECKS))) == 1


def test_of_what_may_be_refused_by_name_nothing_is_lost(plain: Make) -> None:
    error = {"type": "invalid_request_error", "message": "image: This backend takes no images."}
    refusal = json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()
    exchange = plain("messages-images", 400, refusal, dialect=Dialect.MESSAGES)
    assert list(answered("messages.input.images", exchange, CHECKS)) == []
    other = plain("messages-images", 400, refusal.replace(b"image: ", b""), dialect=Dialect.MESSAGES)
    assert [one.status is not None for one in answered("messages.input.images", other, CHECKS)] == [True]
