"""Checks of how streamed chat answers end: finish, usage, [DONE], failures, silence, a client that left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from assay.judging.checks.places import counts, frame_place, place_of, reading_of
from assay.model.transcript import End
from assay.reading.exchange import Exchange, violation
from assay.reading.expected import Failure
from assay.reading.schemas import errors as schema_errors
from assay.wire.events import Comment, Failed, Finished, Text, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.judging.checks.places import Check
    from assay.wire.violation import Violation

TOLD_IN_FRAMES = {Failure.AFTER_TEXT, Failure.IN_CALL, Failure.SILENT}
"""Failures that an error frame may tell; the connection may break off after it."""


def finish_reason(exchange: Exchange) -> Iterable[Violation]:
    """The finish reason is the backend's, and any call beats it."""
    for wanted, choice in exchange.choices():
        if wanted.finish is not None and choice.finish not in {wanted.finish, None}:
            seen = f"finish_reason is {choice.finish!r}, it should be {wanted.finish!r}"
            yield violation("chat.stream.finish-reason", seen, place_of(exchange, Finished))


def usage(exchange: Exchange) -> Iterable[Violation]:
    """A usage chunk on request only, with the backend's counts, those of all choices together."""
    got, place = exchange.answer.usage, place_of(exchange, Usage)
    if not exchange.scenario.usage:
        if got is not None:
            yield violation("chat.stream.usage", "a usage chunk came that was not asked for", place)
    elif exchange.choice().finish is None:
        return
    elif got is None:
        yield violation("chat.stream.usage", "stream_options.include_usage was set and no usage chunk came")
    elif (want := counts(exchange)) is not None and (got.prompt, got.completion, got.total) != want:
        seen = f"usage is {got.prompt} + {got.completion} = {got.total}, the backend reported {want[0]} + {want[1]}"
        yield violation("chat.stream.usage", seen, place)


def done_last(exchange: Exchange) -> Iterable[Violation]:
    """The body ends as soon as [DONE] is said."""
    match exchange.transcript.end:
        case End.OPEN:
            seen = "[DONE] came and the body stayed open; JavaScript clients wait for its end"
            yield violation("chat.stream.done-last", seen)
        case End.CUT if _failure(exchange) not in TOLD_IN_FRAMES:
            yield violation("chat.stream.done-last", "the connection broke before the body was complete")
        case End.TIMEOUT:
            seen = f"the stream went silent for {exchange.target.timeout:g} s without its end"
            yield violation("chat.stream.done-last", seen)
        case _:
            pass


def error_before_output(exchange: Exchange) -> Iterable[Violation]:
    """A failure before any output has a real HTTP status."""
    if _failure(exchange) is Failure.BEFORE_OUTPUT and exchange.transcript.ok:
        seen = (
            f"the backend failed before it said anything, and the stream began with HTTP {exchange.transcript.status}"
        )
        yield violation("chat.stream.error-before-output", seen, exchange.body_place)
    elif _failure(exchange) is Failure.SILENT and exchange.transcript.ok and exchange.answer.error is None:
        seen = "the backend never said anything, and the stream ended without an error"
        yield violation("chat.stream.error-before-output", seen, exchange.body_place)


def error_after_text(exchange: Exchange) -> Iterable[Violation]:
    """A failure in mid-text is told by an envelope in a frame; what may stand beside it is the grammar's business."""
    if _failure(exchange) is not Failure.AFTER_TEXT:
        return
    if exchange.answer.error is None:
        seen = (
            "the backend failed in mid-text, and the stream says nothing of it: the client takes a torso for an answer"
        )
        yield violation("chat.stream.error-after-text", seen, exchange.body_place)
    reading = reading_of(exchange)
    for frame, payload in reading.payloads:
        wrong = schema_errors("error", payload) if payload.get("error") is not None else []
        if wrong:
            seen = f"the error frame is no envelope: {wrong[0]}"
            yield violation("chat.stream.error-after-text", seen, frame_place(reading, frame.number))
            return


def error_after_call(exchange: Exchange) -> Iterable[Violation]:
    """A failure after a complete call leaves no trace; one inside a call is told."""
    if _failure(exchange) is Failure.AFTER_CALL and exchange.answer.error is not None:
        seen = "the call was complete, yet an error frame came: clients throw the call away"
        yield violation("chat.stream.error-after-call", seen, place_of(exchange, Failed))
    if _failure(exchange) is Failure.IN_CALL and exchange.answer.error is None:
        seen = "the backend failed inside a call, and the stream says nothing of it: the client runs half of a call"
        yield violation("chat.stream.error-after-call", seen, exchange.body_place)


def keepalive(exchange: Exchange) -> Iterable[Violation]:
    """A silent backend yields comments; what else it may yield is another requirement's business."""
    if any(v.requirement == "chat.stream.keepalive-is-comment" for v in reading_of(exchange).violations):
        return
    for event in reading_of(exchange).events:
        match event:
            case Comment():
                return
            case Text():
                break
            case _:
                pass
    interval = exchange.target.keepalive
    seen = f"no comment came while the backend was silent for several times {interval or 0:g} s"
    yield violation("chat.stream.keepalive", seen)


def disconnect(exchange: Exchange) -> Iterable[Violation]:
    """The next request is served, and the backend says that the abandoned turn has ended."""
    if exchange.number == 0:
        return
    turns = json.loads(exchange.choice().text or "{}").get("turns") or []
    state = next((turn["state"] for turn in turns if turn.get("script") == exchange.scenario.script), "unknown")
    if state not in {"interrupted", "completed"}:
        seen = f"1 s after the client had gone, the backend's turn was still {state}: nobody interrupted it"
        yield violation("chat.stream.disconnect", seen, exchange.body_place)


def _failure(exchange: Exchange) -> Failure:
    return exchange.wanted[0].failure if exchange.wanted else Failure.NONE


CONTENT: Mapping[str, Check] = {
    "chat.stream.finish-reason": finish_reason,
    "chat.stream.usage": usage,
    "chat.stream.error-before-output": error_before_output,
    "chat.stream.error-after-text": error_after_text,
    "chat.stream.error-after-call": error_after_call,
    "chat.stream.keepalive": keepalive,
}
