"""Whole Responses bodies, as the same events that a stream tells.

A whole body is taken as one frame (number 0, all its bytes), and places point at all of it. Broken bodies never raise:
what cannot be read is a violation, and the rest is read as well as can be. Members that are merely missing or misspelt
are for the JSON Schema to name.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from assay.wire.chat import Reading
from assay.wire.events import CallOpened, ChatEvent, Finished, Fragment, Text, Usage
from assay.wire.fields import JsonObject, failure_of, integer_of, list_of, object_of, parse_object, text_of
from assay.wire.sse import Frame
from assay.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ENVELOPE = "responses.whole.envelope"
MESSAGE = "responses.whole.message"
CALL_ITEMS = "responses.whole.call-items"

_INCOMPLETE: Mapping[str, str] = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""Why a response is incomplete → the finish reason that chat tells for it."""


def read_response(body: bytes) -> Reading:
    """Read the body of a whole answer: its text, its calls, how it ended, its usage; in this order."""
    place = Place(offset=0, length=len(body), frame=None)
    try:
        payload = parse_object(body.decode("utf-8"))
    except ValueError as error:
        found = [Violation(requirement=ENVELOPE, seen=f"the body is {error}", place=place)]
        return Reading(frames=(), payloads=(), events=(), violations=tuple(found))
    told = list(_answer(payload, place))
    frame = Frame(number=0, offset=0, raw=body, data=body.decode("utf-8"), event=None, comments=())
    return Reading(
        frames=(),
        payloads=((frame, payload),),
        events=tuple(one for one in told if not isinstance(one, Violation)),
        violations=tuple(one for one in told if isinstance(one, Violation)),
    )


def ends(response: JsonObject, frame: int, *, called: bool) -> Iterator[ChatEvent]:
    """How a response ended: its finish in the words of chat and its usage, or its error."""
    match response.get("status"):
        case "completed":
            yield Finished(frame=frame, choice=0, reason="tool_calls" if called else "stop")
        case "incomplete":
            reason = text_of(object_of(response.get("incomplete_details")).get("reason")) or ""
            yield Finished(frame=frame, choice=0, reason=_INCOMPLETE.get(reason, reason or "incomplete"))
        case "failed":
            yield failure_of(response.get("error"), frame)
        case _:
            pass
    usage = response_usage(response.get("usage"), frame)
    if usage and response.get("status") != "failed":
        yield usage


def response_usage(value: object, frame: int) -> Usage | None:
    """A `usage` object of a response; None unless its three counts are integers."""
    usage = object_of(value)
    told = (integer_of(usage.get(name)) for name in ("input_tokens", "output_tokens", "total_tokens"))
    prompt, completion, total = told
    if prompt is None or completion is None or total is None:
        return None
    return Usage(
        frame=frame,
        prompt=prompt,
        completion=completion,
        total=total,
        cached=integer_of(object_of(usage.get("input_tokens_details")).get("cached_tokens")),
        reasoning=integer_of(object_of(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )


def _answer(payload: JsonObject, place: Place) -> Iterator[ChatEvent | Violation]:
    output = payload.get("output")
    if not isinstance(output, list):
        yield Violation(requirement=ENVELOPE, seen="the body has no list of output items", place=place)
        return
    items = [object_of(item) for item in output]
    calls = [item for item in items if item.get("type") == "function_call"]
    numbers = iter(range(len(calls)))
    for item in items:
        if item.get("type") == "message":
            yield from _message(item, place)
        elif item.get("type") == "function_call":
            yield from _call(next(numbers), item)
    yield from _call_faults(calls, place)
    yield from ends(payload, 0, called=bool(calls))


def _message(item: JsonObject, place: Place) -> Iterator[ChatEvent | Violation]:
    faults = []
    if item.get("role") != "assistant":
        faults.append(f"the role of a message is {item.get('role')!r:.60}, it should be assistant")
    for part in map(object_of, list_of(item.get("content"))):
        text = part.get("text")
        if part.get("type") != "output_text":
            faults += [] if part.get("type") == "refusal" else [f"a part is of type {part.get('type')!r:.60}"]
        elif not isinstance(text, str):
            faults.append("an output_text has no text")
        elif text:
            yield Text(frame=0, choice=0, text=text)
    if faults:
        yield Violation(requirement=MESSAGE, seen="; ".join(faults[:4]), place=place)


def _call(index: int, item: JsonObject) -> Iterable[ChatEvent]:
    id_, name = text_of(item.get("call_id")) or "", text_of(item.get("name")) or ""
    yield CallOpened(frame=0, choice=0, index=index, id=id_, name=name)
    if (arguments := text_of(item.get("arguments"))) is not None:
        yield Fragment(frame=0, choice=0, index=index, text=arguments)


def _call_faults(calls: list[JsonObject], place: Place) -> Iterator[Violation]:
    faults = [
        f"call {number} has no {name} that is a string"
        for number, call in enumerate(calls)
        for name in ("id", "call_id", "name", "arguments")
        if not isinstance(call.get(name), str) or (name != "arguments" and not call[name])
    ]
    for name in ("id", "call_id"):
        counted = Counter(text_of(call.get(name)) for call in calls)
        faults += [f"{count} calls have the {name} {id_!r:.60}" for id_, count in counted.items() if id_ and count > 1]
    if faults:
        yield Violation(requirement=CALL_ITEMS, seen="; ".join(faults[:4]), place=place)
