from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.answers.timing import ClientState
from wireproof_surfaces.answers.plan import AnswerPlan, Demand
from wireproof_surfaces.assembly.choice import Rules
from wireproof_surfaces.conversation import Conversation, Tool
from wireproof_surfaces.errors import RESPONSES_FIELDS, ApiError
from wireproof_surfaces.events import (
    CallBegan,
    CallClosed,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    TextAdded,
    Texts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference_proxy.tests.conftest import MakeRunner, ScriptedBackend

    from wireproof_proxy.answers.turn_runner import TurnRunner
    from wireproof_surfaces.events import TurnEvent

TOOL = Tool(name="f", description="", parameters={})


class Names:
    """Writes what it was fed."""

    def __init__(self, *, stream: bool) -> None:
        self.stream = stream
        self.said: list[str] = []

    def feed(self, event: TurnEvent) -> bytes:
        self.said.append(type(event).__name__)
        return self.said[-1].encode() if self.stream else b""

    def texts(self, texts: Sequence[str], choice: int = 0) -> bytes:
        return b"".join(self.feed(TextAdded(text=text, choice=choice)) for text in texts)

    def end(self) -> bytes:
        return b"" if self.stream else json.dumps({"said": self.said}).encode()


def plan(*, stream: bool = False, **more: Any) -> AnswerPlan:
    return AnswerPlan(
        **{
            "id": "answer-1",
            "conversation": Conversation(tools=(TOOL,)),
            "rules": Rules(),
            "stream": stream,
            "writer": Names(stream=stream),
            "dialect": "plain",
            "await_usage": False,
            **more,
        }
    )


def stay() -> bool:
    return False


@pytest.fixture
def runner(make_runner: MakeRunner) -> TurnRunner:
    made: TurnRunner = make_runner()
    return made


@pytest.mark.parametrize("stream", [False, True])
def test_a_plan_is_answered_in_its_own_format_under_its_headers(
    runner: TurnRunner,
    stream: bool,  # noqa: FBT001 - a case
) -> None:
    response = runner.run(plan(stream=stream, headers={"x-a": "b"}), ClientState(gone=stay, keep_open=True))
    assert b"TextAdded" in response.get_data()
    assert response.headers["x-a"] == "b"
    assert ("Connection" in response.headers) is stream
    response.close()
    assert runner.gate.taken == 0


def test_what_is_ready_together_is_one_piece_of_the_body(runner: TurnRunner, backend: ScriptedBackend) -> None:
    backend.events = [TextAdded(text="a"), Texts(texts=("b", "c")), ChoiceFinished(reason="stop")]
    response = runner.run(plan(stream=True), ClientState(gone=stay))
    assert list(response.response) == [b"TextAdded", b"TextAddedTextAdded", b"ChoiceFinished"]
    response.close()


@pytest.mark.parametrize("stream", [False, True])
def test_the_field_that_holds_the_conversation_is_to_blame(
    runner: TurnRunner,
    backend: ScriptedBackend,
    stream: bool,  # noqa: FBT001 - a case
) -> None:
    backend.events = [ChoiceFailed(FailureReason.CONTEXT)]
    if stream:
        with pytest.raises(ApiError) as raised:
            runner.run(plan(stream=stream, fields=RESPONSES_FIELDS), ClientState(gone=stay, keep_open=True))
        assert raised.value.param == "input"
    else:
        response = runner.run(plan(fields=RESPONSES_FIELDS), ClientState(gone=stay, keep_open=True))
        assert response.get_json() == {"said": ["ChoiceFailed"]}
    assert runner.gate.taken == 0


def test_a_call_of_a_tool_that_was_not_declared_is_logged(
    runner: TurnRunner, backend: ScriptedBackend, caplog: pytest.LogCaptureFixture
) -> None:
    calls = [CallBegan(id="c", name="f"), CallClosed(id="c"), CallBegan(id="d", name="g"), CallClosed(id="d")]
    backend.events = [TextAdded(text="a"), *calls, ChoiceFinished(reason="stop")]
    with caplog.at_level(logging.INFO, "wireproof_proxy.answers.turn_runner"):
        runner.run(plan(), ClientState(gone=stay, keep_open=True))
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings == ["answer-1 call of a tool that was not declared: g"]
    assert "answer-1 call tool=f source=structured" in caplog.text


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_without_a_demanded_call_is_an_error_that_names_the_field(
    runner: TurnRunner,
    backend: ScriptedBackend,
    stream: bool,  # noqa: FBT001 - a case
) -> None:
    demand = Demand(names=("f",))
    demanded = plan(stream=stream, demand=demand)
    if stream:
        with pytest.raises(ApiError) as raised:
            runner.run(demanded, ClientState(gone=stay, keep_open=True))
        assert (raised.value.problem.status, raised.value.param) == (400, "tool_choice")
    else:
        assert runner.run(demanded, ClientState(gone=stay, keep_open=True)).get_json()["said"] == ["ChoiceFailed"]
    backend.events = [CallBegan(id="a", name="f"), CallClosed(id="a"), ChoiceFinished(reason="tool_calls")]
    demanded = plan(stream=stream, demand=demand)
    assert b"CallBegan" in runner.run(demanded, ClientState(gone=stay, keep_open=True)).get_data()
