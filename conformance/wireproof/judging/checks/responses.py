"""Checks of Responses that need more than the grammar: schemas, and the right answer.

What means the same in chat (headers, flushing, keep-alive, disconnects) is checked by the checks of chat streams, which
are registered for both.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from wireproof.judging.checks.answer_parts import calls, text
from wireproof.judging.checks.chat_ends import error_before_output, failure_of, not_ended
from wireproof.judging.checks.chat_stream import gate_was_late
from wireproof.judging.checks.places import (
    NO_USAGE,
    counts,
    member_place,
    miscounted_detail,
    named_frames,
    opening_place,
    place_of,
)
from wireproof.judging.checks.published import of_frames, of_whole, unpublished, wrong_head
from wireproof.judging.registry import Checks, Seen, about
from wireproof.reading.expected import ExpectedFailure
from wireproof.wire.events import Done, Failed
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import JsonObject, list_of, object_of, text_of
from wireproof.wire.locating import locate
from wireproof.wire.quoting import quoted
from wireproof.wire.responses_grammar import PUBLISHED, STATUS, STATUSES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.sse import SseFrame
    from wireproof.wire.violation import Place

check = Checks()
_REPEATED = frozenset({
    "instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "temperature", "top_p",
})  # fmt: skip
"""Members of a response that repeat what the request set."""
_NAMED = frozenset({("type",), ("sequence_number",)})
"""What the grammar says of an event before its schema is asked."""


# form


@check("responses.stream.schema")
def schema(exchange: Exchange) -> Iterable[Seen]:
    """Every event that the grammar does not find wrong is a published one of published fields.

    An event of a vendor's own is for the grammar. Each member that is wrong is seen once, as in chat.
    """
    reading = exchange.read
    named = named_frames(reading, but=STATUS)
    # An event without a type is for the grammar wherever it comes.
    published = ((one, event) for one, event in reading.payloads if text_of(event.get("type")) in PUBLISHED)
    frames = ((frame, event) for frame, event in published if frame.number not in named)
    return of_frames(frames, _weighed)


def _weighed(event: JsonObject, frame: SseFrame) -> Iterable[Seen]:
    apart = _NAMED | ({("response", "status")} if event["type"] in STATUSES else set())
    return unpublished("response.stream", event, frame, apart=apart)


@check("responses.stream.order", "messages.stream.terminal")
def ends(exchange: Exchange) -> Iterable[Seen]:
    """The body ends right after the terminal event."""
    return not_ended(exchange, "the terminal event came and the body stayed open; JavaScript clients wait for it")


@check("responses.whole.envelope")
def envelope(exchange: Exchange) -> Iterable[Seen]:
    """The body is a response of published fields, complete, of this request, and says how the turn ended."""
    body, seen = of_whole(exchange, partial(unpublished, "response"), "output")
    yield from seen
    if body is None:
        return
    # What is wrong with the values means little while the schema is broken; a member too many breaks none of them.
    if all(one.strict_only for one in seen):
        yield from wrong_head(exchange, body, prefix="resp_", created="created_at")
        for name, wrong in list(_repeats(exchange, body))[:1]:
            yield Seen(f"{name} {wrong}", member_place(exchange, name), strict_only=True, part=Facet.SETTINGS)
        ended = list(_ended(exchange))[:1]
        place = member_place(exchange, "status")
        yield from (Seen(sentence, place, kind="status", part=Facet.FINISH) for sentence in ended)
        if not ended:
            yield from about(Facet.USAGE, _usage(exchange, member_place(exchange, "usage")))


def _repeats(exchange: Exchange, body: JsonObject) -> Iterable[tuple[str, str]]:
    """(member, what is wrong with it) of what a response does not repeat of its request."""
    asked = exchange.added
    for name in sorted(_REPEATED & asked.keys()):
        if body.get(name) != asked[name]:
            yield name, f"is {quoted(body.get(name))}, the request set {quoted(asked[name])}"
    declared = exchange.conversation.tool_names
    named = [object_of(tool).get("name") for tool in list_of(body.get("tools"))]
    if named != declared:
        yield "tools", f"are {quoted(named)}, the request declared {quoted(declared)}"


def _ended(exchange: Exchange) -> Iterable[str]:
    """What is wrong with status and error of an answer that has the right form."""
    if failure_of(exchange) is ExpectedFailure.BEFORE_OUTPUT:
        yield f"the backend failed, and the answer is HTTP {exchange.transcript.status}"
    for wanted, choice in exchange.choices():
        if wanted.finish is not None and _end(choice.finish) != _end(wanted.finish):
            yield f"the response is {_status(choice.finish)}, the backend's turn was {_status(wanted.finish)}"


def _end(finish: str | None) -> str | None:
    """An end as a status can give it: a status does not distinguish calls from text."""
    return "stop" if finish == "tool_calls" else finish


def _status(finish: str | None) -> str:
    """The status of a response that ended so, with its reason."""
    reasons = {"length": "incomplete (max_output_tokens)", "content_filter": "incomplete (content_filter)"}
    return "failed" if finish is None else reasons.get(finish, "completed" if _end(finish) == "stop" else finish)


def _usage(exchange: Exchange, place: Place) -> Iterable[Seen]:
    """What is wrong with the counts, if anything. Wrong counts leave text and calls as they are."""
    got, want = exchange.answer.usage, counts(exchange)
    if exchange.answer.error is not None:
        return
    if got is None:
        yield Seen("the response has no usage with its three counts", place, spoils=UNTOUCHED, about=NO_USAGE)
    # That of a model's answer is looked at with its other counts (`live`).
    elif got.total != got.prompt + got.completion and exchange.asks is None:
        seen = f"total_tokens is {got.total}, input_tokens and output_tokens make {got.prompt + got.completion}"
        yield Seen(seen, place, spoils=UNTOUCHED)
    elif want is not None and (got.prompt, got.completion) != want[:2]:
        seen = f"usage is {got.prompt} + {got.completion}, the backend reported {want[0]} + {want[1]}"
        yield Seen(seen, place, spoils=UNTOUCHED, counts=True)
    elif seen := miscounted_detail(exchange):
        yield Seen(seen, place, spoils=UNTOUCHED, counts=True)


# content


@check("responses.whole.message")
def message(exchange: Exchange) -> Iterable[Seen]:
    """The text is what the backend said."""
    for wanted, choice in exchange.choices():
        yield from text(exchange, wanted, choice)


@check("responses.whole.call-items")
def call_items(exchange: Exchange) -> Iterable[Seen]:
    """All calls, in order, under their ids, with the model's own arguments."""
    ((_, body),) = exchange.read.payloads
    for number, item in enumerate(map(object_of, list_of(body.get("output")))):
        place = member_place(exchange, "output", number)
        if item.get("type") != "function_call":
            continue
        # An id that is missing has been named where the item was read.
        if "id" in item and not str(item["id"]).startswith("fc_"):
            seen = f"the id of the item is {quoted(item['id'])}, it should begin with fc_"
            yield Seen(seen, place, strict_only=True, kind="prefix", spoils=UNTOUCHED)
        elif (item.get("status"), body.get("status")) == ("incomplete", "completed"):
            seen = f"the response is completed, and its call of {item.get('name')} is marked incomplete"
            yield Seen(seen, place, strict_only=True, kind="status", spoils=UNTOUCHED)
    for wanted, choice in exchange.choices():
        yield from calls(exchange, wanted, choice)


@check("responses.stream.sums")
def sums(exchange: Exchange) -> Iterable[Seen]:
    """The deltas add up to what the backend said."""
    for wanted, choice in exchange.choices():
        # That is for `responses.stream.flushed`: one cause, one violation.
        if gate_was_late(wanted, choice.text or ""):
            continue
        yield from about(Facet.TEXT, text(exchange, wanted, choice))
        yield from calls(exchange, wanted, choice)


@check("responses.stream.terminal")
def terminal(exchange: Exchange) -> Iterable[Seen]:
    """The terminal event says how the turn ended and counts its tokens, and a failure is reported where it belongs."""
    error = exchange.answer.error
    match failure_of(exchange):
        case ExpectedFailure.BEFORE_OUTPUT if exchange.transcript.ok:
            yield from error_before_output(exchange)
        case ExpectedFailure.AFTER_TEXT if error is None:
            seen = "the backend failed in mid-text, and the stream does not end with response.failed"
            yield Seen(seen, exchange.body_place)
        case ExpectedFailure.AFTER_TEXT | ExpectedFailure.IN_CALL if error is not None and not error.message:
            yield Seen("the response failed, and its error does not say why", place_of(exchange, Failed))
        case ExpectedFailure.AFTER_CALL if error is not None:
            seen = "the call was complete, yet response.failed came: clients throw the call away"
            yield Seen(seen, place_of(exchange, Failed))
        case ExpectedFailure.NONE | ExpectedFailure.AFTER_CALL:
            yield from _terminal_values(exchange)
        case _:
            pass


def _terminal_values(exchange: Exchange) -> Iterable[Seen]:
    for wanted, choice in exchange.choices():
        if wanted.finish is not None and _end(choice.finish) not in {_end(wanted.finish), None}:
            ended, due = _status(choice.finish), _status(wanted.finish)
            seen = f"the terminal event says that the response is {ended}, the backend's turn was {due}"
            yield Seen(seen, _in_terminal(exchange, "status"), part=Facet.FINISH)
        elif wanted.finish is not None and choice.finish is None:
            seen = "the response failed, and the backend did not"
            yield Seen(seen, _in_terminal(exchange, "status"), part=Facet.FINISH)
    yield from about(Facet.USAGE, _usage(exchange, _in_terminal(exchange, "usage")))


def _in_terminal(exchange: Exchange, name: str) -> Place:
    """Where a member of the response stands in the terminal event."""
    reading = exchange.read
    ends = {event.frame for event in reading.events if isinstance(event, Done)}
    frame = next((frame for frame, _ in reading.payloads if frame.number in ends), None)
    return locate(frame, ("response", name)) if frame else exchange.body_place


@check("responses.xml")
def xml(exchange: Exchange) -> Iterable[Seen]:
    """The call is its block in the text, and no item."""
    choice = exchange.choice()
    if choice.calls:
        names = ", ".join(call.name for call in choice.calls)
        seen = f"the response was to write calls as text, and has function calls: {names}"
        yield Seen(seen, opening_place(exchange, choice.index, 0) or member_place(exchange, "output"))
    elif "<use_tool>" not in (choice.text or ""):
        yield Seen(f"the text has no block: {quoted(choice.text, 120)}", exchange.body_place)
