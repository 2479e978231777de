"""Scenarios as they are driven against one target: plain requests in its style of key, on the surface that it serves.

What HTTP demands holds on any route and in any style, so a scenario about it is written once, for chat completions and
a bearer token. Pure, and the same for a saved run: whoever judges one adapts its scenarios again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wireproof.model.dialect import CHATS, Surface
from wireproof.model.scenario import OPENS_AT, ConversationScenario, Mode
from wireproof.model.target import KeyStyle
from wireproof.requests.carried import SCHEMES
from wireproof.requests.ways_round import changed_members, written
from wireproof.wire.fields import json_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.scenario import JsonObject, PlainScenario, Request, Scenario
    from wireproof.model.target import Target


@dataclass(frozen=True, kw_only=True, slots=True)
class _Move:
    """How a plain request for chat completions is made one for another surface."""

    shared: frozenset[str]
    """The fields that the surface has, too, under chat's names but for `messages`."""
    messages: str = "messages"
    """Its name for them."""
    added: JsonObject = field(default_factory=dict)
    """What each of its requests must have."""
    params: bool = True
    """Its errors have `param` and `code`, and a challenge for a key."""


_MOVES: Mapping[Surface, _Move] = {
    Surface.RESPONSES: _Move(
        shared=frozenset({"model", "messages", "stream", "temperature", "top_p", "user"}), messages="input"
    ),
    Surface.MESSAGES: _Move(
        shared=frozenset({"model", "messages", "stream", "temperature", "top_p"}),
        added={"max_tokens": 64},
        params=False,
    ),
}
"""The surfaces that plain requests for chat completions are moved to, where a target serves that surface alone."""


def adapted(scenario: Scenario, target: Target) -> Scenario:
    """The scenario for a target; itself where nothing differs."""
    if isinstance(scenario, ConversationScenario):
        return _brief(scenario) if target.keepalive is None else scenario
    if target.key_style is not KeyStyle.BEARER:
        scenario = _without_bearer(scenario)
    if target.api_key is None:
        scenario = _without_pages(scenario)
    spoken = {dialect.spec.surface for dialect in target.dialects}
    alone = next(iter(spoken), None) if len(spoken) == 1 else None
    scenario = _elsewhere(scenario, alone) if alone is not None and alone in _MOVES else scenario
    if not target.ways:
        return scenario
    return replace(scenario, requests=tuple(_round(one, scenario, target) for one in scenario.requests))


def _brief(scenario: ConversationScenario) -> ConversationScenario:
    """The scenario with a silence of some seconds, where it waits for comments whose interval is not known."""
    waits = any(turn.act in OPENS_AT for turn in scenario.turns)
    return replace(scenario, script=f"{scenario.script}-brief") if waits else scenario


def _round(request: Request, scenario: PlainScenario, target: Target) -> Request:
    """The request by the ways round faults that the target is driven with; itself where they do not change it."""
    surface = next((one for one in Surface if request.method == "POST" and request.path == one.endpoint), None)
    if surface is None:
        return request
    if request.json is None:
        return replace(request, body=written(request.body, scenario, surface, Mode.WHOLE, target))
    return replace(request, json=changed_members(request.json, scenario, surface, Mode.WHOLE, target))


def _without_bearer(scenario: PlainScenario) -> PlainScenario:
    """The scenario without what only a bearer token has: a scheme, and the challenge that names it (RFC 6750)."""
    return replace(scenario, requests=tuple(_unchallenged(one) for one in scenario.requests if one.auth not in SCHEMES))


def _without_pages(scenario: PlainScenario) -> PlainScenario:
    """The scenario without the requests of web pages; itself where it has none, or no others, and is about keys."""
    kept = tuple(one for one in scenario.requests if not one.is_of_a_page)
    return replace(scenario, requests=kept) if 0 < len(kept) < len(scenario.requests) else scenario


def _unchallenged(request: Request) -> Request:
    return replace(request, shows={name: text for name, text in request.shows.items() if name != "www-authenticate"})


def _elsewhere(scenario: PlainScenario, surface: Surface) -> PlainScenario:
    """The scenario on another route than chat's; for chat alone where its requests have fields that are not there."""
    if surface not in {dialect.spec.surface for dialect in scenario.dialects}:
        return scenario
    moved = [_moved(one, surface) for one in scenario.requests]
    there = tuple(one for one in moved if one is not None)
    return replace(scenario, requests=there) if len(there) == len(moved) else replace(scenario, dialects=CHATS)


def _moved(request: Request, surface: Surface) -> Request | None:
    """The request on the route of a surface; itself where it is for another one; None where it cannot be moved."""
    move = _MOVES[surface]
    if not move.params:
        request = replace(_unchallenged(request), code="", headers={**surface.headers, **request.headers})
    if request.path != Surface.CHAT.endpoint:
        return request
    fields = request.json if request.json is not None else json_object(request.body) or {}
    if not move.shared.issuperset(fields) or (request.param or "").startswith("messages"):
        return None
    json_ = request.json
    if json_ is not None:
        json_ = {move.messages if name == "messages" else name: value for name, value in json_.items()}
        json_ = {**move.added, **json_} if json_ else json_
    added = "".join(f"{json.dumps(name)}: {json.dumps(value)}, " for name, value in move.added.items())
    # As text: it may be broken on purpose.
    body = request.body.replace(b'"messages"', f'{added}"{move.messages}"'.encode())
    return replace(request, path=surface.endpoint, json=json_, body=body)
