from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_scripts.default.asked_for import arguments_for, tools_asked_for

NOTE: Any = {
    "name": "save_note",
    "inputSchema": {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "body": {"type": "string"},
            "limit": {"type": "integer"},
            "kind": {"enum": ["a", "b"]},
        },
        "required": ["title", "body"],
    },
}
WEATHER: Any = {"name": "getWeather", "inputSchema": {"type": "object", "properties": {}}}
TOOLS = [NOTE, WEATHER]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("First getWeather, then save_note.", ["getWeather", "save_note"]),
        ("Use save_note and getWeather at once.", ["save_note", "getWeather"]),
        ("Save all this as a note.", ["save_note"]),
        ("Get me the weather in Paris.", ["getWeather"]),
        ("Call getWeather once per city.", ["getWeather", "getWeather"]),
        ("Call getWeather twice.", ["getWeather", "getWeather"]),
        ("Call getWeather exactly once.", ["getWeather"]),
        ("Use a tool.", ["save_note"]),
    ],
)
def test_what_a_text_asks_for_is_called(text: str, called: list[str]) -> None:
    assert [tool["name"] for tool in tools_asked_for(text, TOOLS)] == called


@pytest.mark.parametrize(
    "text",
    [
        "Do not use any tool.",
        "Don't call getWeather.",
        "Answer without using save_note, please.",
        "Answer with no tools.",
        "Save it. Then write a note.",
        "a savings note",
        "Hello.",
    ],
)
def test_what_a_text_forbids_or_does_not_name_is_not_called(text: str) -> None:
    assert tools_asked_for(text, TOOLS) == []


def test_what_is_forbidden_hides_nothing_that_is_asked_for() -> None:
    assert tools_asked_for("Do not call save_note. Call getWeather.", TOOLS) == [WEATHER]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("Save a note titled 'Grüße' whose body is exactly: Café ☕ — 🚀", {"title": "Grüße", "body": "Café ☕ — 🚀"}),
        ('save_note with title="One" and body: "two"', {"title": "One", "body": "two"}),
        ("save_note with title “Eins”, limit=7", {"title": "Eins", "body": "example", "limit": 7}),
        ("save_note, kind: b", {"title": "example", "body": "example"}),
        ("the title's body isn't here", {"title": "example", "body": "example"}),
        ("limit: none", {"title": "example", "body": "example"}),
    ],
)
def test_what_a_text_says_of_an_argument_is_passed(text: str, arguments: dict[str, Any]) -> None:
    assert json.loads(arguments_for(NOTE, text)) == arguments


def test_a_tool_without_a_schema_has_no_arguments() -> None:
    assert arguments_for({"name": "bare"}, "bare: 7") == "{}"


@pytest.mark.parametrize("kind", ["array", "string", "no type", ["null"]])
def test_arguments_are_an_object_whatever_is_declared(kind: object) -> None:
    assert arguments_for({"name": "odd", "inputSchema": {"type": kind}}, "odd: 7") == "{}"


@given(st.text())
def test_any_text_gives_arguments_that_the_schema_takes(text: str) -> None:
    arguments = json.loads(arguments_for(NOTE, f"title: {text}"))
    assert {"title", "body"} <= arguments.keys()
    assert isinstance(arguments["title"], str)


def test_a_long_text_is_read_at_its_end() -> None:
    filler = "get title: ' " * 20_000
    assert tools_asked_for(f"{filler}. Save the note.", TOOLS) == [NOTE]
    assert json.loads(arguments_for(NOTE, f"{filler}\nbody: short"))["body"] == "short"
    assert tools_asked_for(filler, TOOLS) == tools_asked_for(filler, []) == []


def _of(*names: str, **properties: Any) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return [{"name": name, "inputSchema": schema} for name in names]


@pytest.mark.each(
    ("text", "names", "called"),
    [
        ("What's the weather like in San Francisco?", ["get_weather"], ["get_weather"]),
        ("How are stock prices?", ["getStockPrice", "get_weather"], ["getStockPrice"]),
        ("What time is it, and the weather?", ["get_weather", "get_time"], []),
        ("What is a poem?", ["get_weather"], []),
        ("Do not call a tool: how is the weather?", ["get_weather"], []),
        ("The weather is a word of these long instructions. " * 20, ["get_weather"], []),
        ("How is the weather?", ["weather_man_report"], []),
    ],
)
def test_a_question_that_concerns_one_tool_calls_it(text: str, names: list[str], called: list[str]) -> None:
    assert [tool["name"] for tool in tools_asked_for(text, _of(*names))] == called


def test_a_place_is_said_after_its_preposition() -> None:
    [tool] = _of("get_weather", location={"type": "string"}, unit={"type": "string", "enum": ["c", "f"]})
    said = json.loads(arguments_for(tool, "What's the weather like in San Francisco, CA?"))
    assert said == {"location": "San Francisco, CA", "unit": "c"}
