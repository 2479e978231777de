"""Checks of streamed chat answers that need more than the grammar: schemas, the right answer, the other exchange."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay.judging.checks import chat_calls, chat_ends
from assay.judging.checks.diff import difference, is_object, torn
from assay.judging.checks.places import Check, frame_place, place_of, plain, reading_of, strays
from assay.reading.exchange import Exchange, violation
from assay.reading.schemas import errors as schema_errors
from assay.wire.events import Fragment, Text
from assay.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.reading.expected import Expected
    from assay.wire.calls import Call

HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "connection": "keep-alive",
}
"""Header → what its value must contain."""


def headers(exchange: Exchange) -> Iterable[Violation]:
    """The headers that keep every hop from buffering the stream."""
    for name, wanted in HEADERS.items():
        value = exchange.transcript.header(name)
        if value is None:
            yield violation("chat.stream.headers", f"there is no {name} header, it should say {wanted}")
        elif wanted not in value.lower():
            yield violation("chat.stream.headers", f"{name} is {value!r}, it should say {wanted}")


def schema(exchange: Exchange) -> Iterable[Violation]:
    """Every chunk is a chat.completion.chunk of published fields, up to the first chunk that the grammar blames."""
    reading = reading_of(exchange)
    blamed = min((v.place.frame for v in reading.violations if v.place and v.place.frame is not None), default=None)
    shapes: set[str] = set()
    for frame, payload in reading.payloads:
        if frame.number == blamed:
            return
        if payload.get("error") is not None:
            continue
        shape = _shape(payload)
        if shape in shapes:
            continue
        shapes.add(shape)
        found = schema_errors("chat.completion.chunk", payload)
        if found:
            place = Place(offset=frame.offset, length=len(frame.raw), frame=frame.number)
            yield violation("chat.stream.schema", found[0], place)
            return


def _shape(value: Any) -> str:  # noqa: ANN401 (JSON)
    """A chunk with its texts emptied: chunks of one shape are valid together."""
    return json.dumps(_without_texts(value), sort_keys=True)


def _without_texts(value: Any) -> Any:  # noqa: ANN401 (JSON)
    match value:
        case dict():
            return {
                k: "" if k in {"content", "arguments"} and isinstance(v, str) else _without_texts(v)
                for k, v in value.items()
            }
        case list():
            return [_without_texts(item) for item in value]
        case _:
            return value


def text(exchange: Exchange) -> Iterable[Violation]:
    """The deltas add up to what the backend said; a backend that reflects says JSON."""
    for wanted, choice in exchange.choices():
        got = plain(choice.text or "", wanted)
        if torn(wanted.text or "", got) or _gate_was_late(wanted, got) or strays(exchange, wanted, got):
            continue
        if wanted.text is None:
            if not is_object(got):
                seen = f"the backend said a JSON object; what came is none: {got[:80]!r}"
                yield violation("chat.stream.text", seen, place_of(exchange, Text))
        elif got != wanted.text:
            yield violation("chat.stream.text", difference(wanted.text, got), place_of(exchange, Text))


def isolation(exchange: Exchange) -> Iterable[Violation]:
    """No choice says what another one was to say."""
    for wanted, choice in exchange.choices():
        got = choice.text or ""
        if strays(exchange, wanted, got):
            seen = f"choice {choice.index} says what belongs to another: {got[:80]!r}"
            yield violation("chat.stream.isolation", seen, place_of(exchange, Text))


def utf8(exchange: Exchange) -> Iterable[Violation]:
    """No delta shows the trace of a cut character."""
    for wanted, choice in exchange.choices():
        pairs = [((wanted.text or "") + "".join(wanted.blocks), choice.text or "")]
        pairs += [(want.arguments, got.arguments) for want, got in zip(wanted.calls, choice.calls, strict=False)]
        for want, got in pairs:
            if torn(want, got):
                yield violation("chat.stream.utf8", difference(want, got), _place_of_torn(exchange))


def flushed(exchange: Exchange) -> Iterable[Violation]:
    """The backend waited for the client to have its first words; it must not have waited in vain."""
    if any(_gate_was_late(wanted, choice.text or "") for wanted, choice in exchange.choices()):
        yield violation(
            "chat.stream.flushed",
            "the backend said its first words and waited, but they reached the client only after it had given up",
            exchange.body_place,
        )


def _gate_was_late(wanted: Expected, got: str) -> bool:
    return any(gate.late in got for gate in wanted.gates)


def parity(stream: Exchange, whole: Exchange) -> Iterable[Violation]:
    """The stream, assembled, is the whole answer; text before a call and calls after the first may be missing."""
    for wanted, s in stream.choices():
        w = whole.choice(s.index)
        pairs: list[tuple[str, object, object]] = [
            ("finish", s.finish, w.finish),
            ("calls", _told(s.calls), _told(w.calls if stream.burst else w.calls[:1])),
        ]
        if not w.calls:
            pairs.append(("text", s.text or "", w.text or ""))
        elif wanted.blocks:
            pairs.append(("block", (s.text or "").removeprefix(wanted.text or ""), w.text))
        if stream.answer.usage is not None:
            pairs.append(("usage", _counted(stream), _counted(whole)))
        for what, streamed, at_once in pairs:
            if streamed != at_once:
                seen = f"{what}: the stream says {streamed!r:.200}, the whole answer {at_once!r:.200}"
                yield violation("chat.stream.parity", seen)
                return


def _told(calls: tuple[Call, ...]) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in calls]


def _counted(exchange: Exchange) -> tuple[int, int, int] | None:
    told = exchange.answer.usage
    return None if told is None else (told.prompt, told.completion, told.total)


def _place_of_torn(exchange: Exchange) -> Place | None:
    reading = reading_of(exchange)
    told = (event for event in reading.events if isinstance(event, Text | Fragment))
    frame = next((event.frame for event in told if torn("", event.text)), None)
    return None if frame is None else frame_place(reading, frame)


FORM: Mapping[str, Check] = {
    "chat.stream.headers": headers,
    "chat.stream.schema": schema,
    "chat.stream.done-last": chat_ends.done_last,
}

CONTENT: Mapping[str, Check] = {
    "chat.stream.utf8": utf8,
    "chat.stream.flushed": flushed,
    "chat.stream.isolation": isolation,
    "chat.stream.text": text,
    **chat_calls.CONTENT,
    **chat_ends.CONTENT,
}

SENSE: Mapping[str, Check] = {"chat.stream.disconnect": chat_ends.disconnect}

INVARIANT = frozenset({"chat.stream.stop-after-first"})
"""Checks of content that ask for no particular answer."""
SCRIPTED = frozenset({"chat.stream.utf8", "chat.stream.usage", "chat.stream.error-after-text"})
"""Holes of the grammar that are only half of their requirement: the other half needs the right answer."""
