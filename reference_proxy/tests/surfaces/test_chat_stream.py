from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    Quiet,
    TextAdded,
    UsageReported,
    Working,
)
from wireproof_surfaces.surfaces.chat_answer import ChatHead, ChatStream
from wireproof_surfaces.surfaces.chat_dialect import CallFormat, ChatFormat
from wireproof_surfaces.surfaces.writer import pieces
from wireproof_surfaces.tools import use_tool

HEAD = ChatHead(id="chatcmpl-1", created=7, model="m", prompt_bytes=lambda: 40)
ASKED = ChatHead(id="chatcmpl-1", created=7, model="m", prompt_bytes=lambda: 40, include_usage=True)
STOP = ChoiceFinished(reason="stop")


def payloads(*said: Any, head: ChatHead = HEAD) -> list[Any]:
    """The frames' objects; the last frame must be [DONE]."""
    *frames, done, rest = b"".join(pieces(said, ChatStream(head))).decode().split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


def deltas(*said: Any) -> list[Any]:
    return [(payload["choices"][0]["delta"], payload["choices"][0]["finish_reason"]) for payload in payloads(*said)]


def call(id_: str, text: str = "{}") -> list[Any]:
    return [CallBegan(id=id_, name="f"), ArgumentsAdded(id=id_, text=text), CallClosed(id=id_)]


def opening(index: int, id_: str) -> Any:
    function = {"name": "f", "arguments": ""}
    return ({"tool_calls": [{"index": index, "id": id_, "type": "function", "function": function}]}, None)


def fragment(index: int, text: str) -> Any:
    return ({"tool_calls": [{"index": index, "function": {"arguments": text}}]}, None)


ROLE = ({"role": "assistant", "content": ""}, None)


def test_a_text_is_role_pieces_finish_done() -> None:
    assert deltas(TextAdded(text="Hel"), TextAdded(text="lo"), STOP) == [
        ROLE,
        ({"content": "Hel"}, None),
        ({"content": "lo"}, None),
        ({}, "stop"),
    ]


def test_an_empty_answer_still_says_who_speaks() -> None:
    assert deltas(STOP) == [ROLE, ({}, "stop")]


def test_calls_are_numbered_and_their_arguments_sent_after_their_opening() -> None:
    assert deltas(*call("a"), *call("b", '{"x":1}'), ChoiceFinished(reason="tool_calls")) == [
        ROLE,
        opening(0, "a"),
        fragment(0, "{}"),
        opening(1, "b"),
        fragment(1, '{"x":1}'),
        ({}, "tool_calls"),
    ]


def test_the_first_of_the_arguments_may_come_beside_the_name() -> None:
    began, *more = call("a", '{"x":')
    function = {"name": "f", "arguments": '{"x":'}
    assert deltas(replace(began, beside=True), more[0], ArgumentsAdded(id="a", text="1}"), more[1]) == [
        ROLE,
        ({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": function}]}, None),
        fragment(0, "1}"),
    ]


def test_empty_arguments_need_no_fragment() -> None:
    assert deltas(*call("a", ""), ChoiceFinished(reason="tool_calls")) == [ROLE, opening(0, "a"), ({}, "tool_calls")]


def test_every_chunk_repeats_the_head() -> None:
    for payload in payloads(TextAdded(text="a"), STOP):
        assert (payload["id"], payload["object"]) == ("chatcmpl-1", "chat.completion.chunk")
        assert (payload["created"], payload["model"]) == (7, "m")
        assert "usage" not in payload


def test_usage_comes_last_when_it_was_asked_for_and_is_null_before() -> None:
    *before, last = payloads(TextAdded(text="a"), UsageReported(prompt=1, completion=2), STOP, head=ASKED)
    assert [payload["usage"] for payload in before] == [None] * 3
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] == 3


def test_usage_that_was_not_reported_is_estimated() -> None:
    text, tool = TextAdded(text="éé"), call("a", "éé")
    assert payloads(text, STOP, head=ASKED)[-1]["usage"]["completion_tokens"] == 1
    usage = payloads(text, *tool, ChoiceFinished(reason="tool_calls"), head=ASKED)[-1]["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (10, 2)


def test_a_failure_is_one_error_frame_and_neither_finish_nor_usage() -> None:
    *_, last = payloads(TextAdded(text="a"), ChoiceFailed(FailureReason.FAILED), head=ASKED)
    assert last["error"]["code"] == "backend_error"


def test_what_has_nothing_to_show_is_an_empty_piece() -> None:
    sent = list(pieces([Quiet(1), Working(), UsageReported(prompt=1, completion=1)], ChatStream(HEAD)))
    assert sent[:3] == [b"", b"", b""]


def test_choices_have_their_own_roles_and_call_numbers() -> None:
    said = [
        TextAdded(text="a"),
        TextAdded(choice=1, text="b"),
        CallBegan(id="x", name="f"),
        CallBegan(choice=1, id="x", name="f"),
    ]
    sent = payloads(*said)
    assert [payload["choices"][0]["index"] for payload in sent] == [0, 0, 1, 1, 0, 1]
    assert [payload["choices"][0]["delta"]["tool_calls"][0]["index"] for payload in sent[-2:]] == [0, 0]


# The other dialects


def sent(call_format: CallFormat, *said: Any) -> list[Any]:
    head = ChatHead(id="chatcmpl-1", created=7, model="m", call_format=call_format)
    return [payload["choices"][0]["delta"] for payload in payloads(*said, head=head)][1:]


XML = CallFormat(dialect=ChatFormat.OBSIDIAN_XML, arguments="cumulative", policy="burst")
PIECES = [
    CallBegan(id="a", name="f"),
    ArgumentsAdded(id="a", text='{"q":'),
    ArgumentsAdded(id="a", text='"x"}'),
    CallClosed(id="a"),
]
CALLED = ChoiceFinished(reason="tool_calls")


def block(arguments: str = '{"q":"x"}', **options: Any) -> Any:
    return {"content": use_tool.write("f", arguments, **options)}


def test_cumulative_arguments_repeat_all_so_far() -> None:
    call_format = CallFormat(arguments="cumulative")
    assert sent(call_format, *PIECES, CALLED)[1:] == [fragment(0, '{"q":')[0], fragment(0, '{"q":"x"}')[0], {}]


def test_a_complete_call_is_followed_by_its_whole_block() -> None:
    assert sent(XML, TextAdded(text="Let me see."), *PIECES, CALLED)[1:] == [
        opening(0, "a")[0],
        fragment(0, '{"q":')[0],
        fragment(0, '{"q":"x"}')[0],
        block(),
        {},
    ]


def test_further_blocks_begin_with_the_delimiter() -> None:
    call_format = CallFormat(dialect=ChatFormat.OBSIDIAN_XML, delimiter=" | ")
    blocks = [delta["content"] for delta in sent(call_format, *call("a"), *call("b"), CALLED) if "content" in delta]
    assert blocks == [block("{}")["content"], " | " + block("{}")["content"]]


def test_a_block_that_was_sent_in_text_stays_as_it_was() -> None:
    textual = [*PIECES[:3], CallClosed(id="a", block="<use_tool> odd </use_tool>")]
    assert sent(XML, *textual, CALLED)[-2] == {"content": "<use_tool> odd </use_tool>"}


def test_values_may_be_left_unescaped() -> None:
    call_format = CallFormat(dialect=ChatFormat.OBSIDIAN_XML, escape=False)
    assert sent(call_format, *call("a", '{"q":"<"}'), CALLED)[-2] == block('{"q":"<"}', escape=False)


def test_the_function_call_dialect_has_neither_ids_nor_indexes() -> None:
    call_format = CallFormat(dialect=ChatFormat.FUNCTION_CALL)
    assert sent(call_format, *PIECES, CALLED) == [
        {"function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": '{"q":'}},
        {"function_call": {"arguments": '"x"}'}},
        {},
    ]
    head = ChatHead(id="chatcmpl-1", created=7, model="m", call_format=call_format)
    finishes = [payloads(end, head=head)[-1]["choices"][0]["finish_reason"] for end in (CALLED, STOP)]
    assert finishes == ["function_call", "stop"]


def test_pieces_of_calls_that_were_not_opened_are_not_sent() -> None:
    assert sent(XML, TextAdded(text="a"), ArgumentsAdded(id="x", text="{}"), CallClosed(id="x"), STOP) == [
        {"content": "a"},
        {},
    ]


def test_what_a_service_says_of_itself_stands_in_every_chunk() -> None:
    chunks = payloads(TextAdded(text="a"), STOP, head=replace(ASKED, service={"service_tier": "default"}))
    assert [chunk["service_tier"] for chunk in chunks] == ["default"] * len(chunks)
    assert not any("service_tier" in chunk for chunk in payloads(TextAdded(text="a"), STOP, head=ASKED))


def test_usage_is_the_sum_over_the_choices() -> None:
    said = [
        UsageReported(prompt=1, completion=2, cached=1),
        UsageReported(choice=1, prompt=3, completion=4, reasoning=2),
        STOP,
    ]
    usage = payloads(*said, head=ASKED)[-1]["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (4, 6, 10)
