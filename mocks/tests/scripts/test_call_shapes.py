from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from wireproof_scripts.calls.call_shapes import CallOutput, Native, ShapeFragment, ShapeText, Whole, in_shapes
from wireproof_scripts.steps import Call, Shape

CALL = Call(id="c1", name="f", arguments='{"n": 11}', pieces=('{"n": 1', "1", "}"))


def _sent(call: Call, number: int = 0) -> list[CallOutput]:
    return list(in_shapes(call, number))


def _deltas(call: Call, number: int = 0) -> list[Any]:
    return [output.delta for output in _sent(call, number) if isinstance(output, ShapeFragment)]


def test_a_native_call_is_a_request_to_the_client() -> None:
    assert _sent(CALL) == [Native()]


def test_tool_calls_come_in_fragments_after_an_opening() -> None:
    opening, *rest = _deltas(replace(CALL, shape="delta-tool-calls"), 2)
    assert opening == {
        "tool_calls": [{"index": 2, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}]
    }
    assert rest == [{"tool_calls": [{"index": 2, "function": {"arguments": piece}}]} for piece in CALL.pieces]


def test_a_function_call_comes_in_fragments_after_an_opening() -> None:
    opening, *rest = _deltas(replace(CALL, shape="delta-function-call"))
    assert opening == {"function_call": {"call_id": "c1", "name": "f", "arguments": ""}}
    assert rest == [{"function_call": {"arguments": piece}} for piece in CALL.pieces]


def test_responses_events_begin_and_end_an_item() -> None:
    added, *deltas, done, item_done = _deltas(replace(CALL, shape="responses-events"))
    assert (added["type"], added["item"]["call_id"], added["item"]["id"]) == (
        "response.output_item.added",
        "c1",
        "fc_c1",
    )
    assert [delta["delta"] for delta in deltas] == list(CALL.pieces)
    assert {delta["item_id"] for delta in deltas} == {"fc_c1"}
    assert (done["type"], done["arguments"]) == ("response.function_call_arguments.done", CALL.arguments)
    assert item_done["item"] == {**added["item"], "arguments": CALL.arguments, "status": "completed"}


def test_messages_hold_whole_calls() -> None:
    function = {"name": "f", "arguments": CALL.arguments}
    assert _sent(replace(CALL, shape="message-tool-calls")) == [
        Whole(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": function}],
            }
        )
    ]
    assert _sent(replace(CALL, shape="message-function-call")) == [
        Whole({"role": "assistant", "content": None, "function_call": {"call_id": "c1", **function}})
    ]


def test_textual_blocks_are_cut_where_the_pieces_are_theirs() -> None:
    block = "<use_tool>\n  <name>f</name>\n  <n>11</n>\n</use_tool>"
    assert _sent(replace(CALL, shape="use-tool")) == [ShapeText(block)]
    assert _sent(replace(CALL, shape="use-tool", pieces=(block[:7], block[7:]))) == [
        ShapeText(block[:7]),
        ShapeText(block[7:]),
    ]
    (sentinel,) = _sent(replace(CALL, shape="sentinel"))
    assert isinstance(sentinel, ShapeText)
    assert sentinel.own_line


@pytest.mark.parametrize("shape", ["delta-tool-calls", "delta-function-call", "responses-events"])
def test_a_late_id_comes_at_the_end(shape: Shape) -> None:
    deltas = _deltas(replace(CALL, shape=shape, late_id=True))
    early, late = deltas[:-2], deltas[-2:]
    assert "c1" not in str(early)
    assert "c1" in str(late)


@pytest.mark.parametrize("shape", ["delta-tool-calls", "delta-function-call", "responses-events"])
def test_no_id_is_no_id(shape: Shape) -> None:
    assert "id" not in str(_deltas(replace(CALL, id="", shape=shape))).replace("_id'", "id'")


@pytest.mark.parametrize("shape", ["message-tool-calls", "message-function-call"])
def test_a_message_without_an_id_has_none(shape: Shape) -> None:
    assert "id'" not in str(_sent(replace(CALL, id="", shape=shape)))


@pytest.mark.parametrize("shape", ["delta-tool-calls", "delta-function-call", "responses-events"])
def test_an_unfinished_call_lacks_its_last_piece_and_its_end(shape: Shape) -> None:
    whole, unfinished = (_deltas(replace(CALL, shape=shape, unfinished=cut)) for cut in (False, True))
    assert unfinished == whole[:3]


def test_an_unfinished_block_of_one_piece_is_never_begun() -> None:
    assert _sent(replace(CALL, shape="sentinel", unfinished=True)) == [ShapeText("", own_line=True)]


def test_a_call_is_sent_in_all_its_shapes_in_order() -> None:
    sent = _sent(replace(CALL, shape="use-tool", also=("native", "message-tool-calls")))
    assert [type(output) for output in sent] == [ShapeText, Native, Whole]
