from __future__ import annotations

from typing import Any

import pytest
from wireproof_fidelity.recorded_model import USAGE, recorded_model
from wireproof_fidelity.recording import Line, Message

from wireproof_scripts.steps import Call, Fail, Finish, Hang, Say, Step


def client(method: str, **params: Any) -> Line:
    return Line(sent=True, message={"id": 1, "method": method, "params": {"threadId": "t", **params}})


def turn(text: str) -> Line:
    return client("turn/start", input=[{"type": "text", "text": text}])


def server(method: str, **params: Any) -> Line:
    return Line(sent=False, message={"method": method, "params": {"threadId": "t", **params}})


def says(item: str, *deltas: str) -> list[Line]:
    return [server("item/agentMessage/delta", itemId=item, delta=delta) for delta in deltas]


def played(text: str, *said: Line) -> tuple[tuple[Step, ...], ...]:
    """The parts of the script that the text chooses; the usage ends each of them."""
    (script,) = recorded_model([turn(text), *said]).values()
    assert script.when == text
    assert all(part[-1] == USAGE for part in script.parts)
    return tuple(part[:-1] for part in script.parts)


def test_text_is_said_as_it_was_recorded() -> None:
    assert played("say [[plain]]", *says("m", "Hel", "lo")) == ((Say(("Hel", "lo")),),)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("[[slow:60,0.1]]", Hang()),
        ("[[http:503]]", Fail("http-503")),
        ("[[ctx400]]", Fail("http-400-context")),
        ("[[failed:insufficient_quota,You exceeded it]]", Fail("quota")),
        ("[[cut]]", Fail("cut")),
        ("[[hang:9]]", Fail("idle")),
    ],
)
def test_the_word_says_how_it_ends(text: str, end: Step) -> None:
    assert played(text, *says("m", "so far")) == ((Say(("so far",)), end),)
    assert played(text) == ((end,),)


def test_an_incomplete_answer_has_its_tokens_counted() -> None:
    assert played("[[incomplete:max_output_tokens]]", *says("m", "a")) == ((Say(("a",)), USAGE, Finish("length")),)


def test_calls_bear_the_recorded_ids_and_the_last_text_follows_their_results() -> None:
    item = {"type": "dynamicToolCall", "id": "call_7"}
    received = [
        server("item/started", item=item),
        server("item/tool/call", callId="call_7"),
        *says("m", "Tool said: ", "R"),
    ]
    call = Call(id="call_7", name="search", arguments='{"a":1}')
    assert played('[[fn:search|{"a":1}]]', *received) == ((call,), (Say(("Tool said: ", "R")),))
    unknown = Call(id="call_0_0", name="search", arguments="")
    assert played("[[fn:search|]]") == ((unknown,), ())


def test_two_calls_follow_what_was_said_before_them() -> None:
    received = [*says("a", "Let me."), server("item/tool/call", callId="call_1"), *says("b", "Tool said")]
    first, second = (Call(id=f"call_{number}", name="f", arguments="{}") for number in (1, 1))
    assert played("[[fn2:f|{}]]", *received)[0][:2] == (Say(("Let me.",)), first)
    assert played("[[fn2:f|{}]]", *received)[1] == (Say(("Tool said",)),)
    assert second == first


def test_where_no_model_was_reached_the_failure_is_the_recorded_one() -> None:
    failure = server("error", error={"message": "Missing environment variable: `KEY`."})
    assert played("[[plain]]", failure) == ((Fail("missing-key"),),)


def test_an_empty_input_asks_what_was_put_before_it() -> None:
    user: Message = {"role": "user", "content": [{"type": "input_text", "text": "Find notes"}]}
    lines = [client("thread/inject_items", items=[user]), client("turn/start", input=[]), *says("m", "Found")]
    assert list(recorded_model(lines)) == ["Find notes"]


def test_longer_texts_are_looked_for_first() -> None:
    assert list(recorded_model([turn("a"), turn("and a"), turn("a")])) == ["and a", "a"]
