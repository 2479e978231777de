"""Which scripts the model's service can play, and what is in the way of the others.

A script says what the app-server says. Text, thoughts, calls, counts, ends and most failures begin in the model's
service; how they are spelled, cut and told in other words is the app-server's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay_mocks.upstream.failing import ELSEWHERE, FAILURES, Refusal
from assay_scripts.steps import (
    Call,
    Code,
    Command,
    Crash,
    Cut,
    ErrorNotice,
    Fail,
    Finish,
    Open,
    Overload,
    Parts,
    Patch,
    Raw,
    Repeat,
    Retry,
    Say,
    Step,
    Surrogates,
    Told,
    Usage,
    ends_turn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay_scripts.steps import Script

_SHAPES = frozenset({"native", "sentinel", "use-tool"})
_UNTOLD = (Open, Usage)
"""Steps that tell nothing."""

_OWN: Mapping[type[Step], str] = {
    Code: "a program runs in the app-server, for the models that it knows",
    Command: "a command is the app-server's own tool, called as each version has it",
    Crash: "the app-server dies, not the model's service",
    Cut: "the app-server cuts its own output",
    ErrorNotice: "the app-server itself ends a turn that failed",
    Overload: "the app-server itself refuses the turn",
    Patch: "a patch is the app-server's own tool, called as each version has it",
    Raw: "the app-server writes the line",
    Repeat: "the app-server tells its own notifications again",
    Retry: "whether the service is asked again is in the app-server's configuration",
    Surrogates: "the app-server spells its own output",
}
_TOLD: Mapping[Told, str] = {
    "story": "the words of another dialect are the app-server's",
    "double": "which families of events are told is the app-server's own version",
}


def why_unplayable(script: Script) -> str:
    """Why the model's service cannot play a script; '' when it can."""
    if script.choices:
        return "of threads that ask at the same time, which comes first is chance"
    return why_not(script.parts, script.told)


def why_not(parts: Parts, told: Told = "v2") -> str:
    """Why the model's service cannot play these parts, told in these words; '' when it can."""
    return _TOLD.get(told) or next(filter(None, map(_of_part, parts)), "")


def _of_part(part: Sequence[Step]) -> str:
    for at, step in enumerate(part):
        if at and ends_turn(part[at - 1]):
            return f"{_name(step)}: nothing that comes after the end of an answer is read"
        why = _OWN.get(type(step)) or _CHECKS.get(type(step), _nothing)(step, part[:at])
        if why:
            return f"{_name(step)}: {why}"
    return ""


def _name(step: Step) -> str:
    return type(step).__name__


def _nothing(_step: Any, _before: Sequence[Step]) -> str:  # noqa: ANN401 - any step
    return ""


def _choice(step: Say | Finish, _before: Sequence[Step]) -> str:
    return "an answer of the service is one choice" if step.choice is not None else ""


def _call(call: Call, _before: Sequence[Step]) -> str:
    other = [shape for shape in call.shapes if shape not in _SHAPES]
    if other:
        return f"the service has no shape {other[0]}"
    return "an unfinished call is told in pieces, and Codex waits for the whole" if call.unfinished else ""


def _fail(step: Fail, before: Sequence[Step]) -> str:
    if step.cause in ELSEWHERE:
        return ELSEWHERE[step.cause]
    said = any(not isinstance(earlier, _UNTOLD) for earlier in before)
    return "an HTTP error comes before everything else" if said and isinstance(FAILURES[step.cause], Refusal) else ""


_CHECKS: Mapping[type[Step], Callable[[Any, Sequence[Step]], str]] = {
    Say: _choice,
    Finish: _choice,
    Call: _call,
    Fail: _fail,
}
