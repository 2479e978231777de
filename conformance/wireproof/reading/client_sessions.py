"""Runs of a client in a journal, which holds one after the other: each is a record of its own.

Whoever develops a client runs it again and again, with the same words. A request that begins a conversation after some
silence is taken for the begin of another run, so that it is no repetition of what an earlier run said. One that an
earlier request of the same words failed to get an answer for is taken for another try of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.reading.client_record import ClientRecord, record_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.model.transcript import Transcript
    from wireproof.reading.client_record import ClientExchange

SILENCE = 3.0
"""Seconds in which nothing was asked or answered."""


def sessions(transcripts: Sequence[Transcript]) -> Sequence[ClientRecord]:
    """The runs, in order; the numbers of their requests are those in the journal."""
    every = record_of(transcripts, root="")
    found: list[list[ClientExchange]] = []
    end = 0.0
    for exchange in every.exchanges:
        quiet = exchange.transcript.began - end >= SILENCE
        if not found or (quiet and exchange.request is not None and _begins(every, exchange)):
            found.append([])
        found[-1].append(exchange)
        end = max(end, exchange.ended)
    return [ClientRecord(exchanges=tuple(those), root="") for those in found]


def _begins(record: ClientRecord, exchange: ClientExchange) -> bool:
    """Whether a request goes on from no earlier one, and repeats none that failed."""
    if record.continued(exchange) is not None:
        return False
    same = next((one for one in record.before(exchange) if exchange in record.again(one)), None)
    return same is None or same.whole
