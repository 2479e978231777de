"""The scenarios as a whole: nothing in them is without meaning, and no requirement is without a scenario."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import pytest

from wireproof import scenarios
from wireproof.model.catalogue import JudgedOn, Level, Requirement, load
from wireproof.model.dialect import Dialect, Surface
from wireproof.model.requirement import Stage
from wireproof.model.scenario import (
    OPENS_AT,
    Act,
    Auth,
    ConversationScenario,
    Form,
    Mode,
    PlainScenario,
    Scenario,
)
from wireproof.model.side import Side
from wireproof.model.target import Backend, Target
from wireproof.reading.applicable import applicable
from wireproof.reading.right_answers import answers_to
from wireproof.requests.adapted import adapted
from wireproof.requests.conversation import prepare
from wireproof.scenarios import CONVERSATIONS, PLAIN, SCENARIOS, tools
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS
from wireproof.scenarios.live import LIVE
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.markers import Marker, find_marker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof.reading.expected import Expected

CATALOGUE = load()
ALL = (*SCENARIOS, *LIVE, *CLIENT_SCENARIOS)
UNDECLARED = {"sentinel-undeclared"}
"""Scenarios whose backend calls a tool that the request does not declare."""
STREAM, WHOLE = Form(Dialect.OPENAI_JSON, Mode.STREAM), Form(Dialect.OPENAI_JSON, Mode.WHOLE)


def fits(row: Requirement, scenario: Scenario) -> bool:
    return any(row.speaks_of(form) for form in scenario.forms(Dialect))


def answer_to(scenario: ConversationScenario, number: int, form: Form) -> Expected:
    return answers_to(scenario, number, form)[0]


each_of_all = pytest.mark.each("scenario", ALL, ids=lambda scenario: scenario.name)
each_scenario = pytest.mark.each("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
each_chat = pytest.mark.each("scenario", CONVERSATIONS, ids=lambda scenario: scenario.name)
each_row = pytest.mark.each("row", CATALOGUE.requirements, ids=lambda row: row.id)


@pytest.fixture(scope="module")
def judged_by() -> Mapping[str, Sequence[Requirement]]:
    """Scenario → the rows that it is judged by."""
    return {scenario.name: applicable(scenario, CATALOGUE, Dialect) for scenario in ALL}


@each_row
def test_every_requirement_is_judged_by_a_scenario_in_one_of_its_modes(
    row: Requirement, judged_by: Mapping[str, Sequence[Requirement]]
) -> None:
    assert any(row in judged_by[scenario.name] and fits(row, scenario) for scenario in ALL)


@each_row
def test_a_requirement_that_waits_to_be_named_is_named(row: Requirement) -> None:
    exercised = any(row.id in scenario.exercises for scenario in ALL)
    assert exercised or row.judged is not JudgedOn.EXERCISED


def test_names_are_unique_and_fit_a_file_name() -> None:
    names = [scenario.name for scenario in ALL]
    assert len(set(names)) == len(names)
    assert all(name == name.lower() and name.replace("-", "").isalnum() for name in names)


def test_all_modules_are_reported_and_in_order() -> None:
    modules = [import_module(f"wireproof.scenarios.{found.name}") for found in iter_modules(scenarios.__path__)]
    tables = [table for module in modules for table in vars(module).values() if isinstance(table, tuple)]
    defined = [scenario for table in tables for scenario in table if isinstance(scenario, Scenario)]
    # A package of scenarios has its tables beside all of them.
    assert {scenario.name for scenario in defined} == {scenario.name for scenario in ALL}
    subjects = [scenario.exercises[0].split(".")[0] for scenario in SCENARIOS]
    assert subjects.index("chat") < subjects.index("turn") < subjects.index("param")


@each_of_all
def test_what_is_exercised_is_in_the_catalogue_once_and_in_a_mode_of_the_scenario(scenario: Scenario) -> None:
    assert scenario.exercises
    assert len(set(scenario.exercises)) == len(scenario.exercises)
    for name in scenario.exercises:
        assert fits(CATALOGUE.find(name), scenario), name


@each_of_all
def test_each_form_has_a_subject_that_can_take_the_blame(scenario: Scenario) -> None:
    for form in scenario.forms(Dialect):
        assert any(CATALOGUE.find(name).speaks_of(form) for name in scenario.exercises), form


@each_scenario
def test_a_scenario_that_blames_its_subject_exercises_it(scenario: Scenario) -> None:
    assert scenario.attribute_to in {None, scenario.exercises[0]}


@each_chat
def test_every_choice_has_an_answer(scenario: ConversationScenario) -> None:
    for form in scenario.forms(Dialect):
        assert len(answers_to(scenario, 0, form)) == scenario.choices


@each_of_all
def test_parity_is_asked_for_where_both_modes_answer(scenario: Scenario) -> None:
    if any(CATALOGUE.find(name).stage is Stage.PARITY for name in scenario.exercises):
        across = isinstance(scenario, ConversationScenario) and scenario.across
        assert {form.mode for form in scenario.forms(Dialect)} == ({Mode.WHOLE} if across else set(Mode))


@each_scenario
def test_it_is_a_conversation_or_a_plain_request(scenario: Scenario) -> None:
    match scenario:
        case ConversationScenario():
            assert scenario.turns
            assert scenario.script
        case PlainScenario():
            assert scenario.requests
    assert scenario.title


@each_chat
def test_every_script_exists_and_has_a_part_for_each_turn(scenario: ConversationScenario) -> None:
    own = [turn for turn in scenario.turns if turn.script is None]
    # Where the proxy, and not its client, answers the backend, one turn plays the parts one after the other.
    in_one = scenario.backend is Backend.CURSOR and not scenario.tools
    assert len(LIBRARY[scenario.script].parts) == len(own) or in_one
    assert all(turn.script in LIBRARY for turn in scenario.turns if turn.script is not None)


@each_chat
def test_every_turn_says_something_or_brings_results_of_calls_that_were_made(scenario: ConversationScenario) -> None:
    assert scenario.turns[0].say is not None
    all_calls = [call for number in range(len(scenario.turns)) for call in answer_to(scenario, number, WHOLE).calls]
    for number, turn in enumerate(scenario.turns):
        assert turn.say is not None or turn.results
        assert turn.script is None or turn.say is not None
        if turn.results is not None:
            made = {call.name for call in answer_to(scenario, number - 1, WHOLE).calls}
            assert made
            assert made <= set(turn.results) <= {call.name for call in all_calls}


@each_chat
def test_the_tools_that_the_script_calls_are_declared(scenario: ConversationScenario) -> None:
    declared = {tool["function"]["name"] for tool in scenario.tools}
    for number in range(len(scenario.turns)):
        called = {call.name for call in answer_to(scenario, number, WHOLE).calls}
        assert (called <= declared) != (scenario.name in UNDECLARED)


def test_declared_tools_have_names_of_their_own() -> None:
    values = [value for name, value in vars(tools).items() if name.isupper() and "function" in value]
    declared = [value["function"]["name"] for value in values]
    assert len(set(declared)) == len(declared)


@each_chat
def test_a_client_that_acts_on_the_stream_has_no_whole_answer_to_act_on(scenario: ConversationScenario) -> None:
    if any(turn.act is not Act.READ for turn in scenario.turns):
        assert scenario.modes == (Mode.STREAM,)


@each_chat
def test_a_client_that_opens_a_gate_has_one_to_open(scenario: ConversationScenario) -> None:
    for number, turn in enumerate(scenario.turns):
        gates = answer_to(scenario, number, STREAM).gates
        assert bool(gates) == (turn.act in {Act.OPEN_AT_TEXT, *OPENS_AT})


@each_chat
def test_the_mock_finds_the_marker_in_every_request(scenario: ConversationScenario) -> None:
    turn = scenario.turns[0]
    sent = prepare(scenario, turn, form=WHOLE, model="m", nonce="n0nce", history=())
    of_dialog = [message for message in sent.messages if message["role"] not in {"system", "developer"}]
    found = [find_marker(str(message["content"])) for message in of_dialog]
    assert found[-1] == Marker(scenario.script, "n0nce")
    assert [marker for marker in found if marker] == found[-1:]


def test_a_request_without_the_right_key_is_to_be_refused() -> None:
    asked = [(scenario, one) for scenario in PLAIN for one in scenario.requests]
    refused = set(Auth) - {Auth.RIGHT, Auth.OTHER_CASE}
    for scenario, one in asked:
        needs_none = one.method == "OPTIONS" or one.root or one.expect == 404
        assert (one.expect == 401) == (one.auth in refused and not needs_none), scenario.name


@pytest.mark.parametrize("surface", Surface)
def test_each_must_of_a_surface_is_looked_at_where_it_alone_is_served(surface: Surface) -> None:
    target = Target(base_url="http://127.0.0.1/v1", model="m", dialects=surface_dialects(surface))
    judged = {row.id for one in SCENARIOS for row in applicable(adapted(one, target), load(), target.dialects)}
    spoken = {row.id for row in load().about(Side.PROXY).requirements if {*row.dialects} & {*target.dialects}}
    musts = {row for row in spoken if load().by_id[row].level is Level.MUST}
    # Where there is no second surface, there is nothing to compare the first with.
    assert musts - judged == {"turn.surface-parity"}


def surface_dialects(surface: Surface) -> tuple[Dialect, ...]:
    return tuple(one for one in Dialect if one.spec.surface is surface)
