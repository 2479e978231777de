from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.assembly.assembly import Assembly
from wireproof_surfaces.assembly.choice import ChoiceAssembly, Rules
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    CallsEnded,
    ChoiceFinished,
    MessageEnded,
    Quiet,
    TextAdded,
    Thought,
    TurnOver,
    Working,
    apart,
)
from wireproof_surfaces.surfaces.chat_answer import ChatHead, ChatWhole
from wireproof_surfaces.surfaces.chat_dialect import CallFormat, ChatFormat
from wireproof_surfaces.surfaces.writer import pieces

BLOCK = "<use_tool><name>f</name><q>x</q></use_tool>"
CALLED = ChoiceFinished(reason="tool_calls")


def call(id_: str, text: str = "{}", name: str = "f") -> list[Any]:
    return [CallBegan(id=id_, name=name), ArgumentsAdded(id=id_, text=text), CallClosed(id=id_)]


def said(*events: Any, **rules: Any) -> list[Any]:
    choice = ChoiceAssembly(0, Rules(**rules))
    return [sent for event in events for sent in choice.feed(event)]


def kinds(events: list[Any]) -> str:
    """One letter for each event: t(ext), (o)pened, a(rguments), c(losed), f(inished)."""
    letters = {TextAdded: "t", CallBegan: "o", ArgumentsAdded: "a", CallClosed: "c", ChoiceFinished: "f"}
    return "".join(letters[type(event)] for event in events)


def test_a_thought_passes_behind_the_text_that_was_held_before_it() -> None:
    thought = Thought(summary=("Hm.",))
    assert said(TextAdded(text="One <"), thought, TextAdded(text=" two")) == [
        TextAdded(text="One "),
        TextAdded(text="<"),
        thought,
        TextAdded(text=" two"),
    ]


def test_nothing_is_thought_after_the_end() -> None:
    assert said(ChoiceFinished(reason="stop"), Thought(summary=("Hm.",))) == [ChoiceFinished(reason="stop")]


def test_the_limit_counts_calls_exactly_and_ends_a_stream() -> None:
    calls = [*call("a"), *call("b"), *call("c")]
    assert said(*calls, limit=2) == [*calls[:6], CALLED]
    assert said(*calls, CallsEnded(), limit=2, ends_early=False) == [*calls[:6], CALLED]


def test_blocks_in_the_text_count_too() -> None:
    text = TextAdded(text=BLOCK + BLOCK.replace("x", "y") + BLOCK.replace("x", "z"))
    assert kinds(said(text, CallsEnded(), limit=2)) == "oacoacf"


def test_a_block_is_sent_as_soon_as_the_backend_is_silent() -> None:
    choice = ChoiceAssembly(0, Rules(limit=1))
    assert list(choice.feed(TextAdded(text=f"before {BLOCK}"))) == [TextAdded(text="before ")]
    assert list(choice.feed(Working())) == []
    assert kinds(list(choice.feed(Quiet(0.2)))) == "oacf"
    assert choice.state == "finished"


def test_a_block_is_sent_when_words_follow_it_and_they_are_a_tail() -> None:
    assert kinds(said(TextAdded(text=BLOCK), TextAdded(text=" \n"), TextAdded(text="words"))) == "oac"


SENTINEL = '<tool_call>{"id":"c","name":"f","arguments":"{}"}</tool_call>'


@pytest.mark.parametrize("before", ["Let me look.", "```\nunclosed", "<tool_call>{", "a <use_to", "<use_tool>"])
def test_a_message_begins_at_the_start_of_a_line_outside_of_everything(before: str) -> None:
    events = said(TextAdded(text=before), MessageEnded(), TextAdded(text=SENTINEL), ChoiceFinished(reason="stop"))
    assert "".join(event.text for event in events if isinstance(event, TextAdded)) == before
    assert events[-4:] == [replace(call("c")[0], source="textual"), *call("c")[1:], CALLED]


def test_structure_sent_after_its_block_takes_its_place() -> None:
    events = said(TextAdded(text=BLOCK), Working(), *call("c", '{ "q": "x" }'), CallsEnded())
    assert events == [
        *call("c", '{ "q": "x" }')[:2],
        CallClosed(id="c", block=BLOCK),
        CALLED,
    ]


def test_tails_pass_if_they_may() -> None:
    tail = TextAdded(text="tail")
    assert said(*call("a"), tail, TurnOver(), tails=True) == [*call("a"), tail, CALLED]
    assert said(TextAdded(text=BLOCK), tail, TurnOver(), tails=True)[3] == tail


def test_without_calls_a_block_is_text_and_calls_are_nothing() -> None:
    events = [TextAdded(text=f"x{BLOCK}"), *call("a"), ChoiceFinished(reason="length")]
    assert said(*events, calls=False) == [events[0], events[-1]]


def test_text_that_is_held_is_sent_before_a_call() -> None:
    assert said(TextAdded(text="a <use"), *call("a"))[:2] == [TextAdded(text="a "), TextAdded(text="<use")]
    assert kinds(said(TextAdded(text="<use_tool>x"), *call("a"))) == "toac"


@pytest.mark.parametrize("apart", [True, False])
def test_characters_cut_in_halves_are_whole_in_arguments_too(apart: bool) -> None:  # noqa: FBT001 - a case
    text = '{"q":"\U0001f600"}'
    pieces = ['{"q":"\ud83d', '\ude00"}'] if apart else [text]
    fragments = [ArgumentsAdded(id="a", text=piece) for piece in pieces]
    events = said(call("a")[0], *fragments, CallClosed(id="a"))
    assert "".join(event.text for event in events if isinstance(event, ArgumentsAdded)) == text
    events = said(call("a")[0], ArgumentsAdded(id="a", text="\ud83d"), CallClosed(id="a"))
    assert events[1] == ArgumentsAdded(id="a", text="\ufffd")


def test_nothing_passes_after_the_end_even_what_was_held() -> None:
    assert kinds(said(TextAdded(text=f"{BLOCK}{BLOCK}"), *call("c", "{}", "g"), CallsEnded(), limit=1)) == "oacf"
    choice = ChoiceAssembly(0, Rules())
    list(choice.feed(TurnOver()))
    assert choice.answered
    assert list(choice.feed(TextAdded(text="late"))) == []
    assert list(choice.end("stop")) == []


# Any script, cut and interleaved in any way, gives the same answer.

WORDS = st.sampled_from(["a < b", "<use", "\n", "é😀", "<tool_call>", "ha", "ha", "</use_tool>", "```\n"])
ARGUMENTS = st.sampled_from(["{}", '{"q": "x"}', '{ "n" : 1.50 }', "", '{"😀":[', "plain"])
STRUCTURED = st.tuples(st.sampled_from(["f", "g"]), ARGUMENTS)
BLOCKS = st.sampled_from([BLOCK, BLOCK.replace("f<", "g<"), '\n<tool_call>{"id":"s","name":"f"}</tool_call>'])
SCRIPTS = st.lists(WORDS | BLOCKS | STRUCTURED, max_size=8)


def cut(text: str, draw: Any) -> list[str]:
    places = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=6))})
    return [text[a:b] for a, b in pairwise(places)]


def whole_cut(text: str, draw: Any) -> list[str]:
    del draw
    return [text]


def sent(script: list[Any], choice: int, pieces: Any, draw: Any) -> list[Any]:
    """The events of a script: texts and calls in pieces, neighbouring texts as one text."""
    events: list[Any] = []
    text = ""
    for number, step in enumerate([*script, None]):
        if isinstance(step, str):
            text += step
            continue
        events += [TextAdded(choice=choice, text=piece) for piece in pieces(text, draw)]
        text = ""
        if step is not None:
            opened, _, closed = call(f"c{number}", name=step[0])
            fragments = [ArgumentsAdded(id=opened.id, text=piece) for piece in pieces(step[1], draw)]
            events += [replace(event, choice=choice) for event in (opened, *fragments, closed)]
    return [*events, TurnOver(choice=choice)]


def interleaved(streams: list[list[Any]], draw: Any) -> list[Any]:
    mixed: list[Any] = []
    streams = [list(stream) for stream in streams]
    while any(streams):
        index = draw(st.sampled_from([at for at, stream in enumerate(streams) if stream]))
        mixed.append(streams[index].pop(0))
    return mixed


def answer(events: list[Any], choices: int, dialect: ChatFormat, limit: int | None) -> Any:
    call_format = CallFormat(dialect=dialect, policy="burst")
    head = ChatHead(id="x", created=0, model="m", choices=choices, call_format=call_format)
    rules = Rules(limit=1 if dialect is ChatFormat.FUNCTION_CALL else limit, ends_early=False)
    said = (one for ready in Assembly(rules, choices=choices, seed="seed").pull(events) for one in apart(ready))
    return json.loads(b"".join(pieces(said, ChatWhole(head))))["choices"]


@given(
    st.lists(SCRIPTS, min_size=1, max_size=3),
    st.sampled_from(list(ChatFormat)),
    st.sampled_from([None, 1, 2]),
    st.data(),
)
def test_any_script_recut_and_interleaved_gives_the_same_answer(
    scripts: list[list[Any]], dialect: ChatFormat, limit: int | None, data: Any
) -> None:
    plain = [event for index, script in enumerate(scripts) for event in sent(script, index, whole_cut, None)]
    mixed = interleaved([sent(script, index, cut, data.draw) for index, script in enumerate(scripts)], data.draw)
    assert answer(mixed, len(scripts), dialect, limit) == answer(plain, len(scripts), dialect, limit)
