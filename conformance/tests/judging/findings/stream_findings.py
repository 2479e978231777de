"""What the checks of chat streams find, and where in the stream it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks import CHECKS
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Call

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.violation import Violation

STOP = {"finish": "stop"}
CALLS = {"finish": "tool_calls"}


def found(row: str, exchange: Exchange) -> list[Violation]:
    """What the check of this row finds, all of it under that row."""
    violations = list(CHECKS.look(f"chat.stream.{row}", exchange))
    assert {violation.requirement for violation in violations} <= {f"chat.stream.{row}"}
    return violations


def only(row: str, exchange: Exchange) -> Violation:
    (violation,) = found(row, exchange)
    return violation


def frame_of(violation: Violation, exchange: Exchange) -> bytes:
    """The frame that a violation points into."""
    assert violation.place is not None
    assert exchange.reading is not None
    assert violation.place.frame is not None
    frame = exchange.reading.frames[violation.place.frame]
    assert frame.offset <= violation.place.offset < frame.offset + len(frame.raw)
    return frame.raw


def shown(violation: Violation, exchange: Exchange) -> bytes:
    """The bytes that a violation points at."""
    assert violation.place is not None
    return exchange.transcript.body[violation.place.offset :][: violation.place.length]


def script_call(script: str, number: int = 0) -> Call:
    calls = [step for step in LIBRARY[script].parts[0] if isinstance(step, Call)]
    return calls[number]
