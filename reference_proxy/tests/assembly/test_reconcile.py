from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.assembly.reconcile import Reconciler
from wireproof_surfaces.events import ArgumentsAdded, CallBegan, CallClosed
from wireproof_surfaces.tools.use_tool import TextCall

CALL = TextCall(name="f", arguments='{"q":"x"}', block="<block>")
OTHER = TextCall(name="g", arguments="{}", block="<other>")


def call(id_: str, arguments: str = '{ "q": "x" }', name: str = "f", block: str | None = None) -> list[Any]:
    return [CallBegan(id=id_, name=name), ArgumentsAdded(id=id_, text=arguments), CallClosed(id=id_, block=block)]


def play(reconciler: Reconciler, *steps: Any) -> list[Any]:
    """Texts, structured events and "release" in turn; what is sent, up to the end."""
    said: list[Any] = []
    for step in steps:
        match step:
            case TextCall():
                said += ["again"] if not reconciler.textual(step) else []
            case "release":
                said += reconciler.release()
            case _:
                said += reconciler.structured(step)
    return [*said, *reconciler.end()]


def sent(*steps: Any) -> list[Any]:
    return play(Reconciler(0, "seed"), *steps)


def textual(events: list[Any]) -> list[tuple[str, str | None]]:
    """The name and block of the calls from the text."""
    return [
        (opened.name, closed.block)
        for opened, _, closed in zip(events[::3], events[1::3], events[2::3], strict=True)
        if opened.source == "textual"
    ]


def test_a_call_from_the_text_waits_and_is_sent_at_the_end() -> None:
    reconciler = Reconciler(0, "seed")
    assert reconciler.textual(CALL)
    events: list[Any] = list(reconciler.end())
    assert textual(events) == [("f", "<block>")]
    assert events[1].text == '{"q":"x"}'
    assert list(reconciler.end()) == []


def test_structure_takes_the_place_of_text_and_keeps_its_block() -> None:
    assert sent(CALL, *call("c")) == call("c", block="<block>")


def test_structure_that_comes_too_late_is_the_same_call_again() -> None:
    events = sent(CALL, "release", *call("c"))
    assert textual(events) == [("f", "<block>")]
    assert len(events) == 3


def test_text_that_repeats_structure_is_the_same_call_again() -> None:
    assert sent(*call("c"), CALL) == [*call("c"), "again"]


def test_text_that_repeats_structure_that_is_not_closed_yet_is_the_same_call_again() -> None:
    assert sent(*call("c")[:2], CALL, call("c")[2]) == [*call("c")[:2], "again", call("c")[2]]


def test_each_form_stands_for_one_call() -> None:
    events = sent(CALL, CALL, *call("c"))
    assert events[:3] == call("c", block="<block>")
    assert textual(events[3:]) == [("f", "<block>")]
    assert len(events[3:]) == 3
    assert sent(*call("c"), CALL, CALL)[3] == "again"


def test_a_call_of_another_tool_goes_its_own_way() -> None:
    events = sent(CALL, *call("c", name="g"))
    assert textual(events[:3]) == [("f", "<block>")]
    assert events[3:] == call("c", name="g")


def test_a_call_with_other_arguments_comes_after_the_text() -> None:
    events = sent(CALL, *call("c", '{"q":"y"}'))
    assert textual(events[:3]) == [("f", "<block>")]
    assert events[3:] == call("c", '{"q":"y"}')


def test_calls_behind_a_suspect_wait_for_it() -> None:
    one, two = call("c"), call("d", name="g")
    events = sent(CALL, one[0], *two, one[1], one[2])
    assert events == [*call("c", block="<block>"), *two]


def test_a_suspect_that_is_never_complete_is_sent_as_far_as_it_is() -> None:
    events = sent(CALL, *call("c")[:2])
    assert textual(events[:3]) == [("f", "<block>")]
    assert events[3:] == call("c")[:2]


def test_texts_before_the_one_that_is_replaced_are_sent_before_it() -> None:
    events = sent(OTHER, CALL, OTHER, *call("c"))
    assert [event.name for event in events if isinstance(event, CallBegan)] == ["g", "f", "g"]
    assert events[3:6] == call("c", block="<block>")


@pytest.mark.parametrize("arguments", ['{"n":"3"}', '{"n":3}', '{"n": 3.0}'])
def test_a_block_has_no_quotes_so_strings_and_numbers_are_the_same_there(arguments: str) -> None:
    assert sent(TextCall(name="f", arguments='{"n":3}'), *call("c", arguments)) == call("c", arguments)


def test_the_same_id_is_the_same_call() -> None:
    sentinel = TextCall(id="c", name="f", arguments="{}")
    assert sent(sentinel, *call("c", '{"other": 1}')) == call("c", '{"other": 1}')
    assert sent(*call("c"), sentinel)[-1] == "again"


def test_ids_are_kept_made_up_or_changed_so_that_they_are_unique() -> None:
    sentinel = TextCall(id="c", name="f", arguments="{}")
    ids = [event.id for event in sent(sentinel, sentinel, CALL) if isinstance(event, CallBegan)]
    assert ids[0] == "c"
    assert len(set(ids)) == 3
    assert ids != [event.id for event in play(Reconciler(1, "seed"), sentinel, sentinel, CALL)[::3]]


def test_pieces_of_calls_that_were_not_opened_pass() -> None:
    assert sent(CallClosed(id="x")) == [CallClosed(id="x")]
    assert sent(ArgumentsAdded(id="x", text="1")) == [ArgumentsAdded(id="x", text="1")]
