"""What a client does with its connections: when it closes them, and which hosts get the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.client_checks.registry import ClientChecks, Occasion, broken, kept
from wireproof.model.scenario import Mode
from wireproof.model.transcript import End
from wireproof.reading.client_answers import REDIRECTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.reading.client_record import ClientRecord

check = ClientChecks()
SOON = 1.0
"""Seconds in which a stream is closed that its user leaves."""
KEYS = frozenset({"authorization", "api-key", "x-api-key", "cookie"})
"""Headers that hold keys."""


@check("client.closes", unseen="the client was not left while a stream was under way")
def closes(record: ClientRecord) -> Iterator[Occasion]:
    """A stream that is left ends soon, by the client."""
    for exchange in record.asked:
        left, took = exchange.transcript.left, exchange.transcript.seconds
        if left is None or exchange.request is None or exchange.request.form.mode is not Mode.STREAM:
            continue
        if exchange.transcript.end is End.LEFT and took - left <= SOON:
            yield kept(exchange)
        else:
            how = "closed" if exchange.transcript.end is End.LEFT else "still read to its end"
            yield broken(exchange, f"its user left, and the stream was {how} {max(took - left, 0.0):.1f} s later")


@check("client.key-kept", unseen="no request was redirected to another host")
def key_kept(record: ClientRecord) -> Iterator[Occasion]:
    """No request to another host has the key."""
    for exchange in record.exchanges:
        elsewhere = not exchange.transcript.url.startswith(record.root)
        names = [name for name, value in exchange.transcript.request_headers if name.lower() in KEYS and value]
        if elsewhere and names:
            seen = f"a redirect led to {exchange.transcript.url}, and the key was sent there, in {names[0]}"
            yield broken(exchange, seen)
        elif elsewhere or (exchange.transcript.status or 0) in REDIRECTED:
            yield kept(exchange)
