"""A requirement on the wire: an exchange of a real run that keeps it, and one that breaks it, with the place marked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.model.scenario import Form
from wireproof.model.verdict import Verdict
from wireproof.report.curl import curl
from wireproof.results.cells import BROKEN
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.reading.exchange import Exchange
    from wireproof.results.document import Report, ScenarioVerdict, SeenAt

AROUND = 700
"""Bytes of a body that are shown before and behind a place, and twice of a body without one."""
_FRAME = b"\n\n"
_UNSAFE = re.compile(r"[^A-Za-z0-9@._-]+|^\.+")


@dataclass(frozen=True, kw_only=True)
class Example:
    """An exchange, as far as it shows a requirement. Its texts have lines, and nothing else that is invisible."""

    of: str
    """Which target it is of."""
    scenario: str
    form: str
    number: int
    """The number of the exchange in its scenario, counted from 0."""
    request: str
    """A curl command."""
    answer: str
    """The status and the headers."""
    before: str
    at: str
    """The bytes that break the requirement; "": there are none to mark."""
    after: str
    seen: str
    """What was seen there; "" where the requirement is kept."""


@dataclass(frozen=True, kw_only=True)
class SiteEntry:
    """A result of the site, whose exchanges may serve as examples."""

    name: str
    """The proxy."""
    version: str
    """"": not known."""
    report: Report
    runs: Sequence[ScenarioRun]

    @property
    def file(self) -> str:
        """The name of its pages, in which only letters, digits, dots, dashes, underscores and one @ stand."""
        return slug(f"{self.name}@{self.version}" if self.version else self.name)


def slug(name: str) -> str:
    """A name as that of a file, whatever stands in it."""
    return _UNSAFE.sub("-", name) or "-"


def failing(results: Sequence[SiteEntry]) -> dict[str, Example]:
    """Requirement → the first exchange that breaks it."""
    found: dict[str, Example] = {}
    for one in results:
        for outcome in one.report.outcomes:
            place = _worst(outcome)
            if place and outcome.requirement not in found and (exchange := _at(one.runs, place)):
                found[outcome.requirement] = _example(one, exchange, place)
    return found


def passing(results: Sequence[SiteEntry], like: Mapping[str, Example]) -> dict[str, Example]:
    """Requirement → an exchange that keeps it, in the scenario and form in which another breaks it if it can be."""
    found: dict[str, Example] = {}
    there = {(name, example.scenario) for name, example in like.items()}
    for one in results:
        # Those first whose scenario is that of the other example.
        for outcome in sorted(one.report.outcomes, key=lambda of: (of.requirement, of.scenario) not in there):
            if outcome.strict is Verdict.PASS and outcome.requirement not in found:
                exchange = _shows(one.runs, outcome, like.get(outcome.requirement))
                if exchange:
                    found[outcome.requirement] = _example(one, exchange, None)
    return found


def _worst(outcome: ScenarioVerdict) -> SeenAt | None:
    """The place to show: one with bytes, where there is one."""
    places = outcome.places if outcome.strict in BROKEN else ()
    return next((one for one in places if one.offset is not None), next(iter(places), None))


def _at(runs: Sequence[ScenarioRun], place: SeenAt) -> Exchange | None:
    form = Form(place.dialect, place.mode)
    there = (one for run in runs if run.scenario.name == place.scenario for one in run.exchanges.get(form, ()))
    return next((one for one in there if one.number == place.exchange), None)


def _shows(runs: Sequence[ScenarioRun], outcome: ScenarioVerdict, other: Example | None) -> Exchange | None:
    """The exchange that is broken elsewhere; else the last of the scenario, in the form that is if it can be."""
    mine = (run for run in runs if run.scenario.name == outcome.scenario)
    there = [those for run in mine for those in run.exchanges.values() if those]
    those = next((those for those in there if other and str(those[0].form) == other.form), next(iter(there), ()))
    alike = (one for one in those if other and (one.scenario.name, one.number) == (other.scenario, other.number))
    return next(alike, those[-1] if those else None)


def _example(source: SiteEntry, exchange: Exchange, place: SeenAt | None) -> Example:
    transcript = exchange.transcript
    body = transcript.body
    begin, end = _marked(place, len(body))
    start, stop = _window(body, begin, end)
    head = [f"HTTP {transcript.status}" if transcript.status else f"no answer ({transcript.end})"]
    head += [f"{name}: {value}" for name, value in transcript.headers]
    return Example(
        of=f"{source.name} {source.version}".strip(),
        scenario=exchange.scenario.name,
        form=str(exchange.form),
        number=exchange.number,
        request=visible(curl(transcript, exchange.target)),
        answer=_lines("\n".join(head)),
        before=("… " if start else "") + _text(body[start:begin]),
        at=_text(body[begin:end]),
        after=_text(body[end:stop]) + (" …" if stop < len(body) else ""),
        seen=visible(place.seen) if place else "",
    )


def _marked(place: SeenAt | None, size: int) -> tuple[int, int]:
    """Where the bytes of a place begin and end; a place that is the whole body marks nothing."""
    if place is None or place.offset is None or (place.offset == 0 and (place.length or 0) >= size):
        return 0, 0
    return place.offset, min(place.offset + min(place.length or 0, 2 * AROUND), size)


def _window(body: bytes, begin: int, end: int) -> tuple[int, int]:
    """What is shown around: whole frames, where there are some."""
    start = max(begin - AROUND, 0)
    if start:
        frame = body.find(_FRAME, start, begin)
        start = frame + len(_FRAME) if frame >= 0 else start
    return start, min(end + (AROUND if begin else 2 * AROUND), len(body))


def _text(data: bytes) -> str:
    return _lines(data.decode(errors="backslashreplace"))


def _lines(text: str) -> str:
    # Not `splitlines`, which takes other characters for ends of lines, too.
    return "\n".join(visible(line.removesuffix("\r")) for line in text.split("\n"))
