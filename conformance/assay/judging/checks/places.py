"""Where in an answer a check points, and the parts of an answer that several checks compare."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import TYPE_CHECKING

from assay.judging.checks.diff import difference, parting, quoted
from assay.judging.registry import Seen
from assay.model.target import Missing
from assay.wire.events import Fragment, Text
from assay.wire.violation import Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.reading.exchange import Exchange
    from assay.reading.expected import Expected, ExpectedCall
    from assay.wire.calls import Call
    from assay.wire.reading import Reading

AROUND = 20
"""Characters before and after a difference that are looked for in a body."""


def reading_of(exchange: Exchange) -> Reading:
    """The reading of an exchange that has one."""
    if exchange.reading is None:
        raise ValueError("this exchange has no chat answer")
    return exchange.reading


def first_unread(reading: Reading) -> int | None:
    """The number of the first frame behind which the content means nothing; None if there is none."""
    frames = [v.place.frame for v in reading.violations if v.place and not (v.strict_only or v.harmless)]
    return min((number for number in frames if number is not None), default=None)


def place_of(exchange: Exchange, kind: type) -> Place | None:
    """The last frame with this kind of event; None if there is none, or for a whole answer."""
    reading = reading_of(exchange)
    frame = next((event.frame for event in reversed(reading.events) if isinstance(event, kind)), None)
    return None if frame is None else frame_place(reading, frame)


def text_place(exchange: Exchange, choice: int, want: str, got: str) -> Place | None:
    """The frame with the first character of a choice's text that differs; the last one with text if it is too short."""
    said = [event for event in reading_of(exchange).events if isinstance(event, Text) and event.choice == choice]
    return _parting_place(exchange, [(one.frame, one.text) for one in said], want, got)


def arguments_place(exchange: Exchange, choice: int, call: int, want: str, got: str) -> Place | None:
    """The frame with the first character of a call's arguments that differs; the last one if they are too short."""
    events = reading_of(exchange).events
    said = [one for one in events if isinstance(one, Fragment) and (one.choice, one.index) == (choice, call)]
    # Cumulative ones repeat what came before: each is looked at by itself.
    return _parting_place(exchange, [(one.frame, one.text) for one in said], want, got, again=exchange.cumulative)


def value_place(exchange: Exchange, want: str, got: str) -> Place:
    """Where in the body of a whole answer a text begins to differ; all of the body where that cannot be found."""
    at = parting(want, got)
    around = got[max(0, at - AROUND) : at + AROUND]
    # As JSON writers spell it: with other characters than ASCII, or with escapes.
    for ascii_only in (False, True):
        spelt = json.dumps(around, ensure_ascii=ascii_only)[1:-1].encode(errors="surrogatepass")
        found = exchange.transcript.body.find(spelt) if spelt else -1
        if found >= 0:
            return Place(offset=found, length=len(spelt))
    return exchange.body_place


def _parting_place(
    exchange: Exchange, pieces: list[tuple[int, str]], want: str, got: str, *, again: bool = False
) -> Place | None:
    at, ends = parting(want, got), [len(text) for _, text in pieces]
    ends = ends if again else list(accumulate(ends))
    numbers = [frame for frame, _ in pieces]
    differs = next((frame for frame, end in zip(numbers, ends, strict=True) if at < end), None)
    frame = numbers[-1] if differs is None and numbers else differs
    return None if frame is None else frame_place(reading_of(exchange), frame)


def frame_place(reading: Reading, number: int) -> Place | None:
    """A frame as a place; None for a whole answer, which has no frames."""
    return reading.frames[number].place if number < len(reading.frames) else None


def plain(content: str, wanted: Expected) -> str:
    """The content before the first `<use_tool>` block; unchanged if no block is expected."""
    return content.partition("<use_tool>")[0] if wanted.blocks else content


def strays(exchange: Exchange, wanted: Expected, got: str) -> bool:
    """Whether a choice holds text that belongs to another choice."""
    others = [other.text for other in exchange.wanted if other is not wanted and other.text]
    # A right text may well hold the words of another choice.
    return got != (wanted.text or "") and any(other in got for other in others)


def counts(exchange: Exchange) -> tuple[int, int, int] | None:
    """The tokens that the backend reported for all choices: input, output, total.

    None: it did not report them for every choice, so a proxy's own estimate is as good.
    """
    if Missing.COUNTS in exchange.target.missing and any(wanted.cut for wanted in exchange.wanted):
        return None
    reported = [wanted.usage for wanted in exchange.wanted]
    known = [usage for usage in reported if usage is not None]
    # The sum is over all choices, so one that is not known makes it unknown.
    if not known or len(known) < len(reported):
        return None
    prompt, completion = sum(usage.input for usage in known), sum(usage.output for usage in known)
    return prompt, completion, prompt + completion


def altered_arguments(want: ExpectedCall, got: Call, place: Place | None) -> Iterable[Seen]:
    """Arguments that are not the model's own text.

    Those that the backend carries as data are compared as such. Those that the backend wrote as elements of a block
    have no text of their own to compare: they need only be JSON here, and the requirements of blocks compare their
    meaning.
    """
    if want.meant:
        if not same_data(want.arguments, got.arguments):
            yield Seen(f"arguments of {want.name}: {difference(want.arguments, got.arguments)}", place)
    elif want.exact and got.arguments != want.arguments:
        seen = f"arguments of {want.name}: {difference(want.arguments, got.arguments)}"
        yield Seen(seen, place, strict_only=same_json(want.arguments, got.arguments))
    elif not want.exact and not _is_json(got.arguments):
        yield Seen(f"arguments of {want.name} are no JSON: {quoted(got.arguments)}", place)


def same_json(want: str, got: str) -> bool:
    """Whether two texts are the same JSON: every client parses arguments, so the tool gets the same from both."""
    try:
        # Numbers by their spelling, in tuples that no JSON gives: a client may read 1 and 1.0 as different types.
        read = [json.loads(one, parse_float=_number, parse_int=_number) for one in (want, got)]
    except (ValueError, RecursionError):
        return False
    return bool(read[0] == read[1])


def same_data(want: str, got: str) -> bool:
    """Whether two texts are JSON of the same data, its numbers as doubles."""
    try:
        read = [json.loads(one, parse_int=float) for one in (want, got)]
    except (ValueError, RecursionError):
        return False
    return bool(read[0] == read[1])


def _number(spelling: str) -> tuple[str]:
    return (spelling,)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
