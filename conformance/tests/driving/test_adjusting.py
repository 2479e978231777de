from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof.driving.tries import Adjusting
from wireproof.model.asks import AskCount, AskSay
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn
from wireproof.model.target import Backend, Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading import recorded
from wireproof.requests.plain import UnseenError

TARGET = Target(base_url="http://x/v1", model="m", backend=Backend.LIVE)
FORM, OF_MESSAGES = (Form(dialect, Mode.WHOLE) for dialect in (Dialect.OPENAI_JSON, Dialect.MESSAGES))
URL = "http://x/v1/chat/completions"
SAY = ConversationScenario(
    name="s", title="t", exercises=("chat.whole.text",), turns=(Turn(say="p", asks=AskSay(text="x")),), cap=10
)
COUNT = ConversationScenario(
    name="c", title="t", exercises=("chat.whole.finish",), turns=(Turn(say="p", asks=AskCount()),), cap=10
)
NAMED = ConversationScenario(
    name="n", title="t", exercises=("chat.whole.finish",), turns=(Turn(say="p", asks=AskCount()),),
    body={"max_completion_tokens": 10},
)  # fmt: skip


def examined(
    adjusting: Adjusting,
    sent: dict[str, Any],
    refused: str = "",
    scenario: ConversationScenario = SAY,
    form: Form = FORM,
    **more: Any,
) -> bool:
    url = f"http://x/v1{form.dialect.spec.surface.endpoint}"
    error = {"message": f"{refused} is not supported", "type": "invalid_request_error", "param": refused, "code": None}
    message = {"role": "assistant", "content": "x"}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    data = {"error": {**error, **more}} if refused else {"choices": choices}
    transcript = Transcript(
        method="POST", url=url, request_headers=(),
        request_body=adjusting.written(json.dumps(sent).encode(), url), status=400 if refused else 200,
        headers=(("content-type", "application/json"),), pieces=(Piece(at=0.1, data=json.dumps(data).encode()),),
        end=End.COMPLETE, seconds=0.1,
    )  # fmt: skip
    return adjusting.examine(recorded.of_turn(scenario, 0, form, TARGET, transcript))


def instead(adjusting: Adjusting) -> dict[str, str]:
    return {name: one.instead for name, one in adjusting.found.items()}


def test_a_limit_is_sent_under_its_other_name_and_left_out_where_that_is_refused_too() -> None:
    adjusting = Adjusting()
    assert examined(adjusting, {"max_tokens": 10}, "max_tokens")
    assert instead(adjusting) == {"max_tokens": "max_completion_tokens"}
    assert json.loads(adjusting.written(b'{"a": 1, "max_tokens": 10}', URL)) == {"a": 1, "max_completion_tokens": 10}
    assert examined(adjusting, {"max_tokens": 10}, "max_completion_tokens")
    assert instead(adjusting) == {"max_tokens": "", "max_completion_tokens": ""}
    assert json.loads(adjusting.written(b'{"a": 1, "max_tokens": 10}', URL)) == {"a": 1}


@pytest.mark.parametrize("more", [{"param": None}, {"message": "no", "param": "parallel_tool_calls"}])
def test_the_param_or_the_message_of_a_refusal_names_the_member(more: dict[str, Any]) -> None:
    adjusting = Adjusting()
    assert examined(adjusting, {"parallel_tool_calls": True}, "parallel_tool_calls", **more)
    assert instead(adjusting) == {"parallel_tool_calls": ""}


def test_what_was_taken_once_or_cannot_be_spared_is_not_left_out() -> None:
    adjusting = Adjusting()
    assert not examined(adjusting, {"max_tokens": 10})
    # Too low, say.
    assert not examined(adjusting, {"max_tokens": 1}, "max_tokens")
    assert not examined(adjusting, {"tools": []}, "tools")
    # The scenario is about this name.
    assert not examined(adjusting, {"max_completion_tokens": 10}, "max_completion_tokens", NAMED)
    assert adjusting.found == {}


def test_what_chat_refuses_is_sent_to_messages_which_demand_it() -> None:
    adjusting = Adjusting()
    assert not examined(adjusting, {"max_tokens": 10}, form=OF_MESSAGES)
    assert examined(adjusting, {"max_tokens": 10}, "max_tokens")
    assert adjusting.written(b'{"max_tokens": 10}', "http://x/v1/messages") == b'{"max_tokens": 10}'
    assert not examined(adjusting, {"max_tokens": 10}, "max_tokens", form=OF_MESSAGES)
    assert instead(adjusting) == {"max_tokens": "max_completion_tokens"}


def test_a_value_that_is_wrong_on_purpose_is_sent_as_it_is() -> None:
    adjusting = Adjusting()
    examined(adjusting, {"max_tokens": 10}, "max_tokens")
    for body in (b'{"max_tokens": "many"}', b'{"max_tokens": 1', b"[1]"):
        assert adjusting.written(body, URL) == body


def test_an_answer_is_not_held_against_a_limit_that_the_target_does_not_take() -> None:
    adjusting = Adjusting()
    for name in ("max_tokens", "max_completion_tokens"):
        assert examined(adjusting, {"max_tokens": 10}, name, COUNT)
    with pytest.raises(UnseenError, match="the target takes no limit of tokens: "):
        examined(adjusting, {"max_tokens": 10}, scenario=COUNT)
    assert not examined(adjusting, {"max_tokens": 10})
