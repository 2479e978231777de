"""Checks of the calls in streamed chat answers: which came, and how their arguments were told."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from assay.judging.checks.diff import is_object, torn
from assay.judging.checks.places import place_of, reading_of, told_arguments
from assay.reading.exchange import Exchange, violation
from assay.wire.events import CallOpened, Fragment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.judging.checks.places import Check
    from assay.reading.expected import ExpectedCall
    from assay.wire.calls import Call
    from assay.wire.violation import Violation


def call_opening(exchange: Exchange) -> Iterable[Violation]:
    """The calls that come are those the backend made: none is missing without a policy, each has its name."""
    for wanted, choice in exchange.choices():
        if wanted.calls and not choice.calls:
            seen = f"the backend called {wanted.calls[0].name}; the stream shows no call"
            yield violation("chat.stream.call-opening", seen, exchange.body_place)
        for want, got in zip(wanted.calls, choice.calls, strict=False):
            if got.name != want.name:
                seen = f"the backend called {want.name}; the stream names {got.name!r}"
                yield violation("chat.stream.call-opening", seen, place_of(exchange, CallOpened))


def arguments_incremental(exchange: Exchange) -> Iterable[Violation]:
    """The fragments of a call add up to its arguments; they are not ever longer copies of them."""
    if exchange.cumulative:
        return
    for want, _, fragments in _calls(exchange):
        if _grows(want, fragments):
            seen = (
                f"each of the {len(fragments)} deltas of {want.name} repeats the one before and adds to it; clients "
                "concatenate fragments and end up with broken JSON"
            )
            yield violation("chat.stream.arguments-incremental", seen, place_of(exchange, Fragment))


def arguments_cumulative(exchange: Exchange) -> Iterable[Violation]:
    """Each delta of a call extends the one before; the last is the whole."""
    if not exchange.cumulative:
        return
    for want, _, fragments in _calls(exchange):
        told = [fragment for fragment in fragments if fragment]
        if any(not later.startswith(earlier) for earlier, later in pairwise(told)):
            seen = f"a delta of {want.name} does not repeat what the delta before it had told of the arguments"
            yield violation("chat.stream.arguments-cumulative", seen, place_of(exchange, Fragment))


def _grows(want: ExpectedCall, fragments: list[str]) -> bool:
    told = [fragment for fragment in fragments if fragment]
    grows = all(later.startswith(earlier) for earlier, later in pairwise(told))
    whole = told[-1:] == [want.arguments] if want.exact else is_object("".join(told[-1:]))
    return len(told) > 1 and whole and grows


def _extends(fragments: list[str]) -> bool:
    told = [fragment for fragment in fragments if fragment]
    return all(later.startswith(earlier) for earlier, later in pairwise(told))


def arguments_verbatim(exchange: Exchange) -> Iterable[Violation]:
    """The assembled arguments are the model's own characters."""
    for want, got, fragments in _calls(exchange):
        if torn(want.arguments, got.arguments) or (exchange.cumulative and not _extends(fragments)):
            continue
        if not exchange.cumulative and _grows(want, fragments):
            continue
        yield from told_arguments("chat.stream.arguments-verbatim", want, got, place_of(exchange, Fragment))


def _calls(exchange: Exchange) -> Iterable[tuple[ExpectedCall, Call, list[str]]]:
    """Call by call: as it was made, as it was assembled, and its fragments."""
    fragments: dict[tuple[int, int], list[str]] = {}
    for event in reading_of(exchange).events:
        if isinstance(event, Fragment):
            fragments.setdefault((event.choice, event.index), []).append(event.text)
    for wanted, choice in exchange.choices():
        for index, (want, got) in enumerate(zip(wanted.calls, choice.calls, strict=False)):
            yield want, got, fragments.get((choice.index, index), [])


def stop_after_first(exchange: Exchange) -> Iterable[Violation]:
    """Under stop policy first the stream carries one call."""
    calls = exchange.choice().calls
    if len(calls) > 1:
        names = ", ".join(call.name for call in calls)
        seen = f"parallel_tool_calls is false, and the stream carries {len(calls)} calls: {names}"
        yield violation("chat.stream.stop-after-first", seen, exchange.body_place)


def burst_all(exchange: Exchange) -> Iterable[Violation]:
    """Under stop policy burst the stream carries every call."""
    for wanted, choice in exchange.choices():
        if len(choice.calls) != len(wanted.calls):
            seen = f"the backend made {len(wanted.calls)} calls; the stream carries {len(choice.calls)}"
            yield violation("chat.stream.burst-all", seen, exchange.body_place)


CONTENT: Mapping[str, Check] = {
    "chat.stream.call-opening": call_opening,
    "chat.stream.arguments-incremental": arguments_incremental,
    "chat.stream.arguments-cumulative": arguments_cumulative,
    "chat.stream.arguments-verbatim": arguments_verbatim,
    "chat.stream.stop-after-first": stop_after_first,
    "chat.stream.burst-all": burst_all,
}
