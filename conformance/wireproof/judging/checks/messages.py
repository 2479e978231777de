"""Checks of Messages that need more than the grammar: schemas, and the right answer.

What means the same elsewhere (headers, flushing, keep-alives, disconnects, the end of the body) is checked by the
checks of the other surfaces, which are registered for both.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from wireproof.judging.checks.answer_parts import calls, text
from wireproof.judging.checks.chat_ends import failure_of
from wireproof.judging.checks.chat_stream import gate_was_late
from wireproof.judging.checks.diff import REPLACEMENT, torn
from wireproof.judging.checks.places import (
    NO_USAGE,
    counts,
    member_place,
    named_frames,
    place_of,
    right_ends,
    said_place,
)
from wireproof.judging.checks.published import of_frames, of_whole, unpublished
from wireproof.judging.registry import Checks, Seen, about
from wireproof.model.scenario import Mode
from wireproof.reading.expected import Expected, ExpectedFailure
from wireproof.wire.events import Finished, TokenUsage
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import JsonObject, text_of
from wireproof.wire.messages_grammar import OF_THE_STREAM, STOP_REASONS, STOP_SEQUENCE
from wireproof.wire.messages_whole import fold
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.events import Choice
    from wireproof.wire.sse import SseFrame
    from wireproof.wire.violation import Place

check = Checks()

_NAMED = frozenset({
    ("type",), ("index",), ("delta",), ("delta", "stop_reason"), ("delta", "stop_sequence"), ("delta", "partial_json"),
    ("error", "type"),
})  # fmt: skip
"""What the grammar says of an event before its schema is asked."""
_FAILED_LATE = {ExpectedFailure.AFTER_TEXT, ExpectedFailure.IN_CALL}


# form


@check("messages.stream.schema")
def schema(exchange: Exchange) -> Iterable[Seen]:
    """Every event that the grammar does not find wrong is a published one of published members."""
    reading = exchange.read
    named = named_frames(reading)
    published = ((one, event) for one, event in reading.payloads if text_of(event.get("type")) in OF_THE_STREAM)
    frames = ((frame, event) for frame, event in published if frame.number not in named)
    return of_frames(frames, partial(_unpublished, "messages/stream"))


def _unpublished(schema: str, payload: object, frame: SseFrame) -> Iterable[Seen]:
    """What is wrong by a schema, without the counts, which have rows of their own."""
    found = unpublished(schema, payload, frame, apart=_NAMED)
    return (seen for seen in found if "usage" not in seen.kind.split("/") or seen.strict_only)


@check("messages.whole.envelope")
def envelope(exchange: Exchange) -> Iterable[Seen]:
    """The body is a message of published members, complete, and the answer to this request."""

    def weighed(body: JsonObject, frame: SseFrame) -> Iterable[Seen]:
        found = _unpublished("messages/message", body, frame)
        # Of counts under other names the row of usage says that there are none.
        return (one for one in found if exchange.answer.usage is not None or "usage" not in one.kind.split("/"))

    body, seen = of_whole(exchange, weighed, "content", "stop_reason", "stop_sequence")
    yield from seen
    if body is None:
        return
    # A member too many says nothing of the others.
    formed = all(one.strict_only for one in seen)
    if failure_of(exchange) is ExpectedFailure.BEFORE_OUTPUT and formed:
        failed = f"the backend failed, and the answer is HTTP {exchange.transcript.status}"
        yield Seen(failed, exchange.body_place, kind="failed", part=Facet.STATUS)
    model = body.get("model")
    if formed and model is not None and model != exchange.target.model:
        named = f"model is {quoted(model)}, the request asked for {quoted(exchange.target.model)}"
        yield Seen(named, member_place(exchange, "model"), strict_only=True, spoils=UNTOUCHED)


# content


@check("messages.whole.text", "messages.stream.text")
def said(exchange: Exchange) -> Iterable[Seen]:
    """The text is what the backend said, in whole characters."""
    for wanted, choice in exchange.choices():
        got = choice.text or ""
        # That is for the row of flushing: one cause, one violation.
        if gate_was_late(wanted, got):
            continue
        if torn(wanted.text or "", got):
            at = got.index(REPLACEMENT)
            seen = f"a replacement character (U+FFFD) stands in {quoted(got[max(0, at - 10) : at + 10])}"
            # Also in a report of the backend's, which then says nothing of what the backend received.
            yield Seen(seen, said_place(exchange), part=Facet.ENCODING, spoils=frozenset({Facet.TEXT, Facet.ENCODING}))
        else:
            yield from about(Facet.TEXT, text(exchange, wanted, choice))


@check("messages.whole.calls", "messages.stream.arguments")
def called(exchange: Exchange) -> Iterable[Seen]:
    """All calls, in order, with the arguments that the model meant."""
    for wanted, choice in exchange.choices():
        yield from calls(exchange, wanted, choice)


@check("messages.whole.stop-reason", "messages.stream.stop-reason")
def stop_reason(exchange: Exchange) -> Iterable[Seen]:
    """The answer ended as the backend did. Whether the reason fits the blocks is for the reader."""
    for wanted, choice in exchange.choices():
        # A reason that is missing has been named where the answer was read.
        if wanted.finish is None or choice.finish is None:
            continue
        # An answer that was cut in its calls says either.
        if choice.finish in right_ends(wanted, choice) | ({"length"} if wanted.cut and choice.calls else set()):
            yield from _stopped(exchange, wanted, choice)
            continue
        due = " or ".join(word for word, reason in STOP_REASONS.items() if reason == wanted.finish)
        came = " or ".join(word for word, reason in STOP_REASONS.items() if reason == choice.finish) or choice.finish
        yield Seen(f"stop_reason is {came}, the backend's turn ended with {due}", _end(exchange), part=Facet.FINISH)


def _stopped(exchange: Exchange, wanted: Expected, choice: Choice) -> Iterable[Seen]:
    """A stop sequence that ended the text is named, and no other; many backends do not say which it was."""
    # Of a text that is neither the one nor the other, the row of the text speaks.
    if not exchange.terms.stops or choice.text != wanted.text:
        return
    payloads = [payload for _, payload in exchange.read.payloads]
    said = fold(payloads) if exchange.mode is Mode.STREAM else payloads[-1]
    reason, named = said.get("stop_reason"), said.get("stop_sequence")
    # That the two do not fit each other has been named where the answer was read.
    if (reason == STOP_SEQUENCE) == isinstance(named, str) and named != (wanted.stop or None):
        due = f"the text ends before {quoted(wanted.stop)}" if wanted.stop else "the text goes on to its end"
        seen = f"stop_reason is {reason}, and stop_sequence {quoted(named)}: {due}"
        yield Seen(seen, _end(exchange), strict_only=True, part=Facet.FINISH)


def _end(exchange: Exchange) -> Place | None:
    return place_of(exchange, Finished) if exchange.mode is Mode.STREAM else member_place(exchange, "stop_reason")


@check("messages.whole.usage", "messages.stream.usage")
def usage(exchange: Exchange) -> Iterable[Seen]:
    """The counts are the backend's. Those of message_start are known before the backend has counted."""
    got, want = exchange.answer.usage, counts(exchange)
    if exchange.answer.error is not None or exchange.choice().finish is None:
        return
    whole = exchange.mode is Mode.WHOLE
    place = member_place(exchange, "usage") if whole else place_of(exchange, TokenUsage)
    # Of a stream the grammar has named it.
    if got is None and whole:
        yield Seen("the message has no usage with its two counts", place, part=Facet.USAGE, about=NO_USAGE)
    elif got is not None and want is not None and (got.prompt, got.completion) != want[:2]:
        seen = f"usage is {got.prompt} + {got.completion}, the backend reported {want[0]} + {want[1]}"
        yield Seen(seen, place, part=Facet.USAGE, counts=True)


# failures


@check("messages.stream.error-in-stream")
def error_in_stream(exchange: Exchange) -> Iterable[Seen]:
    """A failure after output is an error event; after a complete call an end is as good, since the call can be run."""
    failure, error = failure_of(exchange), exchange.answer.error
    if failure in _FAILED_LATE and error is None:
        seen = "the backend failed after output, and the stream does not report it: the client takes half for all"
        yield Seen(seen, exchange.body_place)
    elif failure is ExpectedFailure.NONE and error is not None and exchange.wanted:
        yield Seen("the stream ends with an error, and the backend did not fail", exchange.body_place)
