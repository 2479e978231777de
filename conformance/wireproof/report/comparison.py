"""Results compared: what has changed from one to another, and several beside each other.

What broke and what was mended is said scenario by scenario, so that a requirement which is broken in one more place
shows. Answers are compared as snapshots are: without ids, times and nonces.

Several results may be of one model behind several vendors or servers, or of several models. Verdicts are the worst of
all forms of answers and of all runs; how fast each target is is said, too. A requirement that one result keeps and
another does not judge is no difference of the targets: how many each result judges is said instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from statistics import median
from typing import TYPE_CHECKING

from wireproof.model.scenario import Mode
from wireproof.model.target import SurfaceState
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report.grouping import grouped
from wireproof.report.rendering import document
from wireproof.results.cells import BROKEN, JUDGED, WORST
from wireproof.wire.events import Fragment, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.dialect import Surface
    from wireproof.model.requirement import Level
    from wireproof.reading.exchange import Exchange
    from wireproof.results.document import Flaky, Report, Summary

    _Key = tuple[str, str]

LONG = 8
"""Tokens that a streamed answer must have for its speed to be counted: of fewer, the network decides it."""


# What has changed from one to another


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
    old, new = ({(one.scenario, one.requirement): one.at(level) for one in of.outcomes} for of in (before, after))
    # What only one of both was about is no change of the target: it was another selection, or another catalogue.
    both = {key: (old[key], verdict) for key, verdict in new.items() if key in old}

    def scenarios_of(changed: Callable[[Verdict, Verdict], bool]) -> dict[str, list[str]]:
        return grouped((row, scenario) for (scenario, row), verdicts in both.items() if changed(*verdicts))

    return Difference(
        level=level,
        broken=scenarios_of(lambda was, now: now in BROKEN and was not in BROKEN),
        mended=scenarios_of(lambda was, now: was in BROKEN and now is Verdict.PASS),
        lost=scenarios_of(lambda was, now: was in JUDGED and now not in JUDGED),
        wire=tuple(_wire(*map(_documents, runs))),
    )


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


# Several beside each other


@dataclass(frozen=True, kw_only=True)
class Speed:
    """How fast a target's streams came, over all runs of a result; the medians."""

    streams: int
    """How many streamed answers had a text or a call."""
    first_token: float | None
    """Seconds until the first piece of a text or of a call; null: nothing was streamed."""
    tokens_per_second: float | None
    """From the first piece to the last, by the target's own count of its tokens; null: no answer was long enough, had
    a count, and came in more than one piece."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A result that is compared."""

    name: str
    url: str
    model: str
    surfaces: tuple[Surface, ...]
    """Those that were judged."""
    runs: int
    """How often the target was driven."""
    summary: Summary | None
    """What it comes to at the level; null: nothing was judged."""
    reason: str
    """Why the run ended early; "": it did not."""
    broken: int
    """How many requirements are broken or warned of at the level."""
    judged: int
    """How many requirements were judged."""
    speed: Speed


@dataclass(frozen=True, kw_only=True)
class RowVerdict:
    """What a result says of a requirement."""

    verdict: Verdict
    broken_in: int
    """In how many runs it is broken, where others keep it; else 0."""
    seen: str
    """What was seen first, or why it was not judged; "": it passes."""


@dataclass(frozen=True, kw_only=True)
class DifferingRow:
    """A requirement on which the results differ."""

    requirement: str
    level: Level
    text: str
    verdicts: Sequence[RowVerdict]
    """In the order of the results."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several results beside each other."""

    level: VerdictLevel
    compared: Sequence[Compared]
    differing: Sequence[DifferingRow]
    """In the order of the catalogue."""
    broken_by_all: int
    """How many requirements all results break alike."""


@dataclass(frozen=True, kw_only=True)
class ResultToCompare:
    """A result, with the transcripts of each of its runs."""

    name: str
    report: Report
    runs: Sequence[Sequence[ScenarioRun]]


def comparison(results: Sequence[ResultToCompare], level: VerdictLevel) -> Comparison:
    """The results beside each other, judged by the verdicts at a level."""
    verdicts = [_verdicts(one.report, level) for one in results]
    known = {row.id: row for one in results for row in one.report.requirements.values()}
    unsaid = RowVerdict(verdict=Verdict.NOT_APPLICABLE, broken_in=0, seen="")
    rows = {id_: [of.get(id_, unsaid) for of in verdicts] for id_ in known}
    broken = {id_: those for id_, those in rows.items() if any(one.verdict in BROKEN for one in those)}
    alike = {id_ for id_, those in broken.items() if len({(one.verdict, one.broken_in) for one in those}) == 1}
    return Comparison(
        level=level,
        compared=tuple(_compared(one, of, level) for one, of in zip(results, verdicts, strict=True)),
        differing=tuple(
            DifferingRow(requirement=id_, level=known[id_].level, text=known[id_].text, verdicts=those)
            for id_, those in broken.items()
            if id_ not in alike
        ),
        broken_by_all=len(alike),
    )


def _compared(one: ResultToCompare, verdicts: Mapping[str, RowVerdict], level: VerdictLevel) -> Compared:
    target, at = one.report.target, one.report.levels.get(level)
    answers = (those for runs in one.runs for run in runs for those in run.exchanges.values())
    return Compared(
        name=one.name,
        url=target.name if target else "",
        model=target.model if target else "",
        surfaces=tuple(seen.surface for seen in target.surfaces if seen.state is SurfaceState.JUDGED) if target else (),
        runs=len(one.report.repeats) or 1,
        summary=at.summary if at else None,
        reason=one.report.reason,
        broken=sum(said.verdict in BROKEN for said in verdicts.values()),
        judged=sum(said.verdict in JUDGED for said in verdicts.values()),
        speed=speed(exchange for those in answers for exchange in those),
    )


def _verdicts(report: Report, level: VerdictLevel) -> dict[str, RowVerdict]:
    """What a result says of each requirement that it says anything of."""
    shown = {found.requirement: found.seen for found in reversed(report.findings)}
    flaky = grouped((one.requirement, one) for one in report.flaky)
    found: dict[str, RowVerdict] = {}
    for id_, those in grouped((cell.requirement, (cell.at(level), cell.reason)) for cell in report.cells).items():
        verdict, reason = min(those, key=lambda one: WORST.index(one[0]))
        seen = shown.get(id_, "") if verdict in BROKEN else reason
        found[id_] = RowVerdict(verdict=verdict, broken_in=0, seen=seen)
        if verdict not in BROKEN and id_ in flaky:
            found[id_] = _at_times(flaky[id_], level) or found[id_]
    return found


def _at_times(forms: Iterable[Flaky], level: VerdictLevel) -> RowVerdict | None:
    """The verdict on a requirement that the run which is shown keeps, where other runs break it at the level."""
    forms = tuple(forms)
    runs = [set(of_run) & BROKEN for of_run in zip(*(one.at(level) for one in forms), strict=True)]
    if not any(runs):
        return None
    worst = min(set().union(*runs), key=WORST.index)
    return RowVerdict(verdict=worst, broken_in=sum(map(bool, runs)), seen=forms[0].seen)


def speed(exchanges: Iterable[Exchange]) -> Speed:
    """How fast the streams among these answers came."""
    streams = [timed for one in exchanges if one.mode is Mode.STREAM and (timed := _timed(one)) is not None]
    rates = [rate for _, rate in streams if rate is not None]
    return Speed(
        streams=len(streams),
        first_token=median(first for first, _ in streams) if streams else None,
        tokens_per_second=median(rates) if rates else None,
    )


def _timed(exchange: Exchange) -> tuple[float, float | None] | None:
    """(seconds until the first token, tokens a second after it) of an answer; None: it has neither text nor call."""
    times = list(_token_times(exchange))
    if not times:
        return None
    usage, lasted = exchange.answer.usage, times[-1] - times[0]
    # Those of reasoning came before, or never.
    tokens = usage.completion - (usage.reasoning or 0) if usage else 0
    # All in one piece, it was held back, or was too fast for its speed to be seen. The first begins the time.
    return times[0], (tokens - 1) / lasted if tokens >= LONG and lasted > 0 else None


def _token_times(exchange: Exchange) -> Iterator[float]:
    """When each piece of a text or of the arguments of a call came: the read that has the last byte of its frame."""
    if exchange.reading is None:
        return
    frames = {frame.number: frame.offset + len(frame.raw) for frame in exchange.reading.frames}
    arrivals = iter(exchange.transcript.pieces)
    read, at = 0, 0.0
    for event in exchange.reading.events:
        if isinstance(event, Text | Fragment) and event.text and event.frame in frames:
            while read < frames[event.frame] and (piece := next(arrivals, None)) is not None:
                read, at = read + len(piece.data), piece.at
            yield at
