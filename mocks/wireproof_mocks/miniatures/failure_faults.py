"""Faults of how streams fail: before any output, in mid-text, after a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import finish_of, is_chunk, is_error, with_delta
from wireproof_mocks.miniatures.fault import DONE, OPENAI_JSON, Fault, own_id
from wireproof_mocks.miniatures.heads import as_streams
from wireproof_mocks.miniatures.rewriting import at, each_event, with_members, without

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Frame, Frames, Json, SentRequest

BEFORE_OUTPUT = ("fail/first", "fail/rate", "fail/context", "fail/notice", "fail/crash-first")
SILENT = ("fail/silent",)
IN_TEXT = ("fail/after-text", "fail/crash-text", "fail/garbled")
"""Scripts by where they fail."""


def _error_hushed_up(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """A failure in mid-text becomes an ordinary end."""
    last: Json = {}
    ended = False
    for frame in frames:
        # Without a chunk before it there is nothing to copy; that is the fault `silence-is-an-answer`.
        if is_error(frame) and last:
            yield with_delta(last, {}, "stop")
            ended = True
        # Behind the end nothing of the choice comes, whatever another fault has put behind the failure.
        elif not (ended and isinstance(frame, dict) and frame.get("choices")):
            last = frame if isinstance(frame, dict) else last
            yield frame


def answered_with_nothing(model: str) -> Frames:
    """An error becomes an empty answer, complete in all else: only that there is an answer at all must be wrong."""

    def changed(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
        said = {"id": own_id("chatcmpl-"), "object": "chat.completion.chunk", "created": 1_800_000_000, "model": model}
        for frame in frames:
            if not is_error(frame):
                yield frame
                continue
            for delta, finish in (({"role": "assistant", "content": ""}, None), ({}, "stop")):
                yield {**said, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    return changed


def _finish_before_error(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    last: Json = {}
    for frame in frames:
        yield frame
        if is_error(frame) and last:
            yield with_delta(last, {}, "stop")
        last = frame if isinstance(frame, dict) else last


def _error_after_call(frames: Iterable[Any], request: SentRequest) -> Iterator[Frame]:
    """A failure after a complete call replaces the finish, and what another fault has put behind that."""
    # In other scripts the same end is right.
    fails, failed = b"fail/after-call" in request.body, False
    for frame in frames:
        if fails and not failed and finish_of(frame):
            failed = True
            yield {"error": {"message": "The backend failed.", "type": "server_error", "param": None, "code": None}}
        elif not (failed and is_chunk(frame) and frame["choices"]):
            yield frame


def _fault(name: str, breaks: str, **how: Any) -> Fault:  # noqa: ANN401 (the fields of Fault)
    return Fault(name=name, breaks=f"chat.stream.error-{breaks}", **how)


FAILURE_FAULTS: tuple[Fault, ...] = (
    _fault(
        "error-as-stream",
        "before-output",
        # A whole answer with this status is another fault (`whole-failure-as-answer`).
        head=as_streams(),
        salvage=lambda body: [body, DONE],
        scripts=BEFORE_OUTPUT,
    ),
    _fault(
        "silence-is-an-answer",
        "before-output",
        frames=answered_with_nothing("codex"),
        scripts=SILENT,
        dialects=(OPENAI_JSON,),
    ),
    _fault("error-hushed-up", "after-text", frames=_error_hushed_up, scripts=IN_TEXT),
    _fault("half-a-call-finished", "after-call", frames=_error_hushed_up, scripts=("fail/mid-arguments",)),
    _fault("finish-after-error", "after-text", frames=_finish_before_error),
    _fault("error-frame-without-type", "after-text", frames=each_event(at("error", without("type"))), scripts=IN_TEXT),
    # The envelope has text or null there (http.error.envelope).
    _fault(
        "error-frame-with-a-number",
        "after-text",
        frames=each_event(at("error", with_members(code=500))),
        scripts=IN_TEXT,
    ),
    _fault("error-after-call-sent", "after-call", frames=_error_after_call),
)
"""Each is the reference proxy with one thing wrong in how its streams fail."""
