from __future__ import annotations

import pytest

from wireproof.model.answer_terms import answer_terms
from wireproof.model.dialect import CHATS, Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, PlainScenario, Request, Turn

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
    one = ConversationScenario(name="n", title="t", exercises=(), body=scenario)
    assert answer_terms(one, Turn(say="x", body=turn), Dialect.OPENAI_JSON).burst is burst


def test_without_a_turn_the_scenario_has_the_word() -> None:
    one = ConversationScenario(name="n", title="t", exercises=(), body={"parallel_tool_calls": True})
    assert answer_terms(one, PLAIN, Dialect.OPENAI_JSON).burst


@pytest.mark.parametrize(("body", "burst"), [({}, True), ({"parallel_tool_calls": False}, False)])
def test_on_responses_several_calls_are_wanted_unless_the_request_says_otherwise(
    body: dict[str, object], *, burst: bool
) -> None:
    one = ConversationScenario(name="n", title="t", exercises=(), body=body)
    assert answer_terms(one, PLAIN, Dialect.RESPONSES).burst is burst


def test_a_plain_request_of_responses_is_asked_only_where_they_are_spoken() -> None:
    one = PlainScenario(name="n", title="t", exercises=(), requests=(Request(),), dialects=(Dialect.RESPONSES,))
    assert one.forms(CHATS) == ()
    assert one.forms(Dialect) == (Form(Dialect.RESPONSES, Mode.WHOLE),)
    assert PlainScenario(name="n", title="t", exercises=(), requests=(Request(),)).forms(CHATS) == (
        Form(Dialect.OPENAI_JSON, Mode.WHOLE),
    )


def test_a_plain_request_is_asked_on_the_first_surface_that_is_served() -> None:
    every = PlainScenario(name="n", title="t", exercises=(), requests=(Request(),))
    assert every.forms((Dialect.RESPONSES,)) == (Form(Dialect.RESPONSES, Mode.WHOLE),)
    assert every.forms((Dialect.RESPONSES, Dialect.OBSIDIAN_XML)) == (Form(Dialect.OPENAI_JSON, Mode.WHOLE),)
    chat = PlainScenario(name="n", title="t", exercises=(), requests=(Request(),), dialects=CHATS)
    assert chat.forms((Dialect.RESPONSES,)) == ()
    assert every.forms(()) == ()


def test_scenarios_are_distinguished_by_identity_so_that_each_is_driven_once() -> None:
    one, two = (ConversationScenario(name="n", title="t", exercises=()) for _ in range(2))
    assert one != two
    assert len({one, two}) == 2


@pytest.mark.parametrize(("policy", "parallel"), [("burst", False), ("first", True)])
def test_the_header_counts_before_the_body(policy: str, *, parallel: bool) -> None:
    headers = {"x-proxy-stop-after-tools": policy}
    one = ConversationScenario(
        name="x", title="", exercises=(), headers=headers, body={"parallel_tool_calls": parallel}
    )
    assert answer_terms(one, PLAIN, Dialect.OPENAI_JSON).burst is (policy == "burst")
