"""Changes of an answer: its JSON, its bytes, its frames, how it was cut, its head and its end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.model.transcript import End, Piece, Transcript
from wireproof_fuzz.json_mutations import VALUES, changed

if TYPE_CHECKING:
    from random import Random

BYTES = (
    b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x00", b"\x1b[31m", b"\r", b"\n\n", b"\r\n\r\n", b"data: ",
    b"data", b"event: error\n", b"id: \x00\n", b"retry: 99999999999999999999\n", b": \n", b"data: [DONE]\n\n",
    b"data:[DONE] \n\n", b"[" * 900, b"]" * 900, b'{"a":' * 900, b"}", b'"', b"\\", b"\\u", b"\\ud800", b"<use_tool>",
    b"</use_tool>", b"0\r\n\r\n",
)  # fmt: skip
"""What is put in somewhere."""
HEADER_VALUES = (
    "", " ", "0", "-1", "9" * 5000, "NaN", "1e400", "\x00", "\x1b[31m", "\u00ff\u00fe", "a" * 70_000, "text/html",
    "application/json; charset=utf-16", "text/event-stream; charset=x", ";;;===", '"', "gzip", "chunked, gzip", "br",
    "Wed, 99 Foo 2026 25:61:61 GMT", "Thu, 01 Jan 1970 00:00:00 GMT",
    f"Sun, 22 Nov {'9' * 20} 12:00:05 GMT", f"Sun, 22 Nov 2026 12:00:05 +{'9' * 20}", "0001-01-01T00:00:00+23:59",
    "99999d99999h", "http://user:password@[::1", "//", "*",
)  # fmt: skip
"""What a header may say. Names and values are of Latin-1, as they come from the wire."""
HEADERS = (
    "content-type", "content-length", "transfer-encoding", "content-encoding", "retry-after", "connection", "date",
    "retry-after-ms", "x-ratelimit-reset", "x-ratelimit-reset-tokens",
    "location", "www-authenticate", "x-request-id", "cache-control", "x-wireproof-output-mode", "set-cookie", "",
)  # fmt: skip
STATUSES = (None, 0, 99, 100, 101, 199, 200, 201, 204, 206, 299, 301, 304, 400, 401, 403, 404, 429, 500, 503, 599, 999)
_FRAME = re.compile(rb"(?<=\n\n)")
_DATA = re.compile(rb"(?m)^data: ?(\{.*\})\r?$")

_PIECES = 200
"""As many pieces are enough to cut a body anywhere."""
Mutation = Callable[["Random", Transcript], Transcript]


def _with_body(transcript: Transcript, body: bytes) -> Transcript:
    """The transcript with another body, which came in one piece."""
    first = transcript.pieces[0].at if transcript.pieces else 0.0
    return replace(transcript, pieces=(Piece(at=first, data=body),))


def _json(chance: Random, transcript: Transcript) -> Transcript:
    body = transcript.body
    objects = [(found.start(1), found.end(1)) for found in _DATA.finditer(body)] or [(0, len(body))]
    begin, end = chance.choice(objects)
    try:
        text = changed(chance, json.loads(body[begin:end]))
    # What an earlier change left is no JSON, or too deep to be gone through.
    except (ValueError, RecursionError):
        return _with_body(transcript, _put_in(chance, body))
    return _with_body(transcript, body[:begin] + text.encode() + body[end:])


def _put_in(chance: Random, body: bytes) -> bytes:
    at = chance.randrange(len(body) + 1)
    return body[:at] + chance.choice(BYTES) + body[at:]


def _cut_out(chance: Random, body: bytes) -> bytes:
    begin = chance.randrange(len(body) + 1)
    return body[:begin] + body[begin + chance.choice((1, 2, 10, 100, 10_000)) :]


def _other_byte(chance: Random, body: bytes) -> bytes:
    if not body:
        return chance.randbytes(20)
    at = chance.randrange(len(body))
    return body[:at] + chance.randbytes(1) + body[at + 1 :]


def _frames(chance: Random, body: bytes) -> bytes:
    """Frames dropped, doubled, or in another order."""
    frames = _FRAME.split(body)
    at, other = chance.randrange(len(frames)), chance.randrange(len(frames))
    match chance.randrange(4):
        case 0:
            del frames[at]
        case 1:
            frames.insert(other, frames[at])
        case 2:
            frames[at], frames[other] = frames[other], frames[at]
        case _:
            del frames[min(at, other) : max(at, other)]
    return b"".join(frames)


def _lines(chance: Random, body: bytes) -> bytes:
    """Other ends of lines, other spellings of fields."""
    old, new = chance.choice((
        (b"\n", b"\r\n"), (b"\n", b"\r"), (b"\n\n", b"\n"), (b"data: ", b"data:"), (b"data: ", b"data:  "),
        (b"data: ", b"DATA: "), (b"data: ", b"event: x\ndata: "), (b"\n\n", b"\n:\n\n"), (b", ", b",\ndata: "),
        (b"[DONE]", b"[done]"), (b"[DONE]", b"{}"), (b"event: ", b"event:"), (b'"', b"'"), (b"{", b"[{"),
    ))  # fmt: skip
    return body.replace(old, new, chance.choice((1, -1)))


def _on_body(change: Callable[[Random, bytes], bytes]) -> Mutation:
    return lambda chance, transcript: _with_body(transcript, change(chance, transcript.body))


def _pieces(chance: Random, transcript: Transcript) -> Transcript:
    """The same bytes, cut elsewhere, and at other times."""
    body, at = transcript.body, 0.0
    pieces: list[Piece] = []
    while body:
        size = chance.choice((1, 2, 7, 100, 100_000)) if len(pieces) < _PIECES else len(body)
        pieces.append(Piece(at=at, data=body[:size]))
        body, at = body[size:], at + chance.choice((0.0, 0.0, 0.01, 20.0))
    return replace(transcript, pieces=tuple(pieces), seconds=at)


def _head(chance: Random, transcript: Transcript) -> Transcript:
    headers = list(transcript.headers)
    name = chance.choice((*HEADERS, *(name for name, _ in headers)))
    match chance.randrange(3):
        case 0:
            headers = [(other, value) for other, value in headers if other != name]
        case 1:
            headers = [(other, chance.choice(HEADER_VALUES) if other == name else value) for other, value in headers]
        case _:
            headers.insert(chance.randrange(len(headers) + 1), (name, chance.choice(HEADER_VALUES)))
    return replace(transcript, headers=tuple(headers))


def _status(chance: Random, transcript: Transcript) -> Transcript:
    status = chance.choice(STATUSES)
    if status is None:
        return replace(transcript, status=None, headers=(), pieces=(), end=chance.choice([*End]))
    return replace(transcript, status=status)


def _end(chance: Random, transcript: Transcript) -> Transcript:
    kept = transcript.pieces[: chance.randrange(len(transcript.pieces) + 1)]
    over = "it has more than 1 bytes (--answer-bytes sets the limit)"
    return replace(
        transcript, end=chance.choice([*End]), pieces=kept, over=over, stuck=chance.choice((True, *[False] * 9))
    )


def _whole_body(chance: Random, transcript: Transcript) -> Transcript:
    """A body that is something else."""
    value = json.dumps(chance.choice(VALUES))
    body = chance.choice((value, f"data: {value}\n\n", f"event: error\ndata: {value}\n\n", f'{{"error": {value}}}'))
    return _with_body(transcript, body.encode())


MUTATIONS: Mapping[str, Mutation] = {
    "json": _json,
    "put in": _on_body(_put_in),
    "cut out": _on_body(_cut_out),
    "other byte": _on_body(_other_byte),
    "frames": _on_body(_frames),
    "lines": _on_body(_lines),
    "pieces": _pieces,
    "head": _head,
    "status": _status,
    "end": _end,
    "whole body": _whole_body,
}
"""The changes, by their names."""
_WEIGHTS = {"json": 12}
"""Most that readers read is JSON."""


def mutated(chance: Random, transcript: Transcript) -> Transcript:
    """The transcript with one to four changes."""
    names = chance.choices(
        [*MUTATIONS], [_WEIGHTS.get(name, 1) for name in MUTATIONS], k=chance.choice((1, 1, 1, 2, 4))
    )
    for name in names:
        transcript = MUTATIONS[name](chance, transcript)
    return transcript
