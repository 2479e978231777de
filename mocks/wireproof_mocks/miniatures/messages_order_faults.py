"""Faults of a Messages stream as a sequence: names of events, their order, indexes and kinds of deltas, ends.

Many are what users of real gateways reported, or what one of five clients was measured to break at.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.fault import MESSAGES, Fault, fault_below
from wireproof_mocks.miniatures.heads import as_streams, forgetting
from wireproof_mocks.miniatures.messages_rewriting import (
    STOPPED,
    closed,
    ended,
    in_opening,
    in_start,
    merged,
    opened,
    opens,
    words,
)
from wireproof_mocks.miniatures.rewriting import (
    all_at_once,
    at,
    dropped,
    each_event,
    instead_of,
    is_comment,
    kind_of,
    lost_before,
    nameless,
    of_type,
    where_streamed,
    with_members,
    without,
    written,
)
from wireproof_mocks.miniatures.stream_faults import IN_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Frame, Frames, Json, SentRequest

SHORT = ("text/hello", "text/utf8")
CALLS = ("call/one", "call/two")
"""Scripts of which a fault is to be seen: in others it would make more wrong than one thing."""


# frames


def _line_before(line: bytes) -> Frames:
    """Events have this in place of their own lines; an error without its own is none to the SDKs, and another row's."""
    return each_event(lambda event: event if event["type"] == "error" else line + nameless(event))


def _then(kind: str, *more: Frame) -> Frames:
    """Something follows the events of one type."""
    return each_event(of_type(kind, lambda event: (event, *more)))


def _chunk(**delta: str) -> Json:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


def _as_chat(event: Json) -> Frame:
    """The stream of chat is passed on."""
    match event:
        case {"type": "message_stop"}:
            return b""  # no [DONE] of chat, which is another fault
        case {"delta": {"type": "text_delta", "text": text}}:
            return _chunk(content=text)
        case _:
            return _chunk()


# order


def _end_before_blocks(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """The blocks are sent when all else has been."""
    blocks: list[Frame] = []
    for frame in frames:
        if kind_of(frame) in {"content_block_start", "content_block_delta", "content_block_stop"}:
            blocks.append(frame)
        else:
            yield frame
    yield from blocks


def _closed_at_the_end(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """All blocks stay open until the message ends."""
    open_: list[Frame] = []
    for frame in frames:
        if kind_of(frame) == "content_block_stop":
            open_.append(frame)
            continue
        if kind_of(frame) in {"message_delta", "error"}:
            yield from open_
            open_ = []
        yield frame


_open_when_cut_short = lost_before(
    lambda frame: kind_of(frame) == "content_block_stop",
    lambda frame: kind_of(frame) == "message_delta" and frame["delta"].get("stop_reason") == "max_tokens",
)
"""A block that was open when the backend was cut short is never closed."""


def _opened_with_its_words(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """The first words of a text stand in the start of its block alone."""
    start: Json = {}
    for frame in frames:
        if opens(frame, "text"):
            start = frame
        elif start and kind_of(frame) == "content_block_delta":
            yield at("content_block", with_members(text=frame["delta"]["text"]))(start)
            start = {}
        else:
            if kind_of(frame) == "content_block_stop" and start:
                yield start
                start = {}
            yield frame


# failures and ends


def _ended_as_usual(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """What failed ends as what is complete does."""
    open_: list[int] = []
    for frame in frames:
        match kind_of(frame):
            case "error":
                yield from map(closed, open_)
                yield ended("end_turn", input_tokens=1, output_tokens=1)
                yield STOPPED
                return
            case "content_block_start":
                open_ = [frame["index"]]
            case "content_block_stop":
                open_ = []
        yield frame


def _openai_error(event: Json) -> Json:
    # Without an `event:` line, as chat sends it: the SDK for Python then sees no error at all.
    return {"error": {"message": event["error"]["message"], "type": "server_error", "param": None, "code": None}}


_stream = partial(fault_below, "messages.stream.", dialects=(MESSAGES,))


MESSAGES_ORDER_FAULTS: tuple[Fault, ...] = (
    # Clients then find one JSON text where they look for events.
    _stream("message-whole-where-a-stream-is-asked", "schema", scripts=SHORT,
            # A stream is asked for in turns alone: what counts tokens has no such member.
            request=where_streamed(with_members(stream=False))),
    _stream("messages-may-be-buffered", "headers", head=forgetting("x-accel-buffering")),
    _stream("messages-held-back", "flushed", frames=all_at_once, scripts=("text/gate",)),
    _stream("messages-without-event-lines", "event-name", frames=_line_before(b"")),
    _stream("every-frame-is-a-message", "event-name", frames=_line_before(b"event: message\n")),
    _stream("done-with-a-name", "event-name", frames=_then("message_stop", b"event: done\ndata: [DONE]\n\n")),
    _stream("done-after-message-stop", "event-name", frames=_then("message_stop", "[DONE]")),
    _stream("last-frame-not-closed", "event-name",
            # The SDK for TypeScript loses an event that no blank line closes, and with it the answer.
            frames=each_event(of_type("message_stop", lambda event: written(event).removesuffix(b"\n")))),
    _stream("chunks-of-chat", "schema", frames=each_event(_as_chat), scripts=SHORT),
    _stream("start-without-content", "schema", frames=in_start(without("content"))),
    _stream("start-without-an-id", "schema", frames=in_start(without("id"))),
    _stream("one-id-for-all-streamed-messages", "schema", frames=in_start(with_members(id="msg_1"))),
    _stream("blocks-of-another-kind", "schema", frames=in_opening("text", with_members(type="output_text"))),
    _stream("streamed-calls-without-names", "schema", frames=in_opening("tool_use", without("name"))),
    _stream("streamed-call-ids-with-colons", "schema",
            # Where no result is sent back under an id that would be refused.
            frames=in_opening("tool_use", at("id", lambda id_: f"functions.read:{id_}")), scripts=CALLS),
    _stream("one-id-for-all-streamed-calls", "schema", frames=in_opening("tool_use", with_members(id="toolu_1")),
            scripts=CALLS),
    _stream("message-started-twice", "order",
            frames=each_event(of_type("message_start", lambda event: (event, event)))),
    _stream("message-never-started", "order", frames=dropped("message_start"), scripts=SHORT),
    _stream("blocks-never-started", "order", frames=dropped("content_block_start")),
    _stream("blocks-never-stopped", "order", frames=dropped("content_block_stop")),
    _stream("blocks-stopped-at-the-end", "order", frames=_closed_at_the_end, scripts=("call/after-text", "call/two")),
    _stream("open-block-left-when-cut-short", "order", frames=_open_when_cut_short, scripts=("text/length",)),
    _stream("message-ended-before-its-blocks", "terminal", frames=_end_before_blocks, scripts=("text/hello",)),
    _stream("text-after-message-stop", "terminal",
            frames=_then("message_stop", opened(1, text=""), words(1, "More"), closed(1))),
    _stream("blocks-counted-from-one", "indexes", frames=each_event(at("index", lambda index: index + 1))),
    _stream("one-index-for-all-blocks", "indexes", frames=each_event(at("index", lambda _: 0))),
    _stream("blocks-without-indexes", "indexes", frames=each_event(without("index"))),
    _stream("deltas-of-another-block", "indexes",
            frames=each_event(of_type("content_block_delta", at("index", lambda index: index + 7)))),
    _stream("calls-in-the-block-before", "delta-kinds", frames=merged("tool_use"), scripts=("call/after-text",)),
    # Claude Code and the AI SDK take no text from a start.
    _stream("first-words-in-the-start", "delta-kinds", frames=_opened_with_its_words),
    _stream("no-message-stop", "terminal", frames=dropped("message_stop")),
    # One script: each body that is held open costs a second of waiting.
    _stream("message-body-left-open", "terminal", body_open=True, scripts=("text/hello",)),
    _stream("early-failure-as-message-stream", "error-before-output", head=as_streams(),
            salvage=lambda body: [body]),
    # The open block is not closed either.
    _stream("cut-of-the-backend-is-an-end", "terminal", frames=dropped("error"), scripts=IN_TEXT),
    _stream("message-failure-hushed-up", "error-in-stream", frames=_ended_as_usual, scripts=IN_TEXT),
    _stream("message-stop-after-an-error", "error-in-stream", frames=_then("error", STOPPED)),
    _stream("errors-as-chat-frames", "error-in-stream", frames=each_event(of_type("error", _openai_error))),
    _stream("in-stream-errors-of-another-type", "error-in-stream",
            frames=each_event(of_type("error", at("error", with_members(type="server_error"))))),
    _stream("silence-without-pings", "keepalive",
            frames=instead_of(lambda frame: is_comment(frame) or kind_of(frame) == "ping")),
    _stream("leaving-not-noticed", "disconnect", ignores_disconnect=True),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in the sequence of its Messages streams."""
