"""Responses, and exchanges in which they answer a scenario."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.dialect import Dialect
from wireproof.scenarios import CONVERSATIONS

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange

Json = dict[str, Any]
Make = Callable[..., Any]
DECLARED = {
    scenario.name: [{"type": "function", "strict": False, **tool["function"]} for tool in scenario.tools]
    for scenario in CONVERSATIONS
}
"""The tools that a scenario declares, as a response repeats them."""


def _repeating(name: str, body: Json) -> Json:
    """The response with the tools of the scenario, if it says none."""
    return {**body, "tools": body.get("tools") or DECLARED[name]}


@pytest.fixture(scope="session")
def counted() -> Json:
    """The usage of a response of the mock backend."""
    return {
        "input_tokens": 11,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 18,
    }


@pytest.fixture
def hello(response: Make, message_item: Make, counted: Json) -> Json:
    """The right response to text-hello."""
    right: Json = response("completed", [message_item("Hello, world!")], usage=counted)
    return right


@pytest.fixture
def one_call(response: Make, call_item: Make, counted: Json) -> Json:
    """The right response to fail-after-call, which makes one call."""
    arguments = '{"query": "before the failure"}'
    right: Json = response("completed", [call_item("call_failed", "localSearch", arguments)], usage=counted)
    return right


@pytest.fixture
def streamed(stream: Make, response_events: Make, event_frames: Make) -> Make:
    """A response, streamed to a scenario."""

    def exchange(name: str, body: Json, **how: Any) -> Exchange:
        frames = event_frames(response_events(_repeating(name, body)))
        made: Exchange = stream(name, *frames, bare=True, dialect=Dialect.RESPONSES, **how)
        return made

    return exchange


@pytest.fixture
def answered(plain: Make) -> Make:
    """A response that answers a scenario whole."""

    def exchange(name: str, body: Json, **how: Any) -> Exchange:
        made: Exchange = plain(name, 200, json.dumps(_repeating(name, body)).encode(), dialect=Dialect.RESPONSES, **how)
        return made

    return exchange
