"""The head of a verdict: what was judged, surface by surface, and which capabilities each surface showed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from wireproof.judging.capabilities import absences, uses
from wireproof.model.capability import Use
from wireproof.model.side import Side
from wireproof.model.target import SurfaceReport, SurfaceState
from wireproof.report.data import broken_by
from wireproof.report.grouping import counted, grouped, named
from wireproof.report.lines import BY, columns
from wireproof.requests.ways_round import sentence, ways_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console

    from wireproof.model.capability import Absence, Capability
    from wireproof.model.dialect import Surface
    from wireproof.model.target import Target, WayTaken
    from wireproof.results.certificate import Certificate

STYLES: Mapping[SurfaceState | Use, str] = {
    SurfaceState.JUDGED: "bold",
    SurfaceState.ABSENT: "dim",
    SurfaceState.NOT_JUDGED: "cyan",
    Use.SERVED: "green",
    Use.REFUSED: "yellow",
    Use.IGNORED: "bold red",
    Use.NOT_SEEN: "dim",
}
ONE_LINE = 160
"""Characters of an answer that the head shows."""


def head(console: Console, certificate: Certificate) -> None:
    """Print the target, its surfaces, and what each of them served, refused and ignored."""
    target = certificate.target
    if target.side is Side.CLIENT:
        _client(console, certificate)
        return
    said = (
        f"  model {target.model}, {target.backend} backend, {', '.join(target.dialects)}, "
        f"catalogue of {certificate.date}, {certificate.seconds:.1f} s{_load(certificate)}"
    )
    # `soft_wrap`: a terminal may wrap the line, but where it is piped to, it stays one line to search in.
    console.print(Text.assemble((target.base_url, "bold"), said), soft_wrap=True)
    for taken in ways_of(target):
        console.print(_round(taken, certificate), soft_wrap=True)
    used, refused = uses(certificate.runs), absences(certificate.runs)
    for surface, report in target.surfaces.items():
        for line in _surface(target, surface, report):
            console.print(line, soft_wrap=True)
        # A selection asks for few of them, and is silent about the rest.
        rows = _capabilities(used.get(surface, {}), refused, surface, every=not certificate.selection)
        if report.state is SurfaceState.JUDGED:
            columns(console, rows, by=BY)


def _client(console: Console, certificate: Certificate) -> None:
    """Print a client, what it asked for, and how it ended where it did not end by itself."""
    forms = dict.fromkeys(form for run in certificate.runs for form in run.exchanges)
    asked = ", ".join(f"{form.dialect.spec.surface} {form.mode}" for form in forms)
    count = sum(len(those) for run in certificate.runs for those in run.exchanges.values())
    said = (
        f"  {asked}, {count} requests, catalogue of {certificate.date}, {certificate.seconds:.1f} s{_load(certificate)}"
    )
    console.print(Text.assemble((_short(certificate.target.client), "bold"), said), soft_wrap=True)
    ends = grouped((run.ended, run.scenario.name) for run in certificate.runs if run.ended)
    for ended, scenarios in ends.items():
        console.print(Text(f"  {ended}: {named(scenarios)}", style=STYLES[Use.REFUSED]), soft_wrap=True)


def _load(certificate: Certificate) -> str:
    """What the target's own limits and a busy machine have cost; "" where that is nothing."""
    repeated = sum(run.repeated > 0 for run in certificate.runs)
    fewer = f", {certificate.at_a_time} at a time, {certificate.jobs} asked for"
    again = f", {counted(repeated, 'scenario')} tried again alone"
    # 0: it is not known, as of a run that was interrupted.
    return (fewer if 0 < certificate.at_a_time < certificate.jobs else "") + (again if repeated else "")


def _round(taken: WayTaken, certificate: Certificate) -> Text:
    """The line of a way round a fault, with what the fault breaks."""
    where = f"{taken.surface}  " if taken.surface else "  "
    broken = ", ".join(f"{verdict.upper()} {row}" for row, verdict in broken_by(taken, certificate).items())
    said = sentence(replace(taken, answer=_short(taken.answer)))
    return Text.assemble(where, said, (f": {broken}" if broken else "", STYLES[Use.REFUSED]))


def _surface(target: Target, surface: Surface, report: SurfaceReport) -> Iterator[Text]:
    """The line of a surface, and one for each dialect of it that is not judged."""
    mark = ", " if report.state is SurfaceState.JUDGED else ": "
    reason = f"{mark}{report.reason}" if report.reason else ""
    # A dialect that bears the name of its surface need not be named.
    spoken = [one for one in target.dialects if one.spec.surface is surface and one.value != surface.value]
    what = f" in {', '.join(spoken)}" if report.state is SurfaceState.JUDGED and spoken else ""
    yield Text.assemble(f"{surface}  ", (f"{report.state}", STYLES[report.state]), f"{what}{reason}")
    # A message that the reason quotes is all that there is to say.
    if report.state is SurfaceState.ABSENT and report.said and "(" not in report.reason:
        yield Text(f"  it said: {_short(report.said)}", style="dim")
    for dialect, why in target.unspoken.items():
        if dialect.spec.surface is surface:
            yield Text.assemble("  ", (f"{dialect} not judged", STYLES[SurfaceState.NOT_JUDGED]), f": {_short(why)}")


def _capabilities(
    used: Mapping[Capability, Use], refused: Mapping[Capability, Absence], surface: Surface, *, every: bool
) -> list[tuple[Text, Text]]:
    """One row for each use, with the capabilities of it."""
    rows = []
    for use in Use:
        names = [_named(one, refused, surface) for one, seen in used.items() if seen is use]
        if names and (every or use is not Use.NOT_SEEN):
            rows.append((Text(use, style=STYLES[use]), Text(", ".join(names))))
    return rows


def _named(capability: Capability, refused: Mapping[Capability, Absence], surface: Surface) -> str:
    absence = refused.get(capability)
    if absence is None or surface not in absence.surfaces:
        return str(capability)
    return f"{capability} ({_short(str(absence))})"


def _short(text: str) -> str:
    # Control characters of an answer must not reach a terminal.
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return text if len(text) <= ONE_LINE else f"{text[:ONE_LINE]}…"
