"""Which scripts the model's service can play, and why it cannot play the others.

A script describes what the app-server sends. Text, reasoning, calls, counts, ends and most failures come from the
model's service, so a service can play them. How they are spelled, cut into output or sent in another dialect is the
app-server's own doing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_mocks.upstream.failing import ELSEWHERE, FAILURES, HttpRefusal
from wireproof_scripts import steps as language

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_scripts.steps import Notifications, Parts, Script, Step

_SHAPES = frozenset({"native", "sentinel", "use-tool"})
_SILENT = (language.Open, language.Usage)
"""Steps for which nothing is sent at once."""

_DIALECTS: Mapping[Notifications, str] = {
    "story": "the app-server chooses the dialect of its notifications",
    "double": "the version of the app-server decides which notifications are sent",
}


def why_unplayable(script: Script) -> str:
    """Why the model's service cannot play a script; '' when it can."""
    if script.choices:
        return "which of several threads sends its request first is chance"
    return why_not(script.parts, script.notifications)


def why_not(parts: Parts, notifications: Notifications = "v2") -> str:
    """Why the model's service cannot play these parts with these notifications; '' when it can."""
    return _DIALECTS.get(notifications) or next(filter(None, map(_of_part, parts)), "")


def _of_part(part: Sequence[Step]) -> str:
    for at, step in enumerate(part):
        # Scripts of late text or calls; they are played by the mock of the app-server alone.
        if at and language.ends_turn(part[at - 1]):
            return f"{_name(step)}: Codex reads nothing after the end of an answer"
        why = (
            language.only_app_server(step)
            or language.only_cursor(step)
            or language.only_endpoint(step)
            or _CHECKS.get(type(step), _nothing)(step, part[:at])
        )
        if why:
            return f"{_name(step)}: {why}"
    return ""


def _name(step: Step) -> str:
    return type(step).__name__


def _nothing(_step: object, _before: Sequence[Step]) -> str:
    return ""


def _choice(step: language.Say | language.Finish, _before: Sequence[Step]) -> str:
    return "an answer of the service is one choice" if step.choice is not None else ""


def _call(call: language.Call, _before: Sequence[Step]) -> str:
    other = [shape for shape in call.shapes if shape not in _SHAPES]
    if other:
        return f"the service has no shape {other[0]}"
    # Half a call would reach no proxy.
    return "Codex waits for the complete call and sends no pieces of it" if call.unfinished else ""


def _fail(step: language.Fail, before: Sequence[Step]) -> str:
    if step.cause in ELSEWHERE:
        return ELSEWHERE[step.cause]
    # A status line cannot be sent once the stream has begun.
    sent = any(not isinstance(earlier, _SILENT) for earlier in before)
    return (
        "an HTTP error comes before everything else" if sent and isinstance(FAILURES[step.cause], HttpRefusal) else ""
    )


def _reflect(step: language.Reflect, _before: Sequence[Step]) -> str:
    return "the service does not know which app-server asks it" if step.what == "backend" else ""


_CHECKS: Mapping[type[Step], Callable[[Any, Sequence[Step]], str]] = {
    language.Say: _choice,
    language.Finish: _choice,
    language.Call: _call,
    language.Fail: _fail,
    language.Reflect: _reflect,
}
