"""Faults of how streams fail: before any output, in mid-text, after a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import finish_of, with_delta
from wireproof_mocks.miniatures.fault import DONE, OPENAI_JSON, Fault, FaultHead, Frame, Json, SentRequest, own_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BEFORE_OUTPUT = ("fail/first", "fail/rate", "fail/context", "fail/notice", "fail/crash-first")
SILENT = ("fail/silent",)
IN_TEXT = ("fail/after-text", "fail/crash-text", "fail/garbled")
"""Scripts by where they fail."""
# Complete in all else: only that there is an answer at all must be wrong.
NOTHING_SAID: Json = {"object": "chat.completion.chunk", "created": 1_800_000_000}


def _errors_as_streams(head: FaultHead, request: SentRequest) -> FaultHead:
    # A whole answer with this status is another fault (`whole-failure-as-answer`).
    if head.code >= 500 and b'"stream": true' in request.body:  # noqa: PLR2004 (HTTP)
        return FaultHead(status="200 OK", headers=head.headers)
    return head


def _error_hushed_up(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """A failure in mid-text becomes an ordinary end."""
    last: Json | None = None
    ended = False
    for frame in frames:
        # Without a chunk before it there is nothing to copy; that is the fault `silence-is-an-answer`.
        if isinstance(frame, dict) and "error" in frame and last is not None:
            yield with_delta(last, {}, "stop")
            ended = True
        # Behind the end nothing of the choice comes, whatever another fault has put behind the failure.
        elif not (ended and isinstance(frame, dict) and frame.get("choices")):
            last = frame if isinstance(frame, dict) else last
            yield frame


def _silence_answered(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """A backend that never sent anything becomes an empty answer."""
    role, id_ = {"role": "assistant", "content": ""}, own_id("chatcmpl-")
    for frame in frames:
        if isinstance(frame, dict) and "error" in frame:
            for delta, finish in ((role, None), ({}, "stop")):
                choice = {"index": 0, "delta": delta, "finish_reason": finish}
                yield {"id": id_, **NOTHING_SAID, "model": "codex", "choices": [choice]}
        else:
            yield frame


def _error_respelt(change: Callable[[Json], Json]) -> Callable[[Iterable[Frame], SentRequest], Iterator[Frame]]:
    """Error frames say it otherwise."""

    def changed(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
        for frame in frames:
            yield {"error": change(frame["error"])} if isinstance(frame, dict) and "error" in frame else frame

    return changed


def _without_type(error: Json) -> Json:
    return {name: value for name, value in error.items() if name != "type"}


def _with_a_number(error: Json) -> Json:
    return {**error, "code": 500}  # the envelope has text or null there (http.error.envelope)


def _finish_before_error(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    last: Json | None = None
    for frame in frames:
        yield frame
        if isinstance(frame, dict) and "error" in frame and last is not None:
            yield with_delta(last, {}, "stop")
        last = frame if isinstance(frame, dict) else last


def _error_after_call(frames: Iterable[Frame], request: SentRequest) -> Iterator[Frame]:
    """A failure after a complete call replaces the finish, and what another fault has put behind that."""
    # In other scripts the same end is right.
    fails, failed = b"fail/after-call" in request.body, False
    for frame in frames:
        chunk = frame if isinstance(frame, dict) and "error" not in frame else None
        if fails and not failed and chunk and finish_of(chunk):
            failed = True
            yield {"error": {"message": "The backend failed.", "type": "server_error", "param": None, "code": None}}
        elif not (failed and chunk and chunk["choices"]):
            yield frame


def _fault(name: str, breaks: str, **how: Any) -> Fault:  # noqa: ANN401 (the fields of Fault)
    return Fault(name=name, breaks=f"chat.stream.error-{breaks}", **how)


FAILURE_FAULTS: tuple[Fault, ...] = (
    _fault(
        "error-as-stream",
        "before-output",
        head=_errors_as_streams,
        salvage=lambda body: [body, DONE],
        scripts=BEFORE_OUTPUT,
    ),
    _fault(
        "silence-is-an-answer",
        "before-output",
        frames=_silence_answered,
        scripts=SILENT,
        dialects=(OPENAI_JSON,),
    ),
    _fault("error-hushed-up", "after-text", frames=_error_hushed_up, scripts=IN_TEXT),
    _fault("half-a-call-finished", "after-call", frames=_error_hushed_up, scripts=("fail/mid-arguments",)),
    _fault("finish-after-error", "after-text", frames=_finish_before_error),
    _fault("error-frame-without-type", "after-text", frames=_error_respelt(_without_type), scripts=IN_TEXT),
    _fault("error-frame-with-a-number", "after-text", frames=_error_respelt(_with_a_number), scripts=IN_TEXT),
    _fault("error-after-call-sent", "after-call", frames=_error_after_call),
)
"""Each is the reference proxy with one thing wrong in how its streams fail."""
