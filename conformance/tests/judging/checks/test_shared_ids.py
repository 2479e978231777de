from __future__ import annotations

import dataclasses
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.checks.shared_ids import ANSWER_AGAIN, CALL_AGAIN, shared_ids
from wireproof.model.asks import Anything
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn
from wireproof.model.target import Backend, Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading import recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.reading.exchange import Exchange

TARGET = Target(base_url="http://x/v1", model="m", backend=Backend.LIVE)
CHAT, RESPONSE = Form(Dialect.OPENAI_JSON, Mode.WHOLE), Form(Dialect.RESPONSES, Mode.WHOLE)
STREAM = Form(Dialect.OPENAI_JSON, Mode.STREAM)


@cache
def scenario_of(name: str) -> ConversationScenario:
    turns = (Turn(say="p", asks=Anything()),) * 3
    return ConversationScenario(name=name, title="t", exercises=("chat.whole.text",), turns=turns)


def answered(name: str, form: Form, body: Any) -> Exchange:
    name, _, number = name.partition("/")
    scenario = scenario_of(name)
    data = json.dumps(body)
    streamed = form.mode is Mode.STREAM
    transcript = Transcript(
        method="POST", url="http://x", request_headers=(), request_body=b"{}", status=200,
        headers=(("content-type", "text/event-stream" if streamed else "application/json"),),
        pieces=(Piece(at=0.1, data=(f"data: {data}\n\n" if streamed else data).encode()),),
        end=End.COMPLETE, seconds=0.1,
    )  # fmt: skip
    return recorded.of_turn(scenario, int(number or 0), form, TARGET, transcript)


def chat(name: str, id_: str, *calls: str) -> Exchange:
    made = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in calls]
    message = {"role": "assistant", "content": "x", "tool_calls": made}
    return answered(name, CHAT, {"id": id_, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


def chunk(name: str, id_: str) -> Exchange:
    choice = {"index": 0, "delta": {"role": "assistant", "content": "x"}, "finish_reason": None}
    return answered(name, STREAM, {"id": id_, "choices": [choice]})


def response(name: str, id_: str, call: str) -> Exchange:
    item = {"type": "function_call", "id": "fc_1", "call_id": call, "name": "f", "arguments": "{}"}
    return answered(name, RESPONSE, {"id": id_, "object": "response", "output": [item]})


def message(name: str, start: Any) -> Exchange:
    return answered(name, Form(Dialect.MESSAGES, Mode.STREAM), start)


def found(*exchanges: Exchange) -> list[tuple[str, str, str]]:
    return [(one.scenario.name, seen.requirement, seen.seen) for one, seen in shared_ids(exchanges)]


def test_ids_that_all_differ_are_no_finding() -> None:
    # A call's id may look like an answer's; and an id that is missing is for other rows.
    answers = (chat("a", "1", "c1", "c2"), chat("b", "2", "1"), chunk("c", "3"), response("d", "4", "c4"))
    assert found(*answers, chunk("e", ""), chunk("f", "")) == []


def test_the_first_answer_of_each_row_with_another_ones_id_is_a_finding() -> None:
    assert found(chat("a", "1"), chunk("b", "2"), chat("c", "1"), chat("d", "1"), chunk("e", "1")) == [
        ("c", "chat.whole.envelope", "the answer's id is '1', which one of a (whole) has, too"),
        ("e", "chat.stream.stable-id", "the answer's id is '1', which one of a (whole) has, too"),
    ]


def test_so_is_the_first_call() -> None:
    answers = (chat("a", "1", "c1"), chat("b", "2", "c2", "c1"), chat("c", "3", "c2"))
    assert [(name, row) for name, row, _ in found(*answers, response("d", "4", "c5"), response("e", "4", "c5"))] == [
        ("b", "chat.whole.calls-all-in-order"),
        ("e", "responses.whole.envelope"),
        ("e", "responses.whole.call-items"),
    ]


def test_two_calls_of_one_answer_are_for_the_rows_of_that_answer() -> None:
    assert found(chat("a", "1", "c1", "c1")) == []


@pytest.mark.parametrize(
    ("answers", "seen"),
    [
        (
            (chat("a", "1", "c"), chat("a/1", "2", "c")),
            ["the call's id is 'c', which answer 1 of this conversation has, too"],
        ),
        # What harms is found although another conversation has the id, too.
        (
            (chat("a", "1", "c"), chat("b", "2", "c"), chat("b/1", "3", "c")),
            [
                "the call's id is 'c', which one of a (whole) has, too",
                "the call's id is 'c', which answer 1 of this conversation has, too",
            ],
        ),
        (
            (response("a", "r", "c1"), response("a/1", "r", "c2")),
            ["the answer's id is 'r', which answer 1 of this conversation has, too"],
        ),
        (
            (chat("a", "r", "c1"), chat("a/1", "r", "c2")),
            ["the answer's id is 'r', which answer 1 of this conversation has, too"],
        ),
        (
            (chunk("a", "r"), chunk("a/1", "r")),
            ["the answer's id is 'r', which answer 1 of this conversation has, too"],
        ),
    ],
)
def test_an_id_that_comes_again_in_a_conversation_harms_clients(answers: Sequence[Exchange], seen: list[str]) -> None:
    found = [violation for _, violation in shared_ids(answers)]
    assert [one.seen for one in found] == seen
    assert [one.strict_only for one in found] == ["this conversation" not in one for one in seen]
    assert found[-1].kind in {CALL_AGAIN, ANSWER_AGAIN}


def test_of_messages_no_client_was_seen_to_keep_the_ids_of_answers() -> None:
    start = {"type": "message_start", "message": {"id": "msg_1", "content": []}}
    (found,) = (violation for _, violation in shared_ids([message("a", start), message("a/1", start)]))
    assert found.strict_only


def test_a_stream_of_messages_has_its_id_in_the_message_that_starts() -> None:
    start = {"type": "message_start", "message": {"id": "msg_1", "content": []}}
    (seen,) = (violation.requirement for _, violation in shared_ids([message("a", start), message("b", start)]))
    assert seen == "messages.stream.schema"


def test_the_calls_of_a_script_have_its_ids_wherever_it_is_played() -> None:
    played = [dataclasses.replace(one, turn=Turn(say="p")) for one in (chat("a", "1", "c"), chat("b", "1", "c"))]
    assert [seen.requirement for _, seen in shared_ids(played)] == ["chat.whole.envelope"]
    again = [dataclasses.replace(one, turn=Turn(say="p")) for one in (chat("a", "1", "c"), chat("a/1", "2", "c"))]
    assert [seen.kind for _, seen in shared_ids(again)] == [CALL_AGAIN]


def test_a_shared_id_breaks_the_letter_alone() -> None:
    assert [seen.strict_only for _, seen in shared_ids([chat("a", "1"), chat("b", "1")])] == [True]
