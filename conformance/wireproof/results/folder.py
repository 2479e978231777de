"""The folder of a result: the report in its one form, and the transcripts beside it.

`report.json` is written last and names the other file by its hash, so that a folder that was torn, or put together from
two, is found out. Both files are written under another name first: a reader never sees half of one.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from wireproof.results import archive
from wireproof.results.archive import Archive, ArchiveError, bounded_json
from wireproof.results.document import FORMAT, MadeWith, Report, Transcripts
from wireproof_scripts.files.regular import content_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core.core_schema import DataclassSchema

    from wireproof.model.scenario import Scenario
    from wireproof.results.certificate import Certificate
    from wireproof.wire.fields import JsonObject

REPORT = "report.json"
TRANSCRIPTS = "transcripts.jsonl.gz"
LARGEST = 1 << 28
"""Bytes that a file may have; the larger one of a whole run has 2 MiB."""
DRAFT = ".part"
"""What the name of a file ends with while it is written."""
RUNS = "runs"
"""The folder of the single runs of a repeated one, each in a folder that is called by its number."""
OURS = frozenset({REPORT, TRANSCRIPTS, REPORT + DRAFT, TRANSCRIPTS + DRAFT})
"""The names of the files in a folder, also of a run that was killed while it wrote them."""
_NAME = re.compile(r"[\w.:+-]{0,200}")
"""The name of a scenario, a requirement or a way round, a time, or a version."""


class FolderError(ValueError):
    """A folder that holds no result, or cannot hold one; the message is one line and says what would be right."""


@dataclass(frozen=True, kw_only=True)
class SavedResult:
    """A result that was read."""

    folder: Path
    report: Report

    def archive(self, scenarios: Iterable[Scenario]) -> Archive:
        """Its transcripts, as runs of the scenarios that exist.

        Raises:
            FolderError: there are none, or not those that the report speaks of.
        """
        data = self.transcripts()
        try:
            return archive.of_bytes(data, scenarios, name=str(self.folder / TRANSCRIPTS))
        except ArchiveError as error:
            raise FolderError(str(error)) from error

    def transcripts(self) -> bytes:
        """The file of its transcripts, as it is.

        Raises:
            FolderError: there is none, or not the one that the report speaks of.
        """
        there = self.report.transcripts
        if there is None:
            raise FolderError(f"{self.folder} has no transcripts: {self.report.reason}")
        path = self.folder / there.file
        try:
            data = content_of(path, LARGEST)
        except OSError as error:
            raise FolderError(f"{path} cannot be read: {why(error)}") from error
        if hashlib.sha256(data).hexdigest() != there.sha256:
            raise FolderError(f"{path} is not the file that {REPORT} speaks of: it was changed, or is of another run")
        return data


@cache
def _form() -> TypeAdapter[Report]:
    """What writes and reads a report, field by field."""
    return TypeAdapter(Report)


class _Described(GenerateJsonSchema):
    """Describes each object by the docstring of its class, as pydantic does by itself in later versions only."""

    def dataclass_schema(self, schema: DataclassSchema) -> JsonSchemaValue:
        """The schema of a class."""
        return {**super().dataclass_schema(schema), "description": inspect.getdoc(schema["cls"])}


def schema() -> JsonObject:
    """The JSON Schema of `report.json`."""
    made = _form().json_schema(mode="serialization", schema_generator=_Described)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://wireproof.invalid/schemas/wireproof/report.json",
        **made,
    }


def versions() -> MadeWith:
    """What runs here."""
    return MadeWith(
        wireproof=metadata.version("wireproof"), python=platform.python_version(), system=platform.platform(terse=True)
    )


def plain(report: Report) -> JsonObject:
    """A report as JSON has it."""
    return dict(_form().dump_python(report, mode="json"))


def as_json(report: Report) -> str:
    """The text of `report.json`."""
    text = json.dumps(plain(report), ensure_ascii=False, indent=1)
    # Lone surrogates: some answers hold them, and no UTF-8 could be written with them.
    return text.encode(errors="backslashreplace").decode() + "\n"


def check(folder: Path) -> None:
    """Refuse a folder that a result cannot be written to, before a run is driven for it.

    Raises:
        FolderError: it is a file, holds something else, or cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(entry.name for entry in folder.iterdir() if entry.name not in OURS and not _is_runs(entry))
    except OSError as error:
        raise FolderError(f"{folder} cannot be a folder for a result: {why(error)}") from error
    # An earlier result is replaced; what is not ours is not mixed with it.
    if others:
        raise FolderError(f"{folder} holds {others[0]}, which is not part of a result; name a new or an empty folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FolderError(f"{folder} cannot be written to")


def _is_runs(entry: Path) -> bool:
    """Whether an entry is the folder of the runs of an earlier result, and holds nothing else."""
    if entry.name != RUNS or not entry.is_dir():
        return False
    return all(
        one.is_dir() and one.name.isdecimal() and {two.name for two in one.iterdir()} <= OURS for one in entry.iterdir()
    )


def write(
    folder: Path,
    report: Report,
    certificate: Certificate | None = None,
    runs: Sequence[tuple[Report, Certificate]] = (),
) -> Report:
    """Write a result; returns the report as it was written, with its transcripts.

    `runs` are those of a repeated one, each of which is written below it.

    Raises:
        FolderError: it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if _is_runs(folder / RUNS):
            shutil.rmtree(folder / RUNS)
        for number, (one, its) in enumerate(runs, 1):
            write(folder / RUNS / str(number), one, its)
        named = (replace(one, folder=f"{RUNS}/{number}") for number, one in enumerate(report.repeats, 1))
        report = replace(report, repeats=tuple(named))
        if certificate is not None:
            report = replace(report, transcripts=_write_transcripts(folder, certificate))
        _put(folder / REPORT, as_json(report).encode())
    except OSError as error:
        # Of a full disk, what is half written is the first that can be freed.
        for name in (REPORT, TRANSCRIPTS):
            with suppress(OSError):  # there is none, or it cannot be reached either
                (folder / (name + DRAFT)).unlink()
        raise FolderError(f"the result cannot be written to {folder}: {why(error)}") from error
    return report


def _write_transcripts(folder: Path, certificate: Certificate) -> Transcripts:
    path = folder / TRANSCRIPTS
    draft = path.with_name(path.name + DRAFT)
    archive.save(draft, certificate.target, certificate.runs)
    digest = hashlib.sha256(draft.read_bytes()).hexdigest()
    # The old report goes first: it would speak of transcripts that are gone.
    (folder / REPORT).unlink(missing_ok=True)
    draft.replace(path)
    return Transcripts(
        file=path.name,
        sha256=digest,
        scenarios=len(certificate.runs),
        exchanges=sum(len(those) for run in certificate.runs for those in run.exchanges.values()),
    )


def _put(path: Path, data: bytes) -> None:
    draft = path.with_name(path.name + DRAFT)
    draft.write_bytes(data)
    draft.replace(path)


def read(folder: Path) -> SavedResult:
    """The result in a folder.

    Raises:
        FolderError: it holds none that this version can read.
    """
    path = folder / REPORT
    try:
        data = content_of(path, LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        if not folder.is_dir():
            raise FolderError(f"{folder} is not a folder; `wireproof certify --output DIR` writes one") from None
        raise FolderError(f"{folder} holds no result: it has no {REPORT}") from None
    except OSError as error:
        raise FolderError(f"{path} cannot be read: {why(error)}") from error
    return SavedResult(folder=folder, report=parsed(data, str(path)))


def parsed(text: bytes, name: str) -> Report:
    """The report in the text of a file; `name` is what messages call it.

    Raises:
        FolderError: it is none that this version can read.
    """
    try:
        data = bounded_json(text)
    except ValueError as error:
        raise FolderError(f"{name} is not JSON, so it was torn or is of something else: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FolderError(f"{name} is not a result in format {FORMAT}, the one that this version of Wireproof reads")
    try:
        report = _form().validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(map(str, first["loc"]))
        raise FolderError(f"{name} is damaged: {where}: {first['msg'].lower()}") from error
    _check_names(report, name)
    return report


def _check_names(report: Report, name: str) -> None:
    """Refuse a report whose names are none, or of what it does not hold; its maker may not choose what else is read."""
    named = [(report.transcripts.file, TRANSCRIPTS)] if report.transcripts else []
    # Empty where a run is not kept.
    named += [(one.folder, f"{RUNS}/{number}") for number, one in enumerate(report.repeats, 1) if one.folder]
    wrong = [f"it names {there!r:.100} where {right} stands" for there, right in named if there != right]
    names = dict.fromkeys(_names(report))
    wrong += [f"{one!r:.100} is no name, time or version" for one in names if not _NAME.fullmatch(one)]
    rows = {one.requirement for one in report.findings} | {one.requirement for one in report.outcomes}
    unknown = sorted(rows - report.requirements.keys())
    wrong += [f"it names the requirement {one!r:.100}, and says nothing of it" for one in unknown]
    if wrong:
        raise FolderError(f"{name} is damaged: {wrong[0]}")


def _names(report: Report) -> Iterator[str]:
    """What every rendering shows as it is."""
    yield from (report.began, report.catalogue.date, *vars(report.versions).values(), *report.requirements)
    yield from (one.scenario for one in report.outcomes)
    yield from (one.scenario for one in report.driven)
    for found in report.findings:
        yield from found.scenarios
    for flaky in report.flaky:
        yield from (flaky.requirement, *flaky.scenarios)
    for level in report.levels.values():
        yield from (*level.broken, *level.unobserved, *level.hidden)
    for way in report.target.ways if report.target else ():
        yield from (way.name, *way.broken, *way.shown_by)


def why(error: OSError) -> str:
    """Why a file could not be read or written, in words of the system."""
    return os.strerror(error.errno).lower() if error.errno else str(error)
