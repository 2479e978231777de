"""One request and its answer, as far as they came."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from wireproof_scripts.asked.header_keys import masked_header
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_endpoint.journal.why import Considered

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
BAD = 400
"""The first status that refuses."""


class AnswerEnding(StrEnum):
    """How an answer ended."""

    COMPLETED = "completed"
    REFUSED = "refused"
    GONE = "client gone"
    CUT = "cut by the script"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """How much of one request is kept, in bytes."""

    body: int = 16_384
    """Of what the client sent."""
    sent: int = 16_384
    """Of what it was sent."""
    pieces: int = 256
    """Pieces with their times; of later ones the sizes are summed up."""


@dataclass(kw_only=True, slots=True, eq=False)
class SentPiece:
    """Bytes that were sent at once."""

    at: float
    """Seconds after the request came."""
    size: int
    """Of all of it."""
    data: bytes = field(repr=False)
    """As much of it as is kept."""


@dataclass(kw_only=True, eq=False)
class JournalEntry:
    """A request and its answer, as far as they came.

    What comes later is not set when an entry is made: until then it is the class's.
    """

    number: int = 0
    """From 1, in the order in which they came."""
    when: float = 0.0
    """When it came, in epoch seconds."""
    began: float = field(default=0.0, repr=False)
    """The same on the clock that `at` and `seconds` are taken from."""
    method: str = ""
    path: str = ""
    query: str = field(default="", repr=False)
    raw_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """As they came, keys included: never shown."""
    received: bytes = field(default=b"", init=False, repr=False)
    """Its body, as much as is kept."""
    received_size: int = field(default=0, init=False)
    """Of all its body that was read."""
    script: str | None = field(default=None, init=False)
    """The script that answered, `default` for the default answer; None where none was asked for."""
    part: int | None = field(default=None, init=False)
    """Which part of it, from 0."""
    status: int | None = field(default=None, init=False)
    """Of its answer; None until that begins."""
    # By a factory: Python 3.11 takes no mapping for a default.
    answer_headers: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS, init=False, repr=False)
    """Of its answer, as they were sent."""
    pieces: list[SentPiece] = field(default_factory=list, init=False, repr=False)
    """What was sent, with its times."""
    sent_size: int = field(default=0, init=False)
    """Of all that was sent."""
    ended: AnswerEnding | None = field(default=None, init=False)
    """How the answer ended; None while it is under way."""
    seconds: float | None = field(default=None, init=False, repr=False)
    """How long it took to its end."""
    weighed: int = field(default=0, init=False, repr=False)
    """What it counts for in its journal: nothing while its answer is under way, then what it weighed at its end."""
    bounds: Bounds = field(default=Bounds(), repr=False)
    kept: bool = field(default=True, repr=False)
    """Whether anything is noted."""
    why: Callable[[], Sequence[Considered]] = field(default=tuple, init=False, repr=False)
    """Which scripts were considered, and why they answer or do not."""

    # While it happens

    def take(self, body: bytes) -> None:
        """Note the body of the request."""
        if self.kept:
            self.received, self.received_size = body[: self.bounds.body], len(body)

    def choose(self, script: str | None, part: int | None, why: Callable[[], Sequence[Considered]]) -> None:
        """Note the script that answers, of the choices of a request the first; None: it is refused."""
        if self.kept and self.script is None:
            self.script, self.part = script, part
            # What can say why holds the whole conversation: of a long one, only what it says is kept.
            self.why = why if self.received_size <= _LONG else _said(tuple(why()))

    def instead(self, name: str, considered: Sequence[Considered]) -> None:
        """Note that something of this name answers in the place of any script, and why."""
        if self.kept:
            self.script, self.part, self.why = name, None, _said(considered)

    def open(self, status: int, headers: Mapping[str, str] = NO_HEADERS) -> None:
        """Note that the answer begins."""
        if self.kept:
            self.status, self.answer_headers = status, headers

    def send(self, now: float, data: bytes) -> None:
        """Note a piece that is sent now."""
        if not (self.kept and data):
            return
        size, pieces = len(data), self.pieces
        if len(pieces) < self.bounds.pieces:
            room = self.bounds.sent - self.sent_size
            shown = data if size <= room else data[: max(room, 0)]
            pieces.append(SentPiece(at=now - self.began, size=size, data=shown))
        self.sent_size += size

    def whole(self, now: float, status: int, headers: Mapping[str, str], data: bytes) -> None:
        """Note all of an answer, which is sent now."""
        self.status, self.answer_headers, self.sent_size = status, headers, len(data)
        if data:
            self.pieces.append(SentPiece(at=now - self.began, size=len(data), data=data[: self.bounds.sent]))

    def end(self, now: float, ended: AnswerEnding) -> None:
        """Note the end of the answer."""
        refused = ended is AnswerEnding.COMPLETED and self.status is not None and self.status >= BAD
        self.ended = AnswerEnding.REFUSED if refused else ended
        self.seconds = now - self.began

    # Afterwards

    @property
    def weight(self) -> int:
        """About how many bytes it holds; its head, which the edge bounds, counts as a usual one."""
        sent = 0
        for piece in self.pieces:  # a loop: it is counted with every request
            sent += len(piece.data)
        objects = _OBJECTS if self.received_size <= _LONG else 1
        return _ENTRY + objects * len(self.received) + _PIECE * len(self.pieces) + sent

    @property
    def headers(self) -> dict[str, str]:
        """Its headers by lower-case names, keys masked."""
        return {name: masked_header(name, value) for name, value in self.raw_headers.items()}

    @property
    def body(self) -> Any:  # noqa: ANN401 - whatever JSON there is
        """The JSON in its body; None where there is none, or more than is kept."""
        return _json(self.received)

    @property
    def sent(self) -> bytes:
        """The body of the answer, as much as is kept."""
        return b"".join(piece.data for piece in self.pieces)

    @property
    def error(self) -> dict[str, Any] | None:
        """The error that refused it, as the client got it; None where it was not refused."""
        if self.status is None or self.status < BAD:
            return None
        found = _json(self.sent)
        error = found.get("error") if isinstance(found, dict) else None
        return error if isinstance(error, dict) else None


def _json(data: bytes) -> Any:  # noqa: ANN401 - whatever JSON there is
    try:
        return parse_json(data)
    # Too deep is what a test of a client's may send.
    except ValueError:
        return None


def _said(considered: Sequence[Considered]) -> Callable[[], Sequence[Considered]]:
    return lambda: considered


_ENTRY, _PIECE = 2048, 128
"""Bytes of an entry, and of a piece, besides what came and was sent."""
_OBJECTS, _LONG = 4, 16_384
"""How many times as large as the body that came it is with the conversation in it, which says why a script answers; and
from how many bytes on that conversation is not kept."""
NOT_KEPT = JournalEntry(kept=False)
"""Notes nothing, for an endpoint without a journal."""
