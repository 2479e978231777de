"""Checks of the calls in streamed chat answers: which came, and how their arguments were streamed.

Arguments are streamed in one of two ways, which a target declares: as fragments that add up (incremental), or each time
as all that is known so far (cumulative). The same bytes mean different things, so each way has a requirement of its
own, and arguments that are wrong only because they came in the other way are named by that one, not as altered text.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import is_object, torn
from wireproof.judging.checks.places import (
    altered_arguments,
    arguments_spot,
    first_place,
    fragments_in,
    is_kept,
    misindexed,
    opening_place,
)
from wireproof.judging.checks.written_calls import no_call
from wireproof.judging.registry import Checks, Seen
from wireproof.model.dialect import STOP_HEADER
from wireproof.wire.events import Finished, Fragment
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange
    from wireproof.reading.expected import ExpectedCall
    from wireproof.wire.events import ToolCall
    from wireproof.wire.violation import Place

check = Checks()

_NAMES = "Pass the name of a tool on as the backend spells it."
_MISSING = "Send a call of the backend as tool_calls, in whichever of its shapes the backend makes it."


@check("chat.stream.call-opening")
def call_opening(exchange: Exchange) -> Iterable[Seen]:
    """Calls came if the backend made any, and each has its name. How many may come is for the stop policy's rows."""
    for wanted, choice in exchange.choices():
        # A call that never came was not opened either; one of a choice that never came is for `isolation`.
        if exchange.complete and wanted.calls and not choice.calls and not misindexed(exchange):
            seen = f"the backend called {wanted.calls[0].name}; the stream shows no call"
            place = first_place(exchange, Finished, lambda one: one.choice == choice.index) or exchange.body_place  # noqa: B023
            yield no_call(seen, exchange, place, _MISSING)
        for number, (want, got) in enumerate(zip(wanted.calls, choice.calls, strict=False)):
            if got.name != want.name:
                seen = f"the backend called {want.name}; the stream names {quoted(got.name)}"
                yield Seen(seen, opening_place(exchange, choice.index, number), hint=_NAMES)


@check("chat.stream.arguments-incremental")
def arguments_incremental(exchange: Exchange) -> Iterable[Seen]:
    """The fragments of a call add up to its arguments; they are not ever longer copies of them."""
    if exchange.cumulative:
        return
    for choice, number, want, _, fragments in _numbered(exchange):
        if _repeated(want, fragments):
            seen = (
                f"each of the {len(fragments)} deltas of {want.name} repeats the one before and adds to it; clients "
                "concatenate fragments and end up with broken JSON"
            )
            # The second fragment that holds anything is the first that repeats another.
            yield Seen(seen, _fragment_place(exchange, choice, number, [*filter(None, fragments)][1]))


@check("chat.stream.arguments-cumulative")
def arguments_cumulative(exchange: Exchange) -> Iterable[Seen]:
    """Each delta of a call extends the one before; the last is the whole."""
    if not exchange.cumulative:
        return
    for choice, number, want, _, fragments in _numbered(exchange):
        if not extend(fragments):
            seen = f"a delta of {want.name} does not repeat the arguments that the delta before it held"
            yield Seen(seen, _fragment_place(exchange, choice, number, _broken_off(fragments)))


def _fragment_place(exchange: Exchange, choice: int, call: int, text: str) -> Place | None:
    """The first frame that holds this fragment of a call."""
    return first_place(exchange, Fragment, lambda one: (one.choice, one.index, one.text) == (choice, call, text))


def _broken_off(fragments: list[str]) -> str:
    """The first fragment that does not begin with the one before."""
    pairs = pairwise(filter(None, fragments))
    return next(later for earlier, later in pairs if not later.startswith(earlier))


def extend(fragments: list[str]) -> bool:
    """Whether each fragment begins with the one before; empty ones, which open a call, do not count."""
    return all(later.startswith(earlier) for earlier, later in pairwise(filter(None, fragments)))


def _repeated(want: ExpectedCall, fragments: list[str]) -> bool:
    """Whether several fragments repeat each other up to the whole arguments, as a cumulative stream does."""
    filled = [fragment for fragment in fragments if fragment]
    known = want.exact and not want.meant
    # Where the answer broke off, the last of them is a beginning of the arguments.
    last = "".join(filled[-1:])
    whole = want.arguments.startswith(last) if known else is_object(last)
    # A single delta with all of the arguments is right in both ways.
    return len(filled) > 1 and whole and extend(filled)


@check("chat.stream.arguments-verbatim")
def arguments_verbatim(exchange: Exchange) -> Iterable[Seen]:
    """The assembled arguments are the model's own characters."""
    for choice, number, want, got, fragments in _numbered(exchange):
        if is_kept(want, got):
            continue
        # Characters that were cut to pieces, and arguments streamed in the other way, have requirements of their own.
        if torn(want.arguments, got.arguments) or (exchange.cumulative and not extend(fragments)):
            continue
        if not exchange.cumulative and _repeated(want, fragments):
            continue
        if not exchange.complete and want.arguments.startswith(got.arguments):
            continue
        yield from altered_arguments(want, got, arguments_spot(exchange, choice, number, want.arguments, got.arguments))


def _numbered(exchange: Exchange) -> Iterable[tuple[int, int, ExpectedCall, ToolCall, list[str]]]:
    """Call by call: its choice and number, as it was made, as it was assembled, and its fragments."""
    fragments = fragments_in(exchange)
    for wanted, choice in exchange.choices():
        # Not strict: how many calls came is for the rows of the stop policy.
        for number, (want, got) in enumerate(zip(wanted.calls, choice.calls, strict=False)):
            yield choice.index, number, want, got, fragments.get((choice.index, number), [])


@check("chat.stream.stop-after-first")
def stop_after_first(exchange: Exchange) -> Iterable[Seen]:
    """Under stop policy first the stream of each choice carries one call."""
    for choice in exchange.answer.choices:
        if len(choice.calls) > 1:
            names = ", ".join(call.name for call in choice.calls)
            which = f"choice {choice.index}" if exchange.conversation.choices > 1 else "the stream"
            seen = f"{_one_call_because(exchange)}, and {which} carries {len(choice.calls)} calls: {names}"
            yield Seen(seen, opening_place(exchange, choice.index, 1))


def _one_call_because(exchange: Exchange) -> str:
    """What of the request asks for one call."""
    # The header decides before the field (contract, section 1).
    if STOP_HEADER in exchange.conversation.headers:
        return f"the header {STOP_HEADER} is {exchange.conversation.headers[STOP_HEADER]}"
    body = exchange.added
    if "parallel_tool_calls" in body:
        return f"parallel_tool_calls is {quoted(body['parallel_tool_calls'])}"
    return "nothing in the request asks for several calls"


@check("chat.stream.burst-all")
def burst_all(exchange: Exchange) -> Iterable[Seen]:
    """Under stop policy burst the stream carries every call."""
    for wanted, choice in exchange.choices():
        if len(choice.calls) != len(wanted.calls):
            seen = f"the backend made {len(wanted.calls)} calls; the stream carries {len(choice.calls)}"
            place = opening_place(exchange, choice.index, len(choice.calls) - 1) if choice.calls else None
            yield Seen(seen, place or exchange.body_place)
