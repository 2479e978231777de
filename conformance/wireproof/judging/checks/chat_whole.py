"""Checks of whole chat answers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import difference, is_object, listed
from wireproof.judging.checks.places import (
    NO_USAGE,
    altered_arguments,
    arguments_spot,
    counts,
    is_kept,
    member_place,
    miscounted_detail,
    right_ends,
    text_spot,
)
from wireproof.judging.checks.published import of_whole, unpublished, wrong_head
from wireproof.judging.checks.written_calls import no_call
from wireproof.judging.registry import Checks, Seen
from wireproof.reading.expected import ExpectedFailure
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import list_of, object_of
from wireproof.wire.locating import Step, written
from wireproof.wire.quoting import quoted
from wireproof.wire.violation import MemberFault, Members

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.events import Choice

check = Checks()


FAILED = {ExpectedFailure.BEFORE_OUTPUT, ExpectedFailure.SILENT}
"""Failures that are to end a whole answer with an error."""
_INDEXES = frozenset({("choices", "index")})
"""What `chat.whole.choices` looks at."""


@check("chat.whole.envelope")
def envelope(exchange: Exchange) -> Iterable[Seen]:
    """The body is a chat.completion of published fields, complete, with the id, time and model of this answer."""
    body, seen = of_whole(exchange, partial(unpublished, "chat.completion", apart=_INDEXES), "choices")
    yield from seen
    # What is wrong with the values means little while the schema is broken; a member too many breaks none of them.
    if body is not None and all(one.strict_only for one in seen):
        yield from wrong_head(exchange, body, prefix="chatcmpl-", created="created")


@check("chat.whole.choices")
def choices(exchange: Exchange) -> Iterable[Seen]:
    """Exactly the choices that were asked for, in order. An answer that did not arrive whole has none to count."""
    wanted = list(range(exchange.conversation.choices))
    for _, body in exchange.read.payloads:
        # As the body has them: clients that take the first choice do not look at its index.
        indexes = [choice.get("index") for choice in map(object_of, list_of(body.get("choices")))]
        if indexes != wanted:
            seen = (
                f"n is {len(wanted)}; the indexes of the choices are {quoted(indexes)}, they should be {quoted(wanted)}"
            )
            # By their places they are known all the same, as clients take them; or by their indexes, where each that
            # was asked for is there once, in whatever order and beside whatever others.
            placed = len(indexes) == len(wanted) and all(one is None for one in indexes)
            known = placed or all(indexes.count(index) == 1 for index in wanted)
            place = member_place(exchange, "choices")
            about = Members(fault=MemberFault.MISSING, names=("index",)) if placed else None
            yield Seen(f"/choices: {about}" if about else seen, place, spoils=UNTOUCHED if known else None, about=about)


@check("chat.whole.text")
def text(exchange: Exchange) -> Iterable[Seen]:
    """The content is what the backend said; empty stays an empty string."""
    for wanted, choice in exchange.choices():
        got = choice.text
        # What stands beside calls is for `content-null` and `content-xml`.
        if wanted.calls:
            continue
        if wanted.text is None:
            if not is_object(got or ""):
                seen = f"the backend sent a JSON object; what came is not one: {quoted(got)}"
                yield Seen(seen, text_spot(exchange, choice.index, "{", got or "").place)
        elif got is None:
            yield _of_choice(exchange, choice, f"null, it should be {quoted(wanted.text)}", "message", "content")
        elif got != wanted.text:
            spot = text_spot(exchange, choice.index, wanted.text, got)
            yield Seen(f"{spot.heading('content')}{difference(wanted.text, got)}", spot.place)


def _of_choice(exchange: Exchange, choice: Choice, wrong: str, *path: str, strict_only: bool = False) -> Seen:
    """What is wrong with a member of a choice, where it stands."""
    # By its place in the list: its index may be any number.
    places = [one.index for one in exchange.answer.choices]
    whole: tuple[Step, ...] = ("choices", places.index(choice.index) if choice.index in places else 0, *path)
    return Seen(f"{written(whole)} is {wrong}", member_place(exchange, *whole), strict_only=strict_only)


@check("chat.whole.usage")
def usage(exchange: Exchange) -> Iterable[Seen]:
    """The counts are those the backend reported for this turn, for all choices together, and add up."""
    got, want = exchange.answer.usage, counts(exchange)
    place = member_place(exchange, "usage")
    # Wrong counts leave text and calls as they are.
    if got is None:
        yield Seen(
            "the answer has no usage with its three counts", place, spoils=UNTOUCHED, part=Facet.USAGE, about=NO_USAGE
        )
    elif got.total != got.prompt + got.completion:
        seen = f"total_tokens is {got.total}, prompt_tokens and completion_tokens make {got.prompt + got.completion}"
        yield Seen(seen, place, spoils=UNTOUCHED, part=Facet.USAGE)
    elif want is not None and (got.prompt, got.completion) != want[:2]:
        seen = f"usage is {got.prompt} + {got.completion}, the backend reported {want[0]} + {want[1]}"
        yield Seen(seen, place, spoils=UNTOUCHED, part=Facet.USAGE, counts=True)
    elif seen := miscounted_detail(exchange):
        yield Seen(seen, place, spoils=UNTOUCHED, part=Facet.USAGE, counts=True)


def runs_all_the_same(choice: Choice) -> bool:
    """Whether every client runs the calls of a choice although its finish is that of the other form of calls.

    At `stop` the measured ones do so, too; but agents that users wrote take it for the end of their work.
    """
    return bool(choice.calls) and choice.finish in {"tool_calls", "function_call"}


@check("chat.whole.finish")
def finish(exchange: Exchange) -> Iterable[Seen]:
    """The finish reason is the backend's, and any call beats it."""
    for wanted, choice in exchange.choices():
        if wanted.finish is not None and choice.finish not in right_ends(wanted, choice):
            wrong = f"{quoted(choice.finish)}, it should be {quoted(wanted.finish)}"
            yield _of_choice(exchange, choice, wrong, "finish_reason", strict_only=runs_all_the_same(choice))


@check("chat.whole.calls-all-in-order")
def calls_all_in_order(exchange: Exchange) -> Iterable[Seen]:
    """All calls, in order. Where the proxy kept the backend's ids, they distinguish calls of the same name.

    A proxy may make ids of its own; that each call has one is for the grammar.
    """
    for wanted, choice in exchange.choices():
        want = [(call.name, call.id) for call in wanted.calls]
        got = [(call.name, call.id) for call in choice.calls]
        ids_kept = {call_id for _, call_id in want} == {call_id for _, call_id in got}
        compared = 2 if ids_kept else 1
        if [call[:compared] for call in got] != [call[:compared] for call in want]:
            came = _of_choice(exchange, choice, listed(got), "message", "tool_calls")
            seen = f"the backend called {listed(want)}; the answer has {listed(got)}"
            yield replace(came, seen=seen) if got else no_call(seen, exchange, came.place or exchange.body_place)


@check("chat.whole.arguments-verbatim")
def arguments_verbatim(exchange: Exchange) -> Iterable[Seen]:
    """The arguments are the model's own characters."""
    for wanted, choice in exchange.choices():
        for number, (want, got) in enumerate(zip(wanted.calls, choice.calls, strict=False)):
            # Another call in this place is for `calls-all-in-order`.
            if want.name == got.name and not is_kept(want, got):
                spot = arguments_spot(exchange, choice.index, number, want.arguments, got.arguments)
                yield from altered_arguments(want, got, spot)


@check("chat.whole.content-null")
def content_null(exchange: Exchange) -> Iterable[Seen]:
    """Beside a call the content is null."""
    for choice in exchange.answer.choices:
        if choice.calls and choice.text is not None:
            wrong = f"{quoted(choice.text)} beside a call, it should be null"
            yield _of_choice(exchange, choice, wrong, "message", "content")


@check("chat.whole.content-xml")
def content_xml(exchange: Exchange) -> Iterable[Seen]:
    """Beside a call the content is its block."""
    for wanted, choice in exchange.choices():
        got = choice.text or ""
        if wanted.blocks and (not got.startswith("<use_tool>") or got.count("<use_tool>") != len(wanted.blocks)):
            wrong = f"{quoted(choice.text)} beside a call; it should be {quoted(wanted.blocks[0])}"
            yield _of_choice(exchange, choice, wrong, "message", "content")


@check("chat.whole.tail-dropped")
def tail_dropped(exchange: Exchange) -> Iterable[Seen]:
    """Nothing follows a block."""
    for wanted, choice in exchange.choices():
        tail = (choice.text or "").rpartition("</use_tool>")[2]
        if wanted.blocks and tail:
            text = choice.text or ""
            spot = text_spot(exchange, choice.index, text.removesuffix(tail), text)
            yield Seen(f"{spot.heading('content')}the content goes on after the block: {quoted(tail)}", spot.place)


@check("chat.whole.backend-error")
def backend_error(exchange: Exchange) -> Iterable[Seen]:
    """A backend that failed is an HTTP error, whatever it had said before."""
    if any(wanted.failure in FAILED for wanted in exchange.wanted) and exchange.transcript.ok:
        seen = f"the backend failed, and the answer is HTTP {exchange.transcript.status}"
        yield Seen(seen, exchange.body_place)
