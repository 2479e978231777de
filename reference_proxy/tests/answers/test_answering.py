from __future__ import annotations

import logging
from typing import Any

import pytest

from assay_proxy.answers.answering import Answering, Order, backend_model, choice_rules
from assay_proxy.assembly.choice import Rules
from assay_proxy.conversation import Conversation, Tool
from assay_proxy.errors import ApiError
from assay_proxy.events import CallClosed, CallOpened, Cause, Failed, Finished, Text
from assay_proxy.http.capacity import Gate

TOOL = Tool(name="f", description="", parameters={})


def order(**more: Any) -> Order:
    return Order(
        **{
            "id": "answer-1",
            "conversation": Conversation(tools=(TOOL,)),
            "rules": Rules(),
            "stream": False,
            "whole": lambda said: {"said": [type(event).__name__ for event in said]},
            "pieces": lambda said: (type(event).__name__.encode() for event in said),
            "dialect": "plain",
            "await_usage": False,
            **more,
        }
    )


def stay() -> bool:
    return False


@pytest.fixture
def answering(backend: Any, make_settings: Any) -> Answering:
    return Answering(settings=make_settings(), backend=backend, gate=Gate(1))


@pytest.mark.parametrize("stream", [False, True])
def test_an_order_is_answered_in_its_own_words_under_its_headers(
    answering: Answering,
    stream: bool,  # noqa: FBT001 - a case
) -> None:
    response = answering.answer(order(stream=stream, headers={"x-a": "b"}), gone=stay, keep_open=True)
    assert b"Text" in response.get_data()
    assert response.headers["x-a"] == "b"
    assert ("Connection" in response.headers) is stream
    response.close()
    assert answering.gate.taken == 0


@pytest.mark.parametrize("stream", [False, True])
def test_the_field_that_holds_the_conversation_is_to_blame(
    answering: Answering,
    backend: Any,
    stream: bool,  # noqa: FBT001 - a case
) -> None:
    backend.events = [Failed(Cause.CONTEXT)]
    if stream:
        with pytest.raises(ApiError) as raised:
            answering.answer(order(stream=stream, param="input"), gone=stay, keep_open=True)
        assert raised.value.param == "input"
    else:
        response = answering.answer(order(param="input"), gone=stay, keep_open=True)
        assert response.get_json() == {"said": ["Failed"]}
    assert answering.gate.taken == 0


def test_a_call_of_a_tool_that_was_not_declared_is_logged(
    answering: Answering, backend: Any, caplog: pytest.LogCaptureFixture
) -> None:
    calls = [CallOpened(id="c", name="f"), CallClosed(id="c"), CallOpened(id="d", name="g"), CallClosed(id="d")]
    backend.events = [Text(text="a"), *calls, Finished(reason="stop")]
    with caplog.at_level(logging.INFO, "assay_proxy.answers.answering"):
        answering.answer(order(), gone=stay, keep_open=True)
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings == ["answer-1 call of a tool that was not declared: g"]
    assert "answer-1 call tool=f source=structured" in caplog.text


def test_models_that_are_not_served_are_unknown(make_settings: Any) -> None:
    settings = make_settings(models=("codex", "gpt"))
    assert [backend_model(name, settings) for name in settings.models] == [None, "gpt"]
    with pytest.raises(ApiError) as raised:
        backend_model("x", settings)
    assert (raised.value.problem.code, raised.value.param) == ("model_not_found", "model")


@pytest.mark.parametrize(
    ("stream", "policy", "limit", "early", "settings"),
    [
        (True, "first", 1, True, {}),
        (True, "burst", None, True, {}),
        (True, "burst", 3, True, {"tool_block_max": 3}),
        (True, "burst", None, False, {"suppress_tail_after_tools": False}),
        (True, "first", 1, True, {"suppress_tail_after_tools": False}),
        (False, "first", None, False, {}),
        (False, "burst", 3, False, {"tool_block_max": 3}),
    ],
)
def test_rules_follow_from_the_policy_and_the_settings(
    make_settings: Any,
    stream: bool,  # noqa: FBT001 - a case
    policy: Any,
    limit: Any,
    early: bool,  # noqa: FBT001 - a case
    settings: dict[str, Any],
) -> None:
    rules = choice_rules(make_settings(**settings), stream=stream, policy=policy, calls=True)
    assert (rules.limit, rules.ends_early, rules.errors_win) == (limit, early, not stream)


def test_a_single_call_is_the_most_where_there_can_be_but_one(make_settings: Any) -> None:
    rules = choice_rules(make_settings(tool_block_max=3), stream=False, policy="burst", calls=False, single=True)
    assert (rules.limit, rules.calls) == (1, False)
