"""What a client sends, read: the messages of a conversation in one form for chat, Responses and Messages.

Nothing that a client sends can raise anything here; what is no message is left out, and is for the schemas to name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from wireproof.model.dialect import ONE_OF_EACH, Dialect, Surface
from wireproof.model.scenario import Form, Mode
from wireproof.wire.events import ToolCall
from wireproof.wire.fields import JsonObject, json_object, list_of, object_of, text_of
from wireproof.wire.locating import span_of
from wireproof.wire.violation import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof.model.transcript import Transcript

Path = tuple[str | int, ...]
"""Names of members and places in lists that lead to a value."""


class Speaker(StrEnum):
    """Whose message it is."""

    INSTRUCTIONS = "instructions"
    USER = "user"
    ASSISTANT = "assistant"
    RESULT = "result"
    """The result of a tool."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientMessage:
    """A message of a conversation; on Responses items that belong together, on Messages blocks."""

    speaker: Speaker
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    result_of: str = ""
    """The id of the call whose result it is; "": it is none, or names none."""
    failed: bool = False
    """It is a result, and is marked as that of a call that failed."""
    refers: str = ""
    """The id of a stored item for which it stands; "": it is a message itself."""
    path: Path | None = None
    """Where it stands in the body of its request; None: in that of another one, which this one continues by its id."""

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two messages the same; arguments may be spelled again, see client.call-replayed."""
        return (self.speaker, self.text, tuple((call.id, call.name) for call in self.calls), self.result_of)


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerRequest:
    """A request for an answer."""

    form: Form
    body: JsonObject
    messages: tuple[ClientMessage, ...]
    """Those in its own body."""
    tools: tuple[JsonObject, ...]
    """The tools that it declares, as it writes them."""
    continues: str
    """The id of the response, or of the message of a thread, that it continues; "": none."""
    choices: int
    """Its `n`."""

    @property
    def surface(self) -> Surface:
        """The surface that it asks."""
        return self.form.dialect.spec.surface


PREVIOUS = "previous_message_id"
"""The member of a thread of Messages that says what a request continues."""


def form_of(transcript: Transcript) -> Form | None:
    """The form of the answer that a request asks for; None where it asks for none."""
    path = transcript.url.partition("?")[0]
    if transcript.method != "POST":
        return None
    dialect = next((one for one in ONE_OF_EACH if path.endswith(one.spec.surface.endpoint)), None)
    if dialect is None:
        return None
    streams = object_of(json_object(transcript.request_body)).get("stream") is True
    return Form(dialect, Mode.STREAM if streams else Mode.WHOLE)


def read_request(transcript: Transcript) -> AnswerRequest | None:
    """A request for an answer, read; None for any other."""
    form, body = form_of(transcript), json_object(transcript.request_body)
    if form is None or body is None:
        return None
    match form.dialect:
        case Dialect.RESPONSES:
            found = _joined(_of_responses(body))
        case Dialect.MESSAGES:
            found = _of_messages(body, transcript.request_body.decode(errors="surrogateescape"))
        case _:
            found = _of_chat(body)
    return AnswerRequest(
        form=form,
        body=body,
        messages=tuple(found),
        tools=tuple(object_of(one) for one in [*list_of(body.get("tools")), *list_of(body.get("functions"))]),
        continues=text_of(body.get("previous_response_id") or object_of(body.get("thread")).get(PREVIOUS)) or "",
        choices=n if isinstance(n := body.get("n"), int) else 1,
    )


def place_in(transcript: Transcript, path: Path | None) -> Place | None:
    """The bytes of a value in the body of a request; None where it has none of its own."""
    if path is None:
        return None
    text = transcript.request_body.decode(errors="surrogateescape")
    span = span_of(text, *path)
    if span is None:
        return None
    begin, end = (len(text[:at].encode(errors="surrogateescape")) for at in span)
    return Place(offset=begin, length=end - begin, in_request=True)


# Chat

_ROLES: Mapping[str, Speaker] = {
    "system": Speaker.INSTRUCTIONS,
    "developer": Speaker.INSTRUCTIONS,
    "user": Speaker.USER,
    "assistant": Speaker.ASSISTANT,
    "tool": Speaker.RESULT,
    "function": Speaker.RESULT,
}


def _of_chat(body: JsonObject) -> Iterator[ClientMessage]:
    for number, one in enumerate(list_of(body.get("messages"))):
        message = object_of(one)
        speaker = _ROLES.get(text_of(message.get("role")) or "")
        if speaker is None:
            continue
        # The legacy form has no ids: a function is answered by its name.
        result_of = message.get("tool_call_id") or (message.get("name") if message.get("role") == "function" else "")
        yield ClientMessage(
            speaker=speaker,
            text=content_text(message.get("content")),
            calls=tuple(_chat_calls(message)),
            result_of=text_of(result_of) or "" if speaker is Speaker.RESULT else "",
            path=("messages", number),
        )


def _chat_calls(message: JsonObject) -> Iterator[ToolCall]:
    for one in list_of(message.get("tool_calls")):
        call = object_of(one)
        yield _call(call.get("id"), object_of(call.get("function")))
    legacy = object_of(message.get("function_call"))
    if legacy:
        yield _call(legacy.get("name"), legacy)


def _call(id_: object, said: JsonObject) -> ToolCall:
    return ToolCall(
        id=text_of(id_) or "", name=text_of(said.get("name")) or "", arguments=text_of(said.get("arguments")) or ""
    )


def content_text(content: object) -> str:
    """The text of a content, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = (object_of(part) for part in list_of(content))
    return "".join(text for part in parts if (text := text_of(part.get("text"))) is not None)


# Responses


def _of_responses(body: JsonObject) -> Iterator[ClientMessage]:
    instructions = text_of(body.get("instructions"))
    if instructions:
        yield ClientMessage(speaker=Speaker.INSTRUCTIONS, text=instructions, path=("instructions",))
    given = body.get("input")
    if isinstance(given, str):
        yield ClientMessage(speaker=Speaker.USER, text=given, path=("input",))
    for number, one in enumerate(list_of(given)):
        message = message_of_item(object_of(one))
        if message is not None:
            yield replace(message, path=("input", number))


def message_of_item(item: JsonObject) -> ClientMessage | None:
    """An item of Responses as a message; None for those of other kinds, such as reasoning."""
    match item.get("type", "message"):
        case "message":
            speaker = _ROLES.get(text_of(item.get("role")) or "")
            return ClientMessage(speaker=speaker, text=content_text(item.get("content"))) if speaker else None
        case "function_call":
            return ClientMessage(speaker=Speaker.ASSISTANT, calls=(_call(item.get("call_id"), item),))
        case "function_call_output":
            output = content_text(item.get("output"))
            return ClientMessage(speaker=Speaker.RESULT, text=output, result_of=text_of(item.get("call_id")) or "")
        case "item_reference":
            return ClientMessage(speaker=Speaker.ASSISTANT, refers=text_of(item.get("id")) or "")
        case _:
            return None


def _joined(messages: Iterator[ClientMessage]) -> Iterator[ClientMessage]:
    """Text and calls of an assistant that stand side by side as one message, as chat has them."""
    last: ClientMessage | None = None
    for message in messages:
        if last is not None and _belong_together(last, message):
            last = replace(last, text=last.text + message.text, calls=(*last.calls, *message.calls))
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def _belong_together(before: ClientMessage, after: ClientMessage) -> bool:
    both = before.speaker is after.speaker is Speaker.ASSISTANT
    # A text behind calls is another answer's.
    return both and not before.refers and not after.refers and not (before.calls and after.text)


# Messages


def _of_messages(body: JsonObject, text: str) -> Iterator[ClientMessage]:
    instructions = content_text(body.get("system"))
    if instructions:
        yield ClientMessage(speaker=Speaker.INSTRUCTIONS, text=instructions, path=("system",))
    for number, one in enumerate(list_of(body.get("messages"))):
        message, path = object_of(one), ("messages", number)
        speaker = _ROLES.get(text_of(message.get("role")) or "")
        if speaker is Speaker.ASSISTANT:
            calls = tuple(_uses(message, path, text))
            yield ClientMessage(speaker=speaker, text=content_text(message.get("content")), calls=calls, path=path)
        elif speaker is not None:
            yield from _of_user(message, speaker, path)


def _of_user(message: JsonObject, speaker: Speaker, path: Path) -> Iterator[ClientMessage]:
    """The results in a message, each by itself, and its text, in the order in which they stand."""
    content, said, at = message.get("content"), "", path
    if isinstance(content, str):
        yield ClientMessage(speaker=speaker, text=content, path=path)
    for number, one in enumerate(list_of(content)):
        block, place = object_of(one), (*path, "content", number)
        if block.get("type") == "tool_result":
            if said:
                yield ClientMessage(speaker=speaker, text=said, path=at)
            said = ""
            yield ClientMessage(
                speaker=Speaker.RESULT,
                text=content_text(block.get("content")),
                result_of=text_of(block.get("tool_use_id")) or "",
                failed=block.get("is_error") is True,
                path=place,
            )
        else:
            said, at = said + (text_of(block.get("text")) or ""), path if not said else at
    if said:
        yield ClientMessage(speaker=speaker, text=said, path=at)


def _uses(message: JsonObject, path: Path, text: str) -> Iterator[ToolCall]:
    """The calls of a message; their input as it is written, with every digit."""
    for number, one in enumerate(list_of(message.get("content"))):
        block = object_of(one)
        if block.get("type") == "tool_use":
            span = span_of(text, *path, "content", number, "input")
            written = "" if span is None else text[span[0] : span[1]]
            name = text_of(block.get("name")) or ""
            yield ToolCall(id=text_of(block.get("id")) or "", name=name, arguments=written)
