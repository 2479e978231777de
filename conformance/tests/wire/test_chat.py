from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wireproof.wire.chat import chat_stream
from wireproof.wire.events import Answer, CallOpened, Comment, Done, Failed, Finished, Fragment, Role, Text, TokenUsage
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.grammar import CHAT_STREAM_VIOLATIONS, STREAM, StreamSign, StreamState
from wireproof.wire.stream import LOST, TOGETHER
from wireproof.wire.table import Hole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.wire.reading import Reading

ENVELOPE = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "codex"}
COUNTS = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}


def read_stream(pieces: Iterable[bytes], *, ended: bool = True, blocks: bool = False) -> Reading:
    stream = chat_stream(blocks=blocks)
    for piece in pieces:
        stream.feed(piece)
    if ended:
        stream.end()
    return stream.reading()


def data(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(delta: Any, finish: str | None = None, index: int = 0, **changes: Any) -> bytes:
    return data({**ENVELOPE, "choices": [{"index": index, "delta": delta, "finish_reason": finish}], **changes})


def role(index: int = 0) -> bytes:
    return chunk({"role": "assistant", "content": ""}, index=index)


def text(said: str = "a", index: int = 0, **changes: Any) -> bytes:
    return chunk({"content": said}, index=index, **changes)


HEAD = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}


def call(**changes: Any) -> bytes:
    return chunk({"tool_calls": [HEAD | changes]})


def more(arguments: Any = "{}", **changes: Any) -> bytes:
    return chunk({"tool_calls": [{"index": 0, "function": {"arguments": arguments}} | changes]})


def usage(**changes: Any) -> bytes:
    return data({**ENVELOPE, "choices": [], "usage": COUNTS, **changes})


def error(value: Any) -> bytes:
    return data({"error": value})


ROLE, TEXT, CALL, MORE, FINISH, USAGE = role(), text(), call(), more(), chunk({}, "stop"), usage()
ERROR = error({"message": "m", "type": "t", "param": None, "code": None})
DONE = b"data: [DONE]\n\n"
COMMENT = b": keep-alive\n\n"


def cut(body: bytes, places: set[int]) -> list[bytes]:
    ends = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[a:b] for a, b in pairwise(ends)]


def read(*frames: bytes, blocks: bool = False) -> Reading:
    return read_stream([b"".join(frames)], blocks=blocks)


def test_frames_that_one_newline_separates_are_read_line_by_line() -> None:
    frames = [ROLE, text("a"), text("b"), FINISH, USAGE, DONE]
    right, together = read(*frames), read(*(frame[:-1] for frame in frames), b"\n")
    assert [(one.requirement, one.spoils) for one in together.violations] == [("chat.stream.frames", TOGETHER)]
    assert together.assembled(cumulative=False) == right.assembled(cumulative=False)
    # One line that is no JSON may have held anything.
    (broken,) = read(ROLE, text("a")[:-1], b"data: {\n", FINISH).violations
    assert broken.spoils == LOST


@dataclass(frozen=True, kw_only=True)
class Case:
    """A stream that breaks one requirement (`end`: at its end, else in frame `at`), and its neighbour that does not."""

    requirement: str
    broken: tuple[bytes, ...]
    right: tuple[bytes, ...]
    at: int = 0
    end: bool = False
    blocks: bool = False


def case(
    slug: str, at: int | None, broken: tuple[bytes, ...], right: tuple[bytes, ...], *, blocks: bool = False
) -> Case:
    """A case whose place is frame `at`, or the end of the body (None)."""
    requirement, end = f"chat.stream.{slug}", at is None
    return Case(requirement=requirement, broken=broken, right=right, at=at or 0, end=end, blocks=blocks)


PLAIN = (ROLE, TEXT, FINISH, DONE)
CALLED = (ROLE, CALL, MORE, FINISH, DONE)
COUNTED = (ROLE, TEXT, FINISH, USAGE, DONE)
BROKEN_OFF = (ROLE, TEXT, ERROR, DONE)

CASES = {
    "frame is no JSON": case("frames", 1, (ROLE, b"data: {\n\n", FINISH, DONE), PLAIN),
    "frame is no object": case("frames", 1, (ROLE, b"data: []\n\n", DONE), (ROLE, b": []\n\n", FINISH, DONE)),
    "frame is NaN": case("frames", 0, (b'data: {"a": NaN}\n\n', TEXT), (b": NaN\n\n", *PLAIN)),
    "two objects in a frame": case("frames", 0, (ROLE[:-1] + TEXT, FINISH, DONE), PLAIN),
    "event line": case("frames", 1, (ROLE, b"event: message\n" + TEXT, FINISH, DONE), PLAIN),
    "event line on [DONE]": case("frames", 3, (ROLE, TEXT, FINISH, b"event: done\n" + DONE), PLAIN),
    "line that is no field": case(
        "frames", 1, (ROLE, b"hello\n" + TEXT, FINISH, DONE), (ROLE, b": hello\n" + TEXT, FINISH, DONE)
    ),
    "object without data:": case("frames", 1, (ROLE, TEXT[6:], FINISH, DONE), PLAIN),
    "no blank line at the end": case("frames", 3, (ROLE, TEXT, FINISH, DONE[:-1]), PLAIN),
    "no line end at the end": case("frames", 3, (ROLE, TEXT, FINISH, DONE[:-2]), PLAIN),
    "cut inside a frame": case("frames", 1, (ROLE, TEXT[:-9]), PLAIN),
    "an HTML page": case("frames", 0, (b"<html>\n\n", b"</html>\n\n"), PLAIN),
    "empty data": case("keepalive-is-comment", 1, (ROLE, b"data:\n\n", FINISH, DONE), (ROLE, b":\n\n", FINISH, DONE)),
    "blank data": case(
        "keepalive-is-comment", 1, (ROLE, b"data:  \n\n", FINISH, DONE), (ROLE, b":  \n\n", FINISH, DONE)
    ),
    "event alone": case(
        "keepalive-is-comment", 1, (ROLE, b"event: ping\n\n", FINISH, DONE), (ROLE, b": ping\n\n", FINISH, DONE)
    ),
    "event with empty data": case("keepalive-is-comment", 0, (b"event: ping\ndata:\n\n", *PLAIN), PLAIN),
    "retry alone": case(
        "keepalive-is-comment", 0, (b"retry: 3000\n\n", *PLAIN), (b"retry: 3000\n" + ROLE, FINISH, DONE)
    ),
    "keep-alives, many": case("keepalive-is-comment", 0, (b"data:\n\n", ROLE, b"data:\n\n", FINISH, DONE), PLAIN),
    "id changes": case("stable-id", 1, (ROLE, text(id="chatcmpl-2"), text(id="chatcmpl-3"), FINISH, DONE), PLAIN),
    "id changes in the usage": case("stable-id", 3, (*PLAIN[:3], usage(id="x"), DONE), COUNTED),
    "created changes": case(
        "stable-created", 1, (ROLE, text(created=2), FINISH, DONE), (ROLE, text(created=None), FINISH, DONE)
    ),
    "model changes": case("stable-model", 2, (ROLE, TEXT, chunk({}, "stop", model="o"), DONE), PLAIN),
    "no role": case("role-first", 0, (TEXT, FINISH, DONE), PLAIN),
    "role late": case("role-first", 0, (TEXT, ROLE, FINISH, DONE), PLAIN),
    "empty delta before the role": case("role-first", 0, (chunk({}), *PLAIN), PLAIN),
    "call without role": case("role-first", 0, (CALL, MORE, FINISH, DONE), CALLED),
    "finish without role": case("role-first", 0, (FINISH, DONE), (ROLE, FINISH, DONE)),
    "another role": case("role-first", 0, (chunk({"role": "user"}), TEXT, FINISH, DONE), PLAIN),
    "second choice without role": case(
        "role-first",
        1,
        (ROLE, text(index=1), chunk({}, "stop", 1), FINISH, DONE),
        (ROLE, role(1), chunk({}, "stop", 1), FINISH, DONE),
    ),
    "role twice": case("role-once", 1, (ROLE, ROLE, TEXT, FINISH, DONE), PLAIN),
    "role with each text": case(
        "role-once", 1, (ROLE, chunk({"role": "assistant", "content": "a"}), FINISH, DONE), PLAIN
    ),
    "role after a call": case("role-once", 2, (ROLE, CALL, ROLE, FINISH, DONE), CALLED),
    "content and call": case(
        "no-mixed-frame",
        1,
        (ROLE, chunk({"content": "a", "tool_calls": [HEAD]}), FINISH, DONE),
        (ROLE, TEXT, CALL, FINISH, DONE),
    ),
    "content and function_call": case(
        "no-mixed-frame", 1, (ROLE, chunk({"content": "a", "function_call": {"name": "f"}}), FINISH, DONE), PLAIN
    ),
    "half a character": case(
        "utf8", 1, (ROLE, text("\ud83d"), text("\ude00"), FINISH, DONE), (ROLE, text("\U0001f600"), FINISH, DONE)
    ),
    "half a character in arguments": case(
        "utf8",
        2,
        (ROLE, CALL, more("\ud83d"), more("\ude00"), FINISH, DONE),
        (ROLE, CALL, more("\U0001f600"), FINISH, DONE),
    ),
    "call without id": case("call-opening", 1, (ROLE, call(id=None), MORE, FINISH, DONE), CALLED),
    "call without type": case("call-opening", 1, (ROLE, call(type=None), MORE, FINISH, DONE), CALLED),
    "call without name": case("call-opening", 1, (ROLE, call(function={}), MORE, FINISH, DONE), CALLED),
    "call without index": case("call-opening", 1, (ROLE, call(index=None), FINISH, DONE), CALLED),
    "index as a string": case("call-opening", 1, (ROLE, call(index="0"), FINISH, DONE), CALLED),
    "index with a gap": case(
        "call-opening",
        2,
        (ROLE, CALL, call(index=2, id="b"), FINISH, DONE),
        (ROLE, CALL, call(index=1, id="b"), FINISH, DONE),
    ),
    "index changes": case("call-opening", 2, (ROLE, CALL, call(index=1), FINISH, DONE), CALLED),
    "id again": case("call-opening", 2, (ROLE, CALL, more(id="a"), FINISH, DONE), CALLED),
    "name again": case(
        "call-opening", 2, (ROLE, CALL, more(function={"name": "f", "arguments": "{"}), FINISH, DONE), CALLED
    ),
    "two calls of one index": case("call-opening", 2, (ROLE, CALL, call(id="b"), FINISH, DONE), CALLED),
    "arguments as an object": case("call-opening", 2, (ROLE, CALL, more({}), FINISH, DONE), CALLED),
    "nothing new in a call": case("call-delta-on-change", 2, (ROLE, CALL, more(""), MORE, FINISH, DONE), CALLED),
    "no fragment in a call": case("call-delta-on-change", 2, (ROLE, CALL, more(None), FINISH, DONE), CALLED),
    "content after a call": case(
        "tail-suppressed", 2, (ROLE, CALL, TEXT, MORE, FINISH, DONE), (ROLE, TEXT, CALL, MORE, FINISH, DONE)
    ),
    "two finishes": case("finish-once", 3, (ROLE, TEXT, FINISH, FINISH, DONE), PLAIN),
    "finish with content": case(
        "finish-once", 1, (ROLE, chunk({"content": "a"}, "stop"), DONE), (ROLE, chunk({"content": ""}, "stop"), DONE)
    ),
    "finish with a call": case(
        "finish-once",
        2,
        (ROLE, CALL, chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}, "stop"), DONE),
        CALLED,
    ),
    "no finish": case("finish-once", 2, (ROLE, TEXT, DONE), (ROLE, TEXT, FINISH, DONE)),
    "no finish but usage": case("finish-once", 3, (ROLE, TEXT, USAGE, DONE), COUNTED),
    "cut between frames": case("finish-once", None, (ROLE, TEXT), PLAIN),
    "nothing at all": case("finish-once", None, (), (ERROR,)),
    "only a comment": case("finish-once", None, (COMMENT,), (COMMENT, *PLAIN)),
    "only [DONE]": case("finish-once", 0, (DONE,), (ERROR, DONE)),
    "no finish of the second choice": case(
        "finish-once", 3, (ROLE, role(1), FINISH, DONE), (ROLE, role(1), FINISH, chunk({}, "stop", 1), DONE)
    ),
    "content after the finish": case("nothing-after-finish", 2, (ROLE, FINISH, TEXT, TEXT, DONE), PLAIN),
    "content after the usage": case("nothing-after-finish", 4, (ROLE, TEXT, FINISH, USAGE, TEXT, DONE), COUNTED),
    "content after finish and usage": case("nothing-after-finish", 2, (ROLE, FINISH, TEXT, USAGE, TEXT, DONE), COUNTED),
    "call after the finish": case("nothing-after-finish", 2, (ROLE, FINISH, CALL, DONE), CALLED),
    "empty delta after the finish": case("nothing-after-finish", 2, (ROLE, FINISH, chunk({}), DONE), PLAIN),
    "error after the finish": case("nothing-after-finish", 2, (ROLE, FINISH, ERROR, DONE), (ROLE, ERROR, DONE)),
    "error after the usage": case("nothing-after-finish", 3, (ROLE, FINISH, USAGE, ERROR), (ROLE, ERROR)),
    "usage before the finish": case("usage", 3, (ROLE, TEXT, USAGE, FINISH, DONE), COUNTED),
    "usage twice": case("usage", 4, (ROLE, TEXT, FINISH, USAGE, USAGE, DONE), COUNTED),
    "usage in the finish chunk": case(
        "usage",
        2,
        (ROLE, TEXT, chunk({}, "stop", usage=COUNTS), DONE),
        (ROLE, TEXT, chunk({}, "stop", usage=None), DONE),
    ),
    "usage in the finish chunk and after": case(
        "usage", 2, (ROLE, TEXT, chunk({}, "stop", usage=COUNTS), USAGE, DONE), COUNTED
    ),
    "usage not last": case(
        "usage",
        4,
        (ROLE, TEXT, FINISH, USAGE, usage(usage=None), DONE),
        (ROLE, TEXT, FINISH, usage(usage=None), USAGE, DONE),
    ),
    "no [DONE]": case("done-last", None, (ROLE, TEXT, FINISH), PLAIN),
    "no [DONE] after usage": case("done-last", None, (ROLE, TEXT, FINISH, USAGE), COUNTED),
    "[DONE] twice": case("done-last", 4, (*PLAIN, DONE), PLAIN),
    "[DONE] before the usage": case("done-last", 4, (*PLAIN, USAGE), COUNTED),
    "content after [DONE]": case("done-last", 4, (*PLAIN, TEXT, FINISH), (*PLAIN, COMMENT)),
    "error after [DONE]": case("done-last", 4, (*PLAIN, ERROR), PLAIN),
    "content after an error": case("error-after-text", 3, (ROLE, TEXT, ERROR, TEXT, DONE), BROKEN_OFF),
    "finish after an error": case("error-after-text", 3, (ROLE, TEXT, ERROR, FINISH, DONE), BROKEN_OFF),
    "usage after an error": case("error-after-text", 3, (ROLE, TEXT, ERROR, USAGE, DONE), BROKEN_OFF),
    "two errors": case("error-after-text", 3, (ROLE, TEXT, ERROR, ERROR), (ROLE, TEXT, ERROR)),
    "error as a string": case("error-after-text", 2, (ROLE, TEXT, error("m"), DONE), BROKEN_OFF),
    "error without message": case(
        "error-after-text", 2, (ROLE, TEXT, error({"type": "t"}), DONE), (ROLE, error({"message": "m"}))
    ),
}

BLOCK = "<use_tool>\n  <name>f</name>\n</use_tool>"
CASES |= {
    "a block in pieces": case(
        "xml-single-delta",
        3,
        (ROLE, CALL, MORE, text(BLOCK[:20]), text(BLOCK[20:]), FINISH, DONE),
        (ROLE, CALL, MORE, text(BLOCK), FINISH, DONE),
        blocks=True,
    ),
    "content after a block": case(
        "tail-suppressed", 4, (ROLE, CALL, MORE, text(BLOCK), TEXT, FINISH, DONE),
        (ROLE, TEXT, CALL, MORE, text(BLOCK), text("\n" + BLOCK), FINISH, DONE), blocks=True,
    ),
    "a block where the dialect has none": case(
        "tail-suppressed", 3, (ROLE, CALL, MORE, text(BLOCK), FINISH, DONE), (ROLE, text(BLOCK), FINISH, DONE)
    ),
}  # fmt: skip

cases = pytest.mark.each("case", CASES.values(), ids=CASES)


@cases
def test_a_broken_stream_is_one_violation_at_its_place(case: Case) -> None:
    (violation,) = read(*case.broken, blocks=case.blocks).violations
    assert violation.requirement == case.requirement
    assert violation.place is not None
    if case.end:
        assert (violation.place.offset, violation.place.frame) == (len(b"".join(case.broken)), None)
    else:
        before = len(b"".join(case.broken[: case.at]))
        assert (violation.place.offset, violation.place.frame) == (before, case.at)
        assert violation.place.length == len(case.broken[case.at])


@cases
def test_its_neighbour_is_none(case: Case) -> None:
    assert read(*case.right, blocks=case.blocks).violations == ()


@cases
def test_both_are_the_same_byte_by_byte(case: Case) -> None:
    for frames in (case.broken, case.right):
        body = b"".join(frames)
        pieces = (body[i : i + 1] for i in range(len(body)))
        assert read_stream(pieces, blocks=case.blocks) == read(body, blocks=case.blocks)


@cases
@given(places=st.sets(st.integers(0, 3000)))
@settings(max_examples=max(3, settings().max_examples // 20))  # of each case
def test_both_are_the_same_at_any_cut(case: Case, places: set[int]) -> None:
    for frames in (case.broken, case.right):
        body = b"".join(frames)
        assert read_stream(cut(body, places), blocks=case.blocks) == read(body, blocks=case.blocks)


@cases
def test_both_are_the_same_with_other_line_ends_and_comments(case: Case) -> None:
    def frames_of(reading: Reading) -> list[tuple[str, int | None]]:
        return [(v.requirement, v.place.frame if v.place else None) for v in reading.violations]

    for frames in (case.broken, case.right):
        plain = read(*frames, blocks=case.blocks)
        for end in (b"\r\n", b"\r"):
            again = read(*(frame.replace(b"\n", end) for frame in frames), blocks=case.blocks)
            assert frames_of(again) == frames_of(plain)
        with_comments = read(*(b": hm\n" + frame for frame in frames), blocks=case.blocks)
        assert frames_of(with_comments) == frames_of(plain)
        assert with_comments.answer == plain.answer


def test_every_name_has_a_case() -> None:
    assert {case.requirement for case in CASES.values()} == set(CHAT_STREAM_VIOLATIONS)


# How to bring the stream to a state, and to give it a sign there.
WAYS = {
    StreamState.OPEN: (ROLE, FINISH),
    StreamState.COUNTED: (ROLE, FINISH, USAGE),
    StreamState.FAILED: (ROLE, role(1), FINISH, ERROR),
    StreamState.DONE: (ROLE, FINISH, DONE),
}
DETOURS = {
    (StreamState.FAILED, StreamSign.LATE_ERROR): (ROLE, FINISH, ERROR),
    (StreamState.FAILED, StreamSign.CHUNK): (ROLE, ERROR),
    (StreamState.DONE, StreamSign.ERROR): (DONE,),
}
SIGNS = {
    StreamSign.CHUNK: role(1),
    StreamSign.LATE: TEXT,
    StreamSign.BARE: usage(usage=None),
    StreamSign.USAGE: USAGE,
    StreamSign.BESIDE: text(usage=COUNTS),
    StreamSign.ERROR: ERROR,
    StreamSign.LATE_ERROR: ERROR,
    StreamSign.DONE: DONE,
    StreamSign.END: b"",
}


@pytest.mark.parametrize(("state", "sign"), [key for key, cell in STREAM.items() if isinstance(cell, Hole)])
def test_every_hole_of_the_stream_is_fallen_into(state: StreamState, sign: StreamSign) -> None:
    way = DETOURS.get((state, sign), WAYS[state])
    found = read(*way, SIGNS[sign]).violations
    hole = STREAM[state, sign]
    assert isinstance(hole, Hole)
    fallen = (hole.requirement, f"{sign.value}, {state.value}", hole.spoils, hole.strict_only)
    assert fallen in [(one.requirement, one.seen, one.spoils, one.strict_only) for one in found]


def test_a_usage_chunk_with_a_choice_that_says_nothing_is_one_fault() -> None:
    def found(*frames: bytes) -> list[str]:
        return [violation.requirement for violation in read(ROLE, TEXT, FINISH, *frames, DONE).violations]

    assert found(chunk({}, usage=COUNTS)) == ["chat.stream.usage"]
    # What says something after the finish is another one, and so is a chunk without usage.
    assert found(text(usage=COUNTS)) == ["chat.stream.usage", "chat.stream.nothing-after-finish"]
    assert found(chunk({})) == ["chat.stream.nothing-after-finish"]
    assert read(ROLE, TEXT, FINISH, chunk({}, usage=COUNTS), DONE).answer.usage is not None


def test_what_follows_an_unreadable_frame_is_not_read() -> None:
    after = (ROLE, text(id="other"), b"data:\n\n", FINISH, FINISH, b"event: x\n" + DONE, DONE)
    reading = read(ROLE, text("before"), b"data: oops\n\n", *after)
    (violation,) = reading.violations
    assert violation.requirement == "chat.stream.frames"
    # What came is a beginning: of its end nothing is known.
    assert violation.spoils == frozenset({Facet.FINISH, Facet.USAGE, Facet.END, Facet.ERROR})
    (choice,) = reading.answer.choices
    assert (choice.text, choice.finish) == ("before", None)


def test_what_precedes_an_unreadable_frame_is_judged() -> None:
    reading = read(ROLE, ROLE, text(id="other"), b"data: oops\n\n", FINISH, DONE)
    assert [violation.requirement for violation in reading.violations] == [
        "chat.stream.role-once",
        "chat.stream.stable-id",
        "chat.stream.frames",
    ]


def test_bytes_that_are_not_utf8_are_reported_at_the_byte_and_the_rest_is_judged() -> None:
    bad = TEXT.replace(b'"a"', b'"\xf0\x9f"')
    reading = read(ROLE, bad, FINISH)
    assert [violation.requirement for violation in reading.violations] == [
        "chat.stream.frames",
        "chat.stream.done-last",
    ]
    place = reading.violations[0].place
    assert place is not None
    assert (place.offset, place.length, place.frame) == (len(ROLE) + bad.index(b"\xf0"), 2, 1)


def test_a_comment_that_is_not_utf8_silences_nothing() -> None:
    reading = read(ROLE, b": \xff\n\n", ROLE, FINISH, DONE)
    assert [violation.requirement for violation in reading.violations] == [
        "chat.stream.frames",
        "chat.stream.role-once",
    ]


def test_a_block_without_end_is_reported_and_silences_the_rest() -> None:
    stream = chat_stream()
    stream._reader._limit = 1000
    for piece in (ROLE, *[b"x" * 400] * 9, TEXT, DONE):
        stream.feed(piece)
        stream.reading()
    assert len(stream.reading().violations) == 1
    stream.end()
    (violation,) = stream.reading().violations
    assert violation.requirement == "chat.stream.frames"
    assert "more than 1000 bytes" in violation.seen


def test_each_choice_is_judged_for_itself() -> None:
    reading = read(text(index=0), text(index=1), role(2), chunk({}, "stop", 2), DONE)
    assert [violation.seen for violation in reading.violations] == [
        "choice 0: content, before its role",
        "choice 1: content, before its role",
        "choice 0: the end of the answer without a finish_reason, after its role",
        "choice 1: the end of the answer without a finish_reason, after its role",
    ]


@pytest.mark.parametrize(
    ("frames", "spoils"),
    [
        # That all of the answer came, [DONE] shows where anything was said, or another choice has its finish.
        ((role(0), text(index=0), role(1), chunk({}, "stop", 1), DONE), {Facet.FINISH}),
        ((role(0), text(index=0), role(1), text(index=1), DONE), {Facet.FINISH}),
        ((role(0), text(index=0), DONE), {Facet.FINISH}),
        ((role(0), DONE), {Facet.FINISH, Facet.END}),
        ((role(0), text(index=0), role(1), chunk({}, "stop", 1)), {Facet.FINISH, Facet.END}),
    ],
)
def test_a_choice_without_its_finish_may_be_whole(frames: tuple[bytes, ...], spoils: set[Facet]) -> None:
    violations = read(*frames).violations
    assert {one.spoils for one in violations if one.requirement == "chat.stream.finish-once"} == {frozenset(spoils)}


def test_five_faults_of_a_stream_are_five_violations_and_all_of_it_is_read() -> None:
    reading = read(
        text("Hel"),
        text("lo", id="x"),
        call(type=None),
        more("{}"),
        text("!"),
        chunk({}, "tool_calls"),
        chunk({}, "tool_calls"),
        usage(),
    )
    assert [violation.requirement.removeprefix("chat.stream.") for violation in reading.violations] == [
        "role-first",
        "stable-id",
        "call-opening",
        "tail-suppressed",
        "finish-once",
        "done-last",
    ]
    assert {violation.spoils for violation in reading.violations} == {UNTOUCHED}
    (choice,) = reading.answer.choices
    assert (choice.text, choice.finish) == ("Hello!", "tool_calls")
    assert [(one.id, one.name, one.arguments) for one in choice.calls] == [("a", "f", "{}")]
    assert reading.answer.usage is not None
    assert reading.answer.usage.total == COUNTS["total_tokens"]


def test_a_stream_that_is_cut_lacks_its_end_alone() -> None:
    reading = read(ROLE, text("Hel"), text("lo", id="x"))
    assert [(one.requirement.removeprefix("chat.stream."), one.spoils) for one in reading.violations] == [
        ("stable-id", UNTOUCHED),
        ("finish-once", {Facet.FINISH, Facet.END}),
    ]
    assert reading.answer.choices[0].text == "Hello"


def test_independent_faults_are_all_reported() -> None:
    reading = read(ROLE, ROLE, text(id="x"), text(model="y"), FINISH)
    assert [violation.requirement.removeprefix("chat.stream.") for violation in reading.violations] == [
        "role-once",
        "stable-id",
        "stable-model",
        "done-last",
    ]
    assert reading.violations[1].seen == 'id is "x", but was "chatcmpl-1" before'


def test_an_answer_is_reported_in_events() -> None:
    reading = read(COMMENT, ROLE, TEXT, CALL, b": now\n" + MORE, FINISH, USAGE, DONE)
    assert reading.violations == ()
    assert reading.events == (
        Comment(frame=0, text="keep-alive"),
        Role(frame=1, choice=0, role="assistant"),
        Text(frame=2, choice=0, text="a"),
        CallOpened(frame=3, choice=0, index=0, id="a", name="f"),
        Fragment(frame=3, choice=0, index=0, text=""),
        Comment(frame=4, text="now"),
        Fragment(frame=4, choice=0, index=0, text="{}"),
        Finished(frame=5, choice=0, reason="stop"),
        TokenUsage(frame=6, prompt=5, completion=3, total=8),
        Done(frame=7),
    )
    assert [frame.number for frame, _ in reading.payloads] == [1, 2, 3, 4, 5, 6]
    assert reading.payloads[1][1]["choices"][0]["delta"] == {"content": "a"}
    assert reading.answer is reading.answer


def test_an_answer_ends_where_clients_stop_reading() -> None:
    failed = read(ROLE, TEXT, ERROR, TEXT, FINISH, DONE)
    assert failed.events[-2:] == (
        Failed(frame=2, message="m", type="t", code=None, param=None),
        Done(frame=5),
    )
    assert failed.answer.choices[0].finish is None
    assert read(*PLAIN, TEXT, ERROR, DONE).events == read(*PLAIN).events
    assert read(*PLAIN, COMMENT).events[-1] == Comment(frame=4, text="keep-alive")
    assert read(ROLE, FINISH, ERROR, TEXT).answer.choices[0].text is None


def test_events_are_reported_as_they_come() -> None:
    stream = chat_stream()
    body = b"".join(PLAIN)
    reported = [event for i in range(len(body)) for event in stream.feed(body[i : i + 1])]
    assert reported == list(stream.events) == list(read(*PLAIN).events)
    assert list(stream.end()) == []


def test_the_end_gives_the_events_of_a_block_that_was_cut_off() -> None:
    stream = chat_stream()
    assert list(stream.feed(DONE[:-1])) == []
    assert list(stream.end()) == [Done(frame=0)]


def test_a_reading_in_mid_stream_misses_nothing_yet() -> None:
    stream = chat_stream()
    stream.feed(ROLE + TEXT[:-1])
    early = stream.reading()
    assert (len(early.frames), early.violations) == (1, ())
    assert stream.reading() is early
    stream.feed(TEXT[-1:])
    assert early.answer.choices[0].text is None
    assert stream.reading().answer.choices[0].text == "a"
    stream.end()
    assert [violation.requirement for violation in stream.reading().violations] == ["chat.stream.finish-once"]
    stream.end()
    assert len(stream.reading().violations) == 1


def test_a_stream_that_the_client_left_lacks_nothing() -> None:
    assert read_stream([ROLE, TEXT[:-5]], ended=False).violations == ()


def test_bytes_after_the_end_are_the_callers_fault() -> None:
    stream = chat_stream()
    stream.end()
    with pytest.raises(ValueError, match="after the end"):
        stream.feed(DONE)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["", "a", "assistant", "stop", "\ud83d"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["index", "delta", "role", "content", "tool_calls", "id", "function", "name", "arguments"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
chunks = st.dictionaries(
    st.sampled_from(["id", "choices", "usage", "error", "model"]), json_values | st.lists(json_values)
)


@given(frames=st.lists(chunks, max_size=6), tail=st.binary(max_size=20), places=st.sets(st.integers(0, 2000)))
def test_no_stream_makes_it_raise_and_cuts_change_nothing(frames: list[Any], tail: bytes, places: set[int]) -> None:
    body = b"".join(map(data, frames)) + tail
    reading = read(body)
    assert read_stream(cut(body, places)) == reading
    assert all(violation.requirement in CHAT_STREAM_VIOLATIONS for violation in reading.violations)
    assert isinstance(reading.answer, Answer)
