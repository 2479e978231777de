"""Which scenarios a backend can play: the mock all of them, a real Codex those that its model's service can."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from assay.target import Backend, Lack
from assay_mocks.library import LIBRARY
from assay_mocks.marker import Marker, find_marker
from assay_mocks.script import Call, Finish, Reflect
from assay_mocks.upstream.playable import why_unplayable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.scenario import Request, Scenario
    from assay.target import Target
    from assay_mocks.script import Script, Step


def why_not(scenario: Scenario, target: Target) -> str:
    """Why the backend behind the target cannot play a scenario; '' when it can."""
    if target.backend is not Backend.CODEX:
        return ""
    for name in _scripts(scenario):
        why = why_unplayable(LIBRARY[name]) or _why_lacking(LIBRARY[name], target)
        if why:
            return f"a real Codex is behind the target, whose model's service cannot play {name}: {why}"
    return ""


def _why_lacking(script: Script, target: Target) -> str:
    """What this Codex would need for a script and cannot do; '' when there is nothing."""
    needs = {lack for part in script.parts for step in part for lack in _needs(step)}
    return next((f"this Codex {lack}" for lack in Lack if lack in needs & target.lacks), "")


def _needs(step: Step) -> tuple[Lack, ...]:
    match step:
        case Call() if "native" in step.shapes:
            return (Lack.TOOLS,)
        case Finish(reason=reason) if reason != "stop":
            return (Lack.REASONS,)
        case Reflect(what="turns"):
            return (Lack.HANGUPS,)
    return ()


def _scripts(scenario: Scenario) -> Iterator[str]:
    """The scripts that a scenario asks for, those in the texts of its history and of plain requests among them."""
    if scenario.script:
        yield scenario.script
    yield from (turn.script for turn in scenario.turns if turn.script)
    texts = [json.dumps(dict(message), default=str) for message in scenario.history]
    texts += [_text(request) for request in (scenario.request.each if scenario.request else ())]
    markers = map(find_marker, texts)
    yield from (one.script for one in markers if isinstance(one, Marker) and one.script in LIBRARY)


def _text(request: Request) -> str:
    return json.dumps(request.json, default=str) + request.body.decode(errors="replace")
