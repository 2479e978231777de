from __future__ import annotations

import pytest

from wireproof_surfaces.assembly.choice import ChoiceAssembly, Rules, StopTexts
from wireproof_surfaces.events import CallBegan, ChoiceFinished, TextAdded, Thought

CASES = [
    ("one STOP two", ("STOP",), "one ", "STOP"),
    ("one two", ("STOP",), "one two", None),
    ("one STO", ("STOP",), "one STO", None),
    ("STSTOP", ("STOP",), "ST", "STOP"),
    ("aab", ("aab", "ab"), "", "aab"),
    ("xabcd", ("abcd", "bc"), "xa", "bc"),
    ("\n\nHuman: hi", ("\n\nHuman:",), "", "\n\nHuman:"),
    ("größe", ("ß",), "grö", "ß"),
]


@pytest.mark.parametrize(("text", "stops", "passes", "found"), CASES)
def test_a_stop_is_found_at_every_cut(text: str, stops: tuple[str, ...], passes: str, found: str | None) -> None:
    for first in range(len(text) + 1):
        for second in range(first, len(text) + 1):
            looking = StopTexts(stops)
            said = "".join(map(looking.feed, (text[:first], text[first:second], text[second:])))
            assert (said + looking.end(), looking.found) == (passes, found)


def passed(*events: object) -> list[object]:
    choice = ChoiceAssembly(0, Rules(stops=("STOP",)))
    return [passed for event in events for passed in choice.feed(event)]  # type: ignore[arg-type]


def test_a_choice_ends_with_the_text_that_stopped_it() -> None:
    assert passed(TextAdded(text="a ST"), TextAdded(text="OP b"), ChoiceFinished(reason="length")) == [
        TextAdded(text="a "),
        ChoiceFinished(reason="stop", stop="STOP"),
    ]


def test_what_may_be_the_head_of_a_stop_is_let_go_with_what_is_no_text() -> None:
    for other in (Thought(raw=("hm",)), CallBegan(id="c", name="f")):
        assert passed(TextAdded(text="a ST"), other)[:2] == [TextAdded(text="a "), TextAdded(text="ST")]
    assert passed(TextAdded(text="ST"), ChoiceFinished(reason="stop")) == [
        TextAdded(text="ST"),
        ChoiceFinished(reason="stop"),
    ]


def test_without_stops_text_passes_the_short_way_and_with_them_it_does_not() -> None:
    assert ChoiceAssembly(0, Rules()).passes("a")
    assert not ChoiceAssembly(0, Rules(stops=("STOP",))).passes("a")
