"""Faults of responses: of whole answers and of streams. For text and input see `sentinel_faults`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures import rewriting
from wireproof_mocks.miniatures.fault import RESPONSES, Fault, fault_below, own_id
from wireproof_mocks.miniatures.heads import as_streams, forgetting
from wireproof_mocks.miniatures.responses_rewriting import (
    BEGINNING,
    CALL,
    MESSAGE,
    TERMINAL,
    at_end,
    each_event,
    in_response,
    numbered,
    respelled,
)
from wireproof_mocks.miniatures.rewriting import (
    all_at_once,
    at,
    both,
    first_comment_only,
    kind_of,
    nameless,
    no_comments,
    of_type,
    repeated_from_start,
    with_members,
    without,
)
from wireproof_mocks.miniatures.stream_faults import IN_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Frame, Frames, Json, SentRequest
    from wireproof_mocks.miniatures.rewriting import Change

ADDED, ITEM_DONE = "response.output_item.added", "response.output_item.done"
AROUND = frozenset({
    ADDED, ITEM_DONE, "response.content_part.added", "response.content_part.done", "response.output_text.done",
})  # fmt: skip
"""The events that open and close items, and the parts of messages."""
ARGUMENTS = "response.function_call_arguments.delta"
INCOMPLETE, FAILED, COMPLETED = "response.incomplete", "response.failed", "response.completed"


# whole answers


def _chat_usage(response: Json) -> Json:
    usage = response["usage"] or {}
    # The AI SDK raises at these names.
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "total_tokens"}
    return {**response, "usage": {name: usage.get(here) for name, here in names.items()}}


_always_completed = with_members(status="completed", incomplete_details=None)


def _calls(change: Change) -> Change:
    return at("output[]", of_type(CALL, change))


# streams


def _rate_limits(event: Json) -> Iterable[Frame]:
    yield event
    if event["type"] == "response.in_progress":
        # openai-node's `.stream` raises at an event that it does not know.
        yield {"type": "codex.rate_limits", "used": 7}


def _id_and_status(response: Json) -> Json:
    return {name: response[name] for name in ("id", "status")}


def _dropped(*types: str) -> Frames:
    return each_event(of_type(types, lambda _: ()))


def _bare_deltas(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """Of what opens and closes items, only that of a message without any text is sent: it has no delta that is bare."""
    held: list[Frame] | None = None
    for frame in frames:
        kind = kind_of(frame)
        if kind == ADDED and frame["item"].get("type") == MESSAGE:
            held = []
        elif kind == "response.output_text.delta":
            held = None
        if held is not None and kind in AROUND:
            held.append(frame)
        if held and (kind == ITEM_DONE or kind in TERMINAL):
            yield from held
            held = None
        if kind not in AROUND:
            yield frame


def _then_done(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    yield from frames
    yield "[DONE]"  # which Responses do not have


def _ending_otherwise(kind: str, change: Change) -> Frames:
    """Events of this type say that the response is completed."""
    return each_event(of_type(kind, both(with_members(type=COMPLETED), at("response", change))))


def _failed_stream(body: Json) -> list[Frame]:
    begun: Json = {
        "id": own_id("resp_"), "object": "response", "created_at": 1_700_000_000, "status": "in_progress",
        "model": "codex", "output": [], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
    error = {"code": "server_error", "message": body["error"]["message"]}
    # Right in itself but for coming as a stream: before any output the failure should be an HTTP error.
    events = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": FAILED, "response": {**begun, "status": "failed", "error": error}},
    ]
    return list(numbered(events))


CACHED = "usage.input_tokens_details.cached_tokens"


def _whole(name: str, breaks: str, change: Change, **how: Any) -> Fault:  # noqa: ANN401 (see Fault)
    row = f"responses.whole.{breaks}"
    return Fault(name=name, breaks=row, whole=in_response(change), dialects=(RESPONSES,), **how)


_stream = partial(fault_below, "responses.stream.", dialects=(RESPONSES,))


RESPONSES_FAULTS: tuple[Fault, ...] = (
    _whole("response-without-tools", "envelope", without("tools")),
    _whole("response-with-the-id-of-a-chat", "envelope", at("id", lambda id_: f"chatcmpl-{id_}")),
    # Elsewhere the next request of a conversation names it, and is about another response then.
    _whole("one-id-for-all-responses", "envelope", with_members(id="resp_1"), scripts=("text/hello",)),
    _whole("response-usage-named-as-in-chat", "envelope", _chat_usage),
    _whole("response-without-cached-tokens", "envelope", at(CACHED, lambda _: 0)),
    _whole("response-always-completed", "envelope", _always_completed),
    _whole("response-text-trimmed", "message",
           at("output[]", of_type(MESSAGE, at("content[].text", str.strip)))),
    _whole("response-without-call-ids", "call-items", _calls(without("call_id"))),
    _whole("response-call-id-is-item-id", "call-items",
           _calls(lambda item: {**item, "id": item["call_id"]})),
    _whole("metadata-forgotten", "envelope", with_members(metadata={})),
    _whole("declared-tools-forgotten", "envelope", with_members(tools=[])),
    _whole("calls-never-completed", "call-items", _calls(with_members(status="incomplete"))),
    _whole("response-arguments-reserialised", "call-items", at("output[]", respelled)),
    _stream("responses-may-be-buffered", "headers", head=forgetting("x-accel-buffering")),
    _stream("responses-with-finish-reason", "schema",
            frames=each_event(of_type(TERMINAL, with_members(finish_reason="tool_calls")))),
    # As "Obsidian tool calling" names them (line 68). openai-node's `.stream` raises; langchain and Copilot get {}.
    _stream("argument-events-misnamed", "schema",
            frames=each_event(at("type", lambda kind: kind.replace("function_call_arguments", "function_call")))),
    _stream("events-of-the-backend-passed-on", "schema", frames=each_event(_rate_limits)),
    _stream("created-with-id-and-status-alone", "schema",
            frames=each_event(of_type(BEGINNING, at("response", _id_and_status)))),
    _stream("not-said-to-be-in-progress", "order", frames=_dropped("response.in_progress")),
    _stream("bare-text-deltas", "order", frames=lambda frames, request: numbered(_bare_deltas(frames, request))),
    _stream("parts-never-opened", "order", frames=_dropped("response.content_part.added")),
    # Codex takes no text from deltas alone, only from these events.
    _stream("items-never-done", "order", frames=_dropped(ITEM_DONE)),
    _stream("done-as-in-chat", "order", frames=_then_done),
    # One script: each body that is held open costs a second of waiting.
    _stream("response-body-left-open", "order", body_open=True, scripts=("text/hello",)),
    _stream("no-event-lines-at-all", "event-name", frames=rewriting.each_event(nameless)),
    _stream("every-event-is-a-message", "event-name",
            frames=rewriting.each_event(lambda event: b"event: message\n" + nameless(event))),
    # One response object, made at the end of the turn, is written into every event.
    _stream("created-as-completed", "status",
            frames=each_event(of_type(BEGINNING, at("response", with_members(status="completed"))))),
    _stream("in-progress-to-the-end", "status", frames=at_end(with_members(status="in_progress"))),
    _stream("numbered-from-one", "sequence",
            frames=rewriting.each_event(at("sequence_number", lambda number: number + 1))),
    _stream("events-without-numbers", "sequence", frames=rewriting.each_event(without("sequence_number"))),
    _stream("output-index-always-zero", "indexes", frames=each_event(at("output_index", lambda _: 0))),
    _stream("content-index-from-one", "indexes", frames=each_event(at("content_index", lambda _: 1))),
    _stream("other-item-ids-in-deltas", "indexes", frames=each_event(at("item_id", lambda _: "item_of_my_own"))),
    # langchain and Copilot take the arguments from the deltas alone.
    _stream("arguments-without-deltas", "sums", frames=_dropped(ARGUMENTS)),
    _stream("arguments-repeated-from-start", "sums", frames=repeated_from_start(ARGUMENTS, "delta", "item_id")),
    _stream("done-with-empty-arguments", "sums",
            frames=each_event(of_type(ITEM_DONE, at("item", of_type(CALL, with_members(arguments="")))))),
    # openai's `.stream` helpers then have an empty answer.
    _stream("completed-without-output", "sums", frames=at_end(with_members(output=[]))),
    _stream("tool-names-lowered", "sums",
            frames=each_event(both(at("item", of_type(CALL, at("name", str.lower))),
                                   at("response", _calls(at("name", str.lower)))))),
    # Codex runs the tool first and then fails; opencode asks again without end.
    _stream("one-id-for-all-streamed-responses", "terminal", scripts=("text/hello",),
            frames=each_event(at("response", with_members(id="resp_1")))),
    _stream("no-terminal-event", "terminal", frames=_dropped(*TERMINAL)),
    # Codex takes incomplete for a failure; here it would take half an answer for a whole one.
    _stream("always-completed", "terminal", frames=_ending_otherwise(INCOMPLETE, _always_completed)),
    _stream("completed-without-cached-tokens", "terminal", frames=at_end(at(CACHED, lambda _: 0))),
    _stream("completed-without-usage", "terminal", frames=at_end(with_members(usage=None))),
    _stream("response-failure-hushed-up", "terminal", scripts=IN_TEXT,
            frames=_ending_otherwise(FAILED, with_members(status="completed", error=None))),
    _stream("failed-for-no-reason", "terminal",
            frames=each_event(of_type(FAILED, at("response", with_members(error=None))))),
    _stream("early-failure-as-stream", "terminal", head=as_streams(), salvage=_failed_stream),
    _stream("events-held-back", "flushed", frames=all_at_once, scripts=("text/gate",)),
    _stream("silence-without-comments", "keepalive", frames=no_comments),
    _stream("silence-with-one-comment", "keepalive-goes-on", frames=first_comment_only),
    _stream("departure-not-noticed", "disconnect", ignores_disconnect=True),
    Fault(name="stream-with-metadata-of-its-own", breaks="responses.parity", dialects=(RESPONSES,),
          frames=at_end(with_members(metadata={"told": "in a stream"}))),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in its responses."""
