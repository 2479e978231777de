from __future__ import annotations

from itertools import pairwise

import pytest
from httpx_sse._decoders import SSEDecoder, SSELineDecoder
from hypothesis import given
from hypothesis import strategies as st

from wireproof.wire.facet import UNTOUCHED
from wireproof.wire.sse import MAX_BLOCK, Reader, SseFrame
from wireproof.wire.violation import Place, Violation

FRAMES = "chat.stream.frames"


def read(pieces: list[bytes], limit: int = MAX_BLOCK) -> tuple[list[SseFrame], list[Violation], bytes]:
    reader = Reader(FRAMES, limit=limit)
    frames = [frame for piece in pieces for frame in reader.feed(piece)]
    frames += reader.end()
    return frames, reader.violations, reader.rest


def bytewise(body: bytes) -> list[bytes]:
    return [body[i : i + 1] for i in range(len(body))]


def cut(body: bytes, places: set[int]) -> list[bytes]:
    ends = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[a:b] for a, b in pairwise(ends)]


# What a legal stream says: (bytes, what each frame has: data, event, comments)
LEGAL = {
    "one event": (b"data: a\n\n", [("a", None, ())]),
    "two events": (b"data: a\n\ndata: b\n\n", [("a", None, ()), ("b", None, ())]),
    "crlf": (b"data: a\r\n\r\ndata: b\r\n\r\n", [("a", None, ()), ("b", None, ())]),
    "bare cr": (b"data: a\r\rdata: b\r\r", [("a", None, ()), ("b", None, ())]),
    "cr closes, then crlf": (b"data: a\r\r\ndata: b\r\r\n", [("a", None, ()), ("b", None, ())]),
    "line ends mixed": (b"data: a\r\ndata: b\ndata: c\r\n\n", [("a\nb\nc", None, ())]),
    "no space after the colon": (b"data:a\n\n", [("a", None, ())]),
    "only one space is taken": (b"data:  a\n\n", [(" a", None, ())]),
    "a field without a colon": (b"data\n\n", [("", None, ())]),
    "several data lines": (b"data: {\ndata: }\n\n", [("{\n}", None, ())]),
    "empty data": (b"data:\n\n", [("", None, ())]),
    "a comment alone": (b": keep-alive\n\n", [(None, None, ("keep-alive",))]),
    "an empty comment": (b":\n\n", [(None, None, ("",))]),
    "a comment in an event": (b": x\ndata: a\n:y\n\n", [("a", None, ("x", "y"))]),
    "an event name": (b"event: ping\ndata: a\n\n", [("a", "ping", ())]),
    "the last event name counts": (b"event: a\nevent: b\ndata: c\n\n", [("c", "b", ())]),
    "an event without data": (b"event: ping\n\n", [(None, "ping", ())]),
    "id and retry": (b"id: 1\nretry: 5\ndata: a\n\n", [("a", None, ())]),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [("a", None, ())]),
    "blank lines to spare": (b"\n\r\n\rdata: a\n\n\n\ndata: b\n\n\n", [("a", None, ()), ("b", None, ())]),
    "a line separator is no line end": ("data: a\u2028b\x0bc\x85\n\n".encode(), [("a\u2028b\x0bc\x85", None, ())]),
    "a comment that the end cuts off": (b"data: a\n\n: by", [("a", None, ()), (None, None, ("by",))]),
    "nothing": (b"", []),
    "only blank lines": (b"\n\n\r\n", []),
}


@pytest.mark.parametrize(("body", "said"), LEGAL.values(), ids=LEGAL)
def test_legal_streams_are_read_without_a_word(
    body: bytes, said: list[tuple[str | None, str | None, tuple[str, ...]]]
) -> None:
    frames, violations, rest = read([body])
    assert [(frame.data, frame.event, frame.comments) for frame in frames] == said
    assert violations == []
    assert b"".join(frame.raw for frame in frames) + rest == body


@pytest.mark.parametrize("body", [body for body, _ in LEGAL.values()], ids=LEGAL)
def test_legal_streams_are_the_same_byte_by_byte(body: bytes) -> None:
    assert read(bytewise(body)) == read([body])


# What breaks the form: (bytes, the place of the violation, the data of the frames nevertheless read)
BROKEN = {
    "no blank line at the end": (b"data: a\n\ndata: b\n", Place(offset=9, length=8, frame=1), ["a", "b"]),
    "cut inside a line": (b"data: a\n\ndata: b", Place(offset=9, length=7, frame=1), ["a", "b"]),
    "cut inside a character": (b"data: \xc3", Place(offset=0, length=7, frame=0), ["\ufffd"]),
    "a cr at the end is one line end": (b"data: a\r", Place(offset=0, length=8, frame=0), ["a"]),
    "bytes that are not utf-8": (b"data: a\n\ndata: \xff\n\n", Place(offset=15, length=1, frame=1), ["a", "\ufffd"]),
    "half a character": (b"data: \xf0\x9f\x98\n\n", Place(offset=6, length=3, frame=0), ["\ufffd"]),
    "a line that is no field": (b'{"a":1}\n\ndata: a\n\n', Place(offset=0, length=9, frame=0), [None, "a"]),
    "an html page": (b"<html>\n<p>\n\n</html>", Place(offset=0, length=12, frame=0), [None, None]),
    "names are case-sensitive": (b"Data: a\n\n", Place(offset=0, length=9, frame=0), [None]),
    "a byte order mark later": (
        b"data: a\n\n\xef\xbb\xbfdata: b\n\n",
        Place(offset=9, length=12, frame=1),
        ["a", None],
    ),
    "only the first is reported": (
        b"data: \xff\n\ndata: \xff\n\nx\n\n",
        Place(offset=6, length=1, frame=0),
        ["\ufffd"] * 2 + [None],
    ),
}


@pytest.mark.parametrize(("body", "place", "data"), BROKEN.values(), ids=BROKEN)
def test_what_breaks_the_form_is_reported_once_with_its_place(
    body: bytes, place: Place, data: list[str | None]
) -> None:
    frames, violations, rest = read([body])
    assert [(violation.requirement, violation.place) for violation in violations] == [(FRAMES, place)]
    assert [frame.data for frame in frames] == data
    assert b"".join(frame.raw for frame in frames) + rest == body
    assert read(bytewise(body)) == (frames, violations, rest)


def test_frames_know_their_number_their_offset_and_their_fields() -> None:
    frames, _, _ = read([b": hi\n\nretry: 1\ndata: a\n\n"])
    assert [(frame.number, frame.offset, frame.fields) for frame in frames] == [(0, 0, ()), (1, 6, ("retry", "data"))]
    assert frames[1].place == Place(offset=6, length=18, frame=1)


def test_the_requirement_is_the_callers() -> None:
    reader = Reader(requirement="responses.stream.frames")
    reader.feed(b"data: \xff\n\n")
    assert reader.violations[0].requirement == "responses.stream.frames"


@pytest.mark.parametrize("body", [b"data: a\n\n", b"data: a\r\r", b"data: a\r\n\r\n"])
def test_a_frame_is_given_with_the_byte_that_completes_it(body: bytes) -> None:
    reader = Reader(FRAMES)
    assert [len(reader.feed(byte)) for byte in bytewise(body)] == [0] * (len(body) - 1) + [1]


@pytest.mark.parametrize(
    "pieces", [[b"data: 34567\n\ndata: abcdef\n\ndata: c\n\n"], bytewise(b"data: 34567\n\ndata: abcdef\n\n")]
)
def test_a_block_beyond_the_limit_is_reported_and_ends_the_reading(pieces: list[bytes]) -> None:
    frames, violations, rest = read(pieces, limit=13)
    assert [frame.data for frame in frames] == ["34567"]
    assert violations == [
        Violation(
            requirement=FRAMES,
            seen="a block of more than 13 bytes; nothing after this was read",
            place=Place(offset=13, length=13, frame=1),
            spoils=UNTOUCHED,
        )
    ]
    assert rest == b"data: abcdef\n"


def test_a_stream_without_line_ends_is_not_held_beyond_the_limit() -> None:
    reader = Reader(FRAMES, limit=1000)
    for _ in range(100):
        reader.feed(b"x" * 300)
    assert len(reader.rest) == 1000
    assert reader.offset == 1000
    assert reader.end() == []


def test_no_byte_is_searched_twice() -> None:
    reader = Reader(FRAMES)
    for count in range(1, 5000):
        reader.feed(b"x")
        assert reader._searched == count


def test_bytes_after_the_end_are_the_callers_fault() -> None:
    reader = Reader(FRAMES)
    assert reader.end() == []
    assert reader.end() == []
    with pytest.raises(ValueError, match="after the end"):
        reader.feed(b"data: a\n\n")


line_ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
values = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=12)
lines = st.builds(
    lambda name, space, value: name + b":" + space + value.encode(),
    st.sampled_from([b"data", b"event", b"", b"retry"]),
    st.sampled_from([b"", b" "]),
    values,
)


@st.composite
def legal_bodies(draw: st.DrawFn) -> bytes:
    body = b""
    for block in draw(st.lists(st.lists(lines, min_size=1, max_size=4), max_size=6)):
        for line in [*block, b""]:
            end = draw(line_ends)
            halves = not line and body.endswith(b"\r") and end == b"\n"  # these two would be one line end
            body += line + (b"\r" if halves else end)
    return body


@given(body=legal_bodies(), places=st.sets(st.integers(0, 10_000)))
def test_cuts_change_nothing(body: bytes, places: set[int]) -> None:
    whole = read([body])
    assert read(cut(body, places)) == whole
    assert read(bytewise(body)) == whole
    frames, violations, rest = whole
    assert violations == []
    assert b"".join(frame.raw for frame in frames) + rest == body
    assert [frame.offset for frame in frames] == [sum(len(f.raw) for f in frames[:i]) for i in range(len(frames))]


@given(body=st.binary(max_size=80), places=st.sets(st.integers(0, 80)), limit=st.integers(1, 90))
def test_any_bytes_are_read_the_same_at_every_cut(body: bytes, places: set[int], limit: int) -> None:
    assert read(cut(body, places), limit) == read([body], limit)


PARTS = st.sampled_from([b"data: ", b"\n", b"\r", b"\r\n", b"event:", b":", b"[DONE]"]) | st.binary(max_size=6)


@given(body=st.lists(PARTS).map(b"".join), places=st.sets(st.integers(0, 200)))
def test_frames_and_what_is_left_are_the_bytes(body: bytes, places: set[int]) -> None:
    for pieces in ([body], cut(body, places)):
        frames, _, rest = read(pieces)
        assert b"".join(frame.raw for frame in frames) + rest == body


@given(body=legal_bodies())
def test_httpx_sse_reads_the_same(body: bytes) -> None:
    foreign_lines, foreign = SSELineDecoder(), SSEDecoder()
    text = foreign_lines.decode(body.decode()) if body else []
    theirs = [event for line in [*text, *foreign_lines.flush()] if (event := foreign.decode(line))]
    ours = [frame for frame in read([body])[0] if frame.data is not None]
    assert [(frame.data, frame.event or "message") for frame in ours if frame.data] == [
        (event.data, event.event) for event in theirs if event.data
    ]
