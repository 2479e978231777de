"""What the requests of a run cost at most, if each is sent once: how many there are, and how many tokens they have."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.model.asks import AskCalls, AskSay
from wireproof.model.scenario import ConversationScenario, PlainScenario
from wireproof.reading.asked import limit_of
from wireproof.requests import plain
from wireproof.requests.conversation import prepare, remember
from wireproof.wire.events import Choice, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wireproof.model.asks import Asks
    from wireproof.model.scenario import Form, Scenario
    from wireproof.model.target import Target
    from wireproof.requests.conversation import Message

BYTES = 3
"""Bytes of a request for each token of it. English has more of them to a token; JSON and other scripts have fewer."""
UNLIMITED = 64
"""Tokens of an answer where the request sets no limit, as some plain requests do, whose answers are short."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """How much is sent, and answered at most."""

    requests: int
    tokens: int
    """Those of the requests and of the answers."""


def tokens(body: bytes) -> int:
    """How many tokens a request and its answer have at most."""
    limit = limit_of(body)
    # Blanks behind the JSON are read by no model.
    return len(body.rstrip()) // BYTES + (UNLIMITED if limit is None else limit)


def cost(scenarios: Iterable[Scenario], target: Target) -> Cost:
    """What these scenarios cost if a model does at once what it is asked."""
    bodies = [body for scenario in scenarios for body in _bodies(scenario, target)]
    return Cost(requests=len(bodies), tokens=sum(map(tokens, bodies)))


def _bodies(scenario: Scenario, target: Target) -> Iterator[bytes]:
    if plain.unsupported_reason(scenario, target):
        return
    for form in scenario.forms(target.dialects):
        match scenario:
            case PlainScenario():
                yield from (plain.prepare(one, target).body for one in scenario.requests)
            case ConversationScenario():
                yield from _conversation(scenario, form, target)


def _conversation(scenario: ConversationScenario, form: Form, target: Target) -> Iterator[bytes]:
    history: Sequence[Message] = ()
    for turn in scenario.turns:
        prepared = prepare(scenario, turn, form=form, model=target.model, nonce="", history=history)
        yield prepared.body
        history = remember(prepared.messages, _as_asked(turn.asks))


def _as_asked(asks: Asks | None) -> Choice:
    """The answer of a model that does what it is asked, as far as the next request repeats it."""
    text, calls = (asks.text if isinstance(asks, AskSay) else ""), (asks.calls if isinstance(asks, AskCalls) else ())
    return Choice(
        index=0,
        role="assistant",
        text=text,
        calls=tuple(
            ToolCall(id=f"call_{number}", name=call.name or "", arguments=json.dumps(call.arguments or {}))
            for number, call in enumerate(calls)
        ),
        finish=None,
    )
