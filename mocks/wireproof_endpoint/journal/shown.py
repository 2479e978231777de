"""Entries as JSON, for the page, for files and for whoever asks; no key is in it."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from wireproof_scripts.asked.header_keys import MASK, keys_in, mask_of
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wireproof_endpoint.journal.calls import Json
    from wireproof_endpoint.journal.entry import JournalEntry, SentPiece

_IN_QUERY = re.compile(r"key|token|secret|password", re.IGNORECASE)
"""Names in a query that may hold keys."""


def brief(entry: JournalEntry) -> Json:
    """What a list of requests shows of one."""
    error = entry.error
    return {
        "number": entry.number,
        "when": datetime.fromtimestamp(entry.when, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "method": entry.method,
        "path": entry.path,
        "script": entry.script,
        "part": entry.part,
        "status": entry.status,
        "sent_bytes": entry.sent_size,
        "ended": entry.ended,
        "seconds": None if entry.seconds is None else round(entry.seconds, 6),
        "error": None if error is None else _error(error, masked(entry)),
    }


def whole(entry: JournalEntry) -> Json:
    """All that is known of a request."""
    mask = masked(entry)
    return {
        **brief(entry),
        "query": _query(entry.query),
        "headers": {name: mask(value) for name, value in entry.headers.items()},
        "body": _body(entry, mask),
        "body_bytes": entry.received_size,
        "body_cut": entry.received_size > len(entry.received),
        "answer_headers": dict(entry.answer_headers),
        "considered": [asdict(one) for one in entry.why()],
        "sent": [frame for piece in tuple(entry.pieces) for frame in _frames(piece, mask)],
        "sent_cut": entry.sent_size > sum(len(piece.data) for piece in entry.pieces),
    }


def masked(entry: JournalEntry) -> Callable[[str], str]:
    """A function that takes the keys which came with a request out of a text."""
    return mask_of(keys_in(entry.raw_headers))


def _error(error: Json, mask: Callable[[str], str]) -> Json:
    kept = {name: error.get(name) for name in ("message", "type", "param", "code")}
    return {name: mask(value) if isinstance(value, str) else value for name, value in kept.items()}


def _query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    return urlencode([(name, MASK if _IN_QUERY.search(name) else value) for name, value in pairs], safe="*")


def _body(entry: JournalEntry, mask: Callable[[str], str]) -> object:
    text = mask(entry.received.decode(errors="replace"))
    try:
        return parse_json(text)
    # Too deep is what a test of a client's may send.
    except ValueError:
        return text or None


def _frames(piece: SentPiece, mask: Callable[[str], str]) -> Iterator[Json]:
    """The frames of a piece, or all of it where it has none: frames that are ready at once share a piece."""
    for text in piece.data.decode(errors="replace").split("\n\n"):
        if text:
            yield {"at": round(piece.at, 6), "text": mask(text)}
    if not piece.data:
        yield {"at": round(piece.at, 6), "text": "", "bytes": piece.size}
