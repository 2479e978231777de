"""The endpoint's journal as transcripts: what a client sent, when, and what it got."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.transcript import End, Piece, Transcript
from wireproof_endpoint.journal.entry import NOT_KEPT, AnswerEnding, Bounds, JournalEntry
from wireproof_endpoint.journal.ring import Journal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BOUNDS = Bounds(body=8 * 2**20, sent=8 * 2**20, pieces=20_000)
"""How much of a request is kept: a conversation with a call of 1 MiB, and its answer byte by byte."""
TOTAL = 64 * 2**20
"""Bytes that the requests of a scenario may have together, before no more are kept."""
ENDS: Mapping[str, End] = {
    AnswerEnding.COMPLETED: End.COMPLETE,
    AnswerEnding.REFUSED: End.COMPLETE,
    AnswerEnding.CUT: End.CUT,
    AnswerEnding.FAILED: End.CUT,
}
"""How an answer ended, as the client's end saw it; of any other way, or before its end, the client has left. So it has
what the end of a scenario stopped."""


class FirstRequests(Journal):
    """A journal of the first requests, where a ring would forget them: a client that floods is judged by its first."""

    def __init__(self, most: int) -> None:
        super().__init__(most, BOUNDS)
        self.first: list[JournalEntry] = []
        """Those that are kept, in the order in which they came."""
        self.came = 0
        """How many came."""
        self._most = most

    def begin(
        self, *, method: str, path: str, query: str, headers: Mapping[str, str], now: float, when: float
    ) -> JournalEntry:
        """A new entry, as long as there is room."""
        self.came += 1
        if len(self.first) >= self._most or sum(len(one.received) for one in self.first) > TOTAL:
            return NOT_KEPT
        entry = super().begin(method=method, path=path, query=query, headers=headers, now=now, when=when)
        self.first.append(entry)
        return entry

    @property
    def idle(self) -> bool:
        """Whether no answer is under way."""
        return all(one.ended is not None for one in self.first)


def transcripts_of(entries: Iterable[JournalEntry], *, left: float | None = None) -> Sequence[Transcript]:
    """Entries as transcripts, in order; times are from the first request on.

    `left`: when the person left, on the entries' clock; None: they stayed.
    """
    every = list(entries)
    start = every[0].began if every else 0.0
    return [_transcript(one, start, left) for one in every]


def _transcript(entry: JournalEntry, start: float, left: float | None) -> Transcript:
    host = entry.raw_headers.get("host", "")
    query = f"?{entry.query}" if entry.query else ""
    seconds = entry.seconds
    # What is still under way when the record is made lasts as long as it has been seen to.
    last = max((piece.at for piece in entry.pieces), default=0.0)
    under_way = left is not None and entry.began <= left and (seconds is None or entry.began + seconds >= left)
    return Transcript(
        method=entry.method,
        url=f"{f'http://{host}' if host else ''}{entry.path}{query}",
        request_headers=tuple(entry.raw_headers.items()),
        request_body=entry.received,
        status=entry.status,
        headers=tuple(entry.answer_headers.items()),
        pieces=tuple(Piece(at=piece.at, data=piece.data) for piece in entry.pieces),
        end=ENDS.get(entry.ended or "", End.LEFT),
        seconds=last if seconds is None else seconds,
        began=entry.began - start,
        left=left - entry.began if left is not None and under_way else None,
        script=entry.script or "",
    )
