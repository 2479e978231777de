"""The short ways: text that is written without an event, and text that passes the assembly without one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wireproof_surfaces.answers.event_writers import EventStream, EventsWhole
from wireproof_surfaces.assembly.assembly import Assembly
from wireproof_surfaces.assembly.choice import Rules
from wireproof_surfaces.events import CallBegan, CallClosed, ChoiceFinished, Quiet, TextAdded
from wireproof_surfaces.surfaces.chat_answer import ChatHead, ChatStream, ChatWhole
from wireproof_surfaces.surfaces.json_text import encoded, string, written
from wireproof_surfaces.surfaces.responses_answer import ResponseEvents, ResponseHead
from wireproof_surfaces.surfaces.writer import pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_surfaces.surfaces.writer import Writer

CHAT = ChatHead(id="chatcmpl-1", created=7, model='m "delta":null', include_usage=True)
RESPONSE = ResponseHead(token="t" * 48, created=7, model="m")


def forget(_response: Any) -> None:
    """It is not kept."""


WRITERS: dict[str, Callable[[], Writer]] = {
    "chat stream": lambda: ChatStream(CHAT),
    "chat stream without usage": lambda: ChatStream(replace(CHAT, include_usage=False)),
    "chat whole": lambda: ChatWhole(CHAT),
    "responses stream": lambda: EventStream(ResponseEvents(RESPONSE), forget),
    "responses whole": lambda: EventsWhole(ResponseEvents(RESPONSE), forget),
}
TEXTS = st.lists(
    st.text(st.characters(codec=None), max_size=6) | st.sampled_from(["\n", "<", "<use", "_tool>", "é", '"'])
)
CALL = (CallBegan(id="c", name="f"), CallClosed(id="c"))


@pytest.mark.parametrize("name", WRITERS)
@given(before=TEXTS, after=TEXTS)
def test_text_is_written_alike_with_an_event_and_without(name: str, before: list[str], after: list[str]) -> None:
    short, long = WRITERS[name](), WRITERS[name]()

    def both(texts: list[str]) -> None:
        assert short.texts(texts) == b"".join(long.feed(TextAdded(text=text)) for text in texts if text)

    both(before)
    for event in CALL:
        assert short.feed(event) == long.feed(event)
    both(after)
    assert short.feed(ChoiceFinished(reason="stop")) == long.feed(ChoiceFinished(reason="stop"))
    assert short.end() == long.end()


@pytest.mark.parametrize("calls", [True, False])
@given(texts=TEXTS)
def test_text_passes_the_assembly_alike_with_an_event_and_without(texts: list[str], *, calls: bool) -> None:
    short, long = (Assembly(Rules(calls=calls), seed="s") for _ in range(2))
    for text in texts:
        event = TextAdded(text=text)
        passed = [event] if short.passes(text) else short.feed(event)
        assert passed == long.feed(event)
    end = ChoiceFinished(reason="stop")
    assert short.feed(end) == long.feed(end)
    assert not short.passes("late")


@given(texts=TEXTS)
def test_what_passes_together_passes_alone(texts: list[str]) -> None:
    together, alone = (Assembly(Rules(), seed="s") for _ in range(2))
    assume(together.passes("".join(texts)))
    assert all(alone.passes(text) for text in texts if text)
    # A sentinel counts at the start of a line outside code fences only: so it shows where both are.
    for assembly in (together, alone):
        assembly.feed(TextAdded(text='<tool_call>{"id": "a", "name": "f"}</tool_call>'))
    end = ChoiceFinished(reason="stop")
    assert together.feed(end) == alone.feed(end)


@pytest.mark.parametrize("text", ["a <b", "<use_tool>", "\ud83d", ""])
def test_what_may_be_something_else_does_not_pass(text: str) -> None:
    assembly = Assembly(Rules())
    assert assembly.passes("plain\n")
    assert not assembly.passes(text)


def test_nothing_passes_after_a_piece_that_waits() -> None:
    assembly = Assembly(Rules())
    assert assembly.feed(TextAdded(text="a <use")) == [TextAdded(text="a ")]
    assert not assembly.passes("d")
    assert assembly.feed(TextAdded(text="d")) == [TextAdded(text="<used")]
    assert assembly.passes(" again")


def test_the_assembly_is_done_with_the_end_of_its_choices() -> None:
    assembly = Assembly(Rules(), choices=2)
    assembly.feed(Quiet(1))
    assembly.feed(ChoiceFinished(choice=1, reason="stop"))
    assert not assembly.done
    assembly.feed(ChoiceFinished(choice=0, reason="stop"))
    assert assembly.done


def test_pulled_pieces_are_one_per_event_and_one_for_the_end() -> None:
    sent = list(pieces([TextAdded(text="a"), Quiet(1)], ChatStream(CHAT)))
    assert [bool(piece) for piece in sent] == [True, False, True]


@given(st.text(st.characters(codec=None)))
def test_a_text_is_the_same_json_by_itself(text: str) -> None:
    assert written({"a": text}) == f'{{"a":{string(text)}}}'
    assert encoded({"a": text}) == written({"a": text}).encode(errors="replace")
