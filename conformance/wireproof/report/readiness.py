"""Ready for which client? What a result says to the users of each client that was measured, by surface.

It follows from the rows: a line of a row says which clients were measured to break on what form of answer, and a client
breaks on a target where an answer has such a form. What no measurement says is not known, and not said.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from wireproof.model.dialect import DEFAULT, ArgumentsMode, Surface
from wireproof.model.scenario import LEAVES
from wireproof.model.target import SurfaceState
from wireproof.model.verdict import VerdictLevel
from wireproof.reading.expected import ExpectedFailure
from wireproof.report.effects import REPEATED, breaking, seen_effects, shows
from wireproof.results.document import ClientReady, Ready

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wireproof.model.catalogue import Catalogue
    from wireproof.model.requirement import Requirement
    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate

MILD = (
    "the answer waits for the end of the body",
    "late content is appended to the answer",
    "frames after [DONE] are appended to the answer",
)
"""Ends of the lines that say what a user would get along with."""
OLD = "3.0 to 3.1.5"
"""In the name of a client of which newer versions have a line of their own."""


@dataclass(frozen=True, kw_only=True)
class _Effect:
    """What clients were measured to do on a form that some answers have."""

    line: str
    """As the row has it."""
    surfaces: frozenset[Surface]
    """Those of these answers."""
    grave: bool
    """Whether a client cannot be used with such answers."""

    @property
    def does(self) -> str:
        """What the clients do."""
        return self.line.partition(": ")[2]

    def is_of(self, client: str, surface: Surface) -> bool:
        """Whether it is what a client does on a surface."""
        return surface in self.surfaces and client in clients(self.line)


def readiness(certificate: Certificate, catalogue: Catalogue) -> Iterator[ClientReady]:
    """The clients that were measured on the surfaces that the target serves; none where only a selection was driven."""
    served = [one for one, seen in certificate.target.surfaces.items() if seen.state is SurfaceState.JUDGED]
    rows = [row for row in catalogue.requirements if row.breaks and not certificate.selection]
    seen = {row.id: list(_effects(row, certificate)) for row in rows}
    unseen, hidden = certificate.unobserved_at(VerdictLevel.COMPAT), certificate.hidden_at(VerdictLevel.COMPAT)
    for surface in served:
        mine = [row for row in rows if _surface_of(row) in {surface, None}]
        for client in _clients(row for row in mine if _surface_of(row) is surface):
            needed = [row.id for row in mine if any(client in clients(line) for line in row.breaks)]
            met = {id_: [one for one in seen[id_] if one.is_of(client, surface)] for id_ in needed}
            yield ClientReady(
                client=client,
                surface=surface,
                ready=_ready([*chain.from_iterable(met.values())], hidden=not hidden.keys().isdisjoint(needed)),
                broken={id_: tuple(one.does for one in those) for id_, those in met.items() if those},
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
    return {"chat": Surface.CHAT, "responses": Surface.RESPONSES}.get(row.id.partition(".")[0])


def _effects(row: Requirement, certificate: Certificate) -> Iterator[_Effect]:
    """What the row's clients do on the answers of a run."""
    exchanges = list(breaking(row, certificate))
    for line in seen_effects(row, exchanges):
        having = [one for one in exchanges if shows(line)(one)]
        grave = not line.endswith(MILD) and any(map(_is_ordinary, having))
        yield _Effect(line=line, surfaces=frozenset(one.dialect.spec.surface for one in having), grave=grave)
    target = certificate.target
    # A target may declare that it repeats them, and is judged by that; clients break on it all the same.
    if row.arguments is ArgumentsMode.INCREMENTAL and target.argument_mode(DEFAULT) is not ArgumentsMode.INCREMENTAL:
        for line in row.breaks:
            if line.endswith(REPEATED):
                yield _Effect(line=line, surfaces=frozenset({Surface.CHAT}), grave=True)


def _is_ordinary(exchange: Exchange) -> bool:
    """Whether nothing was to go wrong: any backend answers, and the client stays. Not every model sees images."""
    turn, fails = exchange.turn, any(one.failure is not ExpectedFailure.NONE for one in exchange.wanted)
    return turn is not None and not fails and not turn.images and turn.act not in LEAVES


def by_readiness(found: Iterable[ClientReady]) -> dict[tuple[Surface, Ready], list[ClientReady]]:
    """The clients by surface, those that break first."""
    grouped: dict[tuple[Surface, Ready], list[ClientReady]] = {}
    for one in sorted(found, key=lambda one: (list(Surface).index(one.surface), list(Ready).index(one.ready))):
        grouped.setdefault((one.surface, one.ready), []).append(one)
    return grouped


def in_a_line(one: ClientReady) -> str:
    """A client, what it does first of all, and the requirement behind it."""
    row, effects = next(iter(one.broken.items()))
    more = sum(map(len, one.broken.values())) - 1
    return f"{one.client}: {effects[0]} ({row}{f', and {more} more' if more else ''})"
