"""The page of `docs/` on editions: which are frozen, what each has changed, and what the next one will."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from wireproof.model.editions import Changes, changes
from wireproof_pages.markup import note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof.model.catalogue import Catalogue

LEAD = """\
The catalogue of requirements has a date. An *edition* is the catalogue of a date, frozen: what decides verdicts in each
of its rows is kept in the package, and `wireproof certify --edition DATE` and `wireproof judge DIR --edition DATE`
judge by it.
A certificate names its edition, and `wireproof verify` judges by that one, whatever the suite has learned since: a
requirement that came later says nothing of it, and a check that would find more than it did is a new requirement."""


def editions_page(editions: Sequence[Catalogue], current: Catalogue) -> str:
    """The page; the editions come in the order of their dates."""
    return "\n".join(_lines(editions, current)) + "\n"


def _lines(editions: Sequence[Catalogue], current: Catalogue) -> Iterator[str]:
    yield from ("# Editions of the catalogue", "", note("the frozen editions"), "")
    yield from (LEAD, "", "| edition | requirements | added | withdrawn | changed |", "| --- | --: | --: | --: | --: |")
    for number, one in enumerate(editions):
        came = changes(editions[number - 1], one) if number else Changes(added=(), withdrawn=(), changed={})
        counts = f"{len(came.added)} | {len(came.withdrawn)} | {len(came.changed)}" if number else "first |  | "
        yield f"| {one.date} | {len(one.requirements) + len(one.withdrawn)} | {counts} |"
    for before, after in pairwise(editions):
        yield from ("", f"## {after.date}", "", *_listed(changes(before, after)))
    yield from ("", "## Since then", "", *_listed(changes(editions[-1], current)))


def _listed(found: Changes) -> Iterator[str]:
    if not found:
        yield "Nothing has changed."
    yield from (f"- `{name}`: added" for name in found.added)
    yield from (f"- `{name}`: withdrawn" for name in found.withdrawn)
    yield from (f"- `{name}`: {'; '.join(fields)}" for name, fields in found.changed.items())
