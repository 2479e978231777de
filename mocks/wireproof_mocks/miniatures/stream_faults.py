"""Faults of streams as a whole: how they are framed, and how they end. For how they fail see `failure_faults`."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunk_faults import CHUNK_FAULTS
from wireproof_mocks.miniatures.chunks import (
    Change,
    delta_of,
    each,
    finish_of,
    first_comment_only,
    is_comment,
    no_comments,
    text_of,
    with_delta,
    written,
)
from wireproof_mocks.miniatures.failure_faults import FAILURE_FAULTS
from wireproof_mocks.miniatures.fault import (
    DONE,
    OPENAI_JSON,
    WITH_MESSAGES,
    Fault,
    FaultExample,
    FaultHead,
    Frame,
    Json,
    SentRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


# ends


def _finish_twice(chunk: Json) -> Iterable[Frame]:
    yield chunk
    if finish_of(chunk):
        yield deepcopy(chunk)


def _finish_lost(chunk: Json) -> Iterable[Frame]:
    if not finish_of(chunk):
        yield chunk


def _finish_full(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """The last text comes in the finish chunk."""
    held: Json | None = None
    for frame in frames:
        chunk = frame if isinstance(frame, dict) and "error" not in frame else {"choices": []}
        if held is not None and finish_of(chunk):
            yield with_delta(held, delta_of(held), finish_of(chunk))
            held = None
            continue
        if held is not None:
            yield held
        held = chunk if text_of(chunk) else None
        if held is None:
            yield frame


def _finish_as(**reasons: str) -> Change:
    def change(chunk: Json) -> Iterable[Frame]:
        reason = finish_of(chunk)
        yield with_delta(chunk, {}, reasons[reason]) if reason in reasons else chunk

    return change


def _after_finish(chunk: Json) -> Iterable[Frame]:
    yield chunk
    if finish_of(chunk):
        yield with_delta(chunk, {"content": "One more thing."})


def _usage_lost(chunk: Json) -> Iterable[Frame]:
    if chunk["choices"]:
        yield chunk


def _usage_always(chunk: Json) -> Iterable[Frame]:
    yield chunk
    # Where usage was asked for, the chunk has the member (null), and the proxy's own counts follow.
    if finish_of(chunk) and "usage" not in chunk:
        counts = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        yield {**chunk, "choices": [], "usage": counts}


def _usage_guessed(chunk: Json) -> Iterable[Frame]:
    counts = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield chunk if chunk["choices"] else {**chunk, "usage": counts}


def _usage_running(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """Each chunk has the counts so far."""
    for number, frame in enumerate(frames):
        counts = {"prompt_tokens": 11, "completion_tokens": number, "total_tokens": 11 + number}
        # Where usage was asked for, all chunks have the member.
        asked = isinstance(frame, dict) and "usage" in frame and bool(frame["choices"])
        yield {**frame, "usage": counts} if asked and isinstance(frame, dict) else frame


def _details_lost(chunk: Json) -> Iterable[Frame]:
    counts = chunk.get("usage")
    kept = counts and {name: count for name, count in counts.items() if not name.endswith("_details")}
    yield {**chunk, "usage": kept} if kept else chunk


def _usage_beside_choices(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """The counts come with the finish."""
    held: list[Json] = []
    for frame in frames:
        if isinstance(frame, dict) and "error" not in frame and finish_of(frame):
            yield from held  # of another choice
            held = [frame]  # until the counts have come
        elif isinstance(frame, dict) and "error" not in frame and not frame["choices"]:
            yield from ({**finish, "usage": frame["usage"]} for finish in held)
            held = []
        else:
            yield from held
            held = []
            yield frame
    yield from held


def _no_done(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    yield from (frame for frame in frames if frame != DONE)


def _done_twice(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    for frame in frames:
        yield from [frame, frame] if frame == DONE else [frame]


def _after_done(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    last: Json | None = None
    for frame in frames:
        yield frame
        last = frame if isinstance(frame, dict) and "error" not in frame else last
        if frame == DONE and last is not None:
            yield with_delta(last, {"content": "Post scriptum."})


# frames


def _event_lines(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    for frame in frames:
        # The clients that were tried bear it; the contract is that of OpenAI, whose chat streams have no such line.
        yield b"event: message\n" + written(frame) if isinstance(frame, dict) else frame


def _single_newlines(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    for frame in frames:
        # All clients that were tried raise: they wait for the empty line.
        yield written(frame).rstrip(b"\n") + b"\n" if isinstance(frame, dict) else frame


def _not_json(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    for frame in frames:
        yield str(frame) if isinstance(frame, dict) else frame


def _all_at_once(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    yield b"".join(written(frame) for frame in frames)


def _one_behind(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """Each frame of content waits for the next one, as in a buffer of one; comments pass."""
    held: list[Frame] = []
    for frame in frames:
        if is_comment(frame):
            yield frame
            continue
        yield from held
        held = [frame]
    yield from held


def _comments_as(block: bytes) -> Callable[[Iterable[Frame], SentRequest], Iterator[Frame]]:
    def change(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
        for frame in frames:
            yield block if is_comment(frame) else frame

    return change


def _dropped(name: str) -> Callable[[FaultHead, SentRequest], FaultHead]:
    def change(head: FaultHead, _: SentRequest) -> FaultHead:
        if not any(key.lower() == "content-type" and "event-stream" in value for key, value in head.headers):
            return head
        return FaultHead(status=head.status, headers=[(k, v) for k, v in head.headers if k.lower() != name])

    return change


def _in_own_chunks(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    for frame in frames:
        data = written(frame)
        yield b"%x\r\n%b\r\n" % (len(data), data)
    yield b"0\r\n\r\n"


def _length_beside_chunks(head: FaultHead, _: SentRequest) -> FaultHead:
    """As a gateway that writes chunks of its own and copies the length of the backend's answer."""
    if not any(key.lower() == "content-type" and "event-stream" in value for key, value in head.headers):
        return head
    # The server below passes on as it is a body whose length it was given; it ends the connection where less comes.
    twice = [("Transfer-Encoding", "chunked"), ("Content-Length", str(2**20))]
    return FaultHead(status=head.status, headers=[*head.headers, *twice])


def _fault(name: str, breaks: str, **how: Any) -> Fault:  # noqa: ANN401 (the fields of Fault)
    return Fault(name=name, breaks=f"chat.stream.{breaks}", **how)


def _header_ignored(policy: str) -> Callable[[dict[str, Any]], None]:
    """The header that asks for this policy is not looked at."""

    def change(environ: dict[str, Any]) -> None:
        if environ.get("HTTP_X_PROXY_STOP_AFTER_TOOLS") == policy:
            del environ["HTTP_X_PROXY_STOP_AFTER_TOOLS"]

    return change


def _policy(*, parallel: bool) -> Callable[[Json], Json]:
    return lambda body: {**body, "parallel_tool_calls": parallel} if body.get("stream") else body


STREAM_FAULTS: tuple[Fault, ...] = (
    *CHUNK_FAULTS,
    *FAILURE_FAULTS,
    _fault("no-accel-buffering-header", "headers", head=_dropped("x-accel-buffering")),
    _fault("no-cache-control", "headers", head=_dropped("cache-control")),
    Fault(name="length-copied-beside-chunks", breaks="http.one-framing", dialects=WITH_MESSAGES,
          head=_length_beside_chunks, frames=_in_own_chunks, scripts=("text/hello",),
          examples=(FaultExample(before=(DONE,), after=(b"e\r\ndata: [DONE]\n\n\r\n", b"0\r\n\r\n")),)),
    _fault("event-lines", "frames", frames=_event_lines),
    _fault("single-newlines", "frames", frames=_single_newlines),
    _fault("python-instead-of-json", "frames", frames=_not_json),
    _fault("buffers-everything", "flushed", frames=_all_at_once),
    _fault("one-frame-behind", "flushed", frames=_one_behind),
    _fault("policy-ignored-burst", "stop-after-first", request=_policy(parallel=True)),
    _fault("policy-ignored-first", "burst-all", request=_policy(parallel=False)),
    _fault("header-burst-ignored", "burst-all", environ=_header_ignored("burst")),
    _fault("header-first-ignored", "stop-after-first", environ=_header_ignored("first")),
    _fault("finish-twice", "finish-once", frames=each(_finish_twice)),
    _fault("finish-lost", "finish-once", frames=each(_finish_lost)),
    _fault("finish-with-content", "finish-once", frames=_finish_full, scripts=("text/hello",)),
    _fault("call-finishes-as-stop", "finish-reason", frames=each(_finish_as(tool_calls="stop"))),
    _fault("length-finishes-as-stop", "finish-reason", frames=each(_finish_as(length="stop", content_filter="stop"))),
    _fault("text-after-finish", "nothing-after-finish", frames=each(_after_finish)),
    _fault("usage-lost", "usage", frames=each(_usage_lost)),
    _fault("usage-unasked", "usage", frames=each(_usage_always)),
    _fault("usage-guessed", "usage", frames=each(_usage_guessed)),
    _fault("usage-without-details", "usage-details", frames=each(_details_lost),
           examples=(FaultExample(before=({"choices": [], "usage": {"total_tokens": 8, "prompt_tokens_details": {}}},),
                                  after=({"choices": [], "usage": {"total_tokens": 8}},)),)),
    _fault("usage-in-every-chunk", "usage", frames=_usage_running,
           examples=(FaultExample(before=({"choices": [7], "usage": None}, {"choices": [7]}, DONE),
                                  after=({"choices": [7], "usage": {"prompt_tokens": 11, "completion_tokens": 0,
                                                                    "total_tokens": 11}}, {"choices": [7]}, DONE)),)),
    _fault("usage-with-choices", "usage", frames=_usage_beside_choices),
    _fault("no-done", "done-last", frames=_no_done),
    _fault("done-twice", "done-last", frames=_done_twice),
    _fault("text-after-done", "done-last", frames=_after_done),
    # One script in one dialect: each body that is held open costs a second of waiting.
    _fault("body-left-open", "done-last", body_open=True, scripts=("text/repeats",), dialects=(OPENAI_JSON,)),
    _fault("no-keepalive", "keepalive", frames=no_comments),
    _fault("keepalive-only-once", "keepalive-goes-on", frames=first_comment_only,
           examples=(FaultExample(before=(b": a\n\n", b": b\n\n", DONE), after=(b": a\n\n", b"", DONE)),)),
    # Every client that was tried raises at an empty `data:`; an event without data stops most of them.
    _fault("keepalive-is-empty-data", "keepalive-is-comment", frames=_comments_as(b"data:\n\n")),
    _fault("keepalive-is-ping-event", "keepalive-is-comment", frames=_comments_as(b"event: ping\n\n")),
    _fault("departure-ignored", "disconnect", ignores_disconnect=True),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in its streams."""
