"""Checks of Responses that need more than the grammar: schemas, and the right answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay.judging.checks import chat_ends, chat_stream
from assay.judging.checks.diff import difference, is_object
from assay.judging.checks.places import counts, place_of, reading_of
from assay.model.transcript import End
from assay.reading.exchange import Exchange, violation
from assay.reading.expected import Failure
from assay.reading.schemas import errors as schema_errors
from assay.wire.events import CallOpened, Fragment, Text
from assay.wire.responses_grammar import ORDER, RESPONSES_STREAM_VIOLATIONS, SCHEMA, SUMS, TERMINAL
from assay.wire.responses_whole import CALL_ITEMS, ENVELOPE, MESSAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.judging.checks.places import Check
    from assay.reading.expected import Expected
    from assay.wire.calls import Choice
    from assay.wire.violation import Violation

HEADERS = "responses.stream.headers"
SECONDS = range(1_000_000_000, 10_000_000_000)
"""Plausible values of `created_at`: seconds, not milliseconds."""
_REPEATED = frozenset({
    "instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "temperature", "top_p",
})  # fmt: skip
"""Members of a response that say what the request said."""
_OPAQUE = frozenset({"delta", "text", "arguments", "item_id", "id", "call_id"})
_COUNTED = frozenset({"sequence_number", "output_index", "content_index"})


# form


def headers(exchange: Exchange) -> Iterable[Violation]:
    """The headers that keep every hop from buffering the stream."""
    for found in chat_stream.headers(exchange):
        yield violation(HEADERS, found.seen)


def schema(exchange: Exchange) -> Iterable[Violation]:
    """Every event is a published one of published fields, up to the first that the grammar blames."""
    reading = reading_of(exchange)
    blamed = min((v.place.frame for v in reading.violations if v.place and v.place.frame is not None), default=None)
    shapes: set[str] = set()
    for frame, payload in reading.payloads:
        if frame.number == blamed:
            return
        shape = json.dumps(_shape(payload), sort_keys=True)
        found = [] if shape in shapes else schema_errors("response.stream", payload)
        shapes.add(shape)
        if found:
            yield violation(SCHEMA, found[0], frame.place)
            return


def _shape(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """An event with its texts emptied and its numbers set to 0: events of one shape are valid together."""
    match value:
        case dict():
            return {name: _member(name, inner) for name, inner in value.items()}
        case list():
            return [_shape(inner) for inner in value]
        case _:
            return value


def _member(name: str, value: Any) -> Any:  # noqa: ANN401 (JSON)
    if name in _OPAQUE and isinstance(value, str):
        return ""
    return 0 if name in _COUNTED and type(value) is int else _shape(value)


def ends(exchange: Exchange) -> Iterable[Violation]:
    """The body ends as soon as the terminal event is said."""
    match exchange.transcript.end:
        case End.OPEN:
            yield violation(ORDER, "the terminal event came and the body stayed open; JavaScript clients wait for it")
        case End.CUT:
            yield violation(ORDER, "the connection broke before the body was complete")
        case End.TIMEOUT:
            yield violation(ORDER, f"the stream went silent for {exchange.target.timeout:g} s without its end")
        case _:
            pass


def envelope(exchange: Exchange) -> Iterable[Violation]:
    """The body is a response of published fields, complete, of this request, and says how the turn ended."""
    if exchange.transcript.end is not End.COMPLETE:
        yield violation(ENVELOPE, f"the answer did not arrive whole: {exchange.transcript.end}")
        return
    if reading_of(exchange).violations:
        return
    ((_, body),) = reading_of(exchange).payloads
    seen = schema_errors("response", body)[:1] or list(_values(exchange, body))[:1] or list(_ended(exchange))[:1]
    for sentence in seen:
        yield violation(ENVELOPE, sentence, exchange.body_place)


def _values(exchange: Exchange, body: dict[str, Any]) -> Iterable[str]:
    kind = exchange.transcript.header("content-type") or ""
    if not kind.startswith("application/json"):
        yield f"content-type is {kind!r}, it should be application/json"
    if not str(body["id"]).startswith("resp_"):
        yield f"id is {body['id']!r}, it should begin with resp_"
    if int(body["created_at"]) not in SECONDS:
        yield f"created_at is {body['created_at']!r}, it should be a time in seconds"
    if body["model"] != exchange.target.model:
        yield f"model is {body['model']!r}, the request asked for {exchange.target.model!r}"
    asked = {**exchange.scenario.body, **(exchange.turn.body if exchange.turn else {})}
    for name in sorted(_REPEATED & asked.keys()):
        if body.get(name) != asked[name]:
            yield f"{name} is {body.get(name)!r}, the request set {asked[name]!r}"
    declared, told = [tool["function"]["name"] for tool in exchange.scenario.tools], _named(body["tools"])
    if told != declared:
        yield f"tools are {told}, the request declared {declared}"


def _named(tools: list[dict[str, Any]]) -> list[Any]:
    return [tool.get("name") for tool in tools]


def _ended(exchange: Exchange) -> Iterable[str]:
    """What is wrong with status, error and usage of an answer that has the right form."""
    if _failure(exchange) is Failure.BEFORE_OUTPUT:
        yield f"the backend failed, and the answer is HTTP {exchange.transcript.status}"
    for wanted, choice in exchange.choices():
        if wanted.finish is not None and _end(choice.finish) != _end(wanted.finish):
            yield f"the status tells the end as {choice.finish!r}, the backend's was {wanted.finish!r}"
    yield from _usage(exchange)


def _end(finish: str | None) -> str | None:
    """An end as a status tells it, which does not speak of calls."""
    return "stop" if finish == "tool_calls" else finish


def _usage(exchange: Exchange) -> Iterable[str]:
    got, want = exchange.answer.usage, counts(exchange)
    if exchange.answer.error is not None:
        return
    if got is None:
        yield "the response has no usage"
    elif got.total != got.prompt + got.completion:
        yield f"total_tokens is {got.total}, input and output make {got.prompt + got.completion}"
    elif want is not None and (got.prompt, got.completion) != want[:2]:
        yield f"usage is {got.prompt} + {got.completion}, the backend reported {want[0]} + {want[1]}"


# content


def message(exchange: Exchange) -> Iterable[Violation]:
    """The text is what the backend said."""
    for wanted, choice in exchange.choices():
        for sentence in _text(wanted, choice):
            yield violation(MESSAGE, sentence, exchange.body_place)


def call_items(exchange: Exchange) -> Iterable[Violation]:
    """All calls, in order, under their ids, with the model's own arguments."""
    ((_, body),) = reading_of(exchange).payloads
    for item in body["output"]:
        if item["type"] == "function_call" and not str(item["id"]).startswith("fc_"):
            yield violation(CALL_ITEMS, f"the id of the item is {item['id']!r}, it should begin with fc_")
        elif item["type"] == "function_call" and (item["status"], body["status"]) == ("incomplete", "completed"):
            seen = f"the response is completed, and its call of {item['name']} is told as incomplete"
            yield violation(CALL_ITEMS, seen, exchange.body_place)
    for wanted, choice in exchange.choices():
        for sentence in _calls(wanted, choice):
            yield violation(CALL_ITEMS, sentence, exchange.body_place)


def sums(exchange: Exchange) -> Iterable[Violation]:
    """What was told in deltas is what the backend said."""
    for wanted, choice in exchange.choices():
        if _gate_was_late(wanted, choice.text or ""):
            continue
        for sentence in _text(wanted, choice):
            yield violation(SUMS, sentence, place_of(exchange, Text))
        for sentence in _calls(wanted, choice):
            yield violation(SUMS, sentence, place_of(exchange, Fragment) or place_of(exchange, CallOpened))


def _text(wanted: Expected, choice: Choice) -> Iterable[str]:
    got = choice.text or ""
    if wanted.text is None:
        if not is_object(got):
            yield f"the backend said a JSON object; what came is none: {got[:80]!r}"
    elif got != wanted.text:
        yield difference(wanted.text, got)


def _calls(wanted: Expected, choice: Choice) -> Iterable[str]:
    want = [(call.name, call.id if call.exact else "") for call in wanted.calls]
    got = [(call.name, call.id) for call in choice.calls]
    alike = [name for name, _ in got] == [name for name, _ in want]
    if not alike or any(id_ not in {"", told} for (_, id_), (_, told) in zip(want, got, strict=True)):
        yield f"the backend called {want}; the answer has {got}"
        return
    for call, told in zip(wanted.calls, choice.calls, strict=True):
        if call.exact and call.arguments != told.arguments:
            yield f"arguments of {call.name}: {difference(call.arguments, told.arguments)}"
        elif not call.exact and not is_object(told.arguments):
            yield f"arguments of {call.name} are no JSON object: {told.arguments[:80]!r}"


def terminal(exchange: Exchange) -> Iterable[Violation]:
    """The terminal event tells how the turn ended, and counts its tokens; a failure is told where it belongs."""
    error = exchange.answer.error
    match _failure(exchange):
        case Failure.BEFORE_OUTPUT if exchange.transcript.ok:
            status = exchange.transcript.status
            seen = f"the backend failed before it said anything, and the stream began with HTTP {status}"
            yield violation(TERMINAL, seen, exchange.body_place)
        case Failure.AFTER_TEXT if error is None:
            seen = "the backend failed in mid-text, and the stream does not end with response.failed"
            yield violation(TERMINAL, seen, exchange.body_place)
        case Failure.AFTER_TEXT | Failure.IN_CALL if error is not None and not error.message:
            yield violation(TERMINAL, "the response failed, and its error does not say why", exchange.body_place)
        case Failure.AFTER_CALL if error is not None:
            seen = "the call was complete, yet response.failed came: clients throw the call away"
            yield violation(TERMINAL, seen, exchange.body_place)
        case Failure.NONE | Failure.AFTER_CALL:
            yield from _terminal_values(exchange)
        case _:
            pass


def _terminal_values(exchange: Exchange) -> Iterable[Violation]:
    for wanted, choice in exchange.choices():
        if wanted.finish is not None and _end(choice.finish) not in {_end(wanted.finish), None}:
            seen = f"the terminal event tells the end as {choice.finish!r}, the backend's was {wanted.finish!r}"
            yield violation(TERMINAL, seen, exchange.body_place)
        elif wanted.finish is not None and choice.finish is None:
            yield violation(TERMINAL, "the response failed, and the backend did not", exchange.body_place)
    for sentence in _usage(exchange):
        yield violation(TERMINAL, sentence, exchange.body_place)


def flushed(exchange: Exchange) -> Iterable[Violation]:
    """The backend waited for the client to have its first words; it must not have waited in vain."""
    for found in chat_stream.flushed(exchange):
        yield violation("responses.stream.flushed", found.seen, found.place)


def keepalive(exchange: Exchange) -> Iterable[Violation]:
    """A silent backend yields comments."""
    for found in chat_ends.keepalive(exchange):
        yield violation("responses.stream.keepalive", found.seen, found.place)


def _gate_was_late(wanted: Expected, got: str) -> bool:
    return any(gate.late in got for gate in wanted.gates)


def _failure(exchange: Exchange) -> Failure:
    return exchange.wanted[0].failure if exchange.wanted else Failure.NONE


def xml(exchange: Exchange) -> Iterable[Violation]:
    """The call is its block in the text, and no item."""
    choice = exchange.choice()
    if choice.calls:
        seen = f"the response was to tell calls as text, and has function calls: {[call.name for call in choice.calls]}"
        yield violation("responses.xml", seen, exchange.body_place)
    elif "<use_tool>" not in (choice.text or ""):
        yield violation("responses.xml", f"the text has no block: {choice.text!r:.120}", exchange.body_place)


FORM: Mapping[str, Check] = {ENVELOPE: envelope, HEADERS: headers, SCHEMA: schema, ORDER: ends}

CONTENT: Mapping[str, Check] = {
    MESSAGE: message,
    CALL_ITEMS: call_items,
    "responses.stream.flushed": flushed,
    SUMS: sums,
    TERMINAL: terminal,
    "responses.stream.keepalive": keepalive,
    "responses.xml": xml,
}


def disconnect(exchange: Exchange) -> Iterable[Violation]:
    """The next request is served, and the backend says that the abandoned turn has ended."""
    for found in chat_ends.disconnect(exchange):
        yield violation("responses.stream.disconnect", found.seen, found.place)


SENSE: Mapping[str, Check] = {"responses.stream.disconnect": disconnect}

VIOLATIONS = frozenset(RESPONSES_STREAM_VIOLATIONS)
SCRIPTED = frozenset({SUMS, TERMINAL})
"""Holes of the grammar that are only half of their requirement: the other half needs the right answer."""
