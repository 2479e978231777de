"""How much a client may send, and how long it may take: the numbers of the edge."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 2**10


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgeLimits:
    """Sizes in bytes, times in seconds."""

    target: int = 8 * KIB
    """Of a request's target; a longer one is a 414."""
    head: int = 32 * KIB
    """Of all header fields, trailers among them; more are a 431."""
    fields: int = 128
    """How many header fields there may be."""
    framing: int = 16 * KIB
    """Of what stands around the data of a body in chunks, besides eight times its data: sizes, extensions."""
    body: int = 8 * KIB * KIB
    """Of a body."""
    waiting: int = 16
    """Requests that a client may send ahead of its answers; of more, the connection is closed behind these."""
    connections: int = 2048
    """Open at once; from there on the oldest that is idle is closed for each that comes."""
    idle: float = 75
    """Without a request. Clients keep their connections for some seconds, and an end that crosses a request is an error
    to them."""
    reading: float = 15
    """From the first byte of a request to the end of its header fields."""
    sending: float = 60
    """From there to the end of its body."""
    closing: float = 5
    """From the last answer to the end of the connection, for the client to read it."""
    thrown_away: int = 8 * KIB * KIB
    """Of what comes after a rejection, unread; with more than that on its way, a client may not get to read it."""
    unread_body: int = 64 * KIB * KIB
    """The same, of a body that is not wanted: clients that send all of it before they read would lose the answer."""
    taking: float = 60
    """Without any byte of an answer taken by its client."""
    stalled: float = 30
    """The same, while the application has more to say: then its answer is given up."""
    leaving: float = 0.4
    """From the end of what a client sends, which may be its departure, to the moment when it counts as that."""
    resetting: float = 1.0
    """For what was sent to leave before a connection is reset: a client may not read."""


FRAMED = 8
"""Bytes around each byte of data that are no attack: `1 CRLF x CRLF` are five."""
