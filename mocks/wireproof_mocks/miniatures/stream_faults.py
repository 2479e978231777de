"""Faults of streams as a whole: how they are framed, how they end, and how they fail."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunk_faults import CHUNK_FAULTS
from wireproof_mocks.miniatures.chunks import (
    COUNTS,
    delta_of,
    each,
    finish_of,
    finishing_as,
    is_chunk,
    is_error,
    text_of,
    with_delta,
)
from wireproof_mocks.miniatures.fault import DONE, OPENAI_JSON, WITH_MESSAGES, Fault, FaultHead, fault_below, own_id
from wireproof_mocks.miniatures.heads import as_streams, forgetting
from wireproof_mocks.miniatures.rewriting import (
    all_at_once,
    at,
    each_event,
    first_comment_only,
    instead_of,
    is_comment,
    no_comments,
    where_streamed,
    with_members,
    without,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Environ, Frame, Frames, Json, SentRequest

BEFORE_OUTPUT = ("fail/first", "fail/rate", "fail/context", "fail/notice", "fail/crash-first")
SILENT = ("fail/silent",)
IN_TEXT = ("fail/after-text", "fail/crash-text", "fail/garbled")
"""Scripts by where they fail."""


# ends


def _finish_full(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """The last text comes in the finish chunk."""
    held: Json = {}
    for frame in frames:
        finish = finish_of(frame)
        if held and finish:
            yield with_delta(held, delta_of(held), finish)
            held = {}
            continue
        if held:
            yield held
        held = frame if text_of(frame) else {}
        if not held:
            yield frame


def _usage_always(chunk: Json) -> Iterable[Frame]:
    # Where usage was asked for, the chunk has the member (null), and the proxy's own counts follow.
    unasked = finish_of(chunk) and "usage" not in chunk
    return (chunk, {**chunk, "choices": [], "usage": COUNTS}) if unasked else (chunk,)


def _usage_running(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """Each chunk has the counts so far."""
    for number, frame in enumerate(frames):
        counts = {"prompt_tokens": 11, "completion_tokens": number, "total_tokens": 11 + number}
        # Where usage was asked for, all chunks have the member.
        asked = is_chunk(frame) and "usage" in frame and frame["choices"]
        yield {**frame, "usage": counts} if asked else frame


def _details_lost(counts: Json) -> Json:
    return {name: count for name, count in counts.items() if not name.endswith("_details")}


def _usage_beside_choices(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """The counts come with the finish."""
    held: list[Json] = []
    for frame in frames:
        if is_chunk(frame) and not frame["choices"]:
            yield from ({**finish, "usage": frame["usage"]} for finish in held)
            held = []
            continue
        yield from held  # of another choice
        held = [frame] if finish_of(frame) else []  # until the counts have come
        if not held:
            yield frame
    yield from held


def _done_as(*frames: Frame) -> Frames:
    return instead_of(lambda frame: frame == DONE, *frames)


def _after_done(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    last: Json = {}
    for frame in frames:
        yield frame
        last = frame if is_chunk(frame) else last
        if frame == DONE and last:
            yield with_delta(last, {"content": "Post scriptum."})


# frames


def _one_behind(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """Each frame of content waits for the next one, as in a buffer of one; comments pass."""
    held: list[Frame] = []
    for frame in frames:
        if is_comment(frame):
            yield frame
            continue
        yield from held
        held = [frame]
    yield from held


def _in_own_chunks(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    for frame in frames:
        data = written(frame)
        yield b"%x\r\n%b\r\n" % (len(data), data)
    yield b"0\r\n\r\n"


def _length_beside_chunks(head: FaultHead, _: SentRequest) -> FaultHead:
    """As a gateway that writes chunks of its own and copies the length of the backend's answer."""
    if not head.of_stream:
        return head
    # The server below passes on as it is a body whose length it was given; it ends the connection where less comes.
    return head.with_header("Transfer-Encoding", "chunked").with_header("Content-Length", str(2**20))


# failures


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


# policies


def _header_ignored(policy: str) -> Callable[[Environ], None]:
    """The header that asks for this policy is not looked at."""

    def change(environ: Environ) -> None:
        if environ.get("HTTP_X_PROXY_STOP_AFTER_TOOLS") == policy:
            del environ["HTTP_X_PROXY_STOP_AFTER_TOOLS"]

    return change


_fault = partial(fault_below, "chat.stream.")


STREAM_FAULTS: tuple[Fault, ...] = (
    *CHUNK_FAULTS,
    # A whole answer with this status is another fault (`whole-failure-as-answer`).
    _fault("error-as-stream", "error-before-output", head=as_streams(), salvage=lambda body: [body, DONE],
           scripts=BEFORE_OUTPUT),
    _fault("silence-is-an-answer", "error-before-output", frames=answered_with_nothing("codex"), scripts=SILENT,
           dialects=(OPENAI_JSON,)),
    _fault("error-hushed-up", "error-after-text", frames=_error_hushed_up, scripts=IN_TEXT),
    _fault("half-a-call-finished", "error-after-call", frames=_error_hushed_up, scripts=("fail/mid-arguments",)),
    _fault("finish-after-error", "error-after-text", frames=_finish_before_error),
    _fault("error-frame-without-type", "error-after-text", frames=each_event(at("error", without("type"))),
           scripts=IN_TEXT),
    # The envelope has text or null there (http.error.envelope).
    _fault("error-frame-with-a-number", "error-after-text", frames=each_event(at("error", with_members(code=500))),
           scripts=IN_TEXT),
    _fault("error-after-call-sent", "error-after-call", frames=_error_after_call),
    _fault("no-accel-buffering-header", "headers",
           head=forgetting("x-accel-buffering", lambda head, _: head.of_stream)),
    _fault("no-cache-control", "headers", head=forgetting("cache-control", lambda head, _: head.of_stream)),
    Fault(name="length-copied-beside-chunks", breaks="http.one-framing", dialects=WITH_MESSAGES,
          head=_length_beside_chunks, frames=_in_own_chunks, scripts=("text/hello",)),
    # The clients that were tried bear it; the contract is that of OpenAI, whose chat streams have no such line.
    _fault("event-lines", "frames", frames=each_event(lambda frame: b"event: message\n" + written(frame))),
    # All clients that were tried raise: they wait for the empty line.
    _fault("single-newlines", "frames", frames=each_event(lambda frame: written(frame).rstrip(b"\n") + b"\n")),
    _fault("python-instead-of-json", "frames", frames=each_event(str)),
    _fault("buffers-everything", "flushed", frames=all_at_once),
    _fault("one-frame-behind", "flushed", frames=_one_behind),
    _fault("policy-ignored-burst", "stop-after-first", request=where_streamed(with_members(parallel_tool_calls=True))),
    _fault("policy-ignored-first", "burst-all", request=where_streamed(with_members(parallel_tool_calls=False))),
    _fault("header-burst-ignored", "burst-all", environ=_header_ignored("burst")),
    _fault("header-first-ignored", "stop-after-first", environ=_header_ignored("first")),
    _fault("finish-twice", "finish-once", frames=each(lambda chunk: (chunk, chunk) if finish_of(chunk) else chunk)),
    _fault("finish-lost", "finish-once", frames=each(lambda chunk: () if finish_of(chunk) else chunk)),
    _fault("finish-with-content", "finish-once", frames=_finish_full, scripts=("text/hello",)),
    _fault("call-finishes-as-stop", "finish-reason", frames=each(finishing_as(tool_calls="stop"))),
    _fault("length-finishes-as-stop", "finish-reason",
           frames=each(finishing_as(length="stop", content_filter="stop"))),
    _fault("text-after-finish", "nothing-after-finish",
           frames=each(lambda chunk: (chunk, with_delta(chunk, {"content": "One more thing."})) if finish_of(chunk)
                       else chunk)),
    _fault("usage-lost", "usage", frames=each(lambda chunk: chunk if chunk["choices"] else ())),
    _fault("usage-unasked", "usage", frames=each(_usage_always)),
    _fault("usage-guessed", "usage",
           frames=each(lambda chunk: chunk if chunk["choices"] else with_members(usage=COUNTS)(chunk))),
    _fault("usage-without-details", "usage-details", frames=each(at("usage", _details_lost))),
    _fault("usage-in-every-chunk", "usage", frames=_usage_running),
    _fault("usage-with-choices", "usage", frames=_usage_beside_choices),
    _fault("no-done", "done-last", frames=_done_as()),
    _fault("done-twice", "done-last", frames=_done_as(DONE, DONE)),
    _fault("text-after-done", "done-last", frames=_after_done),
    # One script in one dialect: each body that is held open costs a second of waiting.
    _fault("body-left-open", "done-last", body_open=True, scripts=("text/repeats",), dialects=(OPENAI_JSON,)),
    _fault("no-keepalive", "keepalive", frames=no_comments),
    _fault("keepalive-only-once", "keepalive-goes-on", frames=first_comment_only),
    # Every client that was tried raises at an empty `data:`; an event without data stops most of them.
    _fault("keepalive-is-empty-data", "keepalive-is-comment", frames=instead_of(is_comment, b"data:\n\n")),
    _fault("keepalive-is-ping-event", "keepalive-is-comment", frames=instead_of(is_comment, b"event: ping\n\n")),
    _fault("departure-ignored", "disconnect", ignores_disconnect=True),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in its streams."""
