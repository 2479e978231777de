"""Which scripts the service can play, and why it cannot play the others.

Many scripts describe what the app-server of Codex sends. The service has text, reasoning, calls, counts, ends and
failures, too; it has no finish reasons, no choices, and one shape of calls besides text.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wireproof_cursor.wire.causes import ELSEWHERE
from wireproof_scripts import steps as language
from wireproof_scripts.steps.cursor import EndStream, Refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_scripts.steps import Notifications, Parts, Script, Step

_SHAPES = frozenset({"native", "sentinel", "use-tool"})
_PLAYED = (language.Crash,)
"""Steps of the app-server that the service has its own form of: a connection may close anywhere."""

_DIALECTS: Mapping[Notifications, str] = {
    "story": "the app-server chooses the dialect of its notifications",
    "double": "the version of the app-server decides which notifications are sent",
}


def why_unplayable(script: Script) -> str:
    """Why the service cannot play a script; "" if it can."""
    if script.choices:
        return "which of several runs begins first is chance"
    return why_not(script.parts, script.notifications)


def why_not(parts: Parts, notifications: Notifications = "v2") -> str:
    """Why the service cannot play these parts with these notifications; "" if it can."""
    return _DIALECTS.get(notifications) or next(filter(None, map(_of_part, parts)), "")


def _of_part(part: Sequence[Step]) -> str:
    for at, step in enumerate(part):
        if at and _ends_stream(part[at - 1]):
            return f"{_name(step)}: nothing follows the end of a stream"
        why = "" if isinstance(step, _PLAYED) else language.only_app_server(step) or language.only_endpoint(step)
        why = why or _CHECKS.get(type(step), _nothing)(step)
        if why:
            return f"{_name(step)}: {why}"
    return ""


def _ends_stream(step: Step) -> bool:
    return isinstance(step, language.Fail | language.Crash | EndStream) or (
        isinstance(step, Refuse) and step.form != "append"
    )


def _name(step: Step) -> str:
    return type(step).__name__


def _nothing(_step: object) -> str:
    return ""


def _say(step: language.Say) -> str:
    return "an answer of the service is one choice" if step.choice is not None else ""


def _finish(step: language.Finish) -> str:
    if step.choice is not None:
        return "an answer of the service is one choice"
    return "the service does not say why an answer ends" if step.reason != "stop" else ""


def _call(call: language.Call) -> str:
    other = [shape for shape in call.shapes if shape not in _SHAPES]
    if other:
        return f"the service has no shape {other[0]}"
    if "native" not in call.shapes:
        return ""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = None
    return (
        "" if isinstance(arguments, dict) else "the arguments of a call are a map: JSON that is no object has no form"
    )


def _fail(step: language.Fail) -> str:
    return ELSEWHERE.get(step.cause, "")


_CHECKS: Mapping[type[Step], Callable[[Any], str]] = {
    language.Say: _say,
    language.Finish: _finish,
    language.Call: _call,
    language.Fail: _fail,
    language.WebSearch: lambda _: "its own search asks the client: write query",
}
