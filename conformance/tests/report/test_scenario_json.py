from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Request, Scenario, Turn
from wireproof.reading.schemas import errors
from wireproof.report.scenario_json import scenario_data
from wireproof.scenarios import CONVERSATIONS, PLAIN, SCENARIOS
from wireproof.scenarios.live import LIVE
from wireproof_scripts.files.json_form import script_from_json
from wireproof_scripts.library import LIBRARY

SCHEMA = json.loads((Path(__file__).parents[3] / "schemas/wireproof/scenario.json").read_text(encoding="utf-8"))
NAMED = {scenario.name: scenario for scenario in (*SCENARIOS, *LIVE)}
each_scenario = pytest.mark.each("scenario", NAMED.values(), ids=lambda scenario: scenario.name)
MISSING = object()


@each_scenario
def test_every_scenario_is_plain_data_and_valid(scenario: Scenario) -> None:
    data = scenario_data(scenario)
    assert json.loads(json.dumps(data)) == data
    assert errors("wireproof/scenario", data) == []


@each_scenario
def test_the_script_can_be_read_back(scenario: Scenario) -> None:
    if isinstance(scenario, ConversationScenario) and scenario.script:
        assert script_from_json(scenario_data(scenario)["script"]) == LIBRARY[scenario.script]


def test_what_is_empty_or_false_is_left_out() -> None:
    assert list(scenario_data(NAMED["text-hello"])) == [
        "name", "title", "exercises", "dialects", "turns", "script", "modes",
    ]  # fmt: skip
    assert list(scenario_data(NAMED["models"])["requests"][0]) == ["method", "path", "auth", "expect"]


def test_what_a_scenario_says_is_in_its_data() -> None:
    data = scenario_data(NAMED["disconnect"])
    assert data["modes"] == ["stream"]
    assert data["turns"] == [
        {"say": "Keep talking.", "act": "leave-at-text"},
        {"say": "How did the other turn end?", "script": "reflect/turns", "act": "read"},
    ]
    assert scenario_data(NAMED["tool-loop"])["turns"][1] == {
        "results": {"localSearch": "Three notes found."}, "act": "read",
    }  # fmt: skip
    assert scenario_data(NAMED["crash-in-text"])["alone"] is True
    assert scenario_data(NAMED["calls-first"])["body"] == {"parallel_tool_calls": False}


def test_what_a_plain_request_must_get_is_in_its_data() -> None:
    refused = scenario_data(NAMED["route-wrong-method"])["requests"][0]
    assert (refused["expect"], refused["shows"]) == (405, {"allow": "POST"})
    assert scenario_data(NAMED["live"])["requests"][0]["root"] is True
    assert scenario_data(NAMED["not-ready"])["requests"][0]["unready"] is True
    for scenario in PLAIN:
        assert len(scenario_data(scenario)["requests"]) == len(scenario.requests)


def test_a_param_that_must_be_null_is_in_the_data() -> None:
    assert any(one.param == "" for scenario in PLAIN for one in scenario.requests)
    for scenario in PLAIN:
        data = scenario_data(scenario)["requests"]
        assert [one.param for one in scenario.requests] == [one.get("param") for one in data]


def test_dialects_choices_and_the_attribution_are_in_the_data() -> None:
    assert scenario_data(NAMED["xml-values"])["dialects"] == ["obsidian-xml"]
    assert scenario_data(NAMED["text-hello"])["dialects"] == [dialect.value for dialect in Dialect]
    assert scenario_data(NAMED["choices-text"])["choices"] == 2
    assert scenario_data(NAMED["shape-a"])["attribute_to"] == "shapes.a"
    assert not {"dialects", "choices", "attribute_to"} & scenario_data(NAMED["models"]).keys()


def test_the_images_of_a_turn_are_in_the_data() -> None:
    [scenario] = (one for one in CONVERSATIONS if one.name == "images")
    assert scenario_data(scenario)["turns"][0]["images"] == list(scenario.turns[0].images) != []


OWN_BODY = ConversationScenario(name="s", title="t", exercises=(), turns=(Turn(say="Hi.", body={"temperature": 0}),))
"""No scenario of the suite adds fields to one turn alone."""
ALL = [scenario_data(scenario) for scenario in (*NAMED.values(), OWN_BODY)]
ASKED = [data for data in ALL if "requests" in data]
WRITTEN = {
    get_args(Scenario): (ALL, SCHEMA),
    (Turn,): ([turn for data in ALL for turn in data.get("turns", ())], SCHEMA["$defs"]["turn"]),
    (Request,): ([one for data in ASKED for one in data["requests"]], SCHEMA["$defs"]["request"]),
}


@pytest.mark.parametrize("kinds", WRITTEN)
def test_fields_data_and_schema_have_the_same_names(kinds: tuple[type[Any], ...]) -> None:
    found, schema = WRITTEN[kinds]
    fields = {field.name for kind in kinds for field in dataclasses.fields(kind)}
    assert {name for one in found for name in one} == fields == set(schema["properties"])


def test_bytes_that_are_no_text_are_reported_as_escapes() -> None:
    assert "\\xff\\xfe" in scenario_data(NAMED["body-not-utf8"])["requests"][0]["body"]
    assert scenario_data(NAMED["body-too-large"])["requests"][0]["padding"] == 20 * 2**20


def test_the_schema_is_sound_and_named_after_its_file() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "https://wireproof.invalid/schemas/wireproof/scenario.json"


def objects(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for item in schema for found in objects(item)]
    if not isinstance(schema, dict):
        return []
    # What only narrows a schema of another place has properties, too, and no type.
    own = "properties" in schema and schema.get("type") == "object"
    return [*([schema] if own else []), *objects(list(schema.values()))]


def test_every_object_of_the_schema_is_closed() -> None:
    assert objects(SCHEMA)
    assert all(one["additionalProperties"] is False for one in objects(SCHEMA))


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("text-hello", "name", "Text Hello"),
        ("text-hello", "title", ""),
        ("text-hello", "modes", []),
        ("text-hello", "modes", ["loud"]),
        ("text-hello", "exercises", MISSING),
        ("text-hello", "exercises", ["text"]),
        ("text-hello", "script", MISSING),
        ("text-hello", "script", "text/hello"),
        ("text-hello", "script/parts/0/0", {"shout": "Hello"}),
        ("text-hello", "turns", MISSING),
        ("text-hello", "turns", []),
        ("text-hello", "turns/0/say", MISSING),
        ("text-hello", "turns/0/act", "dance"),
        ("text-hello", "turns/0/colour", "red"),
        ("text-hello", "usage", False),
        ("text-hello", "colour", "red"),
        ("text-hello", "body", {"model": "m"}),
        ("text-hello", "requests", [{"method": "GET", "path": "/models", "auth": "right", "expect": 200}]),
        ("text-hello", "dialects", MISSING),
        ("text-hello", "dialects", ["openai"]),
        ("text-hello", "choices", 1),
        ("shape-a", "attribute_to", "shapes"),
        ("live-say", "turns/0/asks", {"sing": {}}),
        ("live-say", "turns/0/asks/say/text", 7),
        ("live-say", "turns/0/asks", MISSING),
        ("live-say", "cap", 0),
        ("live-choice-named", "tool_choice", ""),
        ("models", "dialects", ["openai-json"]),
        ("models", "requests", []),
        ("models", "modes", ["whole"]),
        ("models", "requests/0/unready", False),
        ("auth-missing", "requests/0/shows", {"www-authenticate": 1}),
        ("auth-missing", "requests/1/colour", "red"),
        ("tool-loop", "turns/1/results", {"localSearch": 3}),
        ("tool-loop", "turns/1/script", "text/hello"),
        ("tool-loop", "tools/0/type", "tool"),
        ("tool-loop", "tools/0/function/name", MISSING),
        ("history", "history/0/role", "narrator"),
        ("history", "history/3/content/0/type", "image"),
        ("tool-results", "history/1/tool_calls/0/function/arguments", {"query": "kiwi"}),
        ("tool-results", "history/2/content", MISSING),
        ("models", "requests", MISSING),
        ("models", "requests/0/method", "TAKE"),
        ("models", "requests/0/path", "models"),
        ("models", "requests/0/auth", "some"),
        ("models", "requests/0/expect", "200"),
        ("auth-wrong", "requests/0/headers", {"content-type": 1}),
    ],
)
def test_a_broken_neighbour_is_not_valid(name: str, path: str, value: object) -> None:
    data = copy.deepcopy(scenario_data(NAMED[name]))
    *steps, last = path.split("/")
    place: Any = data
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    if value is MISSING:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = value
    assert errors("wireproof/scenario", data) != []
