from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof_mocks.miniatures.fault import SentRequest
from wireproof_mocks.miniatures.rewriting import (
    at,
    both,
    each_event,
    having,
    instead_of,
    lost_before,
    of_type,
    repeated_from_start,
    rewritten,
    with_members,
    without,
    written,
)

ASKED = SentRequest(method="POST", path="/v1/messages", body=b"{}", key="")
PLACES = {"a": {"b": [{"c": 1}, {"c": None}, {}]}, "d": 2}


@pytest.mark.parametrize(
    ("place", "changed"),
    [
        ("d", {**PLACES, "d": 3}),
        ("a.b[].c", {**PLACES, "a": {"b": [{"c": 2}, {"c": None}, {}]}}),
        *((place, PLACES) for place in ("e", "e.f", "d.e", "d[]", "d[].e", "a.b.c")),
    ],
)
def test_what_stands_at_a_place_is_changed_and_nothing_else(place: str, changed: Any) -> None:
    before = json.dumps(PLACES)
    assert at(place, lambda number: number + 1)(PLACES) == changed
    assert json.dumps(PLACES) == before


def test_members_are_changed_or_left_out() -> None:
    assert both(with_members(a=1), without("b", "c"))({"b": 2, "d": 3}) == {"d": 3, "a": 1}


def test_only_some_objects_are_changed() -> None:
    ones = [{"type": "a"}, {"type": "b"}, {"type": ["a"]}, {}, "a", None]
    assert [of_type("a", lambda _: 7)(one) for one in ones[:2] + ones[3:]] == [7, *ones[1:2], *ones[3:]]
    assert [of_type(("a", "b"), lambda _: 7)(one) for one in ones[:2]] == [7, 7]
    assert [having(lambda _: 7, type="a")(one) for one in ones] == [7, *ones[1:]]


def sent(change: Any, *frames: Any) -> list[Any]:
    return list(change(iter(frames), ASKED))


def test_events_are_taken_one_by_one_and_may_become_several() -> None:
    made: dict[str, Any] = {"a": {"type": "z"}, "b": [{"type": "x"}, {"type": "y"}], "c": (), "d": b"raw", "e": "text"}
    events = [{"type": kind} for kind in made]
    got = sent(each_event(lambda event: made[event["type"]]), *events, b": hm\n\n", "[DONE]")
    assert got == [{"type": "z"}, {"type": "x"}, {"type": "y"}, b"raw", "text", b": hm\n\n", "[DONE]"]


def test_frames_are_replaced() -> None:
    assert sent(instead_of(lambda frame: frame == "b", "c", "d"), "a", "b") == ["a", "c", "d"]


def test_what_was_held_back_is_lost_at_an_end() -> None:
    change = lost_before(str.isdigit, lambda frame: frame == "end")
    assert sent(change, "1", "2", "a", "3", "4", "end", "end", "5", "a") == [*"12a3", "end", "end", *"5a"]


def test_deltas_grow_apart_from_each_other() -> None:
    events = [{"type": "t", "of": of, "d": {"text": text}} for of, text in ((0, "a"), (1, "x"), (0, "b"))]
    got = sent(repeated_from_start("t", "d.text", "of"), *events, {"type": "u", "of": 0, "d": {"text": "c"}}, "end")
    assert [frame["d"]["text"] for frame in got[:-1]] == ["a", "x", "ab", "c"]


def test_arguments_are_spelled_again_where_they_are_json() -> None:
    assert json.loads(rewritten('{"a" :  1}')) == {"a": 1}
    assert rewritten('{"a" :  1}') != '{"a" :  1}'
    assert rewritten("no") == "no"


def test_a_frame_is_written_as_it_is_or_as_data() -> None:
    assert written(b": hm\n\n") == b": hm\n\n"
    assert written("[DONE]") == b"data: [DONE]\n\n"
    assert written({"a": 1}) == b'data: {"a":1}\n\n'
    assert written({"type": "a"}) == b'event: a\ndata: {"type":"a"}\n\n'
