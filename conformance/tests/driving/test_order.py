from __future__ import annotations

import pytest

from wireproof.driving.order import longest_first
from wireproof.model.scenario import ConversationScenario, Need, PlainScenario, Request, Scenario, Turn
from wireproof.model.target import Target
from wireproof.scenarios import SCENARIOS
from wireproof.targets.bundled import IDLE_TIMEOUT, KEEPALIVE

TARGET = Target(base_url="http://proxy/v1", model="m", idle_timeout=4.5, keepalive=0.3)
SHORT = ConversationScenario(name="short", title="", exercises=(), script="text/hello", turns=(Turn(say="Hi."),))
WAITING: dict[str, Scenario] = {
    "silent": ConversationScenario(
        name="silent", title="", exercises=(), turns=(Turn(say="Hi."),), needs=(Need.IDLE_TIMEOUT,)
    ),
    "quiet": ConversationScenario(
        name="quiet", title="", exercises=(), turns=(Turn(say="Hi."),), needs=(Need.KEEPALIVE,)
    ),
    "unready": PlainScenario(name="unready", title="", exercises=(), requests=(Request(), Request(unready=True))),
}


@pytest.mark.parametrize("name", WAITING)
def test_one_that_waits_comes_before_one_that_does_not(name: str) -> None:
    assert longest_first([SHORT, WAITING[name]], TARGET) == [WAITING[name], SHORT]


def test_what_is_not_declared_is_not_waited_for() -> None:
    undeclared = Target(base_url="http://proxy/v1", model="m")
    assert longest_first([SHORT, WAITING["silent"]], undeclared) == [SHORT, WAITING["silent"]]


def test_of_all_scenarios_the_first_waits_until_the_proxy_gives_up_and_the_others_keep_their_order() -> None:
    target = Target(base_url="http://proxy/v1", model="m", idle_timeout=IDLE_TIMEOUT, keepalive=KEEPALIVE)
    ordered = longest_first(SCENARIOS, target)
    assert Need.IDLE_TIMEOUT in ordered[0].needs
    assert set(ordered) == set(SCENARIOS)
    quick = [one for one in ordered if one.name.startswith("param-")]
    assert quick == [one for one in SCENARIOS if one.name.startswith("param-")]
