from __future__ import annotations

from typing import Any

import pytest

from wireproof.wire.choice import ChoiceReader, read_deltas
from wireproof.wire.events import CallOpened, ChatEvent, Finished, Fragment, Role, Text
from wireproof.wire.facet import Facet
from wireproof.wire.grammar import CALL, CHOICE, CallSign, CallState, ChoiceSign, ChoiceState
from wireproof.wire.sse import SseFrame
from wireproof.wire.table import Hole
from wireproof.wire.violation import Place, Violation

END = Place(offset=100, length=0)


def frame(number: int) -> SseFrame:
    return SseFrame(number=number, offset=10 * number, raw=b"x" * 10, data="", event=None, comments=())


def call(index: Any = 0, id_: str | None = "a", name: str | None = "f", arguments: Any = "") -> dict[str, Any]:
    return {"index": index, "id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def more(arguments: str, index: int = 0) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}}


def calls(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"delta": {"tool_calls": list(entries)}}


ROLE = {"delta": {"role": "assistant"}}
TEXT = {"delta": {"content": "a"}}
BLOCK = "<use_tool>\n  <name>f</name>\n</use_tool>"
FINISH = {"delta": {}, "finish_reason": "stop"}


def content(text: str) -> dict[str, Any]:
    return {"delta": {"content": text}}


def legacy(**call: Any) -> dict[str, Any]:
    return {"delta": {"function_call": call}}


def read(*choices: dict[str, Any], end: bool = True, blocks: bool = False) -> tuple[list[ChatEvent], Violation | None]:
    choice, events = ChoiceReader(0, blocks=blocks), list[ChatEvent]()
    for number, entry in enumerate(choices):
        for delta in read_deltas({"choices": [entry]}):
            events += choice.read(delta, frame(number))
    if end:
        choice.close(END)
    return events, next(iter(choice.violations), None)


# How to come to a state, and how to give a sign, so that every reachable hole is fallen into once.
WAYS = {
    ChoiceState.NEW: (),
    ChoiceState.SPEAKING: (ROLE,),
    ChoiceState.CALLING: (ROLE, calls(call())),
    ChoiceState.FINISHED: (ROLE, FINISH),
}
SIGNS: dict[ChoiceSign, dict[str, Any]] = {
    ChoiceSign.ROLE: ROLE,
    ChoiceSign.STRANGER: {"delta": {"role": "user"}},
    ChoiceSign.TORN: {"delta": {"content": "\ud83d"}},
    ChoiceSign.MIXED: {"delta": {"content": "a", "tool_calls": [call(1, "b")]}},
    ChoiceSign.TEXT: TEXT,
    ChoiceSign.BLOCK: content(BLOCK),
    ChoiceSign.PIECE: content(BLOCK[:20]),
    ChoiceSign.CALL: calls(call(1, "b")),
    ChoiceSign.EMPTY: {"delta": {}},
    ChoiceSign.FINISH: FINISH,
    ChoiceSign.FULL: {"delta": {"content": "a"}, "finish_reason": "stop"},
}
VIOLATIONS = [
    (state, sign, cell.requirement)
    for (state, sign), cell in CHOICE.items()
    if isinstance(cell, Hole) and sign is not ChoiceSign.END
]


@pytest.mark.parametrize(("state", "sign", "requirement"), VIOLATIONS)
def test_every_hole_of_a_choice_is_reported_once_at_its_frame(
    state: ChoiceState, sign: ChoiceSign, requirement: str
) -> None:
    way, fall = WAYS[state], SIGNS[sign]
    if (state, sign) == (ChoiceState.CALLING, ChoiceSign.FULL):
        fall = {"delta": {"tool_calls": [more("{}")]}, "finish_reason": "stop"}
    after = (TEXT, ROLE, FINISH, FINISH)
    _, violation = read(*way, fall, *after, blocks=sign in {ChoiceSign.BLOCK, ChoiceSign.PIECE})
    assert violation is not None
    assert violation.requirement == requirement
    assert violation.place == frame(len(way)).place
    assert violation.seen.startswith("choice 0: ")


@pytest.mark.parametrize(("state", "sign", "requirement"), VIOLATIONS)
def test_behind_a_hole_the_choice_is_judged_on(state: ChoiceState, sign: ChoiceSign, requirement: str) -> None:
    choice = ChoiceReader(0, blocks=sign in {ChoiceSign.BLOCK, ChoiceSign.PIECE})
    fall = SIGNS[sign]
    if (state, sign) == (ChoiceState.CALLING, ChoiceSign.FULL):
        fall = {"delta": {"tool_calls": [more("{}")]}, "finish_reason": "stop"}
    for number, entry in enumerate((*WAYS[state], fall, FINISH, TEXT, FINISH, FINISH)):
        for delta in read_deltas({"choices": [entry]}):
            list(choice.read(delta, frame(number)))
    names = [(one.requirement, one.kind) for one in choice.violations]
    assert len(set(names)) == len(names), "each once"
    assert choice.violations[0].requirement == requirement
    assert "chat.stream.nothing-after-finish" in [name for name, _ in names], "content after the finish"


def test_what_is_wrong_in_several_ways_is_named_for_each() -> None:
    """A proxy without a role, with a call without an index, text after it, two finishes and text behind them."""
    choice = ChoiceReader(0)
    deltas = (TEXT, calls(call(None)), calls(more("{}")), TEXT, FINISH, FINISH, TEXT)
    events: list[ChatEvent] = []
    for number, entry in enumerate(deltas):
        for delta in read_deltas({"choices": [entry]}):
            events += choice.read(delta, frame(number))
    assert [one.requirement.rpartition(".")[2] for one in choice.violations] == [
        "role-first", "call-opening", "tail-suppressed", "finish-once", "nothing-after-finish",
    ]  # fmt: skip
    assert [event for event in events if isinstance(event, CallOpened | Fragment)] == [
        CallOpened(frame=1, choice=0, index=0, id="a", name="f"),
        Fragment(frame=1, choice=0, index=0, text=""),
        Fragment(frame=2, choice=0, index=0, text="{}"),
    ]


@pytest.mark.parametrize("state", [ChoiceState.NEW, ChoiceState.SPEAKING, ChoiceState.CALLING])
def test_an_end_without_a_finish_is_reported_at_the_end(state: ChoiceState) -> None:
    _, violation = read(*WAYS[state])
    kind = f"the end of the answer without a finish_reason, {state.value}"
    assert violation == Violation(
        requirement="chat.stream.finish-once",
        seen=f"choice 0: {kind}",
        place=END,
        kind=kind,
        spoils=frozenset({Facet.FINISH, Facet.END}),
    )


CALL_SIGNS = {
    CallSign.HEAD: call(),
    CallSign.PART: {"index": 0, "id": "a"},
    CallSign.GROWTH: more("{"),
    CallSign.SAME: more(""),
    CallSign.ASTRAY: call(None),
    CallSign.NO_TEXT: {"index": 0, "function": {"arguments": {}}},
}


CALL_WORDS = {
    (CallState.OPENED, CallSign.HEAD): "a delta opens it once more, with id, type and name",
    (CallState.UNKNOWN, CallSign.PART): "its first delta lacks its type function and its name",
    (CallState.OPENED, CallSign.PART): "a later delta repeats its id",
}


@pytest.mark.parametrize(
    ("deltas", "said"),
    [
        ([call(2)], "choice 0, call 2: a delta of index 2, when no calls have been opened"),
        ([call(), call(2, "b")], "choice 0, call 2: a delta of index 2, when one call has been opened"),
        ([call(), call(1)], 'choice 0, call 1: a call is opened under the id of an earlier one, "a"'),
        ([call(None)], "choice 0, call ?: a delta whose index is missing or no integer"),
        ([call(), {"index": 0, "function": {"name": "f"}}], "choice 0, call 0: a later delta repeats its name"),
    ],
)
def test_a_wrong_delta_of_a_call_is_named_for_what_it_lacks_or_repeats(deltas: list[dict[str, Any]], said: str) -> None:
    _, violation = read(ROLE, *(calls(delta) for delta in deltas), FINISH)
    assert violation is not None
    assert violation.seen == said


@pytest.mark.parametrize(("state", "sign"), [key for key, cell in CALL.items() if not isinstance(cell, CallState)])
def test_every_hole_of_a_call_is_reported_once_at_its_frame(state: CallState, sign: CallSign) -> None:
    way = (ROLE,) if state is CallState.UNKNOWN else (ROLE, calls(call()))
    _, violation = read(*way, calls(CALL_SIGNS[sign]), calls(more("")), FINISH)
    assert violation is not None
    assert violation.place == frame(len(way)).place
    if sign is CallSign.ASTRAY:
        assert violation.requirement == "chat.stream.call-opening"
        assert violation.seen.startswith("choice 0, call ?: ")
    else:
        cell = CALL[state, sign]
        assert isinstance(cell, Hole)
        assert (violation.requirement, violation.strict_only) == (cell.requirement, cell.strict_only)
        said = CALL_WORDS.get((state, sign), f"{sign.value}, {state.value}")
        assert violation.seen == f"choice 0, call 0: {said}"


def test_a_choice_says_its_events() -> None:
    events, violation = read(
        ROLE, TEXT, calls(call(arguments="{")), calls(more("}"), call(1, "b", "g", None)), calls(more("[]", 1)), FINISH
    )
    assert violation is None
    assert events == [
        Role(frame=0, choice=0, role="assistant"),
        Text(frame=1, choice=0, text="a"),
        CallOpened(frame=2, choice=0, index=0, id="a", name="f"),
        Fragment(frame=2, choice=0, index=0, text="{"),
        Fragment(frame=3, choice=0, index=0, text="}"),
        CallOpened(frame=3, choice=0, index=1, id="b", name="g"),
        Fragment(frame=4, choice=0, index=1, text="[]"),
        Finished(frame=5, choice=0, reason="stop"),
    ]


def test_a_delta_without_an_index_belongs_to_the_call_before() -> None:
    events, _ = read(ROLE, calls(call(0)), calls(call(None, None, None, "{}")), end=False)
    assert events[-1] == Fragment(frame=2, choice=0, index=0, text="{}")


def test_a_call_without_a_head_has_it_empty() -> None:
    events, _ = read(ROLE, calls(more("{}")), end=False)
    assert events[1:] == [
        CallOpened(frame=1, choice=0, index=0, id="", name=""),
        Fragment(frame=1, choice=0, index=0, text="{}"),
    ]


def test_a_choice_is_finished_by_its_finish_whatever_was_wrong_before() -> None:
    def finished(*choices: dict[str, Any]) -> bool:
        choice = ChoiceReader(0)
        for delta in read_deltas({"choices": list(choices)}):
            list(choice.read(delta, frame(0)))
        return choice.finished

    assert not finished(ROLE, TEXT)
    assert not finished(TEXT)
    assert finished(ROLE, FINISH)
    assert finished(TEXT, FINISH)
    assert finished(ROLE, FINISH, TEXT)


def test_closing_says_whether_the_end_broke_the_choice() -> None:
    finished, broken = ChoiceReader(0), ChoiceReader(0)
    for choice, entries in ((finished, [ROLE, FINISH]), (broken, [TEXT])):
        for delta in read_deltas({"choices": entries}):
            list(choice.read(delta, frame(0)))
    assert [finished.close(END), broken.close(END), ChoiceReader(0).close(END)] == [True, False, False]


# Blocks


@pytest.mark.parametrize(
    "said",
    [
        (content(BLOCK),),
        (TEXT, content(BLOCK)),
        (content("Now: " + BLOCK),),
        (calls(call(arguments="{}")), content(BLOCK)),
        (calls(call(arguments="{}")), content(BLOCK), content("\n" + BLOCK)),
        (calls(call(arguments="{}")), content(BLOCK), calls(call(1, "b")), content("\n" + BLOCK)),
        (content("a <use_tool"), content(" b")),
    ],
)
def test_blocks_follow_text_and_calls_and_each_other(said: tuple[dict[str, Any], ...]) -> None:
    events, violation = read(ROLE, *said, FINISH, blocks=True)
    assert violation is None
    assert [event.text for event in events if isinstance(event, Text)] == [
        one["delta"]["content"] for one in said if "content" in one["delta"]
    ]


@pytest.mark.parametrize(
    ("said", "requirement"),
    [
        ((content(BLOCK), TEXT), "chat.stream.tail-suppressed"),
        ((content(BLOCK + " and a tail"),), None),
        ((content(BLOCK), content("\n")), "chat.stream.tail-suppressed"),
        ((calls(call()), content(BLOCK[:20]), content(BLOCK[20:])), "chat.stream.xml-single-delta"),
        ((calls(call()), content(BLOCK + "!")), "chat.stream.xml-single-delta"),
    ],
)
def test_what_follows_a_block_or_cuts_it_is_reported(said: tuple[dict[str, Any], ...], requirement: str | None) -> None:
    _, violation = read(ROLE, *said, FINISH, blocks=True)
    assert (violation and violation.requirement) == requirement


def test_where_the_dialect_has_no_blocks_a_block_is_text() -> None:
    _, violation = read(ROLE, calls(call()), content(BLOCK), FINISH)
    assert violation is not None
    assert violation.requirement == "chat.stream.tail-suppressed"
    assert read(ROLE, content(BLOCK), TEXT, FINISH)[1] is None


# The legacy call


def test_a_legacy_call_is_opened_by_its_name_and_grows() -> None:
    events, violation = read(
        ROLE, legacy(name="f", arguments=""), legacy(arguments='{"a"'), legacy(arguments=":1}"), FINISH
    )
    assert violation is None
    assert events[1:-1] == [
        CallOpened(frame=1, choice=0, index=0, id="", name="f"),
        Fragment(frame=1, choice=0, index=0, text=""),
        Fragment(frame=2, choice=0, index=0, text='{"a"'),
        Fragment(frame=3, choice=0, index=0, text=":1}"),
    ]


@pytest.mark.parametrize(
    ("said", "requirement"),
    [
        ((legacy(arguments="{}"),), "chat.stream.call-opening"),
        ((legacy(name="f", arguments={}),), "chat.stream.call-opening"),
        ((legacy(name="f"), legacy(name="f", arguments="{}")), "chat.stream.call-opening"),
        ((legacy(name="f"), legacy(arguments="")), "chat.stream.call-delta-on-change"),
        ((legacy(name="f"), TEXT), "chat.stream.tail-suppressed"),
        (({"delta": {"content": "a", "function_call": {"name": "f"}}},), "chat.stream.no-mixed-frame"),
    ],
)
def test_a_broken_legacy_call_is_reported(said: tuple[dict[str, Any], ...], requirement: str) -> None:
    _, violation = read(ROLE, *said, FINISH)
    assert violation is not None
    assert violation.requirement == requirement
