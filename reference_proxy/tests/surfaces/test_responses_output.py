from __future__ import annotations

from typing import Any

from wireproof_surfaces.events import ArgumentsAdded, CallBegan, CallClosed, TextAdded
from wireproof_surfaces.surfaces.responses_output import Output

PLACE = {"item_id": "msg_t0000", "output_index": 0, "content_index": 0}


def call(id_: str, *fragments: str) -> list[Any]:
    return [CallBegan(id=id_, name="f"), *(ArgumentsAdded(id=id_, text=text) for text in fragments), CallClosed(id=id_)]


def sent(output: Output, *events: Any) -> list[Any]:
    return [payload for event in events for payload in output.feed(event)]


def kinds(payloads: list[Any]) -> list[tuple[str, int]]:
    return [(payload["type"].removeprefix("response."), payload["output_index"]) for payload in payloads]


def part(text: str) -> Any:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def message(text: str, status: str) -> Any:
    return {"type": "message", "id": "msg_t0000", "status": status, "role": "assistant", "content": [part(text)]}


def function_call(index: int, id_: str, arguments: str, status: str = "completed") -> Any:
    return {
        "type": "function_call",
        "id": f"fc_t{index:04x}",
        "call_id": id_,
        "name": "f",
        "arguments": arguments,
        "status": status,
    }


def test_a_message_is_an_item_with_one_part() -> None:
    output = Output("t")
    payloads = [*sent(output, TextAdded(text="Hel"), TextAdded(text="lo")), *output.end("completed")]
    begun = {**message("", "in_progress"), "content": []}
    assert payloads == [
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
        {"type": "response.content_part.added", **PLACE, "part": part("")},
        {"type": "response.output_text.delta", **PLACE, "delta": "Hel", "logprobs": []},
        {"type": "response.output_text.delta", **PLACE, "delta": "lo", "logprobs": []},
        {"type": "response.output_text.done", **PLACE, "text": "Hello", "logprobs": []},
        {"type": "response.content_part.done", **PLACE, "part": part("Hello")},
        {"type": "response.output_item.done", "output_index": 0, "item": message("Hello", "completed")},
    ]
    assert output.items == [message("Hello", "completed")]


def test_a_call_is_an_item_whose_arguments_are_sent_in_deltas_only() -> None:
    output = Output("t")
    place = {"item_id": "fc_t0000", "output_index": 0}
    assert sent(output, *call("c", '{"a"', "", ":1}")) == [
        {"type": "response.output_item.added", "output_index": 0, "item": function_call(0, "c", "", "in_progress")},
        {"type": "response.function_call_arguments.delta", **place, "delta": '{"a"'},
        {"type": "response.function_call_arguments.delta", **place, "delta": ":1}"},
        {"type": "response.function_call_arguments.done", **place, "name": "f", "arguments": '{"a":1}'},
        {"type": "response.output_item.done", "output_index": 0, "item": function_call(0, "c", '{"a":1}')},
    ]
    assert list(output.end("completed")) == []


def test_a_call_closes_the_message_before_it_and_text_after_it_is_another() -> None:
    output = Output("t")
    payloads = sent(output, TextAdded(text="a"), *call("c", "{}"), TextAdded(text="b"))
    payloads += output.end("completed")
    added = [(index, kind) for kind, index in kinds(payloads) if kind.startswith("output_item")]
    assert added == [
        (0, "output_item.added"),
        (0, "output_item.done"),
        (1, "output_item.added"),
        (1, "output_item.done"),
        (2, "output_item.added"),
        (2, "output_item.done"),
    ]
    assert [item["id"] for item in output.items] == ["msg_t0000", "fc_t0001", "msg_t0002"]


def test_calls_sent_at_once_are_items_one_after_the_other() -> None:
    output = Output("t")
    a, b = call("a", "1", "2"), call("b", "3", "4")
    interleaved = [a[0], b[0], a[1], b[1], TextAdded(text="between"), b[2], b[3], a[2], a[3]]
    payloads = [*sent(output, *interleaved), *output.end("completed")]
    assert [index for _, index in kinds(payloads)] == sorted(index for _, index in kinds(payloads))
    assert output.items[:2] == [function_call(0, "a", "12"), function_call(1, "b", "34")]
    assert output.items[2]["content"] == [part("between")]


def test_what_speaks_of_no_open_call_says_nothing() -> None:
    output = Output("t")
    assert sent(output, ArgumentsAdded(id="c", text="x"), CallClosed(id="c")) == []


def test_the_end_closes_all_that_was_begun() -> None:
    output = Output("t")
    sent(output, *call("a", "1")[:2], *call("b", "2")[:2])
    payloads = list(output.end("completed"))
    assert [kind for kind, _ in kinds(payloads)] == [
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]
    assert [item["arguments"] for item in output.items] == ["1", "2"]


def test_an_answer_without_anything_is_an_empty_message() -> None:
    output = Output("t")
    payloads = list(output.end("incomplete"))
    assert [kind for kind, _ in kinds(payloads)] == [
        "output_item.added",
        "content_part.added",
        "output_text.done",
        "content_part.done",
        "output_item.done",
    ]
    assert output.items == [message("", "incomplete")]


def test_a_failure_closes_a_message_as_incomplete() -> None:
    output = Output("t")
    sent(output, TextAdded(text="a"))
    assert [kind for kind, _ in kinds(list(output.fail()))][-1] == "output_item.done"
    assert output.items == [message("a", "incomplete")]


def test_a_failure_never_shows_an_open_call_as_done() -> None:
    output = Output("t")
    sent(output, *call("c", '{"a"')[:2])
    assert list(output.fail()) == []
    assert output.items == [function_call(0, "c", '{"a"', "incomplete")]


def test_a_failure_before_anything_leaves_nothing() -> None:
    output = Output("t")
    assert list(output.fail()) == []
    assert output.items == []
