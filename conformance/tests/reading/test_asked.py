from __future__ import annotations

import json

import pytest

from wireproof.model.asks import Anything, AskCall, AskCalls, AskCount, Asks, AskSay, Fits
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.reading.asked import limit_of, obeys, wanted
from wireproof.wire.events import Answer, Choice
from wireproof.wire.events import ToolCall as Came

FORM = Form(Dialect.OPENAI_JSON, Mode.WHOLE)
NUMBER = {
    "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False,
}  # fmt: skip


def said(text: str | None = None, *calls: tuple[str, str], finish: str = "stop", index: int = 0) -> Choice:
    made = tuple(Came(id=f"call_{n}", name=name, arguments=arguments) for n, (name, arguments) in enumerate(calls))
    return Choice(index=index, role="assistant", text=text, calls=made, finish=finish)


TWO = AskCalls(calls=(AskCall(name="a", arguments={"n": 1}), AskCall(name="b")))


@pytest.mark.parametrize(
    ("asks", "choice"),
    [
        (AskSay(text="Ünï 🙂"), said("Ünï 🙂")),
        (AskSay(text="a\nb"), said(" a\nb\n")),
        (AskCalls(calls=(AskCall(),)), said(None, ("any", "{}"))),
        (AskCalls(calls=(AskCall(name="a", arguments={"n": 1}),)), said(None, ("a", '{ "n": 1 }'))),
        (TWO, said(None, ("b", "{}"), ("a", '{"n":1}'))),
        (Fits(schema=NUMBER), said('{"n": 3}')),
        (AskCount(), said("1 2 3 4 5", finish="stop")),
        (AskCount(), said("Sure! 1, 2, 3, 4", finish="stop")),
        (AskCount(), said("Sure!", finish="length")),
        (Anything(), said("Hello.")),
        (Anything(), said(None, ("a", "{}"))),
    ],
)
def test_an_answer_does_what_was_asked(asks: Asks, choice: Choice) -> None:
    assert obeys(asks, choice)
    assert len(wanted(asks, Answer(choices=(choice,), usage=None, error=None), FORM, 1)) == 1


@pytest.mark.parametrize(
    ("asks", "choice"),
    [
        (AskSay(text="one two"), said("Sure: one two")),
        (AskSay(text="one two"), said("one  two")),
        (AskSay(text="one"), said("one", ("a", "{}"))),
        (AskSay(text="one"), said(None)),
        (AskCalls(calls=(AskCall(),)), said("I call a.")),
        (AskCalls(calls=(AskCall(name="a"),)), said(None, ("b", "{}"))),
        (AskCalls(calls=(AskCall(name="a", arguments={"n": 1}),)), said(None, ("a", '{"n": 2}'))),
        (AskCalls(calls=(AskCall(name="a"),)), said(None, ("a", '{"n": '))),
        (AskCalls(calls=(AskCall(name="a"),)), said(None, ("a", '"{}"'))),
        (AskCalls(calls=(AskCall(name="a"),)), said(None, ("a", "{}"), ("a", "{}"))),
        (TWO, said(None, ("a", '{"n": 1}'))),
        (Fits(schema=NUMBER), said("three")),
        (Fits(schema=NUMBER), said('{"n": "3"}')),
        (Fits(schema=NUMBER), said('{"n": 3, "m": 4}')),
        (AskCount(), said("I would rather not.")),
        (Anything(), said("")),
    ],
)
def test_an_answer_does_something_else(asks: Asks, choice: Choice) -> None:
    assert not obeys(asks, choice)
    assert wanted(asks, Answer(choices=(choice,), usage=None, error=None), FORM, 1) == ()


def test_every_choice_must_do_what_was_asked() -> None:
    both = Answer(choices=(said("x"), said("x", index=1)), usage=None, error=None)
    one = Answer(choices=(said("x"), said("y", index=1)), usage=None, error=None)
    assert len(wanted(AskSay(text="x"), both, FORM, 2)) == 2
    assert wanted(AskSay(text="x"), one, FORM, 2) == ()
    assert wanted(AskSay(text="x"), Answer(choices=(said("x"),), usage=None, error=None), FORM, 2) == ()


@pytest.mark.parametrize(
    ("asks", "choice", "finish"),
    [
        (AskSay(text="x"), said("x", finish="length"), "stop"),
        (AskCalls(calls=(AskCall(),)), said(None, ("a", "{}"), finish="stop"), "tool_calls"),
        (AskCount(), said("1 2 3 4", finish="stop"), "length"),
        (Anything(), said("x"), None),
    ],
)
def test_what_was_asked_says_how_the_answer_should_end(asks: Asks, choice: Choice, finish: str | None) -> None:
    (right,) = wanted(asks, Answer(choices=(choice,), usage=None, error=None), FORM, 1)
    assert right.finish == finish
    assert right.text == (choice.text or "")


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 5, "n": 2}, 10),
        ({"max_output_tokens": 5}, 5),
        ({"n": 2}, None),
        ({"max_tokens": "many"}, None),
        ([], None),
    ],
)
def test_the_limit_of_an_answer_is_that_of_its_request(body: object, limit: int | None) -> None:
    assert limit_of(json.dumps(body).encode()) == limit
    assert limit_of(b"{") is None
