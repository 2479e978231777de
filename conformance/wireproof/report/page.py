"""A result as one HTML page that needs nothing else: no network, no other file.

What a person reads first (the summary, what is wrong, the matrix) is HTML, written with everything escaped. The
exchanges are data in it, packed, that a script unpacks when a cell is opened. A page of a whole run stays below 5 MB:
long bodies are cut, and of long streams both ends are kept, with each frame in which something was found.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from wireproof.model.scenario import Mode
from wireproof.model.verdict import Verdict
from wireproof.report.curl import curl
from wireproof.report.grouping import counted, grouped
from wireproof.report.readiness import by_readiness
from wireproof.report.rendering import is_stream
from wireproof.report.roots import roots
from wireproof.wire.fields import parse_json
from wireproof.wire.quoting import visible
from wireproof.wire.sse import Reader, SseFrame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.dialect import Dialect
    from wireproof.model.transcript import Transcript
    from wireproof.reading.exchange import Exchange
    from wireproof.results.document import Found, Report
    from wireproof.wire.fields import JsonObject

LONGEST = 6000
"""Characters of a body or a frame that are shown."""
ENDS = 60
"""How many frames are shown at each end of a long stream."""
_Place = tuple[str, str, str, int]
"""An exchange: scenario, dialect, mode, number."""
SYMBOLS = {
    Verdict.PASS: "✓",
    Verdict.FAIL: "✗",
    Verdict.WARN: "!",
    Verdict.NOT_OBSERVED: "?",
    Verdict.NOT_APPLICABLE: "\N{EN DASH}",
    Verdict.ERROR: "‼",
}
"""What a cell shows for a verdict."""


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


# The exchanges


def exchanges(runs: Iterable[ScenarioRun], report: Report) -> dict[str, list[JsonObject]]:
    """`scenario dialect mode` → its exchanges."""
    found = _offsets(report)
    return {
        f"{run.scenario.name} {form.dialect} {form.mode}": [
            _exchange(one, found.get((run.scenario.name, form.dialect, form.mode, one.number), ())) for one in those
        ]
        for run in runs
        for form, those in run.exchanges.items()
    }


def _offsets(report: Report) -> Mapping[_Place, Sequence[int]]:
    """Where in an answer something was found."""
    return grouped(
        ((place.scenario, str(place.dialect), str(place.mode), place.exchange), place.offset)
        for outcome in report.outcomes
        for place in outcome.places
        if place.offset is not None and not place.in_request
    )


def _exchange(exchange: Exchange, offsets: Sequence[int]) -> JsonObject:
    transcript = exchange.transcript
    frames = list(_frames(exchange, offsets)) if is_stream(transcript) else []
    return {
        "number": exchange.number,
        "method": transcript.method,
        "path": exchange.target.path_of(transcript.url),
        "answer": _answer(transcript),
        "request": _headers(transcript.request_headers) + _text(transcript.request_body),
        "curl": curl(transcript, exchange.target),
        "headers": _headers(transcript.headers),
        "size": len(transcript.body),
        "body": "" if frames else _text(transcript.body, around=offsets),
        "frames": frames,
        "received": _received(exchange),
    }


def _answer(transcript: Transcript) -> str:
    status = "no answer" if transcript.status is None else f"HTTP {transcript.status}"
    refusals = counted(len(transcript.waits), "refusal")
    waits = f", after {refusals} for lack of capacity" if transcript.waits else ""
    died = f", and the process ended with status {transcript.death.status}" if transcript.death else ""
    return f"{status} ({transcript.end}, {transcript.seconds:.3f} s{waits}{died})"


def _headers(headers: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{name}: {value}\n" for name, value in headers) + "\n"


def _text(body: bytes, around: Sequence[int] = ()) -> str:
    """A body for a person to read; one that is long is cut behind the last place in it."""
    longest = max([LONGEST, *(offset + LONGEST for offset in around)])
    shown = body[:longest].decode(errors="backslashreplace")
    return shown if len(body) <= longest else f"{shown}\n… {len(body) - longest} bytes more"


def _frames(exchange: Exchange, offsets: Sequence[int]) -> Iterator[JsonObject]:
    """The frames of a stream with their times; where some are left out, their number stands for them."""
    reader, timed = Reader(), list[tuple[float, SseFrame]]()
    for piece in exchange.transcript.pieces:
        timed += [(piece.at, frame) for frame in reader.feed(piece.data)]
    last = exchange.transcript.pieces[-1].at if exchange.transcript.pieces else 0.0
    timed += [(last, frame) for frame in reader.end()]
    skipped = 0
    for number, (at, frame) in enumerate(timed):
        found = any(frame.offset <= offset < frame.offset + len(frame.raw) for offset in offsets)
        if found or number < ENDS or number >= len(timed) - ENDS:
            if skipped:
                yield {"skipped": skipped}
            skipped = 0
            inside = [offset - frame.offset for offset in offsets] if found else []
            yield {
                "number": frame.number, "offset": frame.offset, "length": len(frame.raw), "at": round(at, 6),
                "lanes": _lanes(frame), "text": _text(frame.raw, inside),
            }  # fmt: skip
        else:
            skipped += 1
    rest = bytes(reader.rest)
    if rest:
        offset = len(exchange.transcript.body) - len(rest)
        yield {
            "number": len(timed), "offset": offset, "length": len(rest), "at": round(last, 6), "lanes": ["cut off"],
            "text": _text(rest),
        }  # fmt: skip


def _lanes(frame: SseFrame) -> list[str]:
    """What a frame is about: choices, an item of a response, or the answer as a whole."""
    try:
        data = parse_json(frame.data or "")
    except ValueError:
        return ["comment" if frame.data is None else "end"]
    match data:
        case {"choices": [*choices]} if choices:
            return [f"choice {one.get('index') if isinstance(one, dict) else '?'}" for one in choices]
        case {"output_index": int(index)}:
            return [f"item {index}"]
        case _:
            return ["answer"]


def _received(exchange: Exchange) -> str:
    """What the backend says that it received, where its script answers with that; "" where not."""
    if exchange.reading is None or not any(wanted.text is None for wanted in exchange.wanted):
        return ""
    said = "\n".join(choice.text or "" for choice in exchange.answer.choices)
    try:
        return _text(json.dumps(parse_json(said), indent=1, ensure_ascii=False).encode(errors="backslashreplace"))
    except ValueError:
        return _text(said.encode(errors="backslashreplace"))


# The templates of this page and of a site


class _Lines(str):
    """A text of several lines whose invisible characters are escaped already. It is escaped for HTML all the same."""

    __slots__ = ()


@cache
def environment() -> Environment:
    """The templates, each read and compiled once. What they write is escaped: for HTML, and to be visible."""
    made = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=FunctionLoader(_template),
    )  # fmt: skip
    # Control characters of an answer are escaped where it is quoted.
    made.finalize = lambda value: visible(value) if type(value) is str else value
    made.filters["lines"] = _Lines
    made.globals |= {"symbols": SYMBOLS}
    return made


def raw(*names: str) -> Markup:
    """Files of our own that are written as they are: styles and scripts."""
    return Markup("\n".join(map(_template, names)))  # noqa: S704 (our own)


def _template(name: str) -> str:
    return files("wireproof").joinpath("report", "template", name).read_text(encoding="utf-8")
