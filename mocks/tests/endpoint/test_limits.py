"""What requests ask of the length and the reasoning of the default answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from wireproof_endpoint.api.limits import REASONING, limited, limits_of
from wireproof_scripts.steps import Call, Finish, Say, Think, Usage

SAID = (Say(("You", " said:", " Hi")),)
CHAT: dict[str, Any] = {"messages": []}
RESPONSE: dict[str, Any] = {"input": "Hi"}


def summary(*steps: Any) -> list[str]:
    return [step.text for step in steps if isinstance(step, Think)]


@pytest.mark.parametrize(
    "body",
    [
        CHAT,
        RESPONSE,
        {**CHAT, "reasoning_effort": "none"},
        {**RESPONSE, "reasoning": None},
        {**RESPONSE, "reasoning": {"effort": "none"}},
        # Of the other surface: nothing that anyone knows.
        {**CHAT, "reasoning": {"effort": "low", "summary": "auto"}},
        {**RESPONSE, "reasoning_effort": "low"},
    ],
)
def test_without_effort_nothing_is_thought(body: Any) -> None:
    assert limited(SAID, limits_of(body)) == SAID


@pytest.mark.parametrize("body", [{**CHAT, "reasoning_effort": "low"}, {**RESPONSE, "reasoning": {"effort": "high"}}])
def test_effort_is_thought_without_a_summary(body: Any) -> None:
    assert limited(SAID, limits_of(body)) == (Think(""), Usage(reasoning=REASONING), *SAID)


def test_a_summary_is_there_where_it_is_asked_for() -> None:
    [thought] = summary(*limited(SAID, limits_of({**RESPONSE, "reasoning": {"summary": "auto"}})))
    assert thought


def test_reasoning_comes_before_calls_too() -> None:
    calls = (Call(id="a", name="f", arguments="{}"), Call(id="b", name="f", arguments="{}"))
    body = {**CHAT, "reasoning_effort": "low", "parallel_tool_calls": False}
    assert limited(calls, limits_of(body)) == (Think(""), Usage(reasoning=REASONING), calls[0])


@pytest.mark.parametrize(
    ("most", "said", "reasoned"),
    [(2, ("",), 2), (4, ("",), 4), (5, ("You",), 4), (6, ("You", " said:"), 4)],
)
def test_reasoning_counts_in_the_length_of_an_answer(most: int, said: tuple[str, ...], reasoned: int) -> None:
    steps = limited(SAID, limits_of({**CHAT, "reasoning_effort": "low", "max_completion_tokens": most}))
    assert steps[2:] == (Say(said), Usage(output=most, reasoning=reasoned), Finish("length"))


def test_an_answer_that_has_room_is_whole() -> None:
    steps = limited(SAID, limits_of({**CHAT, "reasoning_effort": "low", "max_completion_tokens": 7}))
    assert steps[2:] == SAID


@pytest.mark.parametrize(
    ("most", "said"),
    [(1, '{"city'), (2, '{"city": "Bern'), (3, None), (4, None)],
)
def test_a_call_is_cut_where_the_answer_is_as_long_as_it_may(most: int, said: str | None) -> None:
    call = Call(id="a", name="f", arguments='{"city": "Bern"}')
    steps = limited((call,), limits_of({**CHAT, "max_tokens": most}))
    if said is None:
        assert steps == (call,)
    else:
        assert steps == (
            replace(call, pieces=(said, call.arguments.removeprefix(said)), unfinished=True),
            Usage(output=most),
            Finish("length"),
        )


def test_the_calls_before_the_one_that_is_cut_are_whole() -> None:
    calls = (Call(id="a", name="f", arguments='{"n": 1}'), Call(id="b", name="f", arguments='{"n": 22}'))
    first, second, *ended = limited(calls, limits_of({**CHAT, "max_tokens": 5}))
    assert (first, ended) == (calls[0], [Usage(output=5), Finish("length")])
    assert isinstance(second, Call)
    assert second.pieces == ('{"n": 22', "}")
    # Between two the second does not begin; behind reasoning that took all the first does, since it may be demanded.
    assert limited(calls, limits_of({**CHAT, "max_tokens": 3}))[0] == calls[0]
    assert limited(calls, limits_of({**CHAT, "max_tokens": 3}))[1:] == (Usage(output=3), Finish("length"))
    thought = limited(calls, limits_of({**CHAT, "reasoning_effort": "low", "max_completion_tokens": 4}))
    begun = replace(calls[0], pieces=("", calls[0].arguments), unfinished=True)
    assert thought[2:] == (begun, Usage(output=4, reasoning=4), Finish("length"))
