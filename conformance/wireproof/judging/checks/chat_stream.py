"""Checks of streamed chat answers that need more than the grammar: schemas, the right answer, the whole answer.

Text can be wrong in ways that have requirements of their own: characters cut to pieces (`utf8`), a gate that opened
too late (`flushed`), the text of another choice (`isolation`). `text` leaves these to them: one cause, one violation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import difference, is_object, torn
from wireproof.judging.checks.places import (
    as_data,
    calls_are_named,
    differences,
    frame_place,
    is_as_far,
    is_counted_alike,
    last_usage,
    misindexed,
    named_frames,
    place_of,
    plain,
    said_place,
    strays,
    text_spot,
    tokens_in,
    wrong_text,
)
from wireproof.judging.checks.published import of_frames, unpublished
from wireproof.judging.registry import Checks, Seen, no_header
from wireproof.wire.events import CallOpened, Fragment, Text, TokenUsage
from wireproof.wire.facet import CONTENT, UNREADABLE, UNTOUCHED, Facet
from wireproof.wire.fields import JsonObject, object_of
from wireproof.wire.grammar import NO_MIXED, TAIL
from wireproof.wire.quoting import apart, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wireproof.judging.checks.places import Pair
    from wireproof.reading.exchange import Exchange
    from wireproof.reading.expected import Expected
    from wireproof.wire.events import Choice, ToolCall
    from wireproof.wire.sse import SseFrame
    from wireproof.wire.violation import Place

check = Checks()

HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",  # nginx buffers a response unless it says so
    "connection": "keep-alive",
}
"""Header → what its value must contain."""


@check("chat.stream.headers", "responses.stream.headers", "messages.stream.headers")
def headers(exchange: Exchange) -> Iterable[Seen]:
    """The headers that keep every hop from buffering the stream."""
    for name, wanted in HEADERS.items():
        value = exchange.transcript.header(name)
        if value is None:
            yield no_header(name, f"say {wanted}", strict_only=True)
        elif wanted not in value.lower():
            # Clients that choose their reader by the media type find no stream; the others are for hops between.
            beside = name != "content-type"
            yield Seen(f"{name} is {quoted(value)}, it should say {wanted}", strict_only=beside, spoils=UNTOUCHED)


@check("chat.stream.schema")
def schema(exchange: Exchange) -> Iterable[Seen]:
    """Every chunk that the grammar does not find wrong is a chat.completion.chunk of published fields.

    Each member that is wrong is seen once.
    """
    reading = exchange.read
    named, calls = named_frames(reading), calls_are_named(reading)

    def weighed(chunk: JsonObject, frame: SseFrame) -> Iterable[Seen]:
        for found in unpublished("chat.completion.chunk", chunk, frame):
            if not (calls and {"tool_calls", "function_call"} & set(found.kind.split("/"))):
                yield _weighed(found, chunk)

    # Error frames have a schema of their own, and rows that judge them.
    frames = (one for one in reading.payloads if one[0].number not in named and one[1].get("error") is None)
    return of_frames(frames, weighed)


def _weighed(found: Seen, payload: JsonObject) -> Seen:
    """A fault of a chunk, as far as the chunk says anything."""
    # Null where a list should be says nothing: whatever else comes can be read.
    if found.kind == "choices" and payload.get("choices") is None:
        return replace(found, spoils=UNTOUCHED)
    # In a chunk that says nothing, gateways send the results of their filters, with an empty head.
    empty = payload.get("choices") == [] and payload.get("usage") is None and payload.get("object") == ""
    reads_on = empty and not UNREADABLE & (found.spoils or UNTOUCHED)
    return replace(found, strict_only=True) if reads_on else found


@check("chat.stream.text")
def text(exchange: Exchange) -> Iterable[Seen]:
    """The deltas add up to what the backend said; a backend that reflects says JSON."""
    # Which text is whose is not known, then.
    if misindexed(exchange):
        return
    for wanted, choice in exchange.choices():
        got = plain(choice.text or "", wanted)
        if torn(wanted.text or "", got) or gate_was_late(wanted, got) or strays(exchange, wanted, got):
            continue
        if wanted.text is None:
            if exchange.complete and not is_object(got):
                seen = f"the backend sent a JSON object; what came is not one: {quoted(got)}"
                yield Seen(seen, text_spot(exchange, choice.index, "{", got).place)
        elif _beside_calls(exchange, choice):
            # What stands beside a call or after it has requirements of its own; before it, nothing may differ.
            before = _before_calls(exchange, choice)
            if not wanted.text.startswith(before):
                spot = text_spot(exchange, choice.index, wanted.text, before)
                yield Seen(f"content: {difference(wanted.text, before)}", spot.place)
        elif not is_as_far(exchange, wanted.text, got):
            spot = text_spot(exchange, choice.index, wanted.text, got)
            yield wrong_text(f"content: {difference(wanted.text, got)}", spot.place, wanted.text, got)


def _beside_calls(exchange: Exchange, choice: Choice) -> bool:
    found = {violation.requirement for violation in exchange.read.violations}
    return bool(choice.calls) and bool({NO_MIXED, TAIL} & found)


def _before_calls(exchange: Exchange, choice: Choice) -> str:
    """The text of the frames before the first call."""
    events = [event for event in exchange.read.events if getattr(event, "choice", None) == choice.index]
    first = next((event.frame for event in events if isinstance(event, CallOpened)), None)
    return "".join(event.text for event in events if isinstance(event, Text) and (first is None or event.frame < first))


@check("chat.stream.isolation")
def isolation(exchange: Exchange) -> Iterable[Seen]:
    """Each choice comes under an index of its own, and none holds text that belongs to another."""
    if indexes := misindexed(exchange):
        asked = exchange.conversation.choices
        seen = f"n is {asked}; the choices of the stream have the indexes {quoted(indexes)}"
        seen = f"{seen}, they should be {quoted(list(range(asked)))}"
        yield Seen(seen, exchange.body_place, spoils=CONTENT | {Facet.CALL_ID, Facet.USAGE})
        return
    for wanted, choice in exchange.choices():
        got = choice.text or ""
        if strays(exchange, wanted, got):
            seen = f"choice {choice.index} holds text that belongs to another: {quoted(got)}"
            yield Seen(seen, text_spot(exchange, choice.index, wanted.text or "", got).place)


@check("chat.stream.utf8")
def utf8(exchange: Exchange) -> Iterable[Seen]:
    """No delta holds replacement characters, which a character that was cut in two leaves behind."""
    for wanted, choice in exchange.choices():
        pairs = [((wanted.text or "") + "".join(wanted.blocks), choice.text or "")]
        pairs += [(want.arguments, got.arguments) for want, got in zip(wanted.calls, choice.calls, strict=False)]
        for want, got in pairs:
            if torn(want, got):
                yield Seen(difference(want, got), _place_of_torn(exchange))


@check("chat.stream.flushed", "responses.stream.flushed", "messages.stream.flushed")
def flushed(exchange: Exchange) -> Iterable[Seen]:
    """The first text reaches the client before the backend says more.

    The backend waits at a gate that the client opens at its first text. A gate that gives up says so in the answer.
    """
    if any(gate_was_late(wanted, choice.text or "") for wanted, choice in exchange.choices()):
        yield Seen(
            "the backend sent its first text and waited, but the client received it only after the backend gave up",
            said_place(exchange),
        )


def gate_was_late(wanted: Expected, got: str) -> bool:
    """Whether a text holds what the backend sends if its gate was not opened in time."""
    return any(gate.late in got for gate in wanted.gates)


@check("chat.stream.parity")
def parity(stream: Exchange, whole: Exchange) -> Iterable[Seen]:
    """The stream, assembled, is the whole answer.

    A whole answer with calls has no text, so text before a call is in the stream alone. Under stop policy first the
    stream ends after its first call, so later calls are in the whole answer alone.
    """
    for wanted, s in stream.choices():
        w = whole.choice(s.index)
        pairs: list[Pair] = [
            (Facet.FINISH, "finish", s.finish, w.finish),
            *_calls(s.calls, w.calls if stream.terms.burst else w.calls[:1], data=stream.carries_data),
        ]
        # Text beside calls has requirements of its own.
        beside = _beside_calls(stream, s)
        if not w.calls and not beside:
            pairs.append((Facet.TEXT, "text", s.text or "", w.text or ""))
        # The stream passed on what came before the block; the whole answer dropped it.
        elif wanted.blocks and not beside:
            block = (s.text or "").removeprefix(wanted.text or "")
            pairs.append((Facet.TEXT, "block", block, w.text))
        # A stream has usage on request only.
        if stream.answer.usage is not None and is_counted_alike(stream):
            pairs.append((Facet.USAGE, "usage", _usage(stream), _usage(whole)))
        yield from differences(pairs)


@check("chat.stream.usage-details")
def usage_details(stream: Exchange, whole: Exchange) -> Iterable[Seen]:
    """The details of the counts are those of the whole answer. That there are counts at all is for other rows."""
    if stream.answer.usage is None or whole.answer.usage is None or not is_counted_alike(stream):
        return
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        said, other = (object_of(last_usage(one).get(name)) for one in (stream, whole))
        if _counted(said) != _counted(other):
            streamed, at_once = apart(said, other)
            seen = f"{name}: the stream says {streamed}, the whole answer {at_once}"
            yield Seen(seen, place_of(stream, TokenUsage), part=Facet.USAGE)
            return


@check("chat.stream.logprobs")
def logprobs(stream: Exchange, whole: Exchange) -> Iterable[Seen]:
    """The tokens whose probabilities a stream has are those of the whole answer."""
    for number, _ in enumerate(stream.wanted):
        streamed, at_once = (tokens_in(one, number) for one in (stream, whole))
        if streamed != at_once:
            one, other = apart(streamed, at_once)
            # Where both have them, they differ as the text does.
            part = None if streamed is None or at_once is None else Facet.TEXT
            yield Seen(f"logprobs: the tokens of the stream are {one}, those of the whole answer {other}", part=part)
            return


def _counted(details: JsonObject) -> JsonObject:
    """The counts that say something: one of zero says no more than one that is missing."""
    return {kind: count for kind, count in details.items() if count}


def _calls(ours: Sequence[ToolCall], others: Sequence[ToolCall], *, data: bool) -> Iterable[Pair]:
    """Calls against each other: which, their arguments as far as both have them, their ids."""
    said = as_data if data else str
    yield Facet.CALL, "calls", [call.name for call in ours], [call.name for call in others]
    both = list(zip(ours, others, strict=False))
    yield Facet.CALL_ID, "ids of calls", [call.id for call, _ in both], [call.id for _, call in both]
    yield (
        Facet.ARGUMENTS,
        "arguments",
        [said(call.arguments) for call, _ in both],
        [said(call.arguments) for _, call in both],
    )


def _usage(exchange: Exchange) -> tuple[int, int, int] | None:
    usage = exchange.answer.usage
    return None if usage is None else (usage.prompt, usage.completion, usage.total)


def _place_of_torn(exchange: Exchange) -> Place | None:
    reading = exchange.read
    texts = (event for event in reading.events if isinstance(event, Text | Fragment))
    frame = next((event.frame for event in texts if torn("", event.text)), None)
    return None if frame is None else frame_place(reading, frame)
