"""Transcripts as text for people and snapshots: request, status, the headers that matter, the body frame by frame.

What differs from run to run is normalised: ids, times, nonces, comments (their number depends on the clock), and what
had not yet arrived when a client left.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from wireproof.model.scenario import Act
from wireproof.requests.carried import masked_url
from wireproof.wire.fields import parse_json
from wireproof.wire.messages_grammar import PING
from wireproof.wire.sse import Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof.model.transcript import Transcript
    from wireproof.reading.exchange import Exchange

# Few by name, not all but some: servers add headers of their own (date, server, length), which are no matter of the
# contract and would change the snapshots with each of them.
HEADERS = (
    "content-type",
    "cache-control",
    "connection",
    "x-accel-buffering",
    "x-proxy-output-mode",
    "retry-after",
    "www-authenticate",
    "allow",
    "access-control-allow-methods",
    "access-control-allow-headers",
)
"""The headers that are shown."""
ENDS = 4
"""How many frames are shown at each end of a long stream."""
MANY = 24
"""A stream of more frames than this is long."""
WIDE = 1200
"""Characters of a line that are shown."""

CHANGING: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r'"chatcmpl-\w+"'), '"chatcmpl-<id>"'),
    (re.compile(r'"created":\d+'), '"created":<time>'),
    (re.compile(r"\b(resp|msg|req|fc|rs)_[0-9a-f]{16,}\w*"), r"\1_<id>"),
    (re.compile(r'"(created_at|completed_at)":(?:[\d.]+|"[^"]*")'), r'"\1":<time>'),
    # Only ids of four digits or 24 hexadecimal ones: those are made up while it runs. A script's own ids
    # (`call_search`) must come through, so they stay.
    (re.compile(r'"call_(?:\d{4,}(?:_\d+)?|[0-9a-f]{24})"'), '"call_<number>"'),
    (re.compile(r"#[0-9a-f]{12}\]\]"), "#<nonce>]]"),
    # May begin before the turn that it is about.
    (re.compile(r'(?:, )?\{\\"script\\": \\"leave/told\\"[^}]*\}(?:, (?=\{))?'), ""),
)
"""Patterns of what is never the same twice, and the text that replaces each."""


def document(exchanges: Iterable[Exchange]) -> str:
    """The wire of a scenario in one mode: exchange after exchange."""
    return "\n".join(line for exchange in exchanges for line in _exchange(exchange)) + "\n"


def _exchange(exchange: Exchange) -> Iterator[str]:
    transcript = exchange.transcript
    yield f"# exchange {exchange.number + 1}"
    url = masked_url(transcript.url, exchange.target)
    yield _line(f"{transcript.method} {exchange.target.path_of(url)}")
    yield from _request(transcript)
    if exchange.turn is not None and exchange.turn.act is Act.LEAVE_WHEN_SENT:
        # No status: whether the status line was sent before the client left is chance.
        yield "(the client leaves when the backend has said what it says)"
        return
    yield f"HTTP {transcript.status}"
    for name in HEADERS:
        value = transcript.header(name)
        if value is not None:
            yield f"{name}: {value}"
    yield ""
    if exchange.turn is not None and exchange.turn.act is Act.LEAVE_AT_TEXT:
        # How much had arrived by then depends on the machine.
        yield "(the client leaves at the first text)"
        return
    yield from _stream(transcript) if is_stream(transcript) else _whole(transcript)
    yield f"({transcript.end})"
    yield ""


def _request(transcript: Transcript) -> Iterator[str]:
    # A request of http.body.size has 20 MiB of spaces at its end.
    body = transcript.request_body.rstrip(b" ")
    padding = len(transcript.request_body) - len(body)
    if body:
        yield _line(body.decode("utf-8", errors="backslashreplace")) + (f" (+ {padding} spaces)" if padding else "")


def is_stream(transcript: Transcript) -> bool:
    """Whether an answer is a stream of events."""
    return (transcript.header("content-type") or "").startswith("text/event-stream")


def _stream(transcript: Transcript) -> Iterator[str]:
    """Frame after frame, without what keeps the connection alive: how often that comes is a matter of time."""
    reader = Reader()
    # The whole body at once: where a piece ended is the network's doing, and no part of what is compared.
    frames = [*reader.feed(transcript.body), *reader.end()]
    said = [frame for frame in frames if frame.data and frame.event != PING]
    lines = [_line(frame.raw.decode("utf-8", errors="backslashreplace").rstrip("\n")) for frame in said]
    if len(lines) > MANY:
        lines[ENDS:-ENDS] = [f"… {len(lines) - 2 * ENDS} frames more …"]
    yield from lines


def _whole(transcript: Transcript) -> Iterator[str]:
    text = transcript.body.decode("utf-8", errors="backslashreplace")
    with suppress(ValueError):
        # Whole answers are spelt as frames are, so that one set of patterns (`CHANGING`) fits both.
        text = json.dumps(parse_json(text), ensure_ascii=False, separators=(",", ":"))
    yield _line(text)


def _line(text: str) -> str:
    # Before the line is cut: a pattern must not meet half of what it replaces.
    for pattern, placeholder in CHANGING:
        text = pattern.sub(placeholder, text)
    # By its characters, not one by one: an answer may have millions of them.
    text = text.translate({ord(c): repr(c)[1:-1] for c in set(text) if not c.isprintable()})
    return text if len(text) <= WIDE else f"{text[:WIDE]} … {len(text) - WIDE} characters more"
