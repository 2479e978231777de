from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wireproof_surfaces.answers.event_writers import EventStream, EventsWhole
from wireproof_surfaces.assembly.assembly import Assembly
from wireproof_surfaces.assembly.choice import Rules
from wireproof_surfaces.errors import ApiError
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
)
from wireproof_surfaces.surfaces.chat_dialect import CallFormat, ChatFormat
from wireproof_surfaces.surfaces.responses_answer import ResponseEvents, ResponseHead
from wireproof_surfaces.surfaces.writer import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wireproof_surfaces.events import TurnEvent

HEAD = ResponseHead(token="t" * 48, created=7, model="m", prompt_bytes=lambda: 40)
XML = CallFormat(dialect=ChatFormat.OBSIDIAN_XML, policy="burst", delimiter="~")
STOP = ChoiceFinished(reason="stop")
CALLED = ChoiceFinished(reason="tool_calls")
BLOCK = "<use_tool>\n  <name>f</name>\n  <a>1</a>\n</use_tool>"


def forget(_response: Any) -> None:
    """It is not kept."""


def write(said: Iterable[TurnEvent], head: ResponseHead, keep: Callable[[Any], None]) -> Iterator[bytes]:
    """The pieces of a stream."""
    return pieces(said, EventStream(ResponseEvents(head), keep))


def collect(said: Iterable[TurnEvent], head: ResponseHead, keep: Callable[[Any], None]) -> Any:
    """The whole response."""
    return json.loads(b"".join(pieces(said, EventsWhole(ResponseEvents(head), keep))))


def call(id_: str, arguments: str = '{"a":1}', name: str = "f") -> list[Any]:
    return [CallBegan(id=id_, name=name), ArgumentsAdded(id=id_, text=arguments), CallClosed(id=id_)]


def frames(*said: Any, head: ResponseHead = HEAD) -> list[Any]:
    """The payloads of a stream, after looking at their form."""
    data = b"".join(write(said, head, forget)).decode()
    sent = []
    for number, block in enumerate(data.removesuffix("\n\n").split("\n\n")):
        event, payload = block.split("\n")
        sent.append(json.loads(payload.removeprefix("data: ")))
        assert event == f"event: {sent[-1]['type']}"
        assert sent[-1]["sequence_number"] == number
    return sent


def kinds(*said: Any, head: ResponseHead = HEAD) -> list[str]:
    return [payload["type"].removeprefix("response.") for payload in frames(*said, head=head)]


def last(*said: Any, head: ResponseHead = HEAD) -> Any:
    payload = frames(*said, head=head)[-1]
    assert payload["type"] == f"response.{payload['response']['status']}"
    return payload["response"]


def text_of(response: Any) -> str:
    return "".join(part["text"] for item in response["output"] for part in item.get("content", []))


def test_a_stream_is_created_in_progress_items_completed() -> None:
    assert kinds(TextAdded(text="Hello"), STOP) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    created, progress, *_ = frames(TextAdded(text="Hello"), STOP)
    assert created["response"] == progress["response"]
    assert (created["response"]["status"], created["response"]["output"]) == ("in_progress", [])
    assert created["response"]["usage"] is None


def test_the_first_piece_begins_the_stream_whatever_it_shows() -> None:
    said: list[Any] = [Quiet(0), TextAdded(text="a"), STOP]
    first, second, *_ = write(said, HEAD, forget)
    assert first.startswith(b"event: response.created\n")
    assert second.startswith(b"event: response.output_item.added\n")


def test_the_last_event_waits_for_the_usage() -> None:
    said: list[Any] = [TextAdded(text="a"), STOP, UsageReported(prompt=3, completion=4, cached=1, reasoning=2)]
    *_, end = write(said, HEAD, forget)
    assert end.count(b"event: ") == 1
    assert last(*said)["usage"]["total_tokens"] == 7


def test_usage_that_was_not_reported_is_estimated() -> None:
    usage = last(TextAdded(text="abcdefgh"), STOP)["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (10, 2)


def test_an_empty_stream_has_a_beginning_and_an_end() -> None:
    assert kinds() == ["created", "in_progress", "completed"]


@pytest.mark.parametrize(("reason", "why"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_an_answer_that_was_cut_short_is_incomplete(reason: Any, why: str) -> None:
    response = last(TextAdded(text="a"), ChoiceFinished(reason=reason))
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": why})
    assert response["output"][0]["status"] == "incomplete"
    assert response["error"] is None


def test_a_failure_after_output_is_the_end_of_the_stream() -> None:
    response = last(TextAdded(text="a"), ChoiceFailed(FailureReason.RATE_LIMITED))
    assert response["status"] == "failed"
    assert response["error"]["code"] == "rate_limit_exceeded"
    assert response["error"]["message"].endswith(".")
    assert text_of(response) == "a"
    assert response["usage"]["total_tokens"] > 0
    assert last(TextAdded(text="a"), ChoiceFailed(FailureReason.FAILED))["error"]["code"] == "server_error"


def test_a_failure_within_a_call_never_completes_it() -> None:
    said = [*call("c")[:2], ChoiceFailed(FailureReason.UNAVAILABLE)]
    assert kinds(*said)[-2:] == ["function_call_arguments.delta", "failed"]
    assert last(*said)["output"][0]["status"] == "incomplete"


def test_a_whole_answer_that_fails_is_an_error() -> None:
    with pytest.raises(ApiError) as raised:
        collect([TextAdded(text="a"), ChoiceFailed(FailureReason.CONTEXT)], HEAD, forget)
    assert (raised.value.problem.status, raised.value.param) == (400, "input")


def test_what_is_answered_is_kept_before_it_is_sent() -> None:
    kept: list[Any] = []
    stream = write([TextAdded(text="a"), STOP], HEAD, kept.append)
    sent = b""
    for piece in stream:
        assert bool(kept) is (b"response.completed" in piece)
        sent += piece
    assert json.loads(sent.rsplit(b"data: ", 1)[1])["response"] == kept[0]
    assert collect([TextAdded(text="a"), STOP], HEAD, kept.append) == kept[0] == kept[1]


def test_blocks_are_text_and_no_calls_in_obsidian_xml() -> None:
    head = replace(HEAD, call_format=XML)
    response = last(TextAdded(text="So: "), *call("c"), *call("d"), CALLED, head=head)
    assert [item["type"] for item in response["output"]] == ["message"]
    assert text_of(response) == f"So: {BLOCK}~{BLOCK}"
    assert response["status"] == "completed"


def test_a_block_that_was_sent_stays_word_for_word() -> None:
    head = replace(HEAD, call_format=XML)
    opened, arguments, closed = call("c")
    assert text_of(last(opened, arguments, replace(closed, block="<use_tool>…"), CALLED, head=head)) == "<use_tool>…"


def test_only_the_first_block_is_sent_unless_all_are_wanted() -> None:
    head = replace(HEAD, call_format=replace(XML, policy="first"))
    assert text_of(last(*call("c"), *call("d"), CALLED, head=head)) == BLOCK


def test_a_call_that_is_not_complete_has_no_block() -> None:
    head = replace(HEAD, call_format=XML)
    assert text_of(last(TextAdded(text="a"), *call("c")[:2], ChoiceFailed(FailureReason.FAILED), head=head)) == "a"


def test_a_call_of_a_tool_that_was_not_declared_fails_where_that_is_strict() -> None:
    said = [*call("c", name="g"), CALLED]
    assert last(*said)["status"] == "completed"
    assert last(*said, head=replace(HEAD, strict=frozenset({"g"})))["status"] == "completed"
    head = replace(HEAD, strict=frozenset({"f"}))
    response = last(*said, head=head)
    assert response["status"] == "failed"
    assert "g" in response["error"]["message"]
    assert response["output"][0]["name"] == "g"
    assert collect(said, head, forget) == response


LINES = st.text(alphabet='ab<>{}"é😀 _/tool_calluse\n', max_size=30).filter(lambda text: "<use_tool>" not in text)
ARGUMENTS = st.dictionaries(st.sampled_from("abc"), st.integers() | st.text(max_size=5), max_size=2)


def step(kind: str, text: str, arguments: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    return kind, text, arguments


STEPS = st.lists(st.builds(step, st.sampled_from(["say", "say", "native", "sentinel"]), LINES, ARGUMENTS), max_size=6)


def script(steps: list[Any], cuts: list[int]) -> tuple[list[Any], list[Any]]:
    """The events of a script, its text cut as is said, and its parts: texts, and calls by id and arguments."""
    events: list[Any] = []
    parts: list[Any] = []
    text = ""

    def say(more: str) -> None:
        places = [0, *sorted({cut % (len(more) + 1) for cut in cuts}), len(more)]
        events.extend(TextAdded(text=more[a:b]) for a, b in pairwise(places) if a < b)

    for number, (kind, words, arguments) in enumerate(steps):
        id_, sent = f"c{number}", json.dumps({**arguments, "number": number})
        if kind == "say":
            text += words
        elif kind == "native":
            say(text)
            events += call(id_, sent)
            parts += [text, (id_, sent)]
            text = ""
        else:
            line = text if text.endswith("\n") else f"{text}\n"
            block = json.dumps({"type": "tool_call", "id": id_, "name": "f", "arguments": sent})
            say(f"{line}<tool_call>{block}</tool_call>")
            parts += [line, (id_, sent)]
            text = "\n"
    say(text)
    return events, [*parts, text]


@settings(deadline=None)
@given(STEPS, st.lists(st.integers(0, 400), max_size=6), st.booleans())
def test_any_script_in_any_cut_is_sent_alike_whole_and_streamed(
    steps: list[Any],
    cuts: list[int],
    tails: bool,  # noqa: FBT001 - a case
) -> None:
    events, parts = script(steps, cuts)

    def said(*, all_at_once: bool) -> Any:
        rules = Rules(ends_early=False, tails=tails, errors_win=all_at_once)
        return Assembly(rules, seed="s").pull([*events, STOP])

    sent = frames(*said(all_at_once=False))
    response = sent[-1]["response"]
    assert response == collect(said(all_at_once=True), HEAD, forget)
    calls = [item for item in response["output"] if item["type"] == "function_call"]
    assert [(item["call_id"], item["arguments"]) for item in calls] == [one for one in parts if isinstance(one, tuple)]
    texts = [part for part in parts if isinstance(part, str)]
    assert text_of(response) == ("".join(texts) if tails else texts[0])
    for index, item in enumerate(response["output"]):
        deltas = "".join(one["delta"] for one in sent if one.get("output_index") == index and "delta" in one)
        assert deltas == (item["arguments"] if item["type"] == "function_call" else text_of({"output": [item]}))
