"""Faults of responses: of whole answers and of streams. For text and input see `sentinel_faults`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import first_comment_only, no_comments, written
from wireproof_mocks.miniatures.failure_faults import IN_TEXT
from wireproof_mocks.miniatures.fault import RESPONSES, Fault, FaultExample, FaultHead, Frame, Json, SentRequest, own_id
from wireproof_mocks.miniatures.responses_rewriting import (
    CALL,
    MESSAGE,
    TERMINAL,
    at_end,
    each_event,
    in_body,
    numbered,
    respelled,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ADDED, ITEM_DONE = "response.output_item.added", "response.output_item.done"
AROUND = frozenset({
    ADDED, ITEM_DONE, "response.content_part.added", "response.content_part.done", "response.output_text.done",
})  # fmt: skip
"""The events that open and close items, and the parts of messages."""
SERVER_ERROR = 500
"""The lowest status that says that the backend failed."""


# whole answers


def _without(name: str) -> Callable[[Json], Json]:
    return lambda response: {key: value for key, value in response.items() if key != name}


def _chat_id(response: Json) -> Json:
    return {**response, "id": f"chatcmpl-{response['id']}"}


def _one_id(response: Json) -> Json:
    return {**response, "id": "resp_1"}


def _chat_usage(response: Json) -> Json:
    usage = response["usage"] or {}
    # The AI SDK raises at these names.
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "total_tokens"}
    return {**response, "usage": {name: usage.get(here) for name, here in names.items()}}


def _always_completed(response: Json) -> Json:
    return {**response, "status": "completed", "incomplete_details": None}


def _with_items(change: Callable[[Json], Json]) -> Callable[[Json], Json]:
    return lambda response: {**response, "output": [change(item) for item in response["output"]]}


def _trimmed(item: Json) -> Json:
    parts = [{**part, "text": part["text"].strip()} for part in item.get("content", ())]
    return {**item, "content": parts} if item["type"] == MESSAGE else item


def _call(change: Callable[[Json], Json]) -> Callable[[Json], Json]:
    return lambda item: change(item) if item["type"] == CALL else item


def _id_is_call_id(item: Json) -> Json:
    return {**item, "id": item["call_id"]}


# streams


def _unbuffered_forgotten(head: FaultHead, _: SentRequest) -> FaultHead:
    return FaultHead(status=head.status, headers=[(n, v) for n, v in head.headers if n.lower() != "x-accel-buffering"])


def _with_finish_reason(event: Json) -> Iterable[Frame]:
    yield {**event, "finish_reason": "tool_calls"} if event["type"] in TERMINAL else event


def _arguments_renamed(event: Json) -> Iterable[Frame]:
    # As "Obsidian tool calling" names them (line 68). openai-node's `.stream` raises; langchain and Copilot get {}.
    yield {**event, "type": event["type"].replace("function_call_arguments", "function_call")}


def _rate_limits(event: Json) -> Iterable[Frame]:
    yield event
    if event["type"] == "response.in_progress":
        # openai-node's `.stream` raises at an event that it does not know.
        yield {"type": "codex.rate_limits", "used": 7}


def _small_beginning(event: Json) -> Iterable[Frame]:
    kept = {"id", "status"}
    begun = event["type"] in {"response.created", "response.in_progress"}
    yield {**event, "response": {k: v for k, v in event["response"].items() if k in kept}} if begun else event


def _completed_from_the_start(event: Json) -> Iterable[Frame]:
    """One response object, made at the end of the turn, is written into every event."""
    begun = event["type"] in {"response.created", "response.in_progress"}
    yield {**event, "response": {**event["response"], "status": "completed"}} if begun else event


def _dropped(*types: str) -> Callable[[Json], Iterable[Frame]]:
    return lambda event: () if event["type"] in types else (event,)


def _bare_deltas(frames: Iterable[Frame]) -> Iterator[Frame]:
    """Of what opens and closes items, only that of a message without any text is sent: it has no delta that is bare."""
    held: list[Frame] | None = None
    for frame in frames:
        event: Json = frame if isinstance(frame, dict) else {}
        kind = event.get("type")
        if kind == ADDED and event["item"].get("type") == MESSAGE:
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


def _then_done(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    yield from frames
    yield "[DONE]"  # which Responses do not have


def _no_event_lines(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    for frame in frames:
        # As bytes, past `written`, which would put the line there again.
        yield written(frame).partition(b"\n")[2] if isinstance(frame, dict) else frame


def _one_name(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    for frame in frames:
        yield b"event: message\n" + written(frame).partition(b"\n")[2] if isinstance(frame, dict) else frame


def _from_one(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    for frame in frames:
        yield {**frame, "sequence_number": frame["sequence_number"] + 1} if isinstance(frame, dict) else frame


def _no_numbers(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    for frame in frames:
        yield _without("sequence_number")(frame) if isinstance(frame, dict) else frame


def _with(**members: object) -> Callable[[Json], Iterable[Frame]]:
    """Members that an event has get other values."""

    def changed(event: Json) -> Iterable[Frame]:
        yield {**event, **{name: value for name, value in members.items() if name in event}}

    return changed


def _in_done_item(**members: object) -> Callable[[Json], Iterable[Frame]]:
    """Members of a call that is done get other values."""

    def changed(event: Json) -> Iterable[Frame]:
        done = event["type"] == ITEM_DONE and event["item"]["type"] == CALL
        yield {**event, "item": {**event["item"], **members}} if done else event

    return changed


def _no_deltas(event: Json) -> Iterable[Frame]:
    # langchain and Copilot take the arguments from the deltas alone.
    if event["type"] != "response.function_call_arguments.delta":
        yield event


def _cumulative(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """Each delta of arguments repeats all before it."""
    sent: dict[str, str] = {}
    for frame in frames:
        if isinstance(frame, dict) and frame["type"] == "response.function_call_arguments.delta":
            sent[frame["item_id"]] = sent.get(frame["item_id"], "") + frame["delta"]
            yield {**frame, "delta": sent[frame["item_id"]]}
        else:
            yield frame


def _names_lowered(event: Json) -> Iterable[Frame]:
    if "item" in event:
        yield {**event, "item": _call(_lowered)(event["item"])}
    elif event["type"] in TERMINAL:
        yield {**event, "response": _with_items(_call(_lowered))(event["response"])}
    else:
        yield event


def _lowered(item: Json) -> Json:
    return {**item, "name": item["name"].lower()}


def _completed_anyway(event: Json) -> Iterable[Frame]:
    # Codex takes incomplete for a failure; here it would take half an answer for a whole one.
    if event["type"] == "response.incomplete":
        yield {**event, "type": "response.completed", "response": _always_completed(event["response"])}
    else:
        yield event


def _hushed_up(event: Json) -> Iterable[Frame]:
    if event["type"] == "response.failed":
        response = {**event["response"], "status": "completed", "error": None}
        yield {**event, "type": "response.completed", "response": response}
    else:
        yield event


def _no_reason(event: Json) -> Iterable[Frame]:
    failed = event["type"] == "response.failed"
    yield {**event, "response": {**event["response"], "error": None}} if failed else event


def _errors_as_streams(head: FaultHead, request: SentRequest) -> FaultHead:
    streamed = b'"stream": true' in request.body
    return FaultHead(status="200 OK", headers=head.headers) if head.code >= SERVER_ERROR and streamed else head


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
        {"type": "response.failed", "response": {**begun, "status": "failed", "error": error}},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _all_at_once(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    yield b"".join(written(frame) for frame in frames)


def _whole(name: str, breaks: str, change: Callable[[Json], Json]) -> Fault:
    return Fault(name=name, breaks=f"responses.whole.{breaks}", whole=in_body(change), dialects=(RESPONSES,))


def _stream(name: str, breaks: str, **how: Any) -> Fault:  # noqa: ANN401 (see Fault)
    return Fault(name=name, breaks=f"responses.stream.{breaks}", dialects=(RESPONSES,), **how)


RESPONSES_FAULTS: tuple[Fault, ...] = (
    _whole("response-without-tools", "envelope", _without("tools")),
    _whole("response-with-the-id-of-a-chat", "envelope", _chat_id),
    # Elsewhere the next request of a conversation names it, and is about another response then.
    Fault(name="one-id-for-all-responses", breaks="responses.whole.envelope", dialects=(RESPONSES,),
          scripts=("text/hello",), whole=in_body(_one_id),
          examples=(FaultExample(before={"id": "resp_7", "output": []}, after={"id": "resp_1", "output": []}),)),
    _whole("response-usage-named-as-in-chat", "envelope", _chat_usage),
    _whole("response-always-completed", "envelope", _always_completed),
    _whole("response-text-trimmed", "message", _with_items(_trimmed)),
    _whole("response-without-call-ids", "call-items", _with_items(_call(_without("call_id")))),
    _whole("response-call-id-is-item-id", "call-items", _with_items(_call(_id_is_call_id))),
    _whole("metadata-forgotten", "envelope", lambda response: {**response, "metadata": {}}),
    _whole("declared-tools-forgotten", "envelope", lambda response: {**response, "tools": []}),
    _whole("calls-never-completed", "call-items", _with_items(_call(lambda item: {**item, "status": "incomplete"}))),
    _whole("response-arguments-reserialised", "call-items", _with_items(respelled)),
    _stream("responses-may-be-buffered", "headers", head=_unbuffered_forgotten),
    _stream("responses-with-finish-reason", "schema", frames=each_event(_with_finish_reason)),
    _stream("argument-events-misnamed", "schema", frames=each_event(_arguments_renamed)),
    _stream("events-of-the-backend-passed-on", "schema", frames=each_event(_rate_limits)),
    _stream("created-with-id-and-status-alone", "schema", frames=each_event(_small_beginning)),
    _stream("not-said-to-be-in-progress", "order", frames=each_event(_dropped("response.in_progress"))),
    _stream("bare-text-deltas", "order", frames=lambda frames, _: numbered(_bare_deltas(frames))),
    _stream("parts-never-opened", "order", frames=each_event(_dropped("response.content_part.added"))),
    # Codex takes no text from deltas alone, only from these events.
    _stream("items-never-done", "order", frames=each_event(_dropped(ITEM_DONE))),
    _stream("done-as-in-chat", "order", frames=_then_done),
    # One script: each body that is held open costs a second of waiting.
    _stream("response-body-left-open", "order", body_open=True, scripts=("text/hello",)),
    _stream("no-event-lines-at-all", "event-name", frames=_no_event_lines),
    _stream("every-event-is-a-message", "event-name", frames=_one_name),
    _stream("created-as-completed", "status", frames=each_event(_completed_from_the_start)),
    _stream("in-progress-to-the-end", "status", frames=at_end(lambda response: {**response, "status": "in_progress"})),
    _stream("numbered-from-one", "sequence", frames=_from_one),
    _stream("events-without-numbers", "sequence", frames=_no_numbers),
    _stream("output-index-always-zero", "indexes", frames=each_event(_with(output_index=0))),
    _stream("content-index-from-one", "indexes", frames=each_event(_with(content_index=1))),
    _stream("other-item-ids-in-deltas", "indexes", frames=each_event(_with(item_id="item_of_my_own"))),
    _stream("arguments-without-deltas", "sums", frames=each_event(_no_deltas)),
    _stream("arguments-repeated-from-start", "sums", frames=_cumulative),
    _stream("done-with-empty-arguments", "sums", frames=each_event(_in_done_item(arguments=""))),
    # openai's `.stream` helpers then have an empty answer.
    _stream("completed-without-output", "sums", frames=at_end(lambda response: {**response, "output": []})),
    _stream("tool-names-lowered", "sums", frames=each_event(_names_lowered)),
    # Codex runs the tool first and then fails; opencode asks again without end.
    _stream("one-id-for-all-streamed-responses", "terminal", scripts=("text/hello",),
            frames=each_event(lambda event: [
                {**event, "response": _one_id(event["response"])} if "response" in event else event
            ]),
            examples=(FaultExample(before=({"response": {"id": "resp_7"}},),
                                   after=({"response": {"id": "resp_1"}, "sequence_number": 0},)),)),
    _stream("no-terminal-event", "terminal", frames=each_event(_dropped(*TERMINAL))),
    _stream("always-completed", "terminal", frames=each_event(_completed_anyway)),
    _stream("completed-without-usage", "terminal", frames=at_end(lambda response: {**response, "usage": None})),
    _stream("response-failure-hushed-up", "terminal", frames=each_event(_hushed_up), scripts=IN_TEXT),
    _stream("failed-for-no-reason", "terminal", frames=each_event(_no_reason)),
    _stream("early-failure-as-stream", "terminal", head=_errors_as_streams, salvage=_failed_stream),
    _stream("events-held-back", "flushed", frames=_all_at_once, scripts=("text/gate",)),
    _stream("silence-without-comments", "keepalive", frames=no_comments),
    _stream("silence-with-one-comment", "keepalive-goes-on", frames=first_comment_only,
            examples=(FaultExample(before=(b": a\n\n", b": b\n\n", {}), after=(b": a\n\n", b"", {})),)),
    _stream("departure-not-noticed", "disconnect", ignores_disconnect=True),
    Fault(name="stream-with-metadata-of-its-own", breaks="responses.parity", dialects=(RESPONSES,),
          frames=at_end(lambda response: {**response, "metadata": {"told": "in a stream"}})),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in its responses."""
