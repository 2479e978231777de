"""Whole bodies of Responses, read as the same events as a stream.

Broken bodies never raise: what cannot be read is a violation, and the rest is read as well as can be. Members that are
merely missing or misspelt are for the JSON Schema to name.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wireproof.wire.events import ChatEvent, Finished, Text
from wireproof.wire.facet import UNREADABLE, UNTOUCHED, Facet
from wireproof.wire.fields import RESPONSES_COUNTS, JsonObject, failure_of, list_of, object_of, text_of, usage_of
from wireproof.wire.quoting import short
from wireproof.wire.reading import Reading, call_events, read_body, wrong_calls
from wireproof.wire.violation import MemberFault, Members, Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENVELOPE = "responses.whole.envelope"
MESSAGE = "responses.whole.message"
CALL_ITEMS = "responses.whole.call-items"

_INCOMPLETE: Mapping[str, str] = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""`incomplete_details.reason` → the finish reason of chat completions for it."""


def read_response(body: bytes) -> Reading:
    """Read the body of a whole answer: its text, its calls, how it ended, its usage; in this order."""
    return read_body(body, ENVELOPE, _answer)


def ends(response: JsonObject, frame: int, *, called: bool) -> Iterator[ChatEvent]:
    """How a response ended: its finish, as a reason of chat completions, and its usage; or its error."""
    # A response has a status and no finish reason (S0:175). Chat's reasons let both surfaces be compared as data.
    match response.get("status"):
        case "completed":
            yield Finished(frame=frame, choice=0, reason="tool_calls" if called else "stop")
        case "incomplete":
            reason = text_of(object_of(response.get("incomplete_details")).get("reason")) or ""
            # A reason that is not published is kept, so that a finding shows it.
            yield Finished(frame=frame, choice=0, reason=_INCOMPLETE.get(reason, reason or "incomplete"))
        case "failed":
            yield failure_of(response.get("error"), frame)
        case _:
            pass
    usage = usage_of(response.get("usage"), frame, RESPONSES_COUNTS)
    # As in chat, where an answer that failed has no counts.
    if usage and response.get("status") != "failed":
        yield usage


def _answer(payload: JsonObject, place: Place) -> Iterator[ChatEvent | Violation]:
    output = payload.get("output")
    if not isinstance(output, list):
        yield Violation(
            requirement=ENVELOPE, seen="the body has no list of output items", place=place, spoils=UNREADABLE
        )
        return
    items = [object_of(item) for item in output]
    calls = [item for item in items if item.get("type") == "function_call"]
    # Among the calls alone, as in chat: a message between them does not count.
    numbers = iter(range(len(calls)))
    for item in items:
        if item.get("type") == "message":
            yield from _message(item, place)
        elif item.get("type") == "function_call":
            yield from call_events(next(numbers), item.get("call_id"), item.get("name"), item.get("arguments"))
    yield from _call_faults(calls, place)
    yield from ends(payload, 0, called=bool(calls))


def _message(item: JsonObject, place: Place) -> Iterator[ChatEvent | Violation]:
    faults = []
    if item.get("role") != "assistant":
        faults.append(f"the role of a message is {short(item.get('role'))}, it should be assistant")
    known = len(faults)
    for part in map(object_of, list_of(item.get("content"))):
        text = part.get("text")
        if part.get("type") != "output_text":
            # A refusal is published, and is no text.
            faults += [] if part.get("type") == "refusal" else [f"a part is of type {short(part.get('type'))}"]
        elif not isinstance(text, str):
            faults.append("an output_text has no text")
        # An empty message is no text, as in a stream, where it has no delta.
        elif text:
            yield Text(frame=0, choice=0, text=text)
    if faults:
        # The role alone leaves the text as it is.
        spoils = frozenset({Facet.TEXT}) if len(faults) > known else UNTOUCHED
        yield Violation(requirement=MESSAGE, seen="; ".join(faults[:4]), place=place, spoils=spoils)


_LOST = {
    "id": UNTOUCHED,
    "call_id": frozenset({Facet.CALL_ID}),
    "name": frozenset({Facet.CALL}),
    "arguments": frozenset({Facet.ARGUMENTS}),
}
"""Member of a call → what is lost without it."""


def _call_faults(calls: list[JsonObject], place: Place) -> Iterator[Violation]:
    faults = {
        f"call {number} has no {name} that is a string": lost
        for number, call in enumerate(calls)
        # Without `call_id` no client can send the result back; @ai-sdk/openai raises without `id`.
        for name, lost in _LOST.items()
        if not isinstance(call.get(name), str) or (name != "arguments" and not call[name])
    }
    for name in ("id", "call_id"):
        counted = Counter(text_of(call.get(name)) for call in calls)
        faults |= {
            f"{count} calls have the {name} {short(id_)}": _LOST[name]
            for id_, count in counted.items()
            if id_ and count > 1
        }
    missing = [name for name in _LOST if all(name not in call for call in calls)]
    # Any answer with a call shows that, also where its scenario is about something else.
    about = Members(fault=MemberFault.MISSING, names=tuple(missing)) if missing else None
    yield from wrong_calls(CALL_ITEMS, faults, place, about=about)
