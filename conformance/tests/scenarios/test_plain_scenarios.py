"""What must hold of all scenarios of plain requests, whatever they are about."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import CHATS, Dialect
from wireproof.model.requirement import Stage
from wireproof.model.scenario import Mode, PlainScenario
from wireproof.report.scenario_json import scenario_data
from wireproof.scenarios import PLAIN, SCENARIOS
from wireproof.scenarios.clients import CLIENTS
from wireproof.scenarios.params import FIELDS, PARAMS
from wireproof.scenarios.precedence import PRECEDENCE

JUDGES_PLAIN_REQUESTS = {Stage.ANSWER, Stage.CONTENT, Stage.TOGETHER}
ACCEPTED = {"param.unknown-ignored", "param.null-members", "param.empty-stream-options"}
"""Rows of what must be accepted alone."""
RULES = (
    "route", "auth", "size", "media-type", "json", "model-missing", "messages-missing", "parameters", "model-unknown",
    "capacity", "not-ready", "backend-failure",
)  # fmt: skip


@pytest.mark.each("scenario", PLAIN, ids=lambda scenario: scenario.name)
def test_a_scenario_of_plain_requests_is_driven_once(scenario: PlainScenario) -> None:
    for dialects in (Dialect, CHATS, (Dialect.RESPONSES,)):
        assert [form.mode for form in scenario.forms(dialects)] in ([], [Mode.WHOLE])


@pytest.mark.each("scenario", PLAIN, ids=lambda scenario: scenario.name)
def test_every_requirement_that_is_named_exists_and_is_checked(scenario: PlainScenario) -> None:
    named = {one.judged for one in scenario.requests} - {""}
    assert {*scenario.exercises, *named} <= load().by_id.keys()
    assert {load().by_id[row].stage for row in (scenario.exercises[0], *named)} <= JUDGES_PLAIN_REQUESTS


@pytest.mark.each("scenario", PLAIN, ids=lambda scenario: scenario.name)
def test_every_error_that_names_a_field_is_looked_at_as_an_envelope(scenario: PlainScenario) -> None:
    if any(one.param or one.code for one in scenario.requests):
        assert {"http.error.envelope", "messages.error.envelope"} & {*scenario.exercises}


@pytest.mark.each("scenario", PLAIN, ids=lambda scenario: scenario.name)
def test_a_scenario_is_plain_data(scenario: PlainScenario) -> None:
    assert json.loads(json.dumps(scenario_data(scenario)))["name"] == scenario.name


def test_there_is_one_row_for_each_neighbouring_pair_of_rules() -> None:
    pairs = [f"http.precedence.{a}-before-{b}" for a, b in pairwise(RULES)]
    assert [row for row in load().by_id if row.startswith("http.precedence.")] == pairs
    assert {row for one in PRECEDENCE for row in one.exercises if "precedence" in row} == set(pairs)


def test_each_row_of_http_and_parameters_has_a_scenario() -> None:
    exercised = {row for one in SCENARIOS for row in one.exercises}
    rows = {row for row in load().by_id if row.startswith(("http.", "param."))}
    assert rows - exercised == set()


def test_every_field_is_accepted_somewhere_and_refused_somewhere() -> None:
    for field in FIELDS:
        refused = any(one.expect == 400 for one in field.requests)
        assert refused or (field.exercises[0] in ACCEPTED and len(field.requests) > 1)
    for scenario in PARAMS:
        assert all(one.expect in {200, 400} for one in scenario.requests)


def test_what_real_clients_send_is_sent_with_the_targets_model_and_to_be_served() -> None:
    sent = [one for scenario in CLIENTS for one in scenario.requests]
    assert len(sent) == len({json.dumps([one.json, dict(one.headers)], sort_keys=True) for one in sent}) == 77
    for one in sent:
        assert one.json is not None
        assert one.json["model"] == "{model}"
        assert one.expect == 200
        assert not {"authorization", "content-type", "host"} & one.headers.keys()
