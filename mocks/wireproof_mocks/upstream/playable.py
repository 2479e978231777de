"""Which scripts the model's service can play, and why it cannot play the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_mocks.upstream.failing import ELSEWHERE, FAILURES, HttpRefusal
from wireproof_scripts import steps as language
from wireproof_scripts.steps.services import ServiceLimits, one_choice, unknown_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof_scripts.steps import Step

_SILENT = (language.Open, language.Usage)
"""Steps for which nothing is sent at once."""


def _elsewhere(step: Step) -> str:
    return language.only_app_server(step) or language.only_cursor(step) or language.only_endpoint(step)


def _call(call: language.Call, _before: Sequence[Step]) -> str:
    # Half a call would reach no proxy.
    unfinished = "Codex waits for the complete call and sends no pieces of it" if call.unfinished else ""
    return unknown_shape(call) or unfinished


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


LIMITS = ServiceLimits(
    chance="which of several threads sends its request first is chance",
    # Scripts of late text or calls; they are played by the mock of the app-server alone.
    ends=language.ends_turn,
    over="Codex reads nothing after the end of an answer",
    elsewhere=_elsewhere,
    checks={
        language.Say: one_choice,
        language.Finish: one_choice,
        language.Call: _call,
        language.Fail: _fail,
        language.Reflect: _reflect,
    },
)
