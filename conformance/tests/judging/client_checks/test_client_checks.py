"""Each row about clients: a record that keeps it, and records that break it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from client_records import (
    ROOT,
    TOOL,
    USER,
    asked,
    call,
    exchange,
    messages,
    occasions,
    refused,
    result,
    said,
    streamed,
    use,
    used,
    wrong,
)

from wireproof.judging.client_checks import CLIENT_CHECKS
from wireproof.judging.client_checks.calls import same_value
from wireproof.judging.client_checks.retries import MOST, TRIES
from wireproof.model.transcript import End, Piece
from wireproof.reading.client_record import record_of

if TYPE_CHECKING:
    from client_records import Json

    from wireproof.model.transcript import Transcript

TWO = said(None, call(), call("call_2"))
LOOKED = said("I look.", call())
MORE = {"role": "user", "content": "More."}
FRAGMENT = {"tool_calls": [{"index": 0, **call("call_9", arguments='{"at": ')}]}
WHOLE_CALL = {"tool_calls": [{"index": 0, **call("call_9")}]}
ERROR = {"error": {"message": "It broke.", "type": "server_error", "param": None, "code": None}}
TOOLLESS = {"model": "m", "messages": [USER, TWO, result(), result("call_2")]}

RIGHT: dict[str, tuple[Transcript, ...]] = {
    "a text": (asked(USER), asked(USER, said("Done."), MORE, at=1)),
    "two calls": (asked(USER, answer=TWO), asked(USER, TWO, result("call_2"), result(), at=1)),
    "text and call": (asked(USER, answer=LOOKED), asked(USER, LOOKED, result(), at=1)),
    "busy": (refused(USER, status=429, retry_after="2"), asked(USER, at=2.2)),
    "busy, and its end was noticed late": (
        replace(refused(USER, status=429, retry_after="2"), seconds=0.5),
        asked(USER, at=2.1),
    ),
    "tries": (*(refused(USER, status=500, at=at) for at in (0, 1, 3, 7)), asked(USER, at=15)),
    "a cut, repeated": (
        streamed(USER, deltas=[{"content": "Hal"}]),
        asked(USER, at=1),
        asked(USER, said("Done."), MORE),
    ),
    "the same said twice": (
        asked(USER),
        asked(USER, said("Done."), MORE, at=1),
        asked(USER, said("Done."), MORE, said("Done."), {"role": "user", "content": "And more."}, at=2),
    ),
    "an example of the client's own that is answered in the same words": (
        asked(said("Done."), said("Done."), USER),
        asked(said("Done."), said("Done."), USER, said("Done."), MORE, at=1),
    ),
    "half a call, reported": (
        asked(USER, answer=said(None, call(arguments='{"at"'))),
        asked(USER, said(None, call(arguments='{"at"')), result(text="error: no JSON"), at=1),
    ),
}


def with_defaults(sent: str) -> tuple[Transcript, ...]:
    """A call of a tool that has defaults, and as what it is sent back."""
    schema = {"type": "object", "properties": {"at": {}, "all": {"default": False}, "most": {"default": 5}}}
    tools = [{"type": "function", "function": {"name": "look", "parameters": schema}}]
    back = said("I look.", call(arguments=sent))
    return asked(USER, answer=LOOKED, tools=tools), asked(USER, back, result(), at=1, tools=tools)


RIGHT["a default filled in"] = with_defaults('{"all": false, "at": 1}')
BLOCKS = ({"type": "text", "text": "I look."}, use(at=1), use("toolu_2", at=12345678901234567890))
SPOKEN = {"role": "assistant", "content": list(BLOCKS)}
BOTH = used("toolu_1", "toolu_2")
RIGHT |= {
    "blocks of Messages": (messages(USER, answer=BLOCKS), messages(USER, SPOKEN, BOTH, answer=BLOCKS[:1], at=1)),
    "results in messages of their own": (
        messages(USER, answer=BLOCKS),
        messages(USER, SPOKEN, used("toolu_1"), used("toolu_2"), answer=BLOCKS[:1], at=1),
    ),
    "a thread": (
        messages(USER, answer=BLOCKS),
        messages(
            BOTH, answer=BLOCKS[:1], at=1, tools=[], thread={"type": "continue", "previous_message_id": "msg_1"},
        ),
    ),
    "a word behind the results": (
        messages(USER, answer=BLOCKS),
        messages(
            USER, SPOKEN, {"role": "user", "content": [*BOTH["content"], {"type": "text", "text": "More."}]},
            answer=BLOCKS[:1], at=1,
        ),
    ),
}  # fmt: skip


def after(*said: Json) -> tuple[Transcript, ...]:
    """Blocks of Messages, and a request that goes on from them."""
    return messages(USER, answer=BLOCKS), messages(USER, *said, answer=BLOCKS[:1], at=1)


def spoken(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


BROKEN_MESSAGES: list[tuple[str, str, tuple[Transcript, ...]]] = [
    ("client.result-for-every-call", "one of two", after(SPOKEN, used("toolu_1"))),
    ("client.no-foreign-result", "another id", after(SPOKEN, used("toolu_1", "toolu_2", "toolu_3"))),
    ("client.call-replayed", "another value", after(spoken(BLOCKS[0], use(at=2), BLOCKS[2]), BOTH)),
    ("client.call-replayed", "digits lost", after(spoken(*BLOCKS[:2], use("toolu_2", at=1.2345678901234567e19)), BOTH)),
    ("client.text-replayed", "dropped", after(spoken(*BLOCKS[1:]), BOTH)),
    ("client.order", "a word before the results", after(SPOKEN, MORE, BOTH)),
    ("client.order", "calls swapped", after(spoken(BLOCKS[0], BLOCKS[2], BLOCKS[1]), BOTH)),
    ("client.tools-every-step", "none", (
        messages(USER, answer=BLOCKS), messages(USER, SPOKEN, BOTH, answer=BLOCKS[:1], tools=[]),
    )),
    ("client.ends-on-text", "again", (
        messages(USER, answer=BLOCKS[:1]), messages(USER, spoken(BLOCKS[0]), answer=BLOCKS[:1]),
    )),
]  # fmt: skip
BROKEN: list[tuple[str, str, tuple[Transcript, ...]]] = [
    ("client.request-valid", "at most 128 tools", (asked(USER, tools=[TOOL] * 129),)),
    ("client.request-valid", "five stops", (asked(USER, stop=list("abcde")),)),
    ("client.request-valid", "an empty list of tools", (asked(USER, tools=[]),)),
    ("client.request-valid", "no JSON", (replace(asked(USER), request_body=b"{"),)),
    ("client.request-valid", "stream options without a stream", (asked(USER, stream_options={"include_usage": True}),)),
    (
        "client.request-valid",
        "an open strict schema",
        (asked(USER, tools=[{**TOOL, "function": {**TOOL["function"], "strict": True}}]),),
    ),
    ("client.request-valid", "refused by a rule", (refused(USER, status=400, script=""),)),
    ("client.result-for-every-call", "one of two", (asked(USER, answer=TWO), asked(USER, TWO, result()))),
    ("client.result-for-every-call", "twice", (asked(USER, answer=LOOKED), asked(USER, LOOKED, result(), result()))),
    ("client.no-foreign-result", "another id", (asked(USER, answer=LOOKED), asked(USER, LOOKED, result("call_x")))),
    (
        "client.call-replayed",
        "another value",
        (asked(USER, answer=LOOKED), asked(USER, said("I look.", call(arguments='{"at": 2}')), result())),
    ),
    (
        "client.call-replayed",
        "another name",
        (asked(USER, answer=LOOKED), asked(USER, said("I look.", call(name="Look")), result())),
    ),
    ("client.call-replayed", "another value than the default", with_defaults('{"all": true, "at": 1}')),
    ("client.call-replayed", "a member that nobody knows", with_defaults('{"at": 1, "deep": true}')),
    ("client.call-replayed", "a default instead of what was made", with_defaults('{"all": false}')),
    ("client.call-replayed", "no call", (asked(USER, answer=LOOKED), asked(USER, said("I look."), result()))),
    ("client.call-replayed", "lost", (asked(USER, answer=LOOKED), asked(USER, MORE))),
    ("client.text-replayed", "trimmed", (asked(USER, answer=said(" Yes. ")), asked(USER, said("Yes."), MORE))),
    ("client.text-replayed", "dropped", (asked(USER), asked(USER, MORE))),
    (
        "client.text-replayed",
        "dropped at a call",
        (asked(USER, answer=LOOKED), asked(USER, said(None, call()), result())),
    ),
    ("client.order", "result first", (asked(USER, answer=LOOKED), asked(USER, result(), LOOKED))),
    ("client.order", "result late", (asked(USER, answer=LOOKED), asked(USER, LOOKED, MORE, result()))),
    (
        "client.order",
        "calls swapped",
        (asked(USER, answer=TWO), asked(USER, said(None, call("call_2"), call()), result(), result("call_2"))),
    ),
    ("client.order", "a call twice", (asked(USER, answer=LOOKED), asked(USER, LOOKED, result(), LOOKED, result()))),
    (
        "client.order",
        "a text twice",
        (asked(USER, answer=said("Done.")), asked(USER, said("Done."), said("Done."), MORE)),
    ),
    ("client.order", "turns swapped", (asked(USER, said("Done."), MORE), asked(MORE, said("Done."), USER))),
    (
        "client.cut-is-no-answer",
        "text kept",
        (streamed(USER, deltas=[{"content": "Hal"}]), asked(USER, said("Hal"), MORE)),
    ),
    (
        "client.cut-is-no-answer",
        "call run",
        (streamed(USER, deltas=[WHOLE_CALL]), asked(USER, said(None, call("call_9")), result("call_9"))),
    ),
    (
        "client.cut-is-no-answer",
        "ended without a finish",
        (streamed(USER, deltas=[{"content": "Hal"}], end=End.COMPLETE), asked(USER, said("Hal"), MORE)),
    ),
    ("client.error-is-no-answer", "message kept", (refused(USER, status=400), asked(USER, said("Error: No."), MORE))),
    (
        "client.error-is-no-answer",
        "text before it kept",
        (streamed(USER, deltas=[{"content": "Hal"}, ERROR], end=End.COMPLETE), asked(USER, said("Hal"), MORE)),
    ),
    (
        "client.incomplete-call-not-run",
        "run",
        (
            asked(USER, answer=said(None, call(arguments='{"at"'))),
            asked(USER, said(None, call(arguments='{"at"')), result(text="found it")),
        ),
    ),
    (
        "client.incomplete-call-not-run",
        "run after a cut",
        (streamed(USER, deltas=[FRAGMENT]), asked(USER, said(None, call("call_9", arguments="{}")), result("call_9"))),
    ),
    ("client.retry-after", "too early", (refused(USER, status=503, retry_after="2"), asked(USER, at=1))),
    ("client.no-blind-retry", "again", (refused(USER, status=422), asked(USER, at=1))),
    ("client.retry-bounded", "too often", tuple(refused(USER, status=500, at=2.0**n) for n in range(TRIES + 1))),
    ("client.retry-bounded", "pauses", tuple(refused(USER, status=500, at=float(n)) for n in range(3))),
    ("client.no-storm", "again", (asked(USER), asked(USER, at=1))),
    ("client.no-storm", "endless", tuple(asked({**USER, "content": str(n)}, at=n) for n in range(MOST))),
    (
        "client.tools-every-step",
        "none",
        (asked(USER, answer=TWO), exchange(TOOLLESS, {})),
    ),
    ("client.ends-on-text", "again", (asked(USER), asked(USER, said("Done.")))),
    (
        "client.closes",
        "read on",
        (replace(streamed(USER, deltas=[{"content": "a"}]), left=0.1, seconds=3.0, end=End.LEFT),),
    ),
    (
        "client.closes",
        "read to its end",
        (replace(streamed(USER, deltas=[], finish="stop", end=End.COMPLETE), left=0.05),),
    ),
    ("client.key-kept", "elsewhere", (replace(asked(USER), url="http://other.invalid/v1/chat/completions"),)),
]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_record_breaks_no_row(name: str) -> None:
    assert {row: found for row in CLIENT_CHECKS if (found := wrong(row, *RIGHT[name]))} == {}


@pytest.mark.parametrize(("row", "how", "record"), BROKEN, ids=[f"{row}-{how}" for row, how, _ in BROKEN])
def test_a_broken_record_breaks_its_row(row: str, how: str, record: tuple[Transcript, ...]) -> None:
    assert wrong(row, *record), how


@pytest.mark.parametrize(
    ("row", "how", "record"), BROKEN_MESSAGES, ids=[f"{row}-{how}" for row, how, _ in BROKEN_MESSAGES]
)
def test_in_messages_it_breaks_that_row_alone(row: str, how: str, record: tuple[Transcript, ...]) -> None:
    assert {one for one in CLIENT_CHECKS if wrong(one, *record)} == {row}, how


def test_a_result_that_says_of_an_error_is_none_of_a_call_that_ran() -> None:
    half = "event: content_block_start\ndata: " + json.dumps(
        {"type": "content_block_start", "index": 0, "content_block": use("toolu_9")}
    )
    first = replace(
        messages(USER, answer=[], stream=True), pieces=(Piece(at=0.1, data=half.encode() + b"\n\n"),), end=End.CUT
    )
    row = "client.incomplete-call-not-run"
    again = [
        messages(USER, spoken(use("toolu_9")), used("toolu_9", **more), answer=[]) for more in ({}, {"is_error": True})
    ]
    assert wrong(row, first, again[0])
    assert wrong(row, first, again[1]) == []


def test_each_row_is_broken_by_a_record() -> None:
    assert {row for row, *_ in BROKEN} == set(CLIENT_CHECKS)


@pytest.mark.parametrize(
    "row", sorted(set(CLIENT_CHECKS) - {"client.request-valid", "client.no-storm", "client.ends-on-text"})
)
def test_a_text_alone_shows_no_more_than_it_can(row: str) -> None:
    assert occasions(row, asked(USER)) == 0


def test_a_finding_points_at_the_bytes_of_the_request() -> None:
    record = (asked(USER, answer=said(" Yés. ")), asked({"role": "system", "content": "é"}, USER, said("Yés."), MORE))
    (found,) = [one for one in CLIENT_CHECKS["client.text-replayed"].look(record_of(record, ROOT)) if one.wrong]
    assert found.wrong is not None
    assert found.exchange == 1
    place = found.wrong.place
    assert place is not None
    assert place.in_request
    shown = record[1].request_body[place.offset : place.offset + place.length]
    assert shown.decode() == '{"role": "assistant", "content": "Yés."}'


def test_what_the_person_did_not_say_is_no_new_turn() -> None:
    record = (asked(USER), asked(USER, said("Done."), MORE))
    assert wrong("client.ends-on-text", *record) == []
    assert wrong("client.ends-on-text", *record, prompts=["Look."])
    assert wrong("client.ends-on-text", *record, prompts=["Look.", "More."]) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"a": 1}', '{"a":1.0}', True),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', True),
        ("", "{}", True),
        ('{"a": 12345678901234567890}', '{"a": 12345678901234567000}', False),
        ('{"a": "x "}', '{"a": "x"}', False),
        ('{"a"', '{"a": 1}', False),
        ('{"a": [true]}', '{"a": [1]}', False),
    ],
)
def test_arguments_are_compared_by_their_value(one: str, other: str, same: bool) -> None:  # noqa: FBT001 (a column)
    assert same_value(one, other) is same
