"""The right answers of an exchange, where they follow from what is behind the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.model.target import Backend, Missing, Target
from wireproof.reading import recorded
from wireproof.reading.exchange import Exchange
from wireproof.reading.right_answers import answers_to
from wireproof.scenarios import CONVERSATIONS

Make = Callable[..., Exchange]

WHOLE = Form(Dialect.OPENAI_JSON, Mode.WHOLE)
MOCK = Target(base_url="http://127.0.0.1:1/v1", model="codex", dialects=(Dialect.OPENAI_JSON,))
GATEWAY = replace(MOCK, backend=Backend.ENDPOINT)
FIRST = next(one for one in CONVERSATIONS if one.name == "calls-first")


def wanted(target: Target, exchange: Exchange) -> list[str]:
    """The ids of the calls that a target had to send."""
    seen = recorded.of_turn(exchange.conversation, 0, exchange.form, target, exchange.transcript)
    return [call.id for call in seen.wanted[0].calls]


def test_a_gateway_that_asks_its_upstream_for_one_call_has_lost_none(right_whole: Make, whole: Make) -> None:
    scripted = answers_to(FIRST, 0, WHOLE)[0].calls
    both = [call.id for call in scripted]

    def one(call: Any) -> Exchange:
        return whole("calls-first", None, "tool_calls", calls=[(call.id, call.name, call.arguments)])

    assert wanted(GATEWAY, one(scripted[0])) == both[:1]
    assert wanted(GATEWAY, one(scripted[1])) == both[:1], "the first call is the one that stays"
    assert wanted(GATEWAY, right_whole("calls-first")) == both, "it need not have passed the field on"
    assert wanted(MOCK, one(scripted[0])) == both, "no Codex can be asked for one call"
    assert len(wanted(GATEWAY, whole("calls-burst", "No calls."))) == len(both)


def test_a_gateway_that_streams_from_its_upstream_sees_no_failure_behind_a_call(whole: Make) -> None:
    failing = next(one for one in CONVERSATIONS if one.name == "fail-after-call")
    (call,) = answers_to(failing, 0, replace(WHOLE, mode=Mode.STREAM))[0].calls
    answer = whole("fail-after-call", None, "tool_calls", calls=[(call.id, call.name, call.arguments)])
    assert wanted(GATEWAY, answer) == [call.id]
    assert wanted(GATEWAY, whole("fail-after-call", "No call.")) == [call.id], "the call is what it had to send"
    assert wanted(GATEWAY, whole("fail-after-call", None, status=502)) == [], "it asked for a whole answer"
    assert wanted(MOCK, answer) == [], "a Codex says that it failed"


def test_behind_a_gateway_that_asks_for_messages_arguments_are_data(right_whole: Make, whole: Make) -> None:
    of_messages = replace(GATEWAY, missing=frozenset({Missing.SPELLING}))

    def due(target: Target, exchange: Exchange) -> list[tuple[str, bool]]:
        seen = recorded.of_turn(exchange.conversation, 0, exchange.form, target, exchange.transcript)
        return [(call.arguments, call.meant) for call in seen.wanted[0].calls]

    bare = whole("call-bare", None, "tool_calls", calls=[("call_1", "getFileTree", "{}")])
    assert (due(GATEWAY, bare), due(of_messages, bare)) == ([("", False)], [("{}", True)])
    ((spelled, known), (same, meant)) = (due(one, right_whole("call-one"))[0] for one in (GATEWAY, of_messages))
    assert (spelled, known, meant) == (same, False, True)
