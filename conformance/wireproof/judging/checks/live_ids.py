"""Ids of a model's answers, all of a run against each other: no two answers share theirs, and no two calls.

The requests of a run all differ, so an answer with another's id is no repetition of it. Clients that keep a
conversation by ids take such an answer for the one that they have. No client of the catalogue was seen to break by
that, so it fails the level `strict` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.places import reading_of
from wireproof.model.facets import row_of
from wireproof.wire.facet import Facet
from wireproof.wire.fields import object_of, text_of
from wireproof.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof.reading.exchange import Exchange


def shared_ids(exchanges: Iterable[Exchange]) -> Iterator[tuple[Exchange, Violation]]:
    """The first answer for each row whose id, or that of one of its calls, an answer before it has."""
    first: dict[tuple[str, str], Exchange] = {}
    broken: set[str] = set()
    for exchange in exchanges:
        for facet, what, ids in (
            (Facet.ID, "answer", _answer_ids(exchange)),
            (
                Facet.CALL_ID,
                "call",
                {call.id for choice in exchange.answer.choices for call in choice.calls if call.id},
            ),
        ):
            row = row_of(facet, exchange.form)
            same = next((one for one in sorted(ids) if (what, one) in first), None)
            if same is not None and row not in broken:
                broken.add(row)
                before = first[what, same]
                seen = f"the {what}'s id is {same!r}, which one of {before.scenario.name} ({before.form}) has, too"
                # Which answer it is, or which call, no client mistakes within one request.
                yield exchange, Violation(requirement=row, seen=seen, place=exchange.body_place, strict_only=True)
            for one in ids:
                first.setdefault((what, one), exchange)


def _answer_ids(exchange: Exchange) -> set[str]:
    """The ids of an answer; several only where a row of their own is broken."""
    bodies = (object_of(payload.get("response")) or payload for _, payload in reading_of(exchange).payloads)
    # Events of Responses have none; and a gateway's first chunk may have an empty one.
    return {name for body in bodies if (name := text_of(body.get("id")))}
