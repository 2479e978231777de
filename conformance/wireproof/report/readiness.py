"""Ready for which client? What a result says to the users of each client that was measured, by surface.

It follows from the rows: a line of a row says which clients were measured to break on what form of answer, and a client
breaks on a target where an answer has such a form. What breaks a row that harms clients in a form that was not measured
is a reservation for all of them, since it may harm any; and none works where most requests get no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from wireproof.model.dialect import DEFAULT, ArgumentsMode, Surface
from wireproof.model.requirement import Harm
from wireproof.model.scenario import LEAVES, Mode
from wireproof.model.target import SurfaceState
from wireproof.model.verdict import VerdictLevel
from wireproof.reading.expected import ExpectedFailure
from wireproof.report.effects import FORMS, KINDS, REPEATED, breaking, kind_of, kinds_found, seen_effects, shows
from wireproof.report.grouping import grouped
from wireproof.results.document import ClientReady, Ready

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof.model.catalogue import Catalogue
    from wireproof.model.requirement import Requirement
    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate

MILD = (
    "the answer waits for the end of the body",
    "when content follows the finish chunk",
    "when frames follow [DONE]",
)
"""Ends of the lines that say what a user would get along with."""
ANYWAY: Mapping[Harm, str] = {
    Harm.CALLS: "calls may be lost or altered with any client",
    Harm.TEXT: "text may be lost or altered with any client",
    Harm.HANG: "any client may wait without end",
    Harm.ERROR: "any client may fail",
}
"""What a violation does that no client was measured with. One of the letter alone does nothing."""
NO_ANSWER = "some requests get no answer"
MOST = 0.5
"""The share of ordinary requests in one mode without an answer from which on no client works."""
OLD = "3.0 to 3.1.5"
"""In the name of a client of which newer versions have a line of their own."""


@dataclass(frozen=True, kw_only=True)
class _Effect:
    """What clients do on a form that some answers have."""

    does: str
    clients: Sequence[str] | None
    """Those that were measured to do it; None: it was measured with none, and any may."""
    surfaces: frozenset[Surface]
    """Those of these answers."""
    grave: bool
    """Whether a client cannot be used with such answers."""

    def is_of(self, client: str, surface: Surface) -> bool:
        """Whether it is what a client does on a surface."""
        return surface in self.surfaces and (self.clients is None or client in self.clients)


def readiness(certificate: Certificate, catalogue: Catalogue) -> Iterator[ClientReady]:
    """The clients that were measured on the surfaces that the target serves; none where only a selection was driven."""
    served = [one for one, seen in certificate.target.surfaces.items() if seen.state is SurfaceState.JUDGED]
    rows = [row for row in catalogue.requirements if not certificate.selection]
    seen = {row.id: [*_effects(row, certificate), *_anyway(row, certificate)] for row in rows}
    unseen, hidden = certificate.unobserved_at(VerdictLevel.COMPAT), certificate.hidden_at(VerdictLevel.COMPAT)
    for surface in served:
        mine = [row for row in rows if _surface_of(row) in {surface, None}]
        for client in _clients(row for row in mine if _surface_of(row) is surface):
            needed = [row.id for row in mine if any(client in clients(line) for line in row.breaks)]
            met = {row.id: [one for one in seen[row.id] if one.is_of(client, surface)] for row in rows}
            measured_first = sorted(met.items(), key=lambda item: all(one.clients is None for one in item[1]))
            yield ClientReady(
                client=client,
                surface=surface,
                ready=_ready([*chain.from_iterable(met.values())], hidden=not hidden.keys().isdisjoint(needed)),
                broken={id_: tuple(one.does for one in those) for id_, those in measured_first if those},
                unobserved=tuple(id_ for id_ in needed if id_ in unseen),
            )


def _ready(met: Sequence[_Effect], *, hidden: bool) -> Ready:
    if met:
        return Ready.BREAKS if any(one.grave for one in met) else Ready.WORKS_BUT
    return Ready.NOT_KNOWN if hidden else Ready.WORKS


def clients(line: str) -> list[str]:
    """The clients that a line of a row names."""
    return line.partition(": ")[0].split(", ")


def _clients(rows: Iterable[Requirement]) -> list[str]:
    named = {client for row in rows for line in row.breaks for client in clients(line)}
    return sorted((one for one in named if OLD not in one), key=str.lower)


def _surface_of(row: Requirement) -> Surface | None:
    """The surface that a row is about; None: it is about any."""
    return next((surface for surface in Surface if surface.value == row.id.partition(".")[0]), None)


def _effects(row: Requirement, certificate: Certificate) -> Iterator[_Effect]:
    """What the row's clients do on the answers of a run."""
    exchanges = list(breaking(row, certificate))
    for line in seen_effects(row, exchanges, kinds_found(row, certificate)):
        kind = kind_of(line)
        having = list(breaking(row, certificate, kind)) if kind else [one for one in exchanges if shows(line)(one)]
        grave = not line.endswith(MILD) and any(map(_is_ordinary, having))
        yield _effect(line, frozenset(one.dialect.spec.surface for one in having), grave=grave)
    target = certificate.target
    # A target may declare that it repeats them, and is judged by that; clients break on it all the same.
    if row.arguments is ArgumentsMode.INCREMENTAL and target.argument_mode(DEFAULT) is not ArgumentsMode.INCREMENTAL:
        for line in row.breaks:
            if line.endswith(REPEATED):
                yield _effect(line, frozenset({Surface.CHAT}), grave=True)


def _effect(line: str, surfaces: frozenset[Surface], *, grave: bool) -> _Effect:
    return _Effect(does=line.partition(": ")[2], clients=clients(line), surfaces=surfaces, grave=grave)


def _anyway(row: Requirement, certificate: Certificate) -> Iterator[_Effect]:
    """What an answer does to any client, as far as none was measured with what breaks the row there."""
    if row.harm not in ANYWAY or row.id not in certificate.broken_at(VerdictLevel.COMPAT):
        return
    forms = [shows(line) for line in row.breaks if any(line.endswith(form) for form in FORMS)]
    known = {one for kind in KINDS for one in breaking(row, certificate, kind)}
    having = [
        one
        for one in breaking(row, certificate)
        if _is_ordinary(one) and one not in known and not any(has(one) for has in forms)
    ]
    for surface in {one.dialect.spec.surface for one in having}:
        unanswered = all(one.reading is None for one in having if one.dialect.spec.surface is surface)
        yield _Effect(
            does=NO_ANSWER if unanswered else ANYWAY[row.harm],
            clients=None,
            surfaces=frozenset({surface}),
            grave=unanswered and _answers_few(certificate, surface),
        )


def _answers_few(certificate: Certificate, surface: Surface) -> bool:
    """Whether most ordinary requests to a surface get no answer, streams or whole ones."""
    every = [one for run in certificate.runs for those in run.exchanges.values() for one in those]
    ordinary = [one for one in every if one.dialect.spec.surface is surface and _is_ordinary(one)]
    of_modes = ([one.reading is None for one in ordinary if one.mode is mode] for mode in Mode)
    return any(missing and sum(missing) >= MOST * len(missing) for missing in of_modes)


def _is_ordinary(exchange: Exchange) -> bool:
    """Whether nothing was to go wrong: any backend answers, and the client stays. Not every model sees images."""
    turn, fails = exchange.turn, any(one.failure is not ExpectedFailure.NONE for one in exchange.wanted)
    return turn is not None and not fails and not turn.images and turn.act not in LEAVES


def by_readiness(found: Iterable[ClientReady]) -> dict[tuple[Surface, Ready], list[ClientReady]]:
    """The clients by surface, those that break first."""
    ordered = sorted(found, key=lambda one: (list(Surface).index(one.surface), list(Ready).index(one.ready)))
    return grouped(((one.surface, one.ready), one) for one in ordered)


def in_lines(those: Iterable[ClientReady]) -> Iterator[str]:
    """Clients of which something is broken: those that do the same in one line, with what comes first and its row."""
    alike: dict[str, list[str]] = {}
    for one in those:
        row, effects = next(iter(one.broken.items()))
        more = sum(map(len, one.broken.values())) - 1
        why = f"{effects[0]} ({row}{f', and {more} more' if more else ''})"
        alike.setdefault(why, []).append(one.client)
    yield from (f"{', '.join(names)}: {why}" for why, names in alike.items())
