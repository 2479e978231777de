"""Scenarios as they are driven against one target: plain requests in its style of key, on the surface that it serves.

What HTTP demands holds on any route and in any style, so a scenario about it is written once, for chat completions and
a bearer token. Pure, and the same for a saved run: whoever judges one adapts its scenarios again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.model.dialect import CHATS, Dialect, Surface
from wireproof.model.scenario import ConversationScenario, Mode
from wireproof.model.target import KeyStyle
from wireproof.requests.carried import SCHEMES
from wireproof.requests.ways_round import ONLY_STREAMS, changed_members, way_of, written
from wireproof.wire.fields import json_object

if TYPE_CHECKING:
    from wireproof.model.scenario import PlainScenario, Request, Scenario
    from wireproof.model.target import Target

SHARED = frozenset({"model", "messages", "stream", "temperature", "top_p", "user"})
"""The fields of a chat request that Responses have too; `messages` is `input` there."""


def adapted(scenario: Scenario, target: Target) -> Scenario:
    """The scenario for a target; itself where nothing differs."""
    if isinstance(scenario, ConversationScenario):
        return scenario
    if target.key_style is not KeyStyle.BEARER:
        scenario = _without_bearer(scenario)
    spoken = {dialect.spec.surface for dialect in target.dialects}
    scenario = _on_responses(scenario) if spoken == {Surface.RESPONSES} else scenario
    if not target.ways:
        return scenario
    return replace(scenario, requests=tuple(_round(one, scenario, target) for one in scenario.requests))


def _round(request: Request, scenario: PlainScenario, target: Target) -> Request:
    """The request by the ways round faults that the target is driven with; itself where they do not change it."""
    surface = next((one for one in Surface if request.method == "POST" and request.path == one.endpoint), None)
    if surface is None:
        return request
    # What the backend received is read in a whole answer, which a target that only streams refuses to give.
    if request.reflects:
        target = replace(target, ways=tuple(one for one in target.ways if way_of(one) is not ONLY_STREAMS))
    if request.json is None:
        return replace(request, body=written(request.body, scenario, surface, Mode.WHOLE, target))
    return replace(request, json=changed_members(request.json, scenario, surface, Mode.WHOLE, target))


def _without_bearer(scenario: PlainScenario) -> PlainScenario:
    """The scenario without what only a bearer token has: a scheme, and the challenge that names it (RFC 6750)."""
    return replace(scenario, requests=tuple(_unchallenged(one) for one in scenario.requests if one.auth not in SCHEMES))


def _unchallenged(request: Request) -> Request:
    return replace(request, shows={name: text for name, text in request.shows.items() if name != "www-authenticate"})


def _on_responses(scenario: PlainScenario) -> PlainScenario:
    """The scenario on the Responses route; for chat alone where its requests have fields that Responses lack."""
    if Dialect.RESPONSES not in scenario.dialects:
        return scenario
    moved = [_moved(one) for one in scenario.requests]
    there = tuple(one for one in moved if one is not None)
    return replace(scenario, requests=there) if len(there) == len(moved) else replace(scenario, dialects=CHATS)


def _moved(request: Request) -> Request | None:
    """The request on the Responses route; itself where it is for another one; None where it cannot be moved."""
    if request.path != Surface.CHAT.endpoint:
        return request
    fields = request.json if request.json is not None else json_object(request.body) or {}
    if not SHARED.issuperset(fields) or (request.param or "").startswith("messages"):
        return None
    return replace(
        request,
        path=Surface.RESPONSES.endpoint,
        json=None if request.json is None else {_name(field): value for field, value in request.json.items()},
        # As text: it may be broken on purpose.
        body=request.body.replace(b'"messages"', b'"input"'),
    )


def _name(field: str) -> str:
    return "input" if field == "messages" else field
