"""What a client got: whether an answer was whole, what it said, and why it is none if it is none.

Wireproof's own endpoint sent it, so this is what the client should know, not what it made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from wireproof.model.dialect import Surface
from wireproof.model.transcript import End
from wireproof.reading.exchange import read
from wireproof.wire.events import Choice
from wireproof.wire.fields import JsonObject, json_object, list_of, object_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.scenario import Form
    from wireproof.model.transcript import Transcript
    from wireproof.wire.events import ToolCall
    from wireproof.wire.reading import Reading

REFUSED = 400
"""The first status that is an error."""
REDIRECTED = range(300, 400)
_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})


class AnswerState(StrEnum):
    """What came of an answer."""

    WHOLE = "whole"
    CUT = "cut"
    """It broke off, or ended without a finish."""
    ERROR = "error"
    """A status of 400 or above, or an error within the stream."""
    LEFT = "left"
    """The client closed the connection before the end."""
    REDIRECTED = "redirected"


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerToClient:
    """What a client got for a request."""

    state: AnswerState
    text: str = ""
    """As far as it came."""
    calls: tuple[ToolCall, ...] = ()
    """As far as they came."""
    finish: str = ""
    """The finish reason, in chat's words; "": none came."""
    error: str = ""
    """The message of the error; "": none came."""
    response: str = ""
    """The id of a response, or of a message; "": the answer is none."""
    items: Mapping[str, JsonObject] | None = None
    """The output items of a response, by their ids."""


def read_answer(transcript: Transcript, form: Form) -> AnswerToClient:
    """What a client got."""
    status = transcript.status
    if status is None:
        return AnswerToClient(state=_unended(transcript))
    if status in REDIRECTED:
        return AnswerToClient(state=AnswerState.REDIRECTED)
    if status >= REFUSED:
        return AnswerToClient(state=AnswerState.ERROR, error=error_message(transcript.body))
    reading = read(transcript, form)
    if reading is None:
        return AnswerToClient(state=_unended(transcript))
    return _of(reading, transcript, form)


def _of(reading: Reading, transcript: Transcript, form: Form) -> AnswerToClient:
    answer = reading.answer
    choice = next(iter(answer.choices), Choice(index=0))
    response = _kept(reading, form.dialect.spec.surface)
    items = {text_of(item.get("id")) or "": item for item in map(object_of, list_of(response.get("output")))}
    state = AnswerState.WHOLE if choice.finish else _unended(transcript)
    return AnswerToClient(
        state=AnswerState.ERROR if answer.error is not None else state,
        text=choice.text or "",
        calls=choice.calls,
        finish=choice.finish or "",
        error=answer.error.message if answer.error is not None else "",
        response=text_of(response.get("id")) or "",
        items=items,
    )


def _kept(reading: Reading, surface: Surface) -> JsonObject:
    """What a later request may continue by its id: a response, or a message; empty where none came."""
    payloads = [payload for _, payload in reading.payloads]
    if surface is Surface.MESSAGES:
        whole = (one for one in payloads if one.get("type") == "message")
        begun = (object_of(one.get("message")) for one in payloads if one.get("type") == "message_start")
        return next(iter((*whole, *begun)), {})
    for payload in reversed(payloads) if surface is Surface.RESPONSES else ():
        if payload.get("object") == "response":
            return payload
        if text_of(payload.get("type")) in _TERMINAL:
            return object_of(payload.get("response"))
    return {}


def _unended(transcript: Transcript) -> AnswerState:
    return AnswerState.LEFT if transcript.end is End.LEFT else AnswerState.CUT


def error_message(body: bytes) -> str:
    """The message in an error envelope; "" where there is none."""
    return text_of(object_of(object_of(json_object(body)).get("error")).get("message")) or ""
