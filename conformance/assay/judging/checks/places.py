"""What checks of streams and of whole answers have in common: places, and the two sides of a comparison."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from assay.judging.checks.diff import difference
from assay.model.target import Missing
from assay.reading.exchange import Exchange, violation
from assay.wire.violation import Violation

if TYPE_CHECKING:
    from assay.reading.expected import Expected, ExpectedCall
    from assay.wire.calls import Call
    from assay.wire.reading import Reading
    from assay.wire.violation import Place

Check = Callable[[Exchange], Iterable[Violation]]


def reading_of(exchange: Exchange) -> Reading:
    """The reading of an exchange that has one."""
    if exchange.reading is None:
        raise ValueError("this exchange has no chat answer")
    return exchange.reading


def place_of(exchange: Exchange, kind: type) -> Place | None:
    """The last frame that said this kind of event."""
    reading = reading_of(exchange)
    frame = next((event.frame for event in reversed(reading.events) if isinstance(event, kind)), None)
    return None if frame is None else frame_place(reading, frame)


def frame_place(reading: Reading, number: int) -> Place | None:
    """A frame as a place; None for a whole answer, which has no frames."""
    return reading.frames[number].place if number < len(reading.frames) else None


def plain(content: str, wanted: Expected) -> str:
    """The content without the blocks that stand in it; all of it where none was to stand there."""
    return content.partition("<use_tool>")[0] if wanted.blocks else content


def strays(exchange: Exchange, wanted: Expected, got: str) -> bool:
    """Whether a choice says what only another choice was to say."""
    others = [other.text for other in exchange.wanted if other is not wanted and other.text]
    return got != (wanted.text or "") and any(other in got for other in others)


def counts(exchange: Exchange) -> tuple[int, int, int] | None:
    """The counts that the backend reported for all choices: input, output, total; None when it told none."""
    if Missing.COUNTS in exchange.target.missing and any(wanted.cut for wanted in exchange.wanted):
        return None
    told = [wanted.usage for wanted in exchange.wanted]
    known = [usage for usage in told if usage is not None]
    if not known or len(known) < len(told):
        return None
    prompt, completion = sum(usage.input for usage in known), sum(usage.output for usage in known)
    return prompt, completion, prompt + completion


def told_arguments(requirement: str, want: ExpectedCall, got: Call, place: Place | None) -> Iterable[Violation]:
    """Whether arguments are the model's own text; those told in a block are compared by their meaning elsewhere."""
    if want.exact and got.arguments != want.arguments:
        yield violation(requirement, f"arguments of {want.name}: {difference(want.arguments, got.arguments)}", place)
    elif not want.exact and not _is_json(got.arguments):
        yield violation(requirement, f"arguments of {want.name} are no JSON: {got.arguments[:80]!r}", place)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
