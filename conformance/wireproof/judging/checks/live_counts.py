"""Counts, ends and times of any answer of a model, against each other, its limit and its words.

A word of English, or a number, is at least one token in every tokenizer of today's models, so counts are held against
words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.judging.checks.live_said import said_in, sent_words, strings, words
from wireproof.judging.checks.places import is_mistimed, reading_of
from wireproof.judging.registry import Seen
from wireproof.model.asks import AskCount
from wireproof.reading.asked import LENGTH, limit_of
from wireproof.wire.facet import UNTOUCHED
from wireproof.wire.fields import object_of
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.calls import Choice
    from wireproof.wire.events import TokenUsage
    from wireproof.wire.violation import Place

STOPPED = "stop"


def usage(exchange: Exchange) -> Iterable[Seen]:
    """The counts agree with each other, with the limit of the request, and with the words that came."""
    got = exchange.answer.usage
    if got is None:
        return
    place = exchange.body_place
    # In an answer that is not what was asked, something may have come twice, which is no fault of the counts.
    said = words(said_in(exchange)) if exchange.wanted else 0
    limit = limit_of(exchange.transcript.request_body)
    if got.total != got.prompt + got.completion:
        seen = f"total_tokens is {got.total}, prompt and completion make {got.prompt + got.completion}"
        # Some count what the model thought in the total alone: what is paid for is right there.
        beside = got.total == got.prompt + got.completion + (got.reasoning or 0)
        yield Seen(seen, place, spoils=UNTOUCHED, strict_only=beside)
    elif got.prompt <= 0:
        yield _miscounted("the usage counts no tokens of the request", place)
    elif got.completion <= 0 and any(strings(exchange)):
        yield _miscounted("the usage counts no tokens of an answer that says something", place)
    elif got.completion < said:
        yield _miscounted(f"the usage counts {got.completion} tokens of an answer of {said} words", place)
    elif limit is not None and got.completion - (got.reasoning or 0) > limit >= said:
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
    # The call of a tool that the request names may end with either, as OpenAI's own do: clients read the calls.
    right = {called, "tool_calls", None, *([STOPPED] if exchange.conversation.names_tool else [])}
    for choice in exchange.answer.choices:
        if choice.calls and choice.finish not in right:
            yield Seen(f"{_calls(choice)} came, and the finish is {quoted(choice.finish)}", exchange.body_place)
        elif choice.finish in {called, "tool_calls"} and not choice.calls:
            yield Seen(f"the finish is {quoted(choice.finish)}, and no call came", exchange.body_place)
        elif limit is not None and isinstance(exchange.asks, AskCount) and words(choice.text or "") > limit:
            said, ended = words(choice.text or ""), quoted(choice.finish)
            seen = f"the answer may have {limit} tokens; {said} words came, and then the finish {ended}"
            yield Seen(seen, exchange.body_place)
        elif isinstance(exchange.asks, AskCount) and _broken_off(choice) and got and got.completion == limit:
            # Whatever it wrote: of an answer that was to be ten times as long it is no accident.
            seen = f"the answer was cut at the {limit} tokens that it may have, and its end says that it was complete"
            yield Seen(seen, exchange.body_place)
        elif limit is not None and choice.finish == LENGTH and got is not None and _uncut(exchange, got, limit):
            seen = f'the finish is "{LENGTH}" after {got.completion} of the {limit} tokens that the answer may have'
            yield Seen(seen, exchange.body_place)


def _broken_off(choice: Choice) -> bool:
    """Whether a text that is said to be complete ends as no sentence does: a model may answer in few words."""
    return choice.finish == STOPPED and re.search(r"[\w,;:-]\s*$", choice.text or "") is not None


def _uncut(exchange: Exchange, got: TokenUsage, limit: int) -> bool:
    """Whether counts show that the limit was not reached; those that are wrong themselves show nothing."""
    # The total may have what the model thought, which the count of the answer leaves out.
    return words(said_in(exchange)) <= got.completion and max(got.completion, got.total - got.prompt) < limit / 2


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
            if is_mistimed(value):
                yield Seen(f"{name} is {quoted(value)}, it should be a time in seconds", exchange.body_place)
                return
