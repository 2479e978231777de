"""Runs in a file: what was sent and what came back, so that a run can be judged again without its target.

The file is gzip over JSON lines. The first line holds the target; each further one a scenario as it was driven. Bodies
are text where they are UTF-8 and base64 where they are not, so that a recording can be read and compared. Nothing that
is judged is kept, only transcripts: what is read in them is read again, and by the reader of the day.

The target's key is replaced wherever it stands, in requests and in answers alike, by a placeholder of the same length:
an answer that repeats the key is still seen to do so.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from assay.judging.outcomes import Run
from assay.model import dialect
from assay.model.dialect import Dialect
from assay.model.scenario import Form, Mode, Scenario
from assay.model.target import Backend, Target
from assay.model.transcript import Death, End, Piece, Transcript, Wait
from assay.reading.applicable import answers_to
from assay.reading.exchange import Exchange, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

FORMAT = 1
"""The number of this form; a file of another one is refused."""
Json = Any


@cache
def _target_form() -> TypeAdapter[Target]:
    """What writes and reads a target, field by field, so that a new field is there without a word here."""
    form = TypeAdapter(Target)
    # Its annotations name types that `assay.model.target` imports for type checkers alone.
    form.rebuild(_types_namespace=vars(dialect))
    return form


class ArchiveError(ValueError):
    """A file that holds no runs; the message says where and why."""


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A run as it was recorded."""

    target: Target
    runs: tuple[Run, ...]
    unknown: tuple[str, ...] = ()
    """Scenarios of the file that do not exist any more; they cannot be judged."""


def save(path: Path, target: Target, runs: Iterable[Run]) -> None:
    """Write runs of a target to a file, whose folder must exist."""
    lines = ({"format": FORMAT, "target": _target_form().dump_python(target, mode="json")}, *map(_of_run, runs))
    # Without a time in its head: the same runs give the same file.
    with path.open("wb") as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
        for line in lines:
            packed.write(_masked(json.dumps(line, ensure_ascii=False), target.api_key).encode() + b"\n")


def load(path: Path, scenarios: Iterable[Scenario]) -> Archive:
    """The runs in a file, of the scenarios that exist.

    Raises:
        ArchiveError: the file cannot be read, or holds no runs.
    """
    try:
        head, *lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    except (OSError, EOFError, ValueError) as error:
        raise ArchiveError(f"{path} holds no recorded run: {error}") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ArchiveError(f"{path} is not in format {FORMAT}, the one that this version of Assay reads")
    known = {scenario.name: scenario for scenario in scenarios}
    try:
        target = _target_form().validate_python(head["target"])
        runs = tuple(_run(known[line["scenario"]], line, target) for line in lines if line["scenario"] in known)
    except (LookupError, TypeError, ValueError, ValidationError) as error:
        raise ArchiveError(f"{path} is damaged: {error}") from error
    unknown = tuple(line["scenario"] for line in lines if line["scenario"] not in known)
    return Archive(target=target, runs=runs, unknown=unknown)


def _masked(line: str, key: str | None) -> str:
    """A line without the key. In JSON a key of printable ASCII is written as it is, but for quotes and backslashes."""
    if not key:
        return line
    # The same length, so that every place in a body stays where it was.
    return line.replace(json.dumps(key)[1:-1], ("key-" * len(key))[: len(key)])


def _of_run(run: Run) -> Json:
    return {
        "scenario": run.scenario.name,
        "error": run.error,
        "not_driven": [[*_of_form(form), reason] for form, reason in run.not_driven.items()],
        "exchanges": [[*_of_form(form), [_of_transcript(one.transcript) for one in those]]
                      for form, those in run.exchanges.items()],
    }  # fmt: skip


def _run(scenario: Scenario, line: Json, target: Target) -> Run:
    return Run(
        scenario=scenario,
        error=line["error"],
        not_driven={_form(*form): reason for *form, reason in line["not_driven"]},
        exchanges={
            _form(*form): [
                _exchange(scenario, number, _form(*form), target, _transcript(one)) for number, one in enumerate(those)
            ]
            for *form, those in line["exchanges"]
        },
    )


def _exchange(scenario: Scenario, number: int, form: Form, target: Target, transcript: Transcript) -> Exchange:
    """The exchange as the judge sees it; the same as when it was driven."""
    if scenario.request is not None:
        return Exchange(
            scenario=scenario, number=number, turn=None, form=form, target=target, transcript=transcript, reading=None
        )
    return Exchange(
        scenario=scenario,
        number=number,
        turn=scenario.turns[number],
        form=form,
        target=target,
        transcript=transcript,
        reading=read(transcript, form),
        wanted=() if target.backend is Backend.LIVE else answers_to(scenario, number, form),
    )


def _of_form(form: Form) -> Sequence[str]:
    return (form.dialect.value, form.mode.value)


def _form(spoken: str, mode: str) -> Form:
    return Form(Dialect(spoken), Mode(mode))


def _of_transcript(transcript: Transcript) -> Json:
    plain = {one.name: getattr(transcript, one.name) for one in dataclasses.fields(transcript)}
    return plain | {
        "request_body": _of_bytes(transcript.request_body),
        "pieces": [[round(piece.at, 6), _of_bytes(piece.data)] for piece in transcript.pieces],
        "waits": [dataclasses.asdict(wait) for wait in transcript.waits],
        "death": dataclasses.asdict(transcript.death) if transcript.death else None,
    }


def _transcript(data: Mapping[str, Json]) -> Transcript:
    return Transcript(**{
        **data,
        "request_headers": _headers(data["request_headers"]),
        "request_body": _bytes(data["request_body"]),
        "headers": _headers(data["headers"]),
        "pieces": tuple(Piece(at=at, data=_bytes(piece)) for at, piece in data["pieces"]),
        "end": End(data["end"]),
        "waits": tuple(Wait(**wait) for wait in data["waits"]),
        "death": Death(**data["death"]) if data["death"] else None,
    })  # fmt: skip


def _headers(pairs: Json) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in pairs)


def _of_bytes(data: bytes) -> Json:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _bytes(data: Json) -> bytes:
    return data.encode() if isinstance(data, str) else base64.b64decode(data["base64"])
