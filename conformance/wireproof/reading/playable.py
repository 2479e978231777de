"""Which scenarios a backend can play, and why not.

The mock of Codex plays all of them, a real Codex those that its model's service can, the mock of Cursor's agent service
those that its protocol has a form for. What an older Codex cannot do, the mock of that version does not do either.
Behind a gateway the mock plays all that an upstream of OpenAI's kind can show.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wireproof.model.scenario import ConversationScenario, Need, PlainScenario
from wireproof.model.target import Backend, Missing
from wireproof.wire.fields import json_object
from wireproof_cursor.playable import LIMITS as OF_CURSOR
from wireproof_mocks.upstream.playable import LIMITS as OF_MODEL
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.markers import Marker, find_marker
from wireproof_scripts.steps import Call, Finish, Reflect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from wireproof.model.scenario import Scenario
    from wireproof.model.target import Target
    from wireproof_scripts.steps import Script, Step


def unsupported_reason(scenario: Scenario, target: Target) -> str:
    """Why the backend behind the target cannot play a scenario; "" if it can."""
    if elsewhere := scenario.about_another(target):
        return elsewhere
    if target.backend is Backend.ENDPOINT:
        return next(filter(None, map(_spelling_reason, _scripts(scenario))), "") if _takes_data(target) else ""
    if target.backend is Backend.CURSOR:
        return next(filter(None, map(_cursor_reason, _scripts(scenario))), "")
    return _codex_reason(scenario, target)


def _takes_data(target: Target) -> bool:
    """Whether what is behind the target has no place for arguments of a call that are no JSON object."""
    return Missing.SPELLING in target.missing


def _spelling_reason(name: str) -> str:
    """Why an upstream that is asked for messages cannot play a script; "" if it can."""
    parts = (part for parts in (LIBRARY[name].parts, *LIBRARY[name].choices) for part in parts)
    called = (step for part in parts for step in part if isinstance(step, Call))
    broken = any(json_object((step.arguments or "{}").encode()) is None for step in called)
    return (
        f"the gateway asks its upstream for messages, whose calls have no place for those of {name}" if broken else ""
    )


def _codex_reason(scenario: Scenario, target: Target) -> str:
    """Why the Codex behind the target, real or played, cannot play a scenario; "" if it can."""
    real = target.backend is Backend.CODEX
    if not (real or target.missing):
        return ""
    for name in _scripts(scenario):
        why = (OF_MODEL.why_unplayable(LIBRARY[name]) if real else "") or _missing_reason(_needs(LIBRARY[name]), target)
        if why and real:
            return f"a real Codex is behind the target, whose model's service cannot play {name}: {why}"
        if why:
            return f"the mock behind the target plays an older Codex, which cannot play {name}: {why}"
    why = _missing_reason(set(_needs_of_history(scenario)), target)
    return f"an older Codex is behind the target: {why}" if why else ""


_NO_END = "Finish: the service waits for the results of calls, and does not show the end of an answer before"


def _cursor_reason(name: str) -> str:
    """Why the mock of Cursor's agent service cannot play a script; "" if it can."""
    why = OF_CURSOR.why_unplayable(LIBRARY[name]) or (_NO_END if any(map(_calls_late, LIBRARY[name].parts)) else "")
    return f"Cursor's agent service is behind the target, which cannot play {name}: {why}" if why else ""


def _needs_of_history(scenario: Scenario) -> Iterator[Missing]:
    if Need.HISTORY in scenario.needs:
        yield Missing.HISTORY
    if isinstance(scenario, PlainScenario):
        return
    # Only a script that reports what the backend received shows by whom each message is said to be.
    reported = scenario.script and any(Reflect("received") in part for part in LIBRARY[scenario.script].parts)
    if reported and any(message["role"] == "assistant" for message in scenario.history):
        yield Missing.ROLES


def _missing_reason(needs: AbstractSet[Missing], target: Target) -> str:
    """What the scenario needs and this Codex cannot do; "" if it can do all."""
    return next((f"this Codex {lack}" for lack in Missing if lack in needs & target.missing), "")


def _needs(script: Script) -> set[Missing]:
    parts = [*script.parts, *(part for parts in script.choices for part in parts)]
    needs = {lack for part in parts for step in part for lack in _needs_of(step)}
    return needs | {Missing.ENDS} if any(map(_calls_late, parts)) else needs


def _calls_late(part: tuple[Step, ...]) -> bool:
    """Whether an answer with calls ends, and another call comes."""
    ends = [place for place, step in enumerate(part) if isinstance(step, Finish)]
    return bool(ends) and all(
        any(isinstance(step, Call) for step in some) for some in (part[: ends[0]], part[ends[0] :])
    )


def _needs_of(step: Step) -> tuple[Missing, ...]:
    match step:
        case Call() if "native" in step.shapes:
            return (Missing.TOOLS,)
        case Finish(reason=reason) if reason != "stop":
            return (Missing.REASONS,)
        # It reports how earlier turns ended. Behind a real Codex only a connection that closes shows that.
        case Reflect(what="turns"):
            return (Missing.HANGUPS,)
    return ()


def _scripts(scenario: Scenario) -> Iterator[str]:
    """The scripts that a scenario asks for, those in the texts of its history and of plain requests among them."""
    match scenario:
        case ConversationScenario():
            named = scenario.script, *(turn.script for turn in scenario.turns)
            yield from filter(None, named)
            texts = [json.dumps(dict(message), default=str) for message in scenario.history]
        case PlainScenario():
            texts = [json.dumps(one.json, default=str) + one.body.decode(errors="replace") for one in scenario.requests]
    markers = map(find_marker, texts)
    yield from (one.script for one in markers if isinstance(one, Marker) and one.script in LIBRARY)
