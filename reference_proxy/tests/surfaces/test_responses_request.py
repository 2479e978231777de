from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.surfaces.chat_dialect import FormatOptions
from wireproof_surfaces.surfaces.responses_request import parse

ASK: dict[str, Any] = {"model": "codex", "input": "hi"}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
FORMAT: dict[str, Any] = {"type": "json_schema", "name": "n", "schema": SCHEMA}


def problem(headers: dict[str, str] | None = None, **body: Any) -> ApiError:
    with pytest.raises(ApiError) as raised:
        parse({**ASK, **body}, headers or {})
    return raised.value


def test_little_needs_to_be_said() -> None:
    request = parse(ASK, {})
    assert (request.model, request.given, request.stream, request.store) == ("codex", "hi", False, True)
    assert (request.instructions, request.previous, request.tools, request.calls) == (None, None, (), True)
    assert (request.schema, request.options) == (None, FormatOptions())


def test_all_that_can_be_said_is_taken() -> None:
    tool = {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA}
    body = {
        "instructions": "Be brief.",
        "previous_response_id": "resp_1",
        "tools": [tool],
        "tool_choice": "none",
        "stream": True,
        "stream_options": {"include_obfuscation": False},
        "store": False,
        "parallel_tool_calls": False,
        "text": {"format": FORMAT},
    }
    request = parse({**ASK, **body}, {"x-proxy-output-mode": "obsidian-xml"})
    assert (request.instructions, request.previous, request.stream, request.store) == (
        "Be brief.",
        "resp_1",
        True,
        False,
    )
    assert (request.tools, request.calls, request.schema) == ((), False, SCHEMA)
    assert request.options == FormatOptions(output_mode="obsidian-xml", stop_policy="first")
    assert parse({**ASK, "tools": [tool]}, {}).tools == (Tool(name="f", description="d", parameters=SCHEMA),)


def test_a_response_repeats_defaults_for_what_was_not_said() -> None:
    assert parse(ASK, {}).echo == {
        "frequency_penalty": 0.0,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "presence_penalty": 0.0,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "user": None,
    }


def test_a_response_repeats_what_was_said() -> None:
    body: dict[str, Any] = {
        "instructions": "Be brief.",
        "max_output_tokens": 9,
        "max_tool_calls": 2,
        "metadata": {"a": "b"},
        "parallel_tool_calls": False,
        "previous_response_id": "resp_1",
        "prompt_cache_key": "k",
        "reasoning": {"effort": "low", "summary": "auto"},
        "safety_identifier": "s",
        "store": False,
        "temperature": 0,
        "text": {"format": FORMAT, "verbosity": "low"},
        "top_p": 0.5,
        "user": "u",
    }
    echo = parse({**ASK, **body}, {}).echo
    assert {name: echo[name] for name in body} == body


def test_words_that_are_not_published_are_not_repeated() -> None:
    body = {
        "reasoning": {"effort": "huge", "summary": 1},
        "text": {"format": None, "verbosity": "loud"},
        "max_tool_calls": True,
        "user": 1,
        "anything": {},
    }
    echo = parse({**ASK, **body}, {}).echo
    assert echo["reasoning"] == {"effort": None, "summary": None}
    assert echo["text"] == {"format": {"type": "text"}}
    assert (echo["max_tool_calls"], echo["user"]) == (None, None)
    assert "anything" not in echo
    assert parse({**ASK, "reasoning": "x"}, {}).echo["reasoning"]["effort"] is None


@pytest.mark.parametrize("format_", [{"type": "text"}, FORMAT])
def test_formats_are_known(format_: Any) -> None:
    assert parse({**ASK, "text": {"format": format_}}, {}).schema == format_.get("schema")


@pytest.mark.parametrize(
    ("name", "value", "param"),
    [
        ("model", None, "model"),
        ("model", 1, "model"),
        ("input", None, "input"),
        ("stream", "yes", "stream"),
        ("stream_options", {}, "stream_options"),
        ("temperature", 3, "temperature"),
        ("top_p", 2, "top_p"),
        ("max_output_tokens", 0, "max_output_tokens"),
        ("text", {"format": {"type": "json_object"}}, "text.format"),
        ("tools", [{"type": "function"}], "tools[0].name"),
        ("tool_choice", "any", "tool_choice"),
        ("parallel_tool_calls", 1, "parallel_tool_calls"),
        ("text", "x", "text"),
        ("text", {"format": {"type": "xml"}}, "text.format"),
        ("text", {"format": {"type": "json_schema"}}, "text.format"),
        ("instructions", 1, "instructions"),
        ("previous_response_id", "", "previous_response_id"),
        ("conversation", "conv_1", "conversation"),
        ("store", 1, "store"),
        ("metadata", {"a": 1}, "metadata"),
        ("metadata", [], "metadata"),
    ],
)
def test_what_is_not_acceptable_is_named(name: str, value: Any, param: str) -> None:
    error = problem(**{name: value})
    assert (error.problem.status, error.param) == (400, param)


def test_stream_options_are_an_object() -> None:
    assert problem(stream=True, stream_options=1).param == "stream_options"


ORDER: list[tuple[str, Any]] = [
    ("model", None),
    ("input", []),
    ("stream", 1),
    ("stream_options", 1),
    ("temperature", 9),
    ("top_p", 9),
    ("max_output_tokens", 0),
    ("tools", 1),
    ("tool_choice", 1),
    ("parallel_tool_calls", 1),
    ("text", 1),
    ("instructions", 1),
    ("previous_response_id", 1),
    ("conversation", 1),
    ("store", 1),
    ("metadata", 1),
]


@pytest.mark.parametrize("at", range(len(ORDER)))
def test_of_several_faults_the_first_of_the_table_answers(at: int) -> None:
    body = dict(ORDER[at:])
    assert problem({"x-proxy-output-mode": "x"}, **body).param == ORDER[at][0]


def test_headers_are_looked_at_last() -> None:
    assert problem({"x-proxy-stop-after-tools": "x"}).param == "x-proxy-stop-after-tools"
