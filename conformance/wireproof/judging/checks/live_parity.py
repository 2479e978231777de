"""Two answers of a model to the same prompt, against each other.

They need not say the same. What must agree is what does not depend on what the model says: the tokens of the request,
the model's name. And where one form of a prompt is obeyed and another never is, the tokens of both show whose fault
that is: a model that made as many tokens said as much, so what is missing was lost on its way to the client.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wireproof.judging.checks.places import place_of, reading_of
from wireproof.judging.registry import Checks, Seen
from wireproof.model.asks import AskCalls, AskSay
from wireproof.model.facets import row_of
from wireproof.wire.events import Text
from wireproof.wire.facet import Facet
from wireproof.wire.fields import object_of, text_of
from wireproof.wire.quoting import quoted
from wireproof.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wireproof.reading.exchange import Exchange

check = Checks()
"""The checks of this module."""

SLACK = 2
"""Tokens by which the same text may be counted differently."""
MOST = 0.6
"""The part of a text that must be there for the rest to count as lost: a model that says something else has less."""


@check("chat.stream.parity", "responses.parity")
def parity(stream: Exchange, whole: Exchange) -> Iterable[Seen]:
    """Both answers count the same request and name the same model."""
    if stream.dialect is not whole.dialect:
        return
    ours, others = stream.answer.usage, whole.answer.usage
    if ours is not None and others is not None and abs(ours.prompt - others.prompt) > SLACK:
        seen = f"the same request has {ours.prompt} tokens in the stream and {others.prompt} in the whole answer"
        yield Seen(seen, stream.body_place, part=Facet.USAGE)
    elif (streamed := _model(stream)) != (at_once := _model(whole)):
        seen = f"model is {quoted(streamed)} in the stream and {quoted(at_once)} in the whole answer"
        yield Seen(seen, stream.body_place, part=Facet.SETTINGS)


def _model(exchange: Exchange) -> str | None:
    """The model that the last payload with one names."""
    bodies = [object_of(payload.get("response")) or payload for _, payload in reading_of(exchange).payloads]
    return next((name for body in reversed(bodies) if (name := text_of(body.get("model")))), None)


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
    if not _as_many_tokens(one, obeyed):
        return None
    match one.asks:
        case AskSay(text=asked):
            got = (one.choice().text or "").strip()
            if _part_of(got, asked.strip()):
                said = f"the model was to say {quoted(asked)}"
                seen = f"{said}, and made as many tokens as where it did; {quoted(got)} came"
                row = row_of(Facet.TEXT, one.form)
                return Violation(requirement=row, seen=seen, place=place_of(one, Text) or one.body_place)
        case AskCalls(calls=calls):
            wanted, made = [call.name for call in calls], [call.name for call in one.choice().calls]
            if len(made) < len(wanted):
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
    ours, others = one.answer.usage, other.answer.usage
    return ours is not None and others is not None and abs(ours.completion - others.completion) <= SLACK


def _part_of(got: str, asked: str) -> bool:
    """Whether a text holds most of another's characters, and no others: some are missing, doubled or out of place."""
    have, want = Counter(got), Counter(asked)
    return got != asked and have.keys() <= want.keys() and sum((have & want).values()) >= MOST * len(asked)
