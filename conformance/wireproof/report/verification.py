"""Whether transcripts give the verdict that a result says: the result, and what they were judged to say again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report.scenario_json import scenario_data
from wireproof.results.cells import BROKEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wireproof.model.scenario import Scenario
    from wireproof.results.document import AtLevel, Report

_Key = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What judging again has shown."""

    differences: tuple[str, ...]
    """What the transcripts do not give, a line each."""
    unjudged: tuple[str, ...]
    """The scenarios that have changed or gone since, and were not judged again."""
    withdrawn: tuple[str, ...]
    """The requirements of the edition that have no check any more."""


def digests(scenarios: Iterable[Scenario]) -> dict[str, str]:
    """Scenario → what names all that decides how it is driven and judged."""
    return {scenario.name: _digest(scenario) for scenario in scenarios}


def of_report(report: Report, scenarios: Iterable[Scenario]) -> dict[str, str]:
    """The digests of the scenarios that a result speaks of."""
    names = {one.scenario for one in report.driven} | {one.scenario for one in report.outcomes}
    return digests(one for one in scenarios if one.name in names)


def _digest(scenario: Scenario) -> str:
    data = scenario_data(scenario)
    # What it is called for people decides nothing.
    data.pop("title", None)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def changed(then: Mapping[str, str], now: Iterable[Scenario]) -> tuple[str, ...]:
    """The scenarios of a certificate that are not what they were."""
    current = digests(now)
    return tuple(name for name, digest in then.items() if current.get(name) != digest)


def compared(said: Report, again: Report, *, unjudged: Iterable[str], withdrawn: Iterable[str]) -> Verification:
    """What differs between what a result says and what its transcripts, judged by the same edition, say again.

    `unjudged` are the scenarios that could not be judged as they were then, `withdrawn` the requirements.
    """
    left_out, gone = frozenset(unjudged), frozenset(withdrawn)
    # With something left out, sums cannot be compared; every outcome still is.
    sums = () if left_out or gone else (*_of_target(said, again), *_of_levels(said, again))
    return Verification(
        differences=(*sums, *_of_outcomes(said, again, left_out, gone)),
        unjudged=tuple(sorted(left_out)),
        withdrawn=tuple(sorted(gone)),
    )


def _of_target(said: Report, again: Report) -> Iterator[str]:
    for what in ("base_url", "client", "model", "backend", "asks_for_key"):
        before, after = (getattr(one.target, what, None) for one in (said, again))
        if before != after:
            yield f"its {what} is {before}, and the transcripts are of {after}"
    if _surfaces(said) != _surfaces(again):
        yield "its surfaces are not those of the transcripts"


def _surfaces(report: Report) -> Mapping[str, object]:
    return {one.surface: (one.state, one.dialects) for one in report.target.surfaces} if report.target else {}


def _of_levels(said: Report, again: Report) -> Iterator[str]:
    if said.status != again.status:
        yield f"its exit status is {said.status}, and the transcripts give {again.status}"
    for level in VerdictLevel:
        before, after = said.levels.get(level), again.levels.get(level)
        sums = [one.summary if one else "nothing" for one in (before, after)]
        if before is None or after is None or before.summary != after.summary:
            yield f"{level}: it says {sums[0]}, and the transcripts give {sums[1]}"
        elif _counts(before) != _counts(after):
            yield f"{level}: its counts are not those of the transcripts"


def _counts(level: AtLevel) -> object:
    return level.counts, level.broken, set(level.unobserved)


def _of_outcomes(said: Report, again: Report, left_out: frozenset[str], gone: frozenset[str]) -> Iterator[str]:
    before, after = _outcomes(said, left_out, gone), _outcomes(again, left_out, gone)
    # What several scenarios share is counted in the first that shows it; without some of them, that is another one.
    broken = {one.requirement for one in said.outcomes if one.strict in BROKEN}
    elsewhere = broken if left_out else set[str]()
    for scenario, requirement in dict.fromkeys([*before, *after]):
        old, new = before.get((scenario, requirement)), after.get((scenario, requirement))
        hidden = left_out and any(one is not None and Verdict.NOT_OBSERVED in one for one in (old, new))
        if old != new and not hidden and requirement not in elsewhere:
            yield f"{scenario}:{requirement}: it says {_both(old)}, and the transcripts give {_both(new)}"


def _both(verdicts: tuple[Verdict, ...] | None) -> str:
    return " and ".join(dict.fromkeys(map(str, verdicts))) if verdicts else "nothing"


def _outcomes(report: Report, left_out: frozenset[str], gone: frozenset[str]) -> Mapping[_Key, tuple[Verdict, Verdict]]:
    return {
        (one.scenario, one.requirement): (one.strict, one.compat)
        for one in report.outcomes
        if one.scenario not in left_out and one.requirement not in gone
    }
