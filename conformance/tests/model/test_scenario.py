from __future__ import annotations

import pytest

from wireproof.model.dialect import CHATS, Dialect
from wireproof.model.scenario import Form, Mode, Request, Scenario, Turn, wants_burst

PLAIN = Turn(say="x")


@pytest.mark.parametrize(
    ("scenario", "turn", "burst"),
    [
        ({}, {}, False),
        ({"parallel_tool_calls": True}, {}, True),
        ({"parallel_tool_calls": False}, {}, False),
        ({"parallel_tool_calls": False}, {"parallel_tool_calls": True}, True),
        ({"parallel_tool_calls": True}, {"parallel_tool_calls": False}, False),
        ({"parallel_tool_calls": "true"}, {}, False),
    ],
)
def test_the_requests_last_word_on_parallel_calls_is_the_stop_policy(
    scenario: dict[str, object], turn: dict[str, object], *, burst: bool
) -> None:
    one = Scenario(name="n", title="t", exercises=(), body=scenario)
    assert wants_burst(one, Turn(say="x", body=turn), Dialect.OPENAI_JSON) is burst


def test_without_a_turn_the_scenario_has_the_word() -> None:
    one = Scenario(name="n", title="t", exercises=(), body={"parallel_tool_calls": True})
    assert wants_burst(one, None, Dialect.OPENAI_JSON)


@pytest.mark.parametrize(("body", "burst"), [({}, True), ({"parallel_tool_calls": False}, False)])
def test_on_responses_several_calls_are_wanted_unless_the_request_says_otherwise(
    body: dict[str, object], *, burst: bool
) -> None:
    one = Scenario(name="n", title="t", exercises=(), body=body)
    assert wants_burst(one, None, Dialect.RESPONSES) is burst


def test_a_plain_request_of_responses_is_asked_only_where_they_are_spoken() -> None:
    one = Scenario(name="n", title="t", exercises=(), request=Request(), dialects=(Dialect.RESPONSES,))
    assert one.forms(CHATS) == ()
    assert one.forms(Dialect) == (Form(Dialect.RESPONSES, Mode.WHOLE),)
    assert Scenario(name="n", title="t", exercises=(), request=Request()).forms(CHATS) == (
        Form(Dialect.OPENAI_JSON, Mode.WHOLE),
    )


def test_a_plain_request_is_asked_on_the_first_surface_that_is_served() -> None:
    every = Scenario(name="n", title="t", exercises=(), request=Request())
    assert every.forms((Dialect.RESPONSES,)) == (Form(Dialect.RESPONSES, Mode.WHOLE),)
    assert every.forms((Dialect.RESPONSES, Dialect.OBSIDIAN_XML)) == (Form(Dialect.OPENAI_JSON, Mode.WHOLE),)
    chat = Scenario(name="n", title="t", exercises=(), request=Request(), dialects=CHATS)
    assert chat.forms((Dialect.RESPONSES,)) == ()
    assert every.forms(()) == ()


def test_scenarios_are_distinguished_by_identity_so_that_each_is_driven_once() -> None:
    one, two = (Scenario(name="n", title="t", exercises=()) for _ in range(2))
    assert one != two
    assert len({one, two}) == 2


@pytest.mark.parametrize(("policy", "parallel"), [("burst", False), ("first", True)])
def test_the_header_counts_before_the_body(policy: str, *, parallel: bool) -> None:
    headers = {"x-proxy-stop-after-tools": policy}
    one = Scenario(name="x", title="", exercises=(), headers=headers, body={"parallel_tool_calls": parallel})
    assert wants_burst(one, None, Dialect.OPENAI_JSON) is (policy == "burst")
