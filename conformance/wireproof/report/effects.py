"""Which of the clients that a requirement's row names an answer breaks: by what was seen in its bytes.

A row lists what clients were measured to do, each line with the form of answer that does it: "exception when index is
missing". An answer that breaks the requirement in another way breaks none of these clients, so a line counts only where
an answer has that form.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.judging.causes import NAME_REFUSED
from wireproof.judging.checks.shared_ids import ANSWER_AGAIN, CALL_AGAIN
from wireproof.model.scenario import Mode, PlainScenario
from wireproof.model.transcript import End
from wireproof.report.grouping import grouped
from wireproof.report.messages_effects import FORMS_OF_MESSAGES, any_of, events, grows
from wireproof.wire.events import Fragment
from wireproof.wire.fields import list_of, object_of, text_of
from wireproof.wire.responses_grammar import (
    ADDED,
    ARGUMENTS_DELTA,
    ITEM_DONE,
    PART_ADDED,
    PUBLISHED,
    TERMINAL,
    TEXT_DELTA,
)
from wireproof.wire.stream import DONE

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from wireproof.model.requirement import Requirement
    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate
    from wireproof.wire.fields import JsonObject
    from wireproof.wire.sse import SseFrame

    Shows = Callable[[Exchange], bool]

_UNPARTED = re.compile(rb"(?m)^data:[^\n]*\}\r?\n(?:event:[^\n]*\n)?data:")
CREATED, COMPLETED = "response.created", "response.completed"
NOT_OPENAIS = "response.function_call.delta"
TOOL_CALLS = "tool_calls"
KINDS = (CALL_AGAIN, ANSWER_AGAIN, NAME_REFUSED)
"""The ends of the lines about what several answers show together: the kind of their violation says it."""
NOT_RUN = ": a tool is not run "
"""What becomes of an answer with a call alone."""
REPEATED = "when each delta repeats the arguments so far"
"""The end of the lines about arguments that are cumulative."""


def seen_effects(
    row: Requirement, exchanges: Iterable[Exchange], kinds: Container[str] = frozenset()
) -> tuple[str, ...]:
    """The lines of a row about clients that break on what one of these answers has, in the row's order.

    `kinds` are those of the violations that were found in them.
    """
    every = tuple(exchanges) if row.breaks else ()
    return tuple(
        line
        for line in row.breaks
        if (kind_of(line) in kinds if kind_of(line) else any(_shown(line, exchange) for exchange in every))
    )


def _shown(line: str, exchange: Exchange) -> bool:
    """Whether an answer has the form of which a line of a row speaks, and tells whether it does what the line says."""
    # How a text ends that ran out of tokens says nothing of calls; how any other text is written does.
    cut = any(one.finish == "length" and not one.calls for one in exchange.wanted)
    return shows(line)(exchange) and not (NOT_RUN in line and cut)


def kind_of(line: str) -> str:
    """The kind of violation of which a line of a row speaks; "": it speaks of a form, which one answer alone shows."""
    return next((kind for kind in KINDS if line.endswith(kind)), "")


def kinds_found(row: Requirement, certificate: Certificate) -> frozenset[str]:
    """The kinds of violations of a requirement that harm clients."""
    found = (one for outcome in certificate.outcomes if outcome.requirement == row.id for one in outcome.findings)
    return frozenset(one.violation.kind for one in found if not one.violation.strict_only)


def breaking(row: Requirement, certificate: Certificate, kind: str = "") -> Iterator[Exchange]:
    """The exchanges that break a requirement so that it harms clients; with a `kind`, those that break it so."""
    broken = [one for one in certificate.outcomes if one.requirement == row.id]
    findings = [
        (one.scenario, found)
        for one in broken
        for found in one.findings
        if not found.violation.strict_only and kind in {"", found.violation.kind}
    ]
    found_at = {(scenario, found.form, found.exchange) for scenario, found in findings}
    for run in certificate.runs if found_at else ():
        for those in (*run.exchanges.values(), *run.set_aside.values()):
            found = (one for one in those if (run.scenario.name, one.form, one.number) in found_at)
            # What is seen of counts is named by the row of streams for whole answers, too.
            yield from (one for one in found if one.mode in row.modes)
    for cause in certificate.causes:
        if (cause.scenario, cause.finding) in findings:
            yield from (one for one in cause.exchanges if one.mode in row.modes)


def shows(line: str) -> Shows:
    """What tells whether an answer has the form of which a line of a row speaks.

    Of a line that speaks of no form: whatever breaks the requirement breaks these clients.
    """
    return next((test for form, test in FORMS.items() if line.endswith(form)), lambda _: True)


# what an answer holds


def _frames(exchange: Exchange) -> tuple[SseFrame, ...]:
    return exchange.reading.frames if exchange.reading else ()


def _choices(exchange: Exchange) -> Iterator[JsonObject]:
    return (object_of(choice) for payload in events(exchange) for choice in list_of(payload.get("choices")))


def _messages(exchange: Exchange) -> Iterator[JsonObject]:
    """The deltas of a stream, the messages of a whole answer."""
    part = "delta" if exchange.mode is Mode.STREAM else "message"
    return (object_of(choice.get(part)) for choice in _choices(exchange))


def _function(call: JsonObject) -> JsonObject:
    return object_of(call.get("function"))


def _calls(exchange: Exchange) -> Iterator[JsonObject]:
    return (object_of(call) for message in _messages(exchange) for call in list_of(message.get(TOOL_CALLS)))


def _by_index(exchange: Exchange) -> list[list[JsonObject]]:
    """The deltas of each call of a stream, as their indexes have them."""
    pairs = (
        ((str(choice.get("index")), str(call.get("index"))), call)
        for choice in _choices(exchange)
        for call in map(object_of, list_of(object_of(choice.get("delta")).get(TOOL_CALLS)))
    )
    return list(grouped(pairs).values())


def _openings(exchange: Exchange) -> Iterator[JsonObject]:
    return (deltas[0] for deltas in _by_index(exchange))


def _later(exchange: Exchange) -> Iterator[JsonObject]:
    return (delta for deltas in _by_index(exchange) for delta in deltas[1:])


def _arguments(exchange: Exchange) -> list[list[str]]:
    """The pieces of the arguments of each call of a stream that are not empty."""
    every = exchange.reading.events if exchange.reading else ()
    pieces = (event for event in every if isinstance(event, Fragment) and event.text)
    return list(grouped(((one.choice, one.index), one.text) for one in pieces).values())


def _types(exchange: Exchange) -> list[str | None]:
    return [text_of(payload.get("type")) for payload in events(exchange)]


def _items(*types: str) -> Callable[[Exchange], Iterator[JsonObject]]:
    """The items of calls in the events of these types; without any, in a whole response."""

    def items(exchange: Exchange) -> Iterator[JsonObject]:
        for payload in events(exchange, *types):
            there = [payload.get("item")] if types else list_of(payload.get("output"))
            yield from (item for item in map(object_of, there) if item.get("type") == "function_call")

    return items


def _old(exchange: Exchange) -> bool:
    return any(message.get("function_call") for message in _messages(exchange))


def _holds_objects(exchange: Exchange) -> bool:
    calls = (*map(_function, _calls(exchange)), *_items()(exchange), *_items(ADDED, ITEM_DONE)(exchange))
    return any(isinstance(call.get("arguments"), dict) for call in calls)


def _ends_twice(exchange: Exchange) -> bool:
    ended = [str(choice.get("index")) for choice in _choices(exchange) if choice.get("finish_reason")]
    return exchange.mode is Mode.STREAM and len(ended) > len(set(ended))


def _calls_undeclared(exchange: Exchange) -> bool:
    called = {call.name for call in exchange.answer.calls} if exchange.reading else set()
    return exchange.turn is not None and not called <= {*exchange.conversation.tool_names}


def _says_more_after_finish(exchange: Exchange) -> bool:
    finished: set[str] = set()
    for choice in _choices(exchange):
        if str(choice.get("index")) in finished and object_of(choice.get("delta")).get("content"):
            return True
        if choice.get("finish_reason"):
            finished.add(str(choice.get("index")))
    return False


def _has_empty_choices(exchange: Exchange) -> bool:
    """Whether a chunk has none that is not the usage chunk which the request asked for."""
    empty = [payload for payload in events(exchange) if payload.get("choices") == []]
    asked = b'"include_usage": true' in exchange.transcript.request_body
    return any(not (asked and payload.get("usage")) for payload in empty)


def _only_index_above_zero(exchange: Exchange) -> bool:
    indexes = {call.get("index") if isinstance(call.get("index"), int) else 0 for call in _calls(exchange)}
    return len(indexes) == 1 and indexes != {0}


def _has_choice_too_many(exchange: Exchange) -> bool:
    if isinstance(exchange.scenario, PlainScenario) or exchange.scenario.choices > 1:
        return False
    return len({str(choice.get("index")) for choice in _choices(exchange)}) > 1


def _nothing_but(names: Iterable[str], objects: Iterable[JsonObject]) -> bool:
    allowed = frozenset(names)
    return any(one and one.keys() <= allowed for one in objects)


def _has_chat_usage(exchange: Exchange) -> bool:
    # Of a stream, or of the whole response.
    counts = [object_of((object_of(one.get("response")) or one).get("usage")) for one in events(exchange)]
    return any("prompt_tokens" in one and "input_tokens" not in one for one in counts)


def _text_without_item(exchange: Exchange) -> bool:
    types = _types(exchange)
    return TEXT_DELTA in types and not {ADDED, PART_ADDED} <= set(types[: types.index(TEXT_DELTA)])


def _call_in_message(exchange: Exchange) -> bool:
    outputs = (object_of(item) for payload in events(exchange) for item in list_of(payload.get("output")))
    contents = (list_of(item.get("content")) for item in outputs if item.get("type") == "message")
    return any("call" in str(object_of(part).get("type")) for content in contents for part in content)


def _lacks_output(exchange: Exchange) -> bool:
    ends = [object_of(one.get("response")) for one in events(exchange) if one.get("type") == COMPLETED]
    return ITEM_DONE in _types(exchange) and any(not end.get("output") for end in ends)


FORMS: Mapping[str, Shows] = {
    # any answer of chats
    "when only choices is sent": lambda one: _nothing_but(["choices"], events(one)),
    "when a chunk holds only choices": lambda one: _nothing_but(["choices"], events(one)),
    "when the message has no role": any_of(_messages, lambda message: not message.get("role")),
    "when the body is an event stream although stream is false": lambda one: one.mode is Mode.WHOLE
    and one.transcript.body.lstrip().startswith((b"data:", b"event:")),
    "when the Content-Type is not application/json": lambda one: not (
        (one.transcript.header("content-type") or "").lower().startswith("application/json")
    ),
    "when finish_reason is null": any_of(_choices, lambda choice: choice.get("finish_reason") is None),
    "when a call has no id": any_of(_calls, lambda call: not call.get("id")),
    "when a call has no type": any_of(_calls, lambda call: not call.get("type")),
    "when arguments is an object": _holds_objects,
    "when the call is sent as the old function_call": _old,
    "when it is sent as function_call and tool_calls at once": lambda one: _old(one) and any(_calls(one)),
    # chunks
    "when one newline alone separates frames": lambda one: bool(_UNPARTED.search(one.transcript.body)),
    "when a choice has no index": any_of(_choices, lambda choice: choice.get("index") is None),
    "when the finish chunk has no delta or a null one": any_of(
        _choices, lambda choice: choice.get("finish_reason") and choice.get("delta") is None
    ),
    "when a chunk has no choices": any_of(events, lambda payload: not {"choices", "error"} & payload.keys()),
    "when no role comes": lambda one: not any(message.get("role") for message in _messages(one)),
    "when no finish chunk comes": lambda one: not any(choice.get("finish_reason") for choice in _choices(one)),
    "when two finish chunks come": _ends_twice,
    "when finish_reason is tool_calls and no tool_calls were sent": lambda one: not any(_calls(one)) and any(
        choice.get("finish_reason") == TOOL_CALLS for choice in _choices(one)
    ),
    "when content follows the finish chunk": _says_more_after_finish,
    "at a chunk with empty choices": _has_empty_choices,
    "when the usage chunk has no choices": any_of(
        events, lambda payload: payload.get("usage") and "choices" not in payload
    ),
    "when frames follow [DONE]": lambda one: DONE in [
        frame.data for frame in _frames(one) if frame.data is not None
    ][:-1],
    "the answer waits for the end of the body": lambda one: one.transcript.end is End.OPEN,
    "at an empty data: line": any_of(_frames, lambda frame: frame.data == ""),
    "at an event: block without data": any_of(_frames, lambda frame: frame.data is None and "event" in frame.fields),
    "at a retry: block": any_of(_frames, lambda frame: frame.data is None and "retry" in frame.fields),
    "at an event: ping with data: {}": any_of(
        _frames, lambda frame: frame.event == "ping" and (frame.data or "").strip() == "{}"
    ),
    "when two choices come and one was asked for": _has_choice_too_many,
    "so an array with escaped quotes does not parse": lambda one: b"&quot;" in one.transcript.body,
    # deltas of calls
    "when index is missing": any_of(_calls, lambda call: call.get("index") is None),
    "when the only call has index 1": _only_index_above_zero,
    "when index is a string": any_of(_calls, lambda call: isinstance(call.get("index"), str)),
    "when two calls share one index": any_of(
        _by_index, lambda deltas: len({str(call["id"]) for call in deltas if call.get("id")}) > 1
    ),
    "when id is missing": any_of(_openings, lambda call: not call.get("id")),
    "when type is missing": any_of(_openings, lambda call: not call.get("type")),
    "when later deltas repeat the name": any_of(_later, lambda call: _function(call).get("name")),
    "when id and name are repeated": any_of(_later, lambda call: call.get("id") and _function(call).get("name")),
    "when later deltas carry id, type and name as null": any_of(
        _later, lambda call: "id" in call and call["id"] is None
    ),
    "when the first delta has no arguments or null ones": any_of(
        _openings, lambda call: _function(call).get("arguments") is None
    ),
    REPEATED: any_of(_arguments, grows),
    "when the deltas are cumulative": any_of(_arguments, grows),
    "when a last delta sends the whole again": any_of(
        _arguments, lambda pieces: len(pieces) > 2 and "".join(pieces[:-1]) == pieces[-1]  # noqa: PLR2004
    ),
    "when a tool is called that the request does not declare": _calls_undeclared,
    # refusals
    "when the refusal is sent as HTTP 200": lambda one: one.transcript.ok and "error" in one.came,
    "when the refusal is sent as HTTP 500 or above": lambda one: (one.transcript.status or 0) >= 500,  # noqa: PLR2004
    # responses
    "when only id, status and output are sent": lambda one: _nothing_but(["id", "status", "output"], events(one)),
    "when the usage has the field names of chat": _has_chat_usage,
    "without call_id": any_of(_items(), lambda item: not item.get("call_id")),
    "when the item has no id": any_of(_items(), lambda item: not item.get("id")),
    "when it is a part of a message": _call_in_message,
    "at an event of an unknown type": lambda one: any(type_ and type_ not in PUBLISHED for type_ in _types(one)),
    "when the deltas are called response.function_call.delta": lambda one: NOT_OPENAIS in _types(one),
    # What clients miss are the others; the name of the object is not among what they read.
    "when response.created holds only id and status": lambda one: _nothing_but(
        ["id", "object", "status"],
        (object_of(each.get("response")) for each in events(one) if each.get("type") == CREATED),
    ),
    "when the item in output_item.added has no arguments": any_of(_items(ADDED), lambda item: "arguments" not in item),
    "without response.created": lambda one: CREATED not in _types(one),
    "at text without item and part": _text_without_item,
    "without output_item.done": lambda one: ITEM_DONE not in _types(one),
    "when the data has no type": lambda one: None in _types(one),
    "when the call's item has no id": any_of(_items(ADDED), lambda item: not item.get("id")),
    "when arguments come without deltas": lambda one: ARGUMENTS_DELTA not in _types(one) and any(
        text_of(item.get("arguments")) not in {None, "", "{}"} for item in _items(ITEM_DONE)(one)
    ),
    "when output_item.added already has them": any_of(_items(ADDED), lambda item: item.get("arguments")),
    "when output_item.done has empty arguments": lambda one: bool(_arguments(one))
    and any(not item.get("arguments") for item in _items(ITEM_DONE)(one)),
    "when response.completed has no output": _lacks_output,
    "without a terminal event": lambda one: not TERMINAL.keys() & set(_types(one)),
    "at response.failed": lambda one: "response.failed" in _types(one),
    **FORMS_OF_MESSAGES,
}  # fmt: skip
"""How a line of a row ends → whether an answer has the form that it names."""
