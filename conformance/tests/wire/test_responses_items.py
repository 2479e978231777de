from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.wire.responses_grammar import ItemSign, item_sign
from wireproof.wire.responses_items import ItemTracker

if TYPE_CHECKING:
    from wireproof.wire.violation import Violation

Json = dict[str, Any]
Make = Callable[..., Any]


def take(items: ItemTracker, event: Json) -> list[tuple[str, str]]:
    sign = item_sign(event["type"], event)
    assert sign is not None
    return named(items.take(event["type"], sign, event))


def named(faults: list[Violation]) -> list[tuple[str, str]]:
    return [(fault.requirement, fault.seen) for fault in faults]


@pytest.fixture
def reported(response: Make, message_item: Make, call_item: Make, response_events: Make) -> list[Json]:
    """The events of a message and a call."""
    output = [message_item("Hi."), call_item("call_a", "f", "{}", 1)]
    events: list[Json] = response_events(response("completed", output))[2:-1]
    return events


def test_items_that_are_reported_rightly_are_kept_as_they_are_done(reported: list[Json]) -> None:
    items = ItemTracker()
    assert [fault for event in reported if (fault := take(items, event))] == []
    done = [event["item"] for event in reported if event["type"] == "response.output_item.done"]
    assert items.done == done
    assert items.finish(done) == []


def test_a_fault_names_its_requirement_and_what_was_seen(reported: list[Json]) -> None:
    items = ItemTracker()
    place = "response.content_part.added (a content part is added), between items"
    assert take(items, reported[1]) == [("responses.stream.order", place)]
    items = ItemTracker()
    assert take(items, reported[0]) == []
    faults = take(items, {**reported[1], "content_index": 1})
    assert faults == [("responses.stream.indexes", "content_index is 1, it should be 0")]


def test_an_answer_does_not_end_inside_an_item(reported: list[Json]) -> None:
    inside = ("responses.stream.order", "the end of the answer, in a message, outside its parts")
    # Whatever an item that is never done may be in the output, it is there.
    lost = ("responses.stream.sums", "the terminal response has no output, the stream had 1")
    for output, faults in (([reported[0]["item"]], [inside]), ([], [inside, lost])):
        items = ItemTracker()
        take(items, reported[0])
        assert named(items.finish(output)) == faults


def test_a_part_that_was_never_opened_has_the_text_of_its_deltas_whatever_item_they_name(reported: list[Json]) -> None:
    for own in ({}, {"item_id": "item_of_my_own"}):
        items = ItemTracker()
        sent = [
            {**event, **(own if "item_id" in event else {})} for event in reported if "part.added" not in event["type"]
        ]
        faults = [requirement for event in sent for requirement, _ in take(items, event)]
        assert set(faults) == {"responses.stream.order", *(["responses.stream.indexes"] if own else [])}


def test_what_is_shown_of_a_long_value_is_cut(reported: list[Json]) -> None:
    items = ItemTracker()
    for event in reported[:3]:
        take(items, event)
    ((requirement, seen),) = take(items, {**reported[3], "text": "x" * 200})
    assert requirement == "responses.stream.sums"
    assert len(seen) < 200


def test_items_of_other_kinds_are_only_counted() -> None:
    items = ItemTracker()
    item = {"type": "web_search_call", "id": "ws_1"}
    assert take(items, {"type": "response.output_item.added", "output_index": 0, "item": item}) == []
    assert take(items, {"type": "response.audio.delta", "delta": "AA=="}) == []
    searching: Json = {"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_1"}
    assert take(items, searching) == []
    faults = items.take(searching["type"], ItemSign.PUBLISHED, {**searching, "item_id": "other"})
    assert named(faults) == [("responses.stream.indexes", 'item_id is "other", it should be "ws_1"')]
    assert take(items, {"type": "response.output_item.done", "output_index": 0, "item": item}) == []
    assert items.done == []
    assert items.finish([item]) == []
