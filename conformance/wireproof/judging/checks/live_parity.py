"""Two answers of a model to the same request, against each other.

They need not say the same. What must agree is what does not depend on what the model says: the tokens of the request,
the model's name, which details are counted. What differs as much between two whole answers to one request is the
target's own way (`noise`), and no difference of its streams. And where one form of a prompt is obeyed and another never
is, the tokens of both show whose fault that is: a model that made as many tokens said as much, so what is missing was
lost on its way to the client.

Only what was sent alike is compared. A conversation goes on with the ids and arguments that the model made in one form,
and its next request is another one then.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wireproof.judging.checks.live_answers import REFUSALS, THOUGHTS, has
from wireproof.judging.checks.places import last_usage, place_of, tokens_in
from wireproof.judging.checks.written_calls import called_in_text
from wireproof.judging.registry import Checks, Seen
from wireproof.model.asks import AskCalls, AskSay
from wireproof.model.catalogue import row_of
from wireproof.reading.asked import LENGTH
from wireproof.wire.events import Text, TokenUsage
from wireproof.wire.facet import Facet
from wireproof.wire.fields import JsonObject, integer_of, json_of, object_of, text_of
from wireproof.wire.quoting import quoted
from wireproof.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wireproof.reading.exchange import Exchange

check = Checks()

SLACK = 2
"""Tokens by which the same text may be counted differently."""
MOST = 0.6
"""The part of a text that must be there for the rest to count as lost: a model that says something else has less."""
_OF_STREAMS = frozenset({"stream", "stream_options"})
"""The members in which requests of two modes differ."""


@check("chat.stream.parity", "responses.parity")
def parity(stream: Exchange, whole: Exchange) -> Iterable[Seen]:
    """Both answers count the same request and name the same model."""
    if not _sent_alike(stream, whole):
        return
    ours, others = stream.answer.usage, whole.answer.usage
    if ours is not None and others is not None and abs(ours.prompt - others.prompt) > SLACK:
        seen = f"the same request has {ours.prompt} tokens in the stream and {others.prompt} in the whole answer"
        yield Seen(seen, stream.body_place, part=Facet.USAGE)
    elif (streamed := _model(stream)) != (at_once := _model(whole)):
        seen = f"model is {quoted(streamed)} in the stream and {quoted(at_once)} in the whole answer"
        yield Seen(seen, stream.body_place, part=Facet.SETTINGS)


@check("chat.stream.usage-details")
def usage_details(stream: Exchange, whole: Exchange) -> Iterable[Seen]:
    """The stream counts what the whole answer counts, in numbers of its own."""
    ours, others = last_usage(stream), last_usage(whole)
    if stream.answer.usage is None or not _sent_alike(stream, whole):
        return
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        # Counts of zero say nothing, and what one answer took from a cache the other need not.
        counted = {kind for kind, count in object_of(others.get(name)).items() if count and kind != "cached_tokens"}
        if missing := sorted(counted - object_of(ours.get(name)).keys()):
            seen = f"{name} has {', '.join(missing)} in the whole answer, and not in the stream"
            yield Seen(seen, place_of(stream, TokenUsage), part=Facet.USAGE)
            return


@check("chat.stream.logprobs")
def logprobs(stream: Exchange, whole: Exchange) -> Iterable[Seen]:
    """A stream has probabilities where the whole answer has them: those of the text that it brings."""
    streamed, at_once = _tokens(stream), _tokens(whole)
    if at_once and not streamed:
        yield Seen("the whole answer has logprobs, and the stream has none", stream.body_place)
    for exchange, tokens in ((stream, streamed), (whole, at_once)):
        said = "".join((exchange.choice().text or "").split())
        if tokens and tokens != said and exchange.wanted:
            seen = f"the tokens with logprobs are {quoted(tokens)}, the text of the answer is {quoted(said)}"
            yield Seen(seen, exchange.body_place, part=Facet.TEXT)


def _sent_alike(one: Exchange, other: Exchange) -> bool:
    """Whether two exchanges sent the same request, but for how the answer was to come."""
    return one.dialect is other.dialect and _asked(one) == _asked(other)


def _asked(exchange: Exchange) -> JsonObject:
    return {name: value for name, value in exchange.sent.items() if name not in _OF_STREAMS}


def _model(exchange: Exchange) -> str | None:
    """The model that the last payload with one names."""
    bodies = [object_of(payload.get("response")) or payload for _, payload in exchange.read.payloads]
    return next((name for body in reversed(bodies) if (name := text_of(body.get("model")))), None)


def _tokens(exchange: Exchange) -> str:
    """The tokens that have probabilities, joined without blanks, which some tokenizers write in ways of their own."""
    return "".join((tokens_in(exchange) or "").split())


def noise(exchanges: Iterable[Exchange]) -> frozenset[Facet]:
    """In which parts whole answers to the same request differ: what a router or a cache in front of models does."""
    first: dict[str, tuple[int | None, str | None]] = {}
    found: set[Facet] = set()
    for exchange in exchanges:
        asked = _asked(exchange)
        body = object_of(json_of(exchange.transcript.body.decode(errors="replace")))
        if not exchange.transcript.ok or not asked or "usage" not in body:
            continue
        usage = object_of(body["usage"])
        mine = (integer_of(usage.get("prompt_tokens", usage.get("input_tokens"))), text_of(body.get("model")))
        other = first.setdefault(f"{exchange.transcript.url} {sorted(asked.items())}", mine)
        if mine[1] != other[1]:
            found.add(Facet.SETTINGS)
        if abs((mine[0] or 0) - (other[0] or 0)) > SLACK:
            found.add(Facet.USAGE)
    return frozenset(found)


def damaged(exchanges: Sequence[Exchange]) -> Iterable[tuple[Exchange, Violation]]:
    """Of answers to the same turn in different forms, those in which what the model said was lost.

    Each is one that was not obeyed, beside one that was.
    """
    obeyed = [one for one in exchanges if one.wanted]
    for one in exchanges:
        if one.asks is not None and one.reading is not None and not one.wanted:
            found = next((seen for other in obeyed if (seen := _lost(one, other))), None)
            if found:
                yield one, found


def _lost(one: Exchange, obeyed: Exchange) -> Violation | None:
    """What was lost on its way, if as many tokens were made as where the prompt was obeyed."""
    choice = one.choice()
    if not _as_many_tokens(one, obeyed) or choice.finish == LENGTH or has(REFUSALS, one):
        return None
    match one.asks:
        case AskSay(text=asked):
            got = (choice.text or "").strip()
            if _part_of(got, asked.strip()):
                said = f"the model was to say {quoted(asked)}"
                seen = f"{said}, and made as many tokens as where it did; {quoted(got)} came"
                row = row_of(Facet.TEXT, one.form)
                return Violation(requirement=row, seen=seen, place=place_of(one, Text) or one.body_place)
        case AskCalls(calls=calls):
            wanted, made = [call.name for call in calls], [call.name for call in choice.calls]
            # What a model says instead of a call has tokens of its own. A call in its text is one that was not read.
            said_else = (choice.text or "").strip() and not called_in_text(one)
            if len(made) < len(wanted) and not said_else and not has(THOUGHTS, one):
                due = f"the model was to call {_listed(wanted)}"
                seen = f"{due}, and made as many tokens as where it did; {_listed(made)} came"
                row = row_of(Facet.EVERY_CALL, one.form)
                return Violation(requirement=row, seen=seen, place=one.body_place)
        case _:
            pass
    return None


def _listed(names: Sequence[str | None]) -> str:
    return ", ".join(name or "any tool" for name in names) or "no call"


def _as_many_tokens(one: Exchange, other: Exchange) -> bool:
    """Whether the model said no less: a model that left a word out has made fewer tokens."""
    ours, others = one.answer.usage, other.answer.usage
    if ours is None or others is None:
        return False
    return 0 <= (ours.completion - (ours.reasoning or 0)) - (others.completion - (others.reasoning or 0)) <= SLACK


def _part_of(got: str, asked: str) -> bool:
    """Whether a text holds most of another's characters, and no others: some are missing, doubled or out of place."""
    have, want = Counter(got), Counter(asked)
    # A model that puts its words in another order says all of them.
    reordered = Counter(got.split()) == Counter(asked.split())
    return not reordered and have.keys() <= want.keys() and sum((have & want).values()) >= MOST * len(asked)
