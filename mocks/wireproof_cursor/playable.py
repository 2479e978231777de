"""Which scripts the service can play, and why it cannot play the others.

It has no finish reasons, no choices, and one shape of calls besides text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_cursor.wire.causes import ELSEWHERE
from wireproof_scripts import steps as language
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.steps.cursor import EndStream, Refuse
from wireproof_scripts.steps.services import ServiceLimits, one_choice, unknown_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof_scripts.steps import Step


def _elsewhere(step: Step) -> str:
    # The service has its own form of this step of the app-server: a connection may close anywhere.
    if isinstance(step, language.Crash):
        return ""
    return language.only_app_server(step) or language.only_endpoint(step)


def _ends_stream(step: Step) -> bool:
    return isinstance(step, language.Fail | language.Crash | EndStream) or (
        isinstance(step, Refuse) and step.form != "append"
    )


def _finish(step: language.Finish, before: Sequence[Step]) -> str:
    reason = "the service does not say why an answer ends" if step.reason != "stop" else ""
    return one_choice(step, before) or reason


def _call(call: language.Call, _before: Sequence[Step]) -> str:
    if (why := unknown_shape(call)) or "native" not in call.shapes:
        return why
    try:
        arguments = parse_json(call.arguments)
    except ValueError:
        arguments = None
    return (
        "" if isinstance(arguments, dict) else "the arguments of a call are a map: JSON that is no object has no form"
    )


LIMITS = ServiceLimits(
    chance="which of several runs begins first is chance",
    ends=_ends_stream,
    over="nothing follows the end of a stream",
    elsewhere=_elsewhere,
    checks={
        language.Say: one_choice,
        language.Finish: _finish,
        language.Call: _call,
        language.Fail: lambda step, _: ELSEWHERE.get(step.cause, ""),
        language.WebSearch: lambda *_: "its own search asks the client: write query",
    },
)
