from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from wireproof.driving.planning import planned
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Act, ConversationScenario, Need, PlainScenario, Request, Scenario, Turn
from wireproof.model.target import Target
from wireproof.scenarios import SCENARIOS
from wireproof.targets.bundled import IDLE_TIMEOUT, KEEPALIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

# With a key: of others not every request is sent, so their scenarios are changed.
TARGET = Target(base_url="http://proxy/v1", model="m", api_key="k", idle_timeout=4.5, keepalive=0.3)
SHORT = ConversationScenario(name="short", title="", exercises=(), script="text/hello", turns=(Turn(say="Hi."),))
WAITING: dict[str, Scenario] = {
    "silent": ConversationScenario(
        name="silent", title="", exercises=(), turns=(Turn(say="Hi."),), needs=(Need.IDLE_TIMEOUT,)
    ),
    "quiet": ConversationScenario(
        name="quiet", title="", exercises=(), turns=(Turn(say="Hi.", act=Act.OPEN_AT_COMMENT),)
    ),
    "unready": PlainScenario(name="unready", title="", exercises=(), requests=(Request(), Request(unready=True))),
}


def together(scenarios: Sequence[Scenario], target: Target) -> list[Scenario]:
    """The scenarios that are driven at the same time, in the order in which they are begun."""
    return [one.scenario for one in planned(scenarios, target).together]


@pytest.mark.parametrize("name", WAITING)
def test_one_that_waits_comes_before_one_that_does_not(name: str) -> None:
    assert together([SHORT, WAITING[name]], TARGET) == [WAITING[name], SHORT]


def test_what_is_not_declared_is_not_waited_for() -> None:
    undeclared = Target(base_url="http://proxy/v1", model="m")
    assert together([SHORT, WAITING["silent"]], undeclared) == [SHORT, WAITING["silent"]]


def test_of_all_scenarios_the_first_waits_until_the_proxy_gives_up_and_the_others_keep_their_order() -> None:
    target = dataclasses.replace(TARGET, idle_timeout=IDLE_TIMEOUT, keepalive=KEEPALIVE)
    ordered = together(SCENARIOS, target)
    assert Need.IDLE_TIMEOUT in ordered[0].needs
    assert set(ordered) == {one for one in SCENARIOS if not one.alone}
    quick = [one for one in ordered if one.name.startswith("param-")]
    assert quick == [one for one in SCENARIOS if one.name.startswith("param-") and not one.alone]


def test_what_kills_the_backend_comes_last_or_is_driven_beside_the_others() -> None:
    killing = [one for one in SCENARIOS if one.alone]
    plan = planned(SCENARIOS, TARGET)
    assert [one.scenario for one in plan.alone] == killing
    assert [*plan.first, *plan.beside] == []
    spare = planned(SCENARIOS, dataclasses.replace(TARGET, spare_urls=("http://127.0.0.1:1/v1",)))
    assert {one.scenario for one in spare.beside} == set(killing)
    assert list(spare.alone) == []
    assert [one.scenario for one in plan.every] == list(SCENARIOS)


def test_forms_that_are_named_are_driven_each_alone() -> None:
    target = dataclasses.replace(TARGET, dialects=tuple(Dialect))
    (first, *_) = SHORT.forms(Dialect)
    plan = planned([SHORT], target, {SHORT.name: [first]})
    assert [(one.scenario, one.forms) for one in plan.alone] == [(SHORT, (first,))]
    assert list(plan.together) == []
