"""What differs between two results: what broke, what was mended, and answers that look different on the wire.

Verdicts are compared scenario by scenario, so that a requirement which is broken in one more place shows. Answers are
compared as snapshots are: without ids, times and nonces.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report.grouping import grouped
from wireproof.report.rendering import document
from wireproof.results.cells import BROKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.reading.exchange import Exchange
    from wireproof.results.document import Report

    _Key = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class WireChange:
    """A line of the wire that differs."""

    scenario: str
    form: str
    before: str
    """The first line that differs, as it was; "": there was none more."""
    after: str


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What differs between two results; each mapping goes from a requirement to the scenarios in which it does."""

    level: VerdictLevel
    broken: Mapping[str, Sequence[str]]
    """What was not broken, and is."""
    mended: Mapping[str, Sequence[str]]
    """What was broken, and passes."""
    lost: Mapping[str, Sequence[str]]
    """What was judged, and is not any more."""
    wire: Sequence[WireChange]

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.broken or self.mended or self.lost or self.wire)


def difference(
    before: Report, after: Report, *, level: VerdictLevel, runs: tuple[Iterable[ScenarioRun], Iterable[ScenarioRun]]
) -> Difference:
    """What differs at a level. `runs` are those of both results."""
    old, new = (_verdicts(report, level) for report in (before, after))
    judged = BROKEN | {Verdict.PASS}
    # What only one of both was about is no change of the target: it was another selection, or another catalogue.
    both = {key: (old[key], verdict) for key, verdict in new.items() if key in old}

    def scenarios_of(changed: Callable[[Verdict, Verdict], bool]) -> dict[str, list[str]]:
        return grouped((row, scenario) for (scenario, row), verdicts in both.items() if changed(*verdicts))

    return Difference(
        level=level,
        broken=scenarios_of(lambda was, now: now in BROKEN and was not in BROKEN),
        mended=scenarios_of(lambda was, now: was in BROKEN and now is Verdict.PASS),
        lost=scenarios_of(lambda was, now: was in judged and now not in judged),
        wire=tuple(_wire(*map(_documents, runs))),
    )


def _verdicts(report: Report, level: VerdictLevel) -> dict[_Key, Verdict]:
    return {(one.scenario, one.requirement): one.at(level) for one in report.outcomes}


def _documents(runs: Iterable[ScenarioRun]) -> dict[_Key, Sequence[Exchange]]:
    return {(run.scenario.name, str(form)): those for run in runs for form, those in run.exchanges.items() if those}


def _wire(before: Mapping[_Key, Sequence[Exchange]], after: Mapping[_Key, Sequence[Exchange]]) -> Iterator[WireChange]:
    for (scenario, form), exchanges in after.items():
        if (scenario, form) in before:
            old, new = (document(those).splitlines() for those in (before[scenario, form], exchanges))
            # The request is in it, too: it says which exchange the line is of.
            lines = next((pair for pair in zip_longest(old, new, fillvalue="") if pair[0] != pair[1]), None)
            if lines is not None:
                yield WireChange(scenario=scenario, form=form, before=lines[0], after=lines[1])
