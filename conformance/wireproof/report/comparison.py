"""Several results beside each other: the requirements whose verdicts differ, and how fast each target is.

They may be of one model behind several vendors or servers, or of several models. Verdicts are the worst of all forms of
answers and of all runs. A requirement that one result keeps and another does not judge is no difference of the targets:
how many each result judges is said instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from wireproof.model.scenario import Mode
from wireproof.model.target import SurfaceState
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report.grouping import grouped
from wireproof.results.cells import BROKEN, WORST
from wireproof.wire.events import Fragment, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.dialect import Surface
    from wireproof.model.requirement import Level
    from wireproof.reading.exchange import Exchange
    from wireproof.results.document import Flaky, Report, Summary

LONG = 8
"""Tokens that a streamed answer must have for its speed to be counted: of fewer, the network decides it."""
JUDGED = BROKEN | {Verdict.PASS}


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
