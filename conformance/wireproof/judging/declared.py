"""Capabilities that a target is declared not to have: the answers that lack them are not judged by what was asked.

A declaration excuses an answer that refuses a request or passes over what it asks for. It excuses no broken connection,
no silence and no error of the server, and nothing at all on a surface where any answer serves the capability.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.judging.capabilities import asked_for, surface_of, uses
from wireproof.model.capability import Capability, Use
from wireproof.model.transcript import End

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.dialect import Surface
    from wireproof.reading.exchange import Exchange

SERVER_ERROR = 500
NOT_IMPLEMENTED = 501


def without_absent(runs: Sequence[ScenarioRun], declared: Mapping[Capability, str]) -> Sequence[ScenarioRun]:
    """The runs, with the forms that only show a declared absence set aside."""
    if not declared:
        return runs
    lacking = {
        (surface, capability)
        for surface, seen in uses(runs).items()
        for capability, use in seen.items()
        if capability in declared and use is not Use.SERVED
    }
    return [_without(run, declared, lacking) for run in runs]


def _without(
    run: ScenarioRun, declared: Mapping[Capability, str], lacking: set[tuple[Surface, Capability]]
) -> ScenarioRun:
    absent = {}
    for form, exchanges in run.exchanges.items():
        asked = ((surface_of(one), capability) for one in exchanges for capability in asked_for(one))
        lacks = next((capability for surface, capability in asked if (surface, capability) in lacking), None)
        if lacks is not None and all(map(_whole, exchanges)):
            absent[form] = f"{lacks} declared absent: {declared[lacks]}"
    if not absent:
        return run
    return replace(
        run,
        exchanges={form: those for form, those in run.exchanges.items() if form not in absent},
        absent={**run.absent, **absent},
    )


def _whole(exchange: Exchange) -> bool:
    """Whether an answer came, and is none that blames the server."""
    answer = exchange.transcript
    fails = answer.status is None or (answer.status >= SERVER_ERROR and answer.status != NOT_IMPLEMENTED)
    return answer.end in {End.COMPLETE, End.LEFT} and answer.death is None and not fails
