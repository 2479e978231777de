"""Whole bodies of chat completions, read as the same events as a stream; and the bodies of errors.

Broken bodies never raise: what cannot be read is a violation, and the rest is read as well as can be. Members that are
merely missing or misspelt are for the JSON Schema to name.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wireproof.wire.events import ChatEvent, Failed, Finished, Role, Text
from wireproof.wire.facet import CONTENT, UNREADABLE, Facet
from wireproof.wire.fields import JsonObject, failure_of, integer_of, object_of, text_of, usage_of
from wireproof.wire.quoting import short
from wireproof.wire.reading import Reading, call_events, parse_body, read_body, wrong_calls
from wireproof.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ENVELOPE = "chat.whole.envelope"
CALLS = "chat.whole.calls-all-in-order"
ERROR = "http.error.envelope"
ReadError = tuple[Failed | None, tuple[Violation, ...]]
"""The error in a body, and what is wrong with its envelope."""

_ERROR_MEMBERS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "message": (lambda value: isinstance(value, str) and value != "", "a non-empty string"),
    "type": (lambda value: isinstance(value, str), "a string"),
    "param": (lambda value: value is None or isinstance(value, str), "a string or null"),
    # Never a number: OpenAI's codes are words.
    "code": (lambda value: value is None or isinstance(value, str), "a string or null"),
}


def read_whole(body: bytes) -> Reading:
    """Read the body of a whole chat answer.

    Events stand in the order of a stream: per choice role, text, calls, finish; then the usage. `content` that is "" is
    text here: an answer may be empty, while null says that there is none. An error object is a `Failed`.
    """
    return read_body(body, ENVELOPE, _answer)


def read_error(body: bytes, content_type: str | None) -> ReadError:
    """Read the body of a response whose status is an error; see `read_failure`."""
    return read_failure(body, content_type, ERROR, _error_faults)


def read_failure(
    body: bytes, content_type: str | None, envelope: str, wrong: Callable[[JsonObject], list[str]]
) -> ReadError:
    """Read the body of a response whose status is an error.

    Args:
        body: All of it.
        content_type: The value of its Content-Type header, None if it has none.
        envelope: The requirement that it breaks where anything is wrong.
        wrong: What is wrong with the object that it is.

    Returns:
        The error, None if the body has none at all; and at most one violation, which lists all that is wrong.
    """
    media_type = (content_type or "").partition(";")[0].strip().lower()  # `; charset=utf-8` may follow
    came = "there is no Content-Type" if content_type is None else f"the Content-Type is {short(content_type)}"
    faults = [] if media_type == "application/json" else [f"{came}, it should be application/json"]
    failed = None
    try:
        _, payload = parse_body(body)
    except ValueError as error:
        faults.append(f"the body is {error}")
    else:
        faults += wrong(payload)
        failed = failure_of(payload["error"], 0) if payload.get("error") else None
    # One violation: an error page of a gateway in between has every fault at once, of one cause.
    if not faults:
        return failed, ()
    # Users see the message in every client, whatever else is missing or stands around it.
    shown = failed is not None and failed.message != ""
    place = Place(offset=0, length=len(body))
    return failed, (Violation(requirement=envelope, seen="; ".join(faults), place=place, strict_only=shown),)


def _answer(payload: JsonObject, place: Place) -> Iterator[ChatEvent | Violation]:
    if payload.get("error") is not None:
        # An error in a success is read, and the choices that are missing are the violation.
        yield failure_of(payload["error"], 0)
    choices = payload.get("choices")
    if not isinstance(choices, list):
        yield Violation(requirement=ENVELOPE, seen="the body has no list of choices", place=place, spoils=UNREADABLE)
        return
    for position, choice in enumerate(choices):
        yield from _choice(position, object_of(choice), place)
    if usage := usage_of(payload.get("usage"), 0):
        yield usage


def _choice(position: int, choice: JsonObject, place: Place) -> Iterator[ChatEvent | Violation]:
    message = choice.get("message")
    given = integer_of(choice.get("index"))
    # A missing index is for the schema to name; here each choice still needs one of its own.
    index = position if given is None else given
    if not isinstance(message, dict):
        seen = f"choice {index} has no message object"
        yield Violation(requirement=ENVELOPE, seen=seen, place=place, spoils=CONTENT)
        return
    if (role := text_of(message.get("role"))) is not None:
        yield Role(frame=0, choice=index, role=role)
    content = message.get("content")
    if isinstance(content, str):
        yield Text(frame=0, choice=index, text=content)
    # Null is right beside calls; where it is not, the checks of content say so.
    elif content is not None:
        seen = f"choice {index}: content is neither a string nor null"
        yield Violation(requirement=ENVELOPE, seen=seen, place=place, spoils=frozenset({Facet.TEXT}))
    yield from _calls(index, message.get("tool_calls"), place)
    yield from _legacy(index, message.get("function_call"), place)
    if (reason := text_of(choice.get("finish_reason"))) is not None:
        yield Finished(frame=0, choice=index, reason=reason)


def _calls(choice: int, calls: object, place: Place) -> Iterator[ChatEvent | Violation]:
    if calls is None:
        return
    if not isinstance(calls, list):
        seen, spoils = f"choice {choice}: tool_calls is no list", frozenset({Facet.CALL, Facet.ARGUMENTS})
        yield Violation(requirement=CALLS, seen=seen, place=place, spoils=spoils)
        return
    for index, call in enumerate(calls):
        yield from _call(choice, index, object_of(call))
    faults = {
        f"call {index} {fault}": lost
        for index, call in enumerate(calls)
        for fault, lost in _call_faults(object_of(call)).items()
    }
    # With one id for two calls nothing says which of them a result belongs to.
    ids = Counter(text_of(object_of(call).get("id")) or None for call in calls)
    doubled = (f"{count} calls have the id {short(id_)}" for id_, count in ids.items() if id_ and count > 1)
    faults |= dict.fromkeys(doubled, frozenset({Facet.CALL_ID}))
    yield from wrong_calls(CALLS, faults, place, where=f"choice {choice}: ")


def _legacy(choice: int, call: object, place: Place) -> Iterator[ChatEvent | Violation]:
    """A `function_call`: a call without id or type."""
    if call is None:
        return
    yield from _call(choice, 0, {"function": call})
    # Only what a legacy call has is judged, so the members that it has not are given as right.
    faults = _call_faults({"id": "-", "type": "function", "function": call})
    yield from wrong_calls(CALLS, faults, place, where=f"choice {choice}: function_call ")


def _call(choice: int, index: int, call: JsonObject) -> Iterator[ChatEvent]:
    function = object_of(call.get("function"))
    return call_events(index, call.get("id"), function.get("name"), function.get("arguments"), choice)


def _call_faults(call: JsonObject) -> dict[str, frozenset[Facet]]:
    """What is wrong with a call → what is lost by it."""
    function = object_of(call.get("function"))
    wanted: dict[str, tuple[bool, Facet | None]] = {
        "has no id": (bool(text_of(call.get("id"))), Facet.CALL_ID),
        "is not of type function": (call.get("type") == "function", None),
        "has no function.name": (bool(text_of(function.get("name"))), Facet.CALL),
        "has no function.arguments that is a string": (isinstance(function.get("arguments"), str), Facet.ARGUMENTS),
    }
    return {fault: frozenset({lost} if lost else ()) for fault, (kept, lost) in wanted.items() if not kept}


def _error_faults(payload: JsonObject) -> list[str]:
    error = payload.get("error")
    if not isinstance(error, dict):
        return ["the body has no error object"]
    missing = [f"error.{name} is missing" for name in _ERROR_MEMBERS if name not in error]
    return missing + [
        f"error.{name} is {short(error[name])}, not {wanted}"
        for name, (fits, wanted) in _ERROR_MEMBERS.items()
        if name in error and not fits(error[name])
    ]
