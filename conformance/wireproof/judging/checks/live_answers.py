"""What answers of models say of themselves, and what their requests say: counts, ends, times and texts of any answer.

Counts are held against each other, the limit of the request and the words of the answer: a word of English, or a
number, is at least one token in every tokenizer of today's models. In a text that was to be repeated exactly, damage is
known by its kind.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import REPLACEMENT
from wireproof.judging.checks.places import is_mistimed, place_of
from wireproof.judging.checks.written_calls import HINT, called_in_text
from wireproof.judging.registry import Seen
from wireproof.model.asks import AskCalls, AskCount, Asks, AskSay
from wireproof.reading.asked import LENGTH, limit_of
from wireproof.wire.events import Fragment, Text, TokenUsage
from wireproof.wire.facet import UNTOUCHED
from wireproof.wire.fields import json_of, object_of, text_of
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.events import Choice
    from wireproof.wire.violation import Place

WORD = re.compile(r"[A-Za-z]{2,}|\d+")
THOUGHTS = frozenset({"reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "thinking"})
"""Members, and types of items and parts, in which servers send what a model thinks: its counts are of that, too."""
REFUSALS = frozenset({"refusal"})
"""Those of a model's refusal, which is no text of its answer."""
_GIVEN_UP = frozenset({LENGTH, "content_filter"})
"""The ends of answers that were not to go on."""


def words(said: str) -> int:
    """How many words a text has, by ASCII letters and digits: no fewer tokens."""
    return len(WORD.findall(said))


def sent_words(exchange: Exchange) -> int:
    """How many words a request has."""
    return words(sent_in(exchange))


def asked_texts(asks: Asks | None) -> list[str]:
    """The exact texts that a prompt asks for."""
    match asks:
        case AskSay(text=asked):
            return [asked]
        case AskCalls(calls=calls):
            return [value for call in calls for value in (call.arguments or {}).values() if isinstance(value, str)]
        case _:
            return []


def strings(exchange: Exchange) -> list[str]:
    """All texts and arguments of an answer."""
    answer = exchange.answer
    return [*(choice.text or "" for choice in answer.choices), *(call.arguments for call in answer.calls)]


def said_in(exchange: Exchange) -> str:
    """All that an answer says. Arguments that are broken may have come several times, so they do not count."""
    whole = [call.arguments for call in exchange.answer.calls if isinstance(json_of(call.arguments), dict)]
    return "\n".join([*(choice.text or "" for choice in exchange.answer.choices), *whole])


def sent_in(exchange: Exchange) -> str:
    """All texts that a request brings."""
    sent = exchange.sent
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


def place_in(exchange: Exchange) -> Place | None:
    """Where an answer last says something."""
    return place_of(exchange, Text) or place_of(exchange, Fragment) or exchange.body_place


def cut_short(exchange: Exchange) -> bool:
    """Whether an answer was ended before the model was done: by its limit, or by a filter."""
    return any(choice.finish in _GIVEN_UP for choice in exchange.answer.choices)


def has(names: frozenset[str], exchange: Exchange) -> bool:
    """Whether an answer has members of these names that say something, or anything of such a type."""
    return any(_says(names, payload) for _, payload in exchange.read.payloads)


def _says(names: frozenset[str], value: object) -> bool:
    """Whether anything in a payload has a member of these names that says something, or is of such a type."""
    match value:
        case list():
            return any(_says(names, inner) for inner in value)
        case dict():
            # A response repeats the `reasoning` of its request, an object, which says nothing.
            said = any(isinstance(value.get(name), str | list) and value[name] for name in names)
            return said or text_of(value.get("type")) in names or any(_says(names, inner) for inner in value.values())
        case _:
            return False


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
    elif (got.cached or 0) > got.prompt:
        yield _miscounted(f"the usage counts {got.cached} cached tokens of a request of {got.prompt} tokens", place)
    elif (got.reasoning or 0) > got.completion:
        seen = f"the usage counts {got.reasoning} tokens of reasoning in an answer of {got.completion} tokens"
        yield _miscounted(seen, place)


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
            calls = "a call" if len(choice.calls) == 1 else f"{len(choice.calls)} calls"
            yield Seen(f"{calls} came, and the finish is {quoted(choice.finish)}", exchange.body_place)
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


def created(exchange: Exchange) -> Iterable[Seen]:
    """The time of an answer is one in seconds."""
    for _, payload in exchange.read.payloads:
        body = object_of(payload.get("response")) or payload
        # A gateway that filters prompts reports on them first, in a chunk that is no part of the answer.
        if body.get("choices") == []:
            continue
        for name in ("created", "created_at"):
            value = body.get(name)
            if is_mistimed(value):
                yield Seen(f"{name} is {quoted(value)}, it should be a time in seconds", exchange.body_place)
                return


FEW = 5
"""Tokens that an answer may count and yet say nothing: those that end it, and others that no client is shown."""

# What ends a message, a turn or a text in the templates of ChatML, Llama, Gemma, Mistral, DeepSeek and Phi.
_TOKEN = re.compile(
    r"<\|(?:im_(?:start|end)|e(?:ot|om)_id|end(?:oftext|_of_text)?|(?:start|end)_header_id)\|>|<(?:start|end)_of_turn>"
    # In the middle of a text it may close what is struck through in HTML.
    r"|</s>(?=\s*\Z)|<\uff5cend\u2581of\u2581sentence\uff5c>"
)


def torn(exchange: Exchange) -> Iterable[Seen]:
    """No replacement characters: no prompt has one, and no model writes one."""
    for text in strings(exchange):
        if REPLACEMENT in text:
            at = text.index(REPLACEMENT)
            seen = f"a replacement character (U+FFFD) stands in {quoted(text[max(0, at - 10) : at + 10])}"
            yield Seen(seen, place_in(exchange))
            return


def text(exchange: Exchange) -> Iterable[Seen]:
    """What was said is not misread, sent twice, lost, continued behind a stop, or raw, as the model wrote it."""
    stop = exchange.turn.body.get("stop", ()) if exchange.turn else ()
    for choice in exchange.answer.choices:
        got = choice.text or ""
        if (seen := next((one for one in stop if one in got), None)) is not None:
            yield Seen(f"the text goes on to the stop sequence {quoted(seen)}: {quoted(got)}", place_in(exchange))
        elif begun := _begun(stop, exchange.asks, got):
            seen = f"the text ends with {quoted(begun)}, the beginning of its stop sequence: {quoted(got)}"
            yield Seen(seen, place_in(exchange))
        elif (token := _TOKEN.search(got)) and token[0] not in sent_in(exchange):
            seen = quoted(got[max(0, token.start() - 20) : token.end() + 20])
            yield Seen(f"the text has a token of the model's chat template: {seen}", place_in(exchange))
        elif choice.calls and (written := called_in_text(exchange)):
            seen = f"a call came, and what the model wrote to make it came as text, too: {quoted(written)}"
            yield Seen(seen, place_in(exchange), hint=HINT)
        elif not exchange.wanted and _misread(asked_texts(exchange.asks), got):
            yield Seen(f"UTF-8 was read as another encoding: {quoted(got, 60)}", place_in(exchange))
        elif (
            not exchange.wanted and isinstance(exchange.asks, AskSay) and _doubled(exchange, choice, exchange.asks.text)
        ):
            yield Seen(f"each piece of the text came twice: {quoted(got)}", place_in(exchange))
        elif not got and not choice.calls and choice.finish == STOPPED and _was_said(exchange):
            seen = "the usage counts the tokens of an answer, and it has no text"
            yield Seen(seen, place_in(exchange), counts=True)


def _begun(stop: Iterable[str], asks: Asks | None, got: str) -> str:
    """The part of a stop sequence with which a text ends that should end before it; "" where it does not."""
    if not isinstance(asks, AskSay) or not got.startswith(asks.text):
        return ""
    rest = got.removeprefix(asks.text).strip()
    return rest if len(rest) > 1 and any(one.startswith(rest) for one in stop) else ""


def _was_said(exchange: Exchange) -> bool:
    """Whether the counts show that the model said something that a client should see."""
    got = exchange.answer.usage
    if got is None or has(THOUGHTS | REFUSALS, exchange):
        return False
    return got.completion - (got.reasoning or 0) >= FEW


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
    pieces = [event.text for event in exchange.read.events if isinstance(event, Text) and event.choice == choice.index]
    twice = len(pieces) > 1 and pieces[::2] == pieces[1::2] and "".join(pieces[::2]).strip() == asked.strip()
    return twice or (choice.text or "").strip() == asked.strip() * 2
