"""A result as a badge: an SVG of one line, for a page that links to the report."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from wireproof.results.document import Ended, Summary
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.results.document import Report

LABEL = "wireproof"
# Each has a contrast of at least 4.5 against white, which WCAG 2.1 asks of small text.
COLOURS: Mapping[Summary, str] = {
    Summary.CERTIFIED: "#1a7f37",
    Summary.NOT_CERTIFIED: "#b42318",
    Summary.PARTIAL: "#8a6100",
    Summary.NONE: "#57606a",
    Summary.KEPT: "#57606a",
    Summary.BROKEN: "#b42318",
    Summary.UNSEEN: "#57606a",
}
WIDTH = 6.6
"""Pixels of a character, on average, in the font and size below."""
MARGIN = 6


def badge(report: Report) -> str:
    """The picture."""
    at = report.levels.get(report.configuration.level)
    summary = at.summary if at and report.ended is not Ended.UNREACHABLE else Summary.NONE
    count = len(at.broken) if at and summary is Summary.NOT_CERTIFIED else 0
    broken = f", {count} broken" if count else ""
    said = f"{summary}{broken} ({report.configuration.level}, {report.catalogue.date})"
    return _svg(LABEL, visible(said), COLOURS[summary])


def _svg(label: str, said: str, colour: str) -> str:
    left, right = (round(len(text) * WIDTH) + 2 * MARGIN for text in (label, said))
    name = escape(f"{label}: {said}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{name}">'
        f"<title>{name}</title>"
        f'<rect width="{left}" height="20" fill="#24292f"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{MARGIN}" y="14" textLength="{left - 2 * MARGIN}">{escape(label)}</text>'
        f'<text x="{left + MARGIN}" y="14" textLength="{right - 2 * MARGIN}">{escape(said)}</text>'
        "</g></svg>\n"
    )
