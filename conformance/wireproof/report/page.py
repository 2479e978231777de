"""A result as one HTML page that needs nothing else: no network, no other file.

What a person reads first (the summary, what is wrong, the matrix) is HTML, written with everything escaped. The
exchanges are data in it, packed, that a script unpacks when a cell is opened.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
from typing import TYPE_CHECKING

from markupsafe import Markup

from wireproof.model.scenario import Mode
from wireproof.model.verdict import Verdict
from wireproof.report.exchanges import exchanges
from wireproof.report.readiness import by_readiness
from wireproof.report.roots import roots
from wireproof.report.templates import environment, raw

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.dialect import Dialect
    from wireproof.results.document import Found, Report
    from wireproof.wire.fields import JsonObject


def page(report: Report, runs: Iterable[ScenarioRun]) -> str:
    """The page of a result and its exchanges."""
    runs = tuple(runs)
    dialects = list(dict.fromkeys(cell.dialect for cell in report.cells))
    return (
        environment()
        .get_template("page.html")
        .render(
            report=report,
            level=report.configuration.level,
            title=report.target.name if report.target else report.configuration.command,
            roots=roots(report),
            clients=by_readiness(report.clients),
            findings=[_shown(found, report) for found in report.findings],
            rows=list(_rows(report, dialects)),
            dialects=dialects,
            modes=list(Mode),
            topics=list(dict.fromkeys(map(_topic, report.requirements))),
            verdicts=[
                verdict for verdict in Verdict if any(verdict in {one.strict, one.compat} for one in report.cells)
            ],
            data=Markup(_packed(_data(report, runs))),  # noqa: S704 (base64 has no character that HTML reads)
            css=raw("page.css"),
            js=raw("page.js"),
        )
    )


def _shown(found: Found, report: Report) -> JsonObject:
    plain = {one.name: getattr(found, one.name) for one in dataclasses.fields(found)}
    return {**plain, "shown": found.at(report.configuration.level)}


def _topic(requirement: str) -> str:
    """The first two words of an id, or the first of one that has only two."""
    return requirement.rpartition(".")[0]


def _rows(report: Report, dialects: Sequence[Dialect]) -> Iterator[JsonObject]:
    cells = {(one.requirement, one.dialect, one.mode): one for one in report.cells}
    flaky = {(one.requirement, one.dialect, one.mode) for one in report.flaky}
    for row in report.requirements.values():
        yield {
            "id": row.id,
            "level": row.level,
            "topic": _topic(row.id),
            "cells": [
                {
                    "dialect": dialect,
                    "mode": mode,
                    "one": one,
                    "shown": one.at(report.configuration.level) if one else "",
                    "flaky": key in flaky,
                }
                for dialect in dialects
                for mode in Mode
                for key in [(row.id, dialect, mode)]
                for one in [cells.get(key)]
            ],
        }


def _data(report: Report, runs: Sequence[ScenarioRun]) -> JsonObject:
    return {
        "requirements": {name: dataclasses.asdict(row) for name, row in report.requirements.items()},
        "outcomes": [dataclasses.asdict(one) for one in report.outcomes],
        "scenarios": {run.scenario.name: run.scenario.title for run in runs},
        "exchanges": exchanges(runs, report),
    }


def _packed(data: object) -> str:
    # Lone surrogates: some answers hold them, and no UTF-8 could be written with them.
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")
    return base64.b64encode(gzip.compress(plain, mtime=0)).decode()
