"""The scenarios for models: frugal, capped, without scripts, and each of them asks for something."""

from __future__ import annotations

import json

import pytest

from wireproof.model.asks import AskCalls, AskSay, Fits
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario
from wireproof.model.target import Backend, Target
from wireproof.reading.asked import limit_of
from wireproof.reading.schemas import misfits
from wireproof.requests.conversation import prepare
from wireproof.requests.cost import cost
from wireproof.scenarios import CONVERSATIONS
from wireproof.scenarios.live import LIVE
from wireproof.targets.budget import REQUESTS, TOKENS

SPOKEN = (Dialect.OPENAI_JSON, Dialect.RESPONSES)
TARGET = Target(base_url="http://x/v1", model="m", api_key="k", backend=Backend.LIVE, dialects=SPOKEN)
ASKED = [scenario for scenario in LIVE if isinstance(scenario, ConversationScenario)]
each_asked = pytest.mark.each("scenario", ASKED, ids=lambda scenario: scenario.name)


def test_a_whole_run_fits_in_90_requests_and_in_what_needs_no_consent() -> None:
    found = cost(LIVE, TARGET)
    assert 40 < found.requests <= 87
    assert found.requests < REQUESTS
    assert found.tokens <= 19_500 < TOKENS


def test_a_scripted_scenario_that_is_selected_by_name_has_a_cost_too() -> None:
    for scenario in CONVERSATIONS:
        turns = len(scenario.turns) * len(scenario.forms(SPOKEN))
        assert cost([scenario], TARGET).requests in {0, turns}, scenario.name


@each_asked
def test_every_request_caps_the_tokens_of_its_answer(scenario: ConversationScenario) -> None:
    for form in scenario.forms(SPOKEN):
        body = prepare(scenario, scenario.turns[0], form=form, model="m", nonce="", history=()).body
        assert 0 < (limit_of(body) or 0) <= 100


@each_asked
def test_every_turn_asks_a_model_and_none_plays_a_script(scenario: ConversationScenario) -> None:
    assert not scenario.script
    assert all(turn.asks is not None and turn.script is None for turn in scenario.turns)
    for form in scenario.forms(SPOKEN):
        body = prepare(scenario, scenario.turns[0], form=form, model="m", nonce="n", history=()).body
        assert b"[[wireproof" not in body


@each_asked
def test_arguments_that_are_asked_for_fit_the_tool(scenario: ConversationScenario) -> None:
    declared = {tool["function"]["name"]: tool["function"].get("parameters") for tool in scenario.tools}
    asked = [call for turn in scenario.turns if isinstance(turn.asks, AskCalls) for call in turn.asks.calls]
    for call in asked:
        assert call.name is None or call.name in declared
        if call.name and call.arguments is not None:
            assert misfits(declared[call.name], dict(call.arguments)) == []


@each_asked
def test_a_text_that_is_asked_for_stands_in_the_request(scenario: ConversationScenario) -> None:
    for turn in scenario.turns:
        if isinstance(turn.asks, AskSay):
            sent = json.dumps([*scenario.history, turn.say, turn.results], ensure_ascii=False, default=dict)
            assert json.dumps(turn.asks.text, ensure_ascii=False)[1:-1] in sent


def test_forced_calls_and_formats_are_spelled_as_each_surface_does() -> None:
    named = next(scenario for scenario in ASKED if scenario.name == "live-choice-named")
    spelled = {
        form.dialect: json.loads(prepare(named, named.turns[0], form=form, model="m", nonce="", history=()).body)
        for form in named.forms(SPOKEN)
    }
    assert spelled[Dialect.OPENAI_JSON]["tool_choice"] == {"type": "function", "function": {"name": "get_time"}}
    assert spelled[Dialect.RESPONSES]["tool_choice"] == {"type": "function", "name": "get_time"}
    fits = next(scenario for scenario in ASKED if isinstance(scenario.turns[0].asks, Fits))
    bodies = [
        json.loads(prepare(fits, fits.turns[0], form=form, model="m", nonce="", history=()).body)
        for form in fits.forms(SPOKEN)
    ]
    assert {tuple(sorted({"response_format", "text"} & body.keys())) for body in bodies} == {
        ("response_format",), ("text",),
    }  # fmt: skip


def test_a_request_without_a_forced_call_or_a_format_names_neither() -> None:
    scenario = CONVERSATIONS[0]
    form = scenario.forms(SPOKEN)[0]
    body = json.loads(prepare(scenario, scenario.turns[0], form=form, model="m", nonce="n", history=()).body)
    assert not {"tool_choice", "response_format", "text", "max_tokens", "max_output_tokens"} & body.keys()
