"""Messages as a whole: bodies of answers and of errors, and streams folded to such a body.

Whole bodies are read as the same events as a stream; what both kinds of answers end with is here, too. Broken bodies
never raise: what cannot be read is a violation, and the rest is read as well as can be. Members that are merely missing
or misspelt are for the JSON Schema to name.

https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof.wire.events import ChatEvent, Finished, Text, TokenUsage
from wireproof.wire.facet import UNREADABLE, UNTOUCHED, Facet
from wireproof.wire.fields import JsonObject, failure_of, integer_of, json_of, object_of, text_of
from wireproof.wire.message import ReadError, read_failure
from wireproof.wire.messages_blocks import CALL_ID
from wireproof.wire.messages_grammar import (
    BLOCK_DELTA,
    BLOCK_START,
    BLOCKS,
    DELTA,
    ERROR_TYPES,
    OTHER_BLOCKS,
    START,
    STOP_REASONS,
    STOP_SEQUENCE,
    TOOL_USE,
    WITHOUT_CALLS,
)
from wireproof.wire.quoting import short
from wireproof.wire.reading import Reading, call_events, read_body, wrong_calls
from wireproof.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ENVELOPE = "messages.whole.envelope"
ERROR = "messages.error.envelope"
TEXT = "messages.whole.text"
CALLS = "messages.whole.calls"
STOP_REASON = "messages.whole.stop-reason"
UNFITTING = "stop sequence"
"""The kind of a stop sequence that does not fit its reason."""
_PATH = re.compile(r"([A-Za-z_][\w.-]*): ")
"""What a message begins with that names a member of the request: `messages.2.content: Field required`."""
_OTHER_REFUSAL, _OTHER_FAILURE = "invalid_request_error", "api_error"
_ALSO = {413: "invalid_request_error", 500: "overloaded_error", 503: "overloaded_error"}
"""Status → a type that it has as well: some gateways keep the status of what they stand before."""
_SERVERS = 500


def read_message(body: bytes) -> Reading:
    """Read the body of a whole answer: its text, its calls, how it ended, its usage; in this order."""
    return read_body(body, ENVELOPE, _answer)


def usage_in(usage: JsonObject, frame: int, before: JsonObject | None = None) -> TokenUsage | None:
    """The counts of a `usage` object; None unless both are integers.

    Args:
        usage: The object.
        frame: Where it stands.
        before: That of `message_start`, for what a later one leaves out.
    """
    known = {**(before or {}), **{name: count for name, count in usage.items() if count is not None}}
    given, completion = integer_of(known.get("input_tokens")), integer_of(known.get("output_tokens"))
    if given is None or completion is None:
        return None
    read = integer_of(known.get("cache_read_input_tokens"))
    # The three do not overlap: what is read from a cache, or put into it, is no part of input_tokens.
    prompt = given + (read or 0) + (integer_of(known.get("cache_creation_input_tokens")) or 0)
    return TokenUsage(frame=frame, prompt=prompt, completion=completion, total=prompt + completion, cached=read)


def finish_of(reason: str, frame: int) -> Finished:
    """A stop reason as a finish reason of chat completions; one that is not published is kept as it is."""
    return Finished(frame=frame, choice=0, reason=STOP_REASONS.get(reason, reason))


def stop_faults(said: JsonObject, *, calls: int) -> Iterator[tuple[str, str, bool]]:
    """(kind, what is wrong, whether to the letter alone) with the end of an answer that has so many calls.

    `said` has `stop_reason` and `stop_sequence`: the answer, or the delta at the end of a stream.
    """
    reason, sequence = said.get("stop_reason"), said.get("stop_sequence")
    if not isinstance(reason, str):
        yield "none", f"stop_reason is {short(reason)}, it should be a word at the end of an answer", False
    elif reason not in STOP_REASONS:
        words = ", ".join(STOP_REASONS)
        yield "word", f"stop_reason is {short(reason)}, it should be one of {words}", False
    elif reason == TOOL_USE and not calls:
        yield "no call", "stop_reason is tool_use, and there is no tool_use block", False
    elif reason in WITHOUT_CALLS and calls:
        # The runners of both SDKs run no tool then.
        yield "call", f"stop_reason is {reason}, and there is a tool_use block", False
    # A member that is missing is named as such.
    elif "stop_sequence" in said and (reason == STOP_SEQUENCE) != isinstance(sequence, str):
        yield UNFITTING, f"stop_sequence is {short(sequence)} beside the stop_reason {reason}", True


def _answer(payload: JsonObject, place: Place) -> Iterator[ChatEvent | Violation]:
    if payload.get("type") == "error" or payload.get("error") is not None:
        # An error in a success is read, and the content that is missing is the violation.
        yield failure_of(payload.get("error"), 0)
    content = payload.get("content")
    if not isinstance(content, list):
        seen = "the body has no list of content blocks"
        yield Violation(requirement=ENVELOPE, seen=seen, place=place, spoils=UNREADABLE)
        return
    blocks = [object_of(block) for block in content]
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    numbers = iter(range(len(calls)))
    for block in blocks:
        # An empty block is no text, as in a stream, where it has no delta.
        if block.get("type") == "text" and (said := text_of(block.get("text"))):
            yield Text(frame=0, choice=0, text=said)
        elif block.get("type") == "tool_use":
            # An object on the wire; as text, so that arguments are the same data on all surfaces.
            text = json.dumps(block["input"], ensure_ascii=False) if "input" in block else None
            yield from call_events(next(numbers), block.get("id"), block.get("name"), text)
    yield from _text_faults(blocks, place)
    yield from _call_faults(calls, place)
    for kind, seen, letter in stop_faults(payload, calls=len(calls)):
        yield Violation(
            requirement=STOP_REASON, seen=seen, place=place, kind=kind, strict_only=letter,
            spoils=UNTOUCHED if letter else frozenset({Facet.FINISH}),
        )  # fmt: skip
    if (reason := text_of(payload.get("stop_reason"))) is not None:
        yield finish_of(reason, 0)
    if usage := usage_in(object_of(payload.get("usage")), 0):
        yield usage


def _text_faults(blocks: list[JsonObject], place: Place) -> Iterator[Violation]:
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    if any(not isinstance(text, str) for text in texts):
        seen = "a text block has no text"
        yield Violation(requirement=TEXT, seen=seen, place=place, kind="none", spoils=frozenset({Facet.TEXT}))
    if "" in texts:
        # The service refuses a conversation with one; every client shows nothing for it.
        seen = "a text block without text"
        yield Violation(requirement=TEXT, seen=seen, place=place, kind="empty", strict_only=True, spoils=UNTOUCHED)
    known = BLOCKS.keys() | OTHER_BLOCKS
    other = next((block for block in blocks if text_of(block.get("type")) not in known), None)
    if other is not None:
        seen = f"a block of a type that is not published: {short(other.get('type'))}"
        yield Violation(requirement=ENVELOPE, seen=seen, place=place, kind="block", spoils=UNTOUCHED)


def _call_faults(calls: list[JsonObject], place: Place) -> Iterator[Violation]:
    faults: dict[str, frozenset[Facet]] = {}
    ids: set[str] = set()
    for number, call in enumerate(calls):
        id_ = text_of(call.get("id")) or ""
        if not id_:
            faults[f"call {number} has no id"] = frozenset({Facet.CALL_ID})
        elif id_ in ids:
            faults[f"two calls have the id {short(id_)}"] = frozenset({Facet.CALL_ID})
        elif not CALL_ID.fullmatch(id_):
            seen = f"the id {short(id_)} has other characters than a-z, A-Z, 0-9, _ and -"
            faults[seen] = frozenset({Facet.CALL_ID})
        ids.add(id_)
        if not text_of(call.get("name")):
            faults[f"call {number} has no name"] = frozenset({Facet.CALL})
        if not isinstance(call.get("input"), dict):
            seen = f"the input of call {number} is no object: {short(call.get('input'))}"
            faults[seen] = frozenset({Facet.ARGUMENTS})
    yield from wrong_calls(CALLS, faults, place)


# Streams, folded

_ADDED = {"text_delta": "text", "thinking_delta": "thinking"}
"""Type of a delta → the member of the delta and of its block that it adds to."""


def fold(payloads: Iterable[JsonObject]) -> JsonObject:
    """The message of these events, as the stream helpers of the SDKs make it; {} where none starts.

    Lenient: what is out of place is passed over, since the grammar has named it.
    """
    message: JsonObject = {}
    blocks: dict[int | None, dict[str, Any]] = {}
    for event in payloads:
        index = integer_of(event.get("index"))
        match event.get("type"):
            case str(type_) if type_ == START:
                message = {**object_of(event.get("message"))}
            case str(type_) if type_ == BLOCK_START:
                # A later one of the same index is a block of its own.
                number = index if index not in blocks else len(blocks)
                blocks[number] = {**object_of(event.get("content_block"))}
            case str(type_) if type_ == BLOCK_DELTA and index in blocks:
                _add(blocks[index], object_of(event.get("delta")))
            case str(type_) if type_ == DELTA:
                message |= object_of(event.get("delta"))
                usage = {name: count for name, count in object_of(event.get("usage")).items() if count is not None}
                message["usage"] = {**object_of(message.get("usage")), **usage}
            case _:
                pass
    return {**message, "content": [_closed(block) for block in blocks.values()]} if message else {}


def _add(block: dict[str, Any], delta: JsonObject) -> None:
    type_ = str(delta.get("type"))
    if type_ in _ADDED:
        name = _ADDED[type_]
        block[name] = f"{block.get(name) or ''}{delta.get(name) or ''}"
    elif type_ == "input_json_delta":
        block["fragments"] = f"{block.get('fragments', '')}{delta.get('partial_json') or ''}"
    elif type_ == "signature_delta":
        # The SDKs replace it.
        block["signature"] = delta.get("signature")


def _closed(block: dict[str, Any]) -> JsonObject:
    """A block with the input that its fragments join to; text where they join to none."""
    fragments = block.pop("fragments", "")
    if not fragments:
        return block
    joined = json_of(fragments)
    return {**block, "input": fragments if joined is None else joined}


# Errors


def read_message_error(body: bytes, content_type: str | None, status: int) -> ReadError:
    """Read the body of a response whose status is an error; see `read_failure`.

    It is `{"type": "error", "error": {"type", "message"}}`, with the type of its status; the `param` of the error is
    the path that its message begins with. https://platform.claude.com/docs/en/api/errors
    """
    failed, broken = read_failure(body, content_type, ERROR, partial(_error_faults, status))
    named = _PATH.match(failed.message) if failed else None
    return failed and replace(failed, param=named[1] if named else None), broken


def types_of(status: int) -> frozenset[str]:
    """The types of error that a status may have."""
    usual = ERROR_TYPES.get(status, _OTHER_FAILURE if status >= _SERVERS else _OTHER_REFUSAL)
    return frozenset({usual, _ALSO.get(status, usual)})


def _error_faults(status: int, payload: JsonObject) -> list[str]:
    error = payload.get("error")
    if not isinstance(error, dict):
        return ["the body has no error object"]
    faults = [] if payload.get("type") == "error" else [f"type is {short(payload.get('type'))}, not error"]
    type_, message = error.get("type"), error.get("message")
    if not isinstance(message, str) or not message:
        faults.append(f"error.message is {short(message)}, not a non-empty string")
    if text_of(type_) not in types_of(status):
        due = " or ".join(sorted(types_of(status)))
        faults.append(f"error.type is {short(type_)}, not {due}, as HTTP {status} has it")
    return faults
