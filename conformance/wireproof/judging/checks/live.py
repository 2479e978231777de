"""Checks of answers of models: what holds of any answer, and what a server does to one that no model would write.

They run beside the checks of the same rows, in exchanges whose prompt asks a model for something. What a row is about
is the same; only what can be known differs. The right answer is not known beforehand, so these look at what an answer
says of itself: its counts against its limit and its words, its finish against its calls, its arguments against the
schema of their tool. A text that was to be repeated exactly shows damage by its kind: replacement characters, UTF-8
read as Latin-1, deltas that came twice.

A word of English, or a number, is at least one token in every tokenizer of today's models, so counts are held against
words.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import REPLACEMENT
from wireproof.judging.checks.places import place_of, reading_of
from wireproof.judging.checks.written_calls import no_call
from wireproof.judging.registry import Checks, Seen
from wireproof.model.asks import AskCalls, AskCount, Asks, AskSay, Fits
from wireproof.model.scenario import Mode
from wireproof.reading.asked import LENGTH, as_json, limit_of
from wireproof.reading.schemas import misfits
from wireproof.wire.events import Fragment, Text
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import object_of
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from wireproof.model.requirement import Requirement
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.calls import Choice, ToolCall
    from wireproof.wire.events import TokenUsage
    from wireproof.wire.violation import Place, Violation

check = Checks()
"""The checks of single rows; `look` is for all of them."""

REQUIRED = "required"
SECONDS = range(1_000_000_000, 10_000_000_000)  # 2001 to 2286
WORD = re.compile(r"[A-Za-z]{2,}|\d+")
FEW = 5
"""Tokens that an answer may count and yet say nothing: those that end it, and others that no client is shown."""
STOPPED = "stop"


_ANY_ANSWER = frozenset({Facet.CREATED, Facet.FINISH, Facet.USAGE})
"""What an answer shows whether the model did what it was asked or not."""


def tries(exchange: Exchange) -> tuple[Exchange, ...]:
    """All tries of an exchange that have an answer."""
    return tuple(one for one in (*exchange.earlier, exchange) if one.reading is not None)


# of any answer: counts, finish, times


def usage(exchange: Exchange) -> Iterable[Seen]:
    """The counts agree with each other, with the limit of the request, and with the words that came."""
    got = exchange.answer.usage
    if got is None:
        return
    place = exchange.body_place
    # In an answer that is not what was asked, something may have come twice, which is no fault of the counts.
    said = words(_said(exchange)) if exchange.wanted else 0
    limit = limit_of(exchange.transcript.request_body)
    if got.total != got.prompt + got.completion:
        seen = f"total_tokens is {got.total}, prompt and completion make {got.prompt + got.completion}"
        yield Seen(seen, place, spoils=UNTOUCHED)
    elif got.prompt <= 0:
        yield _miscounted("the usage counts no tokens of the request", place)
    elif got.completion <= 0 and any(_strings(exchange)):
        yield _miscounted("the usage counts no tokens of an answer that says something", place)
    elif got.completion < said:
        yield _miscounted(f"the usage counts {got.completion} tokens of an answer of {said} words", place)
    elif limit is not None and got.completion > limit >= said:
        yield _miscounted(f"the usage counts {got.completion} tokens of an answer that may have {limit}", place)
    elif exchange.wanted and got.prompt < sent_words(exchange):
        yield _miscounted(f"the usage counts {got.prompt} tokens of a request of {sent_words(exchange)} words", place)
    elif (got.cached or 0) > got.prompt or (got.reasoning or 0) > got.completion:
        yield _miscounted(_overcounted(got), place)


def _overcounted(got: TokenUsage) -> str:
    """Which detail of a usage is more than the count that it is a part of."""
    if (got.cached or 0) > got.prompt:
        return f"the usage counts {got.cached} cached tokens of a request of {got.prompt} tokens"
    return f"the usage counts {got.reasoning} tokens of reasoning in an answer of {got.completion} tokens"


def _miscounted(seen: str, place: Place) -> Seen:
    """Wrong counts leave text and calls as they are."""
    return Seen(seen, place, spoils=UNTOUCHED, counts=True)


def finish(exchange: Exchange) -> Iterable[Seen]:
    """A finish says that calls came if they did, and that the answer was cut if it was."""
    called, limit = exchange.dialect.spec.call_finish, limit_of(exchange.transcript.request_body)
    got = exchange.answer.usage
    for choice in exchange.answer.choices:
        if choice.calls and choice.finish not in {called, "tool_calls", None}:
            yield Seen(f"{_calls(choice)} came, and the finish is {quoted(choice.finish)}", exchange.body_place)
        elif choice.finish in {called, "tool_calls"} and not choice.calls:
            yield Seen(f"the finish is {quoted(choice.finish)}, and no call came", exchange.body_place)
        elif limit is not None and isinstance(exchange.asks, AskCount) and words(choice.text or "") > limit:
            said, ended = words(choice.text or ""), quoted(choice.finish)
            seen = f"the answer may have {limit} tokens; {said} words came, and then the finish {ended}"
            yield Seen(seen, exchange.body_place)
        elif isinstance(exchange.asks, AskCount) and choice.finish == STOPPED and got and got.completion == limit:
            # Whatever it wrote: of an answer that was to be ten times as long it is no accident.
            seen = f"the answer was cut at the {limit} tokens that it may have, and its end says that it was complete"
            yield Seen(seen, exchange.body_place)
        elif (
            limit is not None
            and choice.finish == LENGTH
            and got is not None
            and _uncut(exchange, got.completion, limit)
        ):
            seen = f'the finish is "{LENGTH}" after {got.completion} of the {limit} tokens that the answer may have'
            yield Seen(seen, exchange.body_place)


def _uncut(exchange: Exchange, count: int, limit: int) -> bool:
    """Whether a count shows that the limit was not reached; one that is wrong itself shows nothing."""
    return words(_said(exchange)) <= count < limit / 2


def _calls(choice: Choice) -> str:
    return "a call" if len(choice.calls) == 1 else f"{len(choice.calls)} calls"


def created(exchange: Exchange) -> Iterable[Seen]:
    """The time of an answer is one in seconds."""
    for _, payload in reading_of(exchange).payloads:
        body = object_of(payload.get("response")) or payload
        # A gateway that filters prompts reports on them first, in a chunk that is no part of the answer.
        if body.get("choices") == []:
            continue
        for name in ("created", "created_at"):
            value = body.get(name)
            if isinstance(value, int | float) and not SECONDS.start <= value < SECONDS.stop:
                yield Seen(f"{name} is {quoted(value)}, it should be a time in seconds", exchange.body_place)
                return


# of texts that were to be repeated exactly


def torn(exchange: Exchange) -> Iterable[Seen]:
    """No replacement characters: no prompt has one, and no model writes one."""
    for text in _strings(exchange):
        if REPLACEMENT in text:
            at = text.index(REPLACEMENT)
            seen = f"a replacement character (U+FFFD) stands in {quoted(text[max(0, at - 10) : at + 10])}"
            yield Seen(seen, _place(exchange))
            return


def text(exchange: Exchange) -> Iterable[Seen]:
    """What was said is not misread, sent twice, lost, or continued behind a stop sequence."""
    stop = exchange.turn.body.get("stop", ()) if exchange.turn else ()
    for choice in exchange.answer.choices:
        got = choice.text or ""
        if (seen := next((one for one in stop if one in got), None)) is not None:
            yield Seen(f"the text goes on to the stop sequence {quoted(seen)}: {quoted(got)}", _place(exchange))
        elif not exchange.wanted and _misread(asked_texts(exchange.asks), got):
            yield Seen(f"UTF-8 was read as another encoding: {quoted(got, 60)}", _place(exchange))
        elif (
            not exchange.wanted and isinstance(exchange.asks, AskSay) and _doubled(exchange, choice, exchange.asks.text)
        ):
            yield Seen(f"each piece of the text came twice: {quoted(got)}", _place(exchange))
        elif not got and not choice.calls and choice.finish == STOPPED and _was_said(exchange):
            seen = "the usage counts the tokens of an answer, and it has no text"
            yield Seen(seen, _place(exchange), counts=True)


def _was_said(exchange: Exchange) -> bool:
    """Whether the counts show that the model said something that a client should see."""
    got = exchange.answer.usage
    return (
        got is not None
        and b'"refusal"'
        not in exchange.transcript.body.replace(b'"refusal": null', b"").replace(b'"refusal":null', b"")
        and got.completion - (got.reasoning or 0) >= FEW
    )


def _misread(asked: Iterable[str], got: str) -> bool:
    """Whether a text has what UTF-8 becomes when it is read as Latin-1 or Windows-1252."""
    marks = {
        one.encode().decode(encoding, errors="ignore")
        for whole in asked
        for one in re.findall(r"[^\x00-\x7f]", whole)
        for encoding in ("latin-1", "cp1252")
    }
    return any(len(mark) > 1 and mark in got for mark in marks)


def _doubled(exchange: Exchange, choice: Choice, asked: str) -> bool:
    """Whether the text would be right with every second piece of it left out."""
    pieces = [
        event.text for event in reading_of(exchange).events if isinstance(event, Text) and event.choice == choice.index
    ]
    twice = len(pieces) > 1 and pieces[::2] == pieces[1::2] and "".join(pieces[::2]).strip() == asked.strip()
    return twice or (choice.text or "").strip() == asked.strip() * 2


# of calls


def arguments(exchange: Exchange) -> Iterable[Seen]:
    """Arguments are JSON objects that fit the schema of their tool, which is strict: in one try at least."""
    faults = [_argument_fault(one) for one in tries(exchange)]
    if all(faults) and not list(incremental(exchange)):
        yield Seen(faults[-1], _place(exchange))


def _argument_fault(exchange: Exchange) -> str:
    """What is wrong with the arguments of the first call of which something is; "" if nothing is."""
    declared = {tool["function"]["name"]: tool["function"] for tool in exchange.conversation.tools}
    for choice in exchange.answer.choices:
        # A call that was cut at the limit of tokens is not complete.
        for call in choice.calls if choice.finish != LENGTH else ():
            value = as_json(call.arguments)
            if not isinstance(value, dict):
                return f"the arguments of {call.name} are no JSON object: {quoted(call.arguments)}"
            wrong = misfits(declared[call.name]["parameters"], value) if call.name in declared else []
            if wrong:
                return f"the arguments of {call.name} do not fit its schema, which is strict: {wrong[0]}"
    return ""


@check("chat.stream.arguments-incremental")
def incremental(exchange: Exchange) -> Iterable[Seen]:
    """The fragments of a call are joined to its arguments: they do not each repeat those before."""
    if exchange.cumulative or exchange.mode is Mode.WHOLE:
        return
    fragments: dict[tuple[int, int], list[str]] = {}
    for event in reading_of(exchange).events:
        if isinstance(event, Fragment) and event.text:
            fragments.setdefault((event.choice, event.index), []).append(event.text)
    for pieces in fragments.values():
        repeated = len(pieces) > 1 and all(later.startswith(earlier) for earlier, later in pairwise(pieces))
        if repeated and isinstance(as_json(pieces[-1]), dict):
            seen = f"each of {len(pieces)} deltas repeats the arguments so far; clients join them to broken JSON"
            yield Seen(seen, place_of(exchange, Fragment))


@check("chat.stream.isolation")
def choices(exchange: Exchange) -> Iterable[Seen]:
    """A stream has the choices that were asked for. (Those of a whole answer are counted by its own row.)."""
    indexes = [choice.index for choice in exchange.answer.choices]
    if indexes != list(range(exchange.conversation.choices)):
        yield Seen(
            f"n is {exchange.conversation.choices}; the stream has choices {quoted(indexes)}", exchange.body_place
        )


@check("turn.calls-declared")
def calls_declared(exchange: Exchange) -> Iterable[Seen]:
    """Calls name tools that the request declares."""
    declared = exchange.conversation.tool_names
    for call in _made(exchange):
        if call.name not in declared:
            yield Seen(
                f"{call.name} was called, and the request declares {', '.join(declared) or 'no tools'}",
                exchange.body_place,
            )


@check("turn.tool-choice-forced")
def tool_choice_forced(exchange: Exchange) -> Iterable[Seen]:
    """A call came, and of the tool that was named, in one try at least."""
    if exchange.wanted or any(choice.finish == LENGTH for choice in exchange.answer.choices):
        return
    asked, made = exchange.conversation.tool_choice, [call.name for call in _made(exchange)]
    if not any(_made(one) for one in tries(exchange)):
        seen = f"tool_choice is {quoted(asked)}, and no call came in {len(tries(exchange))} tries"
        yield no_call(seen, exchange, exchange.body_place)
    # A name that was not declared has a row of its own.
    elif set(made) <= set(exchange.conversation.tool_names) and asked not in {REQUIRED, *made}:
        yield Seen(f"tool_choice names {quoted(asked)}, and {', '.join(made)} was called", exchange.body_place)


@check("turn.tool-choice-none")
def tool_choice_none(exchange: Exchange) -> Iterable[Seen]:
    """No call came."""
    if made := _made(exchange):
        yield Seen(f"tool_choice is none, and {made[0].name} was called", exchange.body_place)


def _made(exchange: Exchange) -> list[ToolCall]:
    return [call for choice in exchange.answer.choices for call in choice.calls]


# of what the model was sent


@check("turn.structured-output")
def structured_output(exchange: Exchange) -> Iterable[Seen]:
    """The text is JSON that fits the schema of the request, in one try at least."""
    asks = exchange.asks
    choice = exchange.choice()
    if exchange.wanted or not isinstance(asks, Fits) or choice.finish != STOPPED:
        return
    value = as_json(choice.text or "")
    wrong = "it is not JSON" if value is None else "; ".join(misfits(asks.schema, value)[:1])
    yield Seen(
        f"the text does not fit the schema that the request sets: {wrong}; {quoted(choice.text)}", _place(exchange)
    )


@check(
    "turn.system-prompt", "turn.history-reaches-backend", "turn.tool-result", "turn.follow-up-without-tools"
)  # fmt: skip
def reached(exchange: Exchange) -> Iterable[Seen]:
    """Where a model does not act on what it was sent, the tokens of the request show whether it was sent at all."""
    got, sent = exchange.answer.usage, sent_words(exchange)
    if not exchange.wanted and got is not None and 0 < got.prompt < sent:
        seen = (
            f"the request has {sent} words and the model was sent {got.prompt} tokens; it does not know what stands in"
            " the rest"
        )
        yield Seen(seen, exchange.body_place, counts=True)


# what holds of rows by the parts that they speak of


_PARTS: Mapping[Facet, Callable[[Exchange], Iterable[Seen]]] = {
    Facet.CREATED: created,
    Facet.ENCODING: torn,
    Facet.TEXT: text,
    Facet.FINISH: finish,
    Facet.USAGE: usage,
    Facet.ARGUMENTS: arguments,
}
"""The checks of the parts of any answer, whichever rows speak of them; in the order in which they are looked at."""


def judges(row: Requirement) -> bool:
    """Whether a row has a check of answers of models."""
    return row.id in check or not _PARTS.keys().isdisjoint(row.facets)


def holds_of_any_answer(row: Requirement) -> bool:
    """Whether an answer shows that a row is kept although the model did not do what it was asked."""
    return not _ANY_ANSWER.isdisjoint(row.facets)


def look(row: Requirement, exchange: Exchange) -> Iterator[Violation]:
    """What is wrong with a model's answer by the check of a row, or by those of the parts that it speaks of."""
    if row.id in check:
        yield from check.look(row.id, exchange)
        return
    # The first thing that is wrong: what else is follows from it, or is seen when it is mended.
    found = (seen for part, parts_check in _PARTS.items() if part in row.facets for seen in parts_check(exchange))
    yield from (seen.of(row.id) for seen in islice(found, 1))


# what answers say


def words(said: str) -> int:
    """How many words a text has, by ASCII letters and digits: no fewer tokens."""
    return len(WORD.findall(said))


def sent_words(exchange: Exchange) -> int:
    """How many words a request has."""
    return words(_sent(exchange))


def asked_texts(asks: Asks | None) -> list[str]:
    """The exact texts that a prompt asks for."""
    match asks:
        case AskSay(text=asked):
            return [asked]
        case AskCalls(calls=calls):
            return [value for call in calls for value in (call.arguments or {}).values() if isinstance(value, str)]
        case _:
            return []


def _strings(exchange: Exchange) -> list[str]:
    """All texts and arguments of an answer."""
    choices = exchange.answer.choices
    return [*(choice.text or "" for choice in choices), *(call.arguments for call in _made(exchange))]


def _said(exchange: Exchange) -> str:
    """All that an answer says. Arguments that are broken may have come several times, so they do not count."""
    whole = [call.arguments for call in _made(exchange) if isinstance(as_json(call.arguments), dict)]
    return "\n".join([*(choice.text or "" for choice in exchange.answer.choices), *whole])


def _sent(exchange: Exchange) -> str:
    """All texts that a request brings."""
    body = as_json(exchange.transcript.request_body.decode(errors="replace"))
    sent = object_of(body)
    return "\n".join(_texts_in([sent.get("messages"), sent.get("input"), sent.get("instructions")]))


def _texts_in(value: object) -> Iterable[str]:
    match value:
        case str():
            yield value
        case list():
            for inner in value:
                yield from _texts_in(inner)
        case dict():
            for name in ("content", "text", "output"):
                yield from _texts_in(value.get(name))
        case _:
            pass


def _place(exchange: Exchange) -> Place | None:
    return place_of(exchange, Text) or place_of(exchange, Fragment) or exchange.body_place
