"""Checks of Responses that need more than the grammar: schemas, and the right answer.

What means the same in chat (headers, flushing, keep-alive, disconnects) is checked by the checks of chat streams, which
are registered for both.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay.judging.checks.chat_ends import failure_of
from assay.judging.checks.chat_stream import gate_was_late
from assay.judging.checks.diff import difference, is_object, listed, quoted
from assay.judging.checks.places import counts, first_unread, place_of, reading_of, same_data, same_json
from assay.judging.checks.published import media_type, unpublished
from assay.judging.registry import Checks, Seen
from assay.model.transcript import End
from assay.reading.expected import Failure
from assay.wire.events import CallOpened, Fragment, Text
from assay.wire.responses_events import PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.reading.exchange import Exchange
    from assay.reading.expected import Expected
    from assay.wire.calls import Choice
    from assay.wire.violation import Place

check = Checks()
"""The checks of this module."""

SECONDS = range(1_000_000_000, 10_000_000_000)  # 2001 to 2286
"""Plausible values of `created_at`: seconds, not milliseconds."""
_REPEATED = frozenset({
    "instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "temperature", "top_p",
})  # fmt: skip
"""Members of a response that repeat what the request set."""
_NAMED = frozenset({("type",), ("sequence_number",)})
"""What the grammar says of an event before its schema is asked."""
_OPAQUE = frozenset({"delta", "text", "arguments", "item_id", "id", "call_id"})
_COUNTED = frozenset({"sequence_number", "output_index", "content_index"})


# form


@check("responses.stream.schema")
def schema(exchange: Exchange) -> Iterable[Seen]:
    """Every event is a published one of published fields, up to the first that violates the grammar.

    An event of a vendor's own is for the grammar. A vendor's members are seen once, as in chat.
    """
    reading = reading_of(exchange)
    wrong = first_unread(reading)
    weights: set[bool] = set()
    # As in chat: a long stream repeats a few shapes, and validating each event would take longer than receiving it.
    shapes: set[str] = set()
    for frame, payload in reading.payloads:
        if frame.number == wrong:
            return
        shape = json.dumps(_shape(payload), sort_keys=True)
        if shape in shapes or payload.get("type", frame.event) not in PUBLISHED:
            continue
        shapes.add(shape)
        for seen in unpublished("response.stream", payload, frame.place, apart=_NAMED):
            if seen.strict_only not in weights:
                yield seen
            weights.add(seen.strict_only)
            if not seen.harmless:
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
    # Not `isinstance`: true would become a number, and pass.
    return 0 if name in _COUNTED and type(value) is int else _shape(value)


@check("responses.stream.order")
def ends(exchange: Exchange) -> Iterable[Seen]:
    """The body ends right after the terminal event."""
    match exchange.transcript.end:
        case End.OPEN:
            yield Seen("the terminal event came and the body stayed open; JavaScript clients wait for it")
        case End.CUT:
            yield Seen("the connection broke before the body was complete")
        case End.TIMEOUT:
            yield Seen(f"the stream went silent for {exchange.target.silence:g} s without its end")
        case _:
            pass


@check("responses.whole.envelope")
def envelope(exchange: Exchange) -> Iterable[Seen]:
    """The body is a response of published fields, complete, of this request, and says how the turn ended."""
    if exchange.transcript.end is not End.COMPLETE:
        yield Seen(f"the answer did not arrive whole: {exchange.transcript.end}")
        return
    if reading_of(exchange).violations:
        return
    ((_, body),) = reading_of(exchange).payloads
    seen = list(unpublished("response", body, exchange.body_place))
    if all(one.strict_only for one in seen):
        seen += media_type(exchange)
    yield from seen
    # What is wrong with the values means little while the schema is broken. No client looks at them.
    if not seen:
        for sentence in list(_values(exchange, body))[:1]:
            yield Seen(sentence, exchange.body_place, strict_only=True, harmless=True)
        for sentence in list(_repeats(exchange, body))[:1]:
            yield Seen(sentence, exchange.body_place, strict_only=True)
    if all(one.strict_only for one in seen):
        ended, counted = list(_ended(exchange))[:1], list(_usage(exchange))[:1]
        yield from (Seen(sentence, exchange.body_place) for sentence in ended)
        # Wrong counts leave text and calls as they are.
        yield from (Seen(sentence, exchange.body_place, harmless=True) for sentence in counted if not ended)


def _values(exchange: Exchange, body: dict[str, Any]) -> Iterable[str]:
    if not str(body["id"]).startswith("resp_"):
        yield f"id is {body['id']!r}, it should begin with resp_"
    if int(body["created_at"]) not in SECONDS:
        yield f"created_at is {body['created_at']!r}, it should be a time in seconds"
    if body["model"] != exchange.target.model:
        yield f"model is {body['model']!r}, the request asked for {exchange.target.model!r}"


def _repeats(exchange: Exchange, body: dict[str, Any]) -> Iterable[str]:
    """What a response does not repeat of its request."""
    asked = {**exchange.scenario.body, **(exchange.turn.body if exchange.turn else {})}
    for name in sorted(_REPEATED & asked.keys()):
        if body.get(name) != asked[name]:
            yield f"{name} is {quoted(body.get(name))}, the request set {quoted(asked[name])}"
    declared, named = [tool["function"]["name"] for tool in exchange.scenario.tools], _named(body["tools"])
    if named != declared:
        yield f"tools are {quoted(named)}, the request declared {quoted(declared)}"


def _named(tools: list[dict[str, Any]]) -> list[Any]:
    return [tool.get("name") for tool in tools]


def _ended(exchange: Exchange) -> Iterable[str]:
    """What is wrong with status and error of an answer that has the right form."""
    if failure_of(exchange) is Failure.BEFORE_OUTPUT:
        yield f"the backend failed, and the answer is HTTP {exchange.transcript.status}"
    for wanted, choice in exchange.choices():
        if wanted.finish is not None and _end(choice.finish) != _end(wanted.finish):
            yield f"the status gives the end as {quoted(choice.finish)}, the backend's was {quoted(wanted.finish)}"


def _end(finish: str | None) -> str | None:
    """An end as a status can give it: a status does not distinguish calls from text."""
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


@check("responses.whole.message")
def message(exchange: Exchange) -> Iterable[Seen]:
    """The text is what the backend said."""
    for wanted, choice in exchange.choices():
        for sentence in _text(wanted, choice):
            yield Seen(sentence, exchange.body_place)


@check("responses.whole.call-items")
def call_items(exchange: Exchange) -> Iterable[Seen]:
    """All calls, in order, under their ids, with the model's own arguments."""
    ((_, body),) = reading_of(exchange).payloads
    for item in body["output"]:
        if item["type"] == "function_call" and not str(item["id"]).startswith("fc_"):
            seen = f"the id of the item is {item['id']!r}, it should begin with fc_"
            yield Seen(seen, exchange.body_place, strict_only=True)
        elif item["type"] == "function_call" and (item["status"], body["status"]) == ("incomplete", "completed"):
            seen = f"the response is completed, and its call of {item['name']} is marked incomplete"
            yield Seen(seen, exchange.body_place, strict_only=True)
    for wanted, choice in exchange.choices():
        yield from _calls(wanted, choice, exchange.body_place)


@check("responses.stream.sums")
def sums(exchange: Exchange) -> Iterable[Seen]:
    """The deltas add up to what the backend said."""
    for wanted, choice in exchange.choices():
        # That is for `responses.stream.flushed`: one cause, one violation.
        if gate_was_late(wanted, choice.text or ""):
            continue
        for sentence in _text(wanted, choice):
            yield Seen(sentence, place_of(exchange, Text))
        yield from _calls(wanted, choice, place_of(exchange, Fragment) or place_of(exchange, CallOpened))


def _text(wanted: Expected, choice: Choice) -> Iterable[str]:
    got = choice.text or ""
    if wanted.text is None:
        if not is_object(got):
            yield f"the backend sent a JSON object; what came is not one: {quoted(got)}"
    elif got != wanted.text:
        yield difference(wanted.text, got)


def _calls(wanted: Expected, choice: Choice, place: Place | None) -> Iterable[Seen]:
    # A block has no id to keep.
    want = [(call.name, call.id if call.exact else "") for call in wanted.calls]
    got = [(call.name, call.id) for call in choice.calls]
    alike = [name for name, _ in got] == [name for name, _ in want]
    if not alike or any(id_ not in {"", came} for (_, id_), (_, came) in zip(want, got, strict=True)):
        yield Seen(f"the backend called {listed(want)}; the answer has {listed(got)}", place)
        return
    for call, came in zip(wanted.calls, choice.calls, strict=True):
        if call.meant:
            if not same_data(call.arguments, came.arguments):
                yield Seen(f"arguments of {call.name}: {difference(call.arguments, came.arguments)}", place)
        elif call.exact and call.arguments != came.arguments:
            seen = f"arguments of {call.name}: {difference(call.arguments, came.arguments)}"
            yield Seen(seen, place, strict_only=same_json(call.arguments, came.arguments))
        elif not call.exact and not is_object(came.arguments):
            yield Seen(f"arguments of {call.name} are no JSON object: {quoted(came.arguments)}", place)


@check("responses.stream.terminal")
def terminal(exchange: Exchange) -> Iterable[Seen]:
    """The terminal event says how the turn ended and counts its tokens, and a failure is reported where it belongs."""
    error = exchange.answer.error
    match failure_of(exchange):
        case Failure.BEFORE_OUTPUT if exchange.transcript.ok:
            status = exchange.transcript.status
            seen = f"the backend failed before any output, and the stream began with HTTP {status}"
            yield Seen(seen, exchange.body_place)
        case Failure.AFTER_TEXT if error is None:
            seen = "the backend failed in mid-text, and the stream does not end with response.failed"
            yield Seen(seen, exchange.body_place)
        case Failure.AFTER_TEXT | Failure.IN_CALL if error is not None and not error.message:
            yield Seen("the response failed, and its error does not say why", exchange.body_place)
        case Failure.AFTER_CALL if error is not None:
            seen = "the call was complete, yet response.failed came: clients throw the call away"
            yield Seen(seen, exchange.body_place)
        case Failure.NONE | Failure.AFTER_CALL:
            yield from _terminal_values(exchange)
        case _:
            pass


def _terminal_values(exchange: Exchange) -> Iterable[Seen]:
    for wanted, choice in exchange.choices():
        if wanted.finish is not None and _end(choice.finish) not in {_end(wanted.finish), None}:
            ended, due = quoted(choice.finish), quoted(wanted.finish)
            seen = f"the terminal event gives the end as {ended}, the backend's was {due}"
            yield Seen(seen, exchange.body_place)
        elif wanted.finish is not None and choice.finish is None:
            yield Seen("the response failed, and the backend did not", exchange.body_place)
    for sentence in _usage(exchange):
        yield Seen(sentence, exchange.body_place)


@check("responses.xml")
def xml(exchange: Exchange) -> Iterable[Seen]:
    """The call is its block in the text, and no item."""
    choice = exchange.choice()
    if choice.calls:
        seen = (
            f"the response was to write calls as text, and has function calls: {[call.name for call in choice.calls]}"
        )
        yield Seen(seen, exchange.body_place)
    elif "<use_tool>" not in (choice.text or ""):
        yield Seen(f"the text has no block: {choice.text!r:.120}", exchange.body_place)
