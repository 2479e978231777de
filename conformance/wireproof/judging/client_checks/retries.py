"""How often a client asks, and when it asks again."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from wireproof.judging.client_checks.registry import ClientChecks, Occasion, broken, kept
from wireproof.reading.client_answers import AnswerState
from wireproof.wire.asked_wait import asked_wait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof.reading.client_record import ClientExchange, ClientRecord

check = ClientChecks()
WRONG = frozenset({400, 401, 403, 404, 413, 422})
"""Statuses that say that the request is wrong."""
BUSY = frozenset({429, 503})
"""Statuses that say to come back later."""
EARLY = 0.05
"""Seconds by which a request may come before it is due: timers fire a little early."""
TRIES = 5
"""The most tries of a request."""
GROWTH = 1.2
"""How many times as long as the first pause the last one is at least: clients that double it vary it by a quarter."""
MOST = 100
"""Requests of one scenario: no right client needs a tenth of them."""


@check("client.retry-after", unseen="no 429 or 503 with a Retry-After came")
def retry_after(record: ClientRecord) -> Iterator[Occasion]:
    """After a refusal for lack of room the same request comes no earlier than it may."""
    for exchange in record.asked:
        wait = _wait_of(exchange)
        if wait is None:
            continue
        again = next(record.again(exchange), None)
        came = again.transcript.began - _sent(exchange) if again else wait
        if again is not None and came < wait - EARLY:
            status = exchange.transcript.status
            yield broken(again, f"{status} asked to wait {wait:g} s, and the request came again after {came:.2f} s")
        else:
            yield kept(exchange)


def _sent(exchange: ClientExchange) -> float:
    """When a refusal was sent, in seconds after the first request of its scenario.

    The end is noticed later, on a busy machine so much later that the client has waited from an earlier moment on.
    """
    transcript = exchange.transcript
    return transcript.began + min((piece.at for piece in transcript.pieces), default=transcript.seconds)


def _wait_of(exchange: ClientExchange) -> float | None:
    """How long a refusal asks to wait, in seconds; None: it is none, or does not say."""
    if exchange.transcript.status not in BUSY:
        return None
    headers = {name.lower(): value for name, value in exchange.transcript.headers}
    said: dict[str, str] = {
        name: headers[name] for name in ("retry-after", "retry-after-ms", "date") if name in headers
    }
    counts = "retry-after-ms" in said or said.get("retry-after", "").strip().replace(".", "", 1).isdigit()
    # A date without a `Date` to compare it with has no length.
    return asked_wait(said, datetime.fromtimestamp(0, UTC)) if "date" in said or counts else None


@check("client.no-blind-retry", unseen="no request was refused as wrong")
def no_blind_retry(record: ClientRecord) -> Iterator[Occasion]:
    """A request that is wrong is not sent again."""
    for exchange in record.asked:
        if exchange.transcript.status not in WRONG:
            continue
        yield _once(record, exchange, f"the same request was refused with {exchange.transcript.status} before")


def _once(record: ClientRecord, exchange: ClientExchange, seen: str, kind: str = "") -> Occasion:
    """That a request did not come again, or that it did."""
    again = next(record.again(exchange), None)
    return kept(exchange) if again is None else broken(again, seen, kind=kind)


@check("client.retry-bounded", unseen="no request failed in a way that is worth another try")
def retry_bounded(record: ClientRecord) -> Iterator[Occasion]:
    """Few tries, and pauses between them that grow."""
    for tries in _tries(record):
        if len(tries) > TRIES:
            seen = f"the same request was sent {len(tries)} times; at most {TRIES} tries are right"
            yield broken(tries[TRIES], seen, kind="count")
            continue
        # What the server asked for is not the client's to lengthen.
        pauses = [
            after.transcript.began - before.ended for before, after in pairwise(tries) if _wait_of(before) is None
        ]
        if len(pauses) > 1 and pauses[-1] < GROWTH * pauses[0]:
            said = ", ".join(f"{pause:.2f}" for pause in pauses)
            yield broken(tries[-1], f"the pauses between the tries do not grow: {said} s", kind="pauses")
        else:
            yield kept(tries[0])


def _tries(record: ClientRecord) -> Iterator[Sequence[ClientExchange]]:
    """Each request that failed, with all its tries, up to the one that was answered."""
    done: set[int] = set()
    for exchange in record.asked:
        if exchange.number in done or not _may_succeed(exchange):
            continue
        tries = [exchange]
        for again in record.again(exchange):
            if not _may_succeed(tries[-1]):
                break
            tries.append(again)
        done |= {one.number for one in tries}
        yield tries


def _may_succeed(exchange: ClientExchange) -> bool:
    """Whether a request failed in a way that another try may mend."""
    status, answer = exchange.transcript.status, exchange.answer
    if status in WRONG or answer is None:
        return False
    return answer.state in {AnswerState.ERROR, AnswerState.CUT}


@check("client.no-storm", unseen="no request was answered")
def no_storm(record: ClientRecord) -> Iterator[Occasion]:
    """What was answered is not asked again, and there is an end."""
    if len(record.exchanges) >= MOST:
        seen = f"{len(record.exchanges)} requests came for one conversation, and there was no end"
        yield broken(record.exchanges[-1], seen, kind="endless")
        return
    for exchange in record.asked:
        if exchange.whole:
            seen = "the same request had been answered before, and it was sent again"
            yield _once(record, exchange, seen, kind="again")
