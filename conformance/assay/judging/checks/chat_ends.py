"""Checks of how streamed chat answers end: finish, usage, [DONE], failures, silence, a client that left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from assay.judging.checks.places import counts, frame_place, place_of, reading_of
from assay.model.transcript import End
from assay.reading.exchange import Heard, violation
from assay.reading.expected import Failure
from assay.reading.schemas import errors as schema_errors
from assay.wire.events import Comment, Failed, Finished, Text, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.judging.checks.places import Check
    from assay.wire.violation import Violation

TOLD_IN_FRAMES = {Failure.AFTER_TEXT, Failure.IN_CALL, Failure.SILENT}
"""Failures that an error frame may tell; the connection may break off after it."""


def finish_reason(heard: Heard) -> Iterable[Violation]:
    """The finish reason is the backend's, and any call beats it."""
    for wanted, choice in heard.choices():
        if wanted.finish is not None and choice.finish not in {wanted.finish, None}:
            seen = f"finish_reason is {choice.finish!r}, it should be {wanted.finish!r}"
            yield violation("chat.stream.finish-reason", seen, place_of(heard, Finished))


def usage(heard: Heard) -> Iterable[Violation]:
    """A usage chunk on request only, with the backend's counts, those of all choices together."""
    got, place = heard.answer.usage, place_of(heard, Usage)
    if not heard.scenario.usage:
        if got is not None:
            yield violation("chat.stream.usage", "a usage chunk came that was not asked for", place)
    elif heard.choice().finish is None:
        return
    elif got is None:
        yield violation("chat.stream.usage", "stream_options.include_usage was set and no usage chunk came")
    elif (want := counts(heard)) is not None and (got.prompt, got.completion, got.total) != want:
        seen = f"usage is {got.prompt} + {got.completion} = {got.total}, the backend reported {want[0]} + {want[1]}"
        yield violation("chat.stream.usage", seen, place)


def done_last(heard: Heard) -> Iterable[Violation]:
    """The body ends as soon as [DONE] is said."""
    match heard.transcript.end:
        case End.OPEN:
            seen = "[DONE] came and the body stayed open; JavaScript clients wait for its end"
            yield violation("chat.stream.done-last", seen)
        case End.CUT if _failure(heard) not in TOLD_IN_FRAMES:
            yield violation("chat.stream.done-last", "the connection broke before the body was complete")
        case End.TIMEOUT:
            seen = f"the stream went silent for {heard.target.timeout:g} s without its end"
            yield violation("chat.stream.done-last", seen)
        case _:
            pass


def error_before_output(heard: Heard) -> Iterable[Violation]:
    """A failure before any output has a real HTTP status."""
    if _failure(heard) is Failure.BEFORE_OUTPUT and heard.transcript.ok:
        seen = f"the backend failed before it said anything, and the stream began with HTTP {heard.transcript.status}"
        yield violation("chat.stream.error-before-output", seen, heard.body_place)
    elif _failure(heard) is Failure.SILENT and heard.transcript.ok and heard.answer.error is None:
        seen = "the backend never said anything, and the stream ended without an error"
        yield violation("chat.stream.error-before-output", seen, heard.body_place)


def error_after_text(heard: Heard) -> Iterable[Violation]:
    """A failure in mid-text is told by an envelope in a frame; what may stand beside it is the grammar's business."""
    if _failure(heard) is not Failure.AFTER_TEXT:
        return
    if heard.answer.error is None:
        seen = (
            "the backend failed in mid-text, and the stream says nothing of it: the client takes a torso for an answer"
        )
        yield violation("chat.stream.error-after-text", seen, heard.body_place)
    reading = reading_of(heard)
    for frame, payload in reading.payloads:
        wrong = schema_errors("error", payload) if payload.get("error") is not None else []
        if wrong:
            seen = f"the error frame is no envelope: {wrong[0]}"
            yield violation("chat.stream.error-after-text", seen, frame_place(reading, frame.number))
            return


def error_after_call(heard: Heard) -> Iterable[Violation]:
    """A failure after a complete call leaves no trace; one inside a call is told."""
    if _failure(heard) is Failure.AFTER_CALL and heard.answer.error is not None:
        seen = "the call was complete, yet an error frame came: clients throw the call away"
        yield violation("chat.stream.error-after-call", seen, place_of(heard, Failed))
    if _failure(heard) is Failure.IN_CALL and heard.answer.error is None:
        seen = "the backend failed inside a call, and the stream says nothing of it: the client runs half of a call"
        yield violation("chat.stream.error-after-call", seen, heard.body_place)


def keepalive(heard: Heard) -> Iterable[Violation]:
    """A silent backend yields comments; what else it may yield is another requirement's business."""
    if any(v.requirement == "chat.stream.keepalive-is-comment" for v in reading_of(heard).violations):
        return
    for event in reading_of(heard).events:
        match event:
            case Comment():
                return
            case Text():
                break
            case _:
                pass
    interval = heard.target.keepalive
    seen = f"no comment came while the backend was silent for several times {interval or 0:g} s"
    yield violation("chat.stream.keepalive", seen)


def disconnect(heard: Heard) -> Iterable[Violation]:
    """The next request is served, and the backend says that the abandoned turn has ended."""
    if heard.number == 0:
        return
    turns = json.loads(heard.choice().text or "{}").get("turns") or []
    state = next((turn["state"] for turn in turns if turn.get("script") == heard.scenario.script), "unknown")
    if state not in {"interrupted", "completed"}:
        seen = f"1 s after the client had gone, the backend's turn was still {state}: nobody interrupted it"
        yield violation("chat.stream.disconnect", seen, heard.body_place)


def _failure(heard: Heard) -> Failure:
    return heard.wanted[0].failure if heard.wanted else Failure.NONE


CONTENT: Mapping[str, Check] = {
    "chat.stream.finish-reason": finish_reason,
    "chat.stream.usage": usage,
    "chat.stream.error-before-output": error_before_output,
    "chat.stream.error-after-text": error_after_text,
    "chat.stream.error-after-call": error_after_call,
    "chat.stream.keepalive": keepalive,
}
