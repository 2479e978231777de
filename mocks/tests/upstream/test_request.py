from __future__ import annotations

import json

import pytest

from wireproof_mocks.upstream.request import UnreadableRequestError, read

SEARCH = {"type": "function", "name": "localSearch", "description": "Search.", "parameters": {"type": "object"}}


def _asked(*items: object, **more: object) -> bytes:
    return json.dumps({"model": "m", "stream": True, "input": items, **more}).encode()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{", "the body is no JSON: "),
        (b"[" * 100_000 + b"]" * 100_000, "the body is no JSON: "),
        (b"[]", "expected an object with model, a list as input, and stream: true"),
        (b'{"model": "m", "input": [], "stream": false}', "expected an object with model"),
        (b'{"model": "m", "input": "text", "stream": true}', "expected an object with model"),
    ],
)
def test_what_is_no_request(body: bytes, why: str) -> None:
    with pytest.raises(UnreadableRequestError) as raised:
        read(body)
    assert str(raised.value).startswith(why)


def test_the_tools_are_those_that_are_not_codexs_own() -> None:
    own = {**SEARCH, "name": "update_plan"}
    asked = read(_asked(tools=[own, SEARCH, {"type": "web_search"}, "no tool"]))
    assert asked.tools == ({"name": "localSearch", "description": "Search.", "inputSchema": {"type": "object"}},)
    assert read(_asked(tools=None)).tools == ()


def test_a_request_with_results_goes_on_with_its_turn() -> None:
    message = {"type": "message", "role": "user", "content": []}
    output = {"type": "function_call_output", "call_id": "c", "output": "found"}
    assert not read(_asked()).continues
    assert not read(_asked(output, message)).continues
    assert read(_asked(message, output)).continues


def test_what_was_received() -> None:
    developer = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be terse."}]}
    user = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}
    assert read(_asked(developer, "no item", user, developer)).received == {
        "developer": "Be terse.\nBe terse.",
        "base": None,
        "model": "m",
        "history": [user],
        "input": [],
        "tools": [],
        "schema": None,
    }


def test_the_schema_of_the_answer_is_that_of_its_format() -> None:
    schema = {"type": "object"}
    body = {"model": "m", "input": [], "stream": True, "text": {"format": {"type": "json_schema", "schema": schema}}}
    assert read(json.dumps(body).encode()).schema == schema
    assert read(json.dumps({**body, "text": {"verbosity": "low"}}).encode()).schema is None
