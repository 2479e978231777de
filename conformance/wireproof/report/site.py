"""A site of many results: proxies beside each other, a page for each of them and for each requirement.

Its pages need no script, no network and no server. What comes from a target is escaped where it is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from wireproof.model.dialect import Surface
from wireproof.model.verdict import Verdict
from wireproof.report.examples import failing, passing, slug
from wireproof.report.explain import at_levels, topic_of
from wireproof.report.grouping import grouped
from wireproof.report.page import environment, page, raw
from wireproof.report.roots import roots
from wireproof.results.cells import BROKEN, JUDGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wireproof.model.catalogue import Catalogue
    from wireproof.model.verdict import VerdictLevel
    from wireproof.report.examples import SiteEntry
    from wireproof.results.document import Cell
    from wireproof.wire.fields import JsonObject

WORST = (Verdict.FAIL, Verdict.WARN, Verdict.ERROR, Verdict.NOT_OBSERVED, Verdict.PASS, Verdict.NOT_APPLICABLE)
"""Which verdict stands for a topic: what is broken, then what is not known."""


def site(
    entries: Sequence[SiteEntry], catalogue: Catalogue, *, level: VerdictLevel, shown: Sequence[SiteEntry] = ()
) -> Iterator[tuple[str, str]]:
    """The pages, each with its path in the site; `level` is the one whose verdicts the tables show.

    The results of one proxy come in the order of its versions. Those in `shown` serve as examples alone, such as those
    of the reference proxy and its miniatures.
    """
    proxies = grouped((entry.name, entry) for entry in entries)
    newest = [those[-1] for those in proxies.values()]
    where = list(_columns(newest))
    rows = [{"entry": one, "cells": [_topic(one, level, *column) for column in where]} for one in newest]
    surfaces = {surface: [topic for one, topic in where if one is surface] for surface, _ in where}
    yield "index.html", _written("site_index.html", up="", rows=rows, surfaces=surfaces, level=level)
    for those in proxies.values():
        pages = list(_trend(those, level))
        yield (
            f"proxies/{slug(those[-1].name)}.html",
            _written(
                "site_proxy.html", up="../", entry=those[-1], trend=pages[::-1], level=level,
                roots=roots(those[-1].report),
                findings=[(found, found.at(level)) for found in those[-1].report.findings],
            ),
        )  # fmt: skip
    for entry in entries:
        yield f"results/{entry.file}.html", page(entry.report, entry.runs)
    yield from _requirements(newest, catalogue, level, [*shown, *newest])


def _requirements(
    newest: Sequence[SiteEntry], catalogue: Catalogue, level: VerdictLevel, shown: Sequence[SiteEntry]
) -> Iterator[tuple[str, str]]:
    broken = failing(shown)
    kept = passing(shown, broken)
    listed = []
    for row in catalogue.requirements:
        verdicts = [(one, [cell for cell in one.report.cells if cell.requirement == row.id]) for one in newest]
        breaking = [one.name for one, cells in verdicts if any(cell.at(level) is Verdict.FAIL for cell in cells)]
        listed.append({"row": row, "breaking": breaking})
        yield (
            f"requirements/{row.id}.html",
            _written(
                "site_requirement.html", up="../", row=row, level=level, why=at_levels(row), seeds=catalogue.seeds,
                verdicts=[(one, _shown(one, cells, level)) for one, cells in verdicts],
                breaking=breaking,
                examples=[("kept", kept.get(row.id)), ("broken", broken.get(row.id))],
            ),
        )  # fmt: skip
    yield "requirements/index.html", _written("site_requirements.html", up="../", rows=listed, level=level)


def _shown(entry: SiteEntry, cells: Iterable[Cell], level: VerdictLevel) -> list[tuple[Cell, Verdict, bool]]:
    """Cells with their verdicts, and whether other runs had others."""
    flaky = {(one.requirement, one.dialect, one.mode) for one in entry.report.flaky}
    return [(cell, cell.at(level), (cell.requirement, cell.dialect, cell.mode) in flaky) for cell in cells]


def _columns(entries: Iterable[SiteEntry]) -> Iterator[tuple[Surface, str]]:
    """Surface by surface, the topics that anything is said about, in the order of reports."""
    cells = [cell for entry in entries for cell in entry.report.cells]
    for surface in Surface:
        mine = (topic_of(cell.requirement) for cell in cells if cell.dialect.spec.surface is surface)
        yield from ((surface, topic) for topic in dict.fromkeys(mine))


def _topic(entry: SiteEntry, level: VerdictLevel, surface: Surface, topic: str) -> JsonObject:
    """What a proxy's result says of a topic on a surface: how many requirements are kept, of those that were judged."""
    cells = grouped(
        (cell.requirement, cell.at(level))
        for cell in entry.report.cells
        if cell.dialect.spec.surface is surface and topic_of(cell.requirement) == topic
    )
    worst = {name: _worst(those) for name, those in cells.items()}
    verdicts = list(worst.values())
    return {
        "surface": surface,
        "topic": topic,
        "verdict": min(verdicts, key=WORST.index, default=None),
        "kept": verdicts.count(Verdict.PASS),
        "judged": sum(verdict in JUDGED for verdict in verdicts),
        "broken": [name for name, verdict in worst.items() if verdict in BROKEN],
    }


def _worst(seen: Sequence[Verdict]) -> Verdict:
    # A form in which it passes shows that the proxy can; only what was seen nowhere is not observed.
    judged = [verdict for verdict in seen if verdict in JUDGED]
    return min(judged or seen, key=WORST.index)


def _trend(entries: Sequence[SiteEntry], level: VerdictLevel) -> Iterator[JsonObject]:
    """Version by version: what it comes to, and what has changed from the one before."""
    before: frozenset[str] | None = None
    for entry in entries:
        at = entry.report.levels.get(level)
        broken = frozenset(at.broken) if at else frozenset()
        yield {
            "entry": entry,
            "levels": entry.report.levels,
            "broken": len(broken),
            "new": sorted(broken - before) if before is not None else [],
            "mended": sorted(before - broken) if before is not None else [],
        }
        before = broken


def _written(name: str, **values: object) -> str:
    """A page of the site, filled in."""
    templates = environment()
    body = Markup(  # noqa: S704 (rendered with everything escaped)
        templates.get_template(name, globals={"slug": slug, "topic_of": topic_of}).render(**values)
    )
    title = body.partition("<h1>")[2].partition("</h1>")[0].striptags()
    css = raw("page.css", "site.css")
    return templates.get_template("site.html").render(body=body, title=title, css=css, up=values["up"])
