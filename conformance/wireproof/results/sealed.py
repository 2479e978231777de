"""A certificate as one file: what was certified, the report, the transcripts, and the hashes that hold them together.

It is a ZIP archive of three members that are stored as they are, in one order, without times: the same result gives the
same bytes, and a file that was changed anywhere is not what its own members give. Nothing is ever unpacked to disk, and
no member is packed, so no name leads out of a folder and no size lies.

    certificate.json      target, configuration, edition, verdicts, digests of scenarios, sizes and hashes of the others
    report.json           the result in its one form
    transcripts.jsonl.gz  what was sent and received

Hashes show that a file was damaged or put together, not who made it: whoever changes all of it can hash it again. What
then still stands against the change is the judgement, which `wireproof verify` makes of the transcripts again.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.results.archive import bounded_json
from wireproof.results.folder import REPORT, TRANSCRIPTS, FolderError, as_json, parsed, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.results.document import Report
    from wireproof.wire.fields import JsonObject

HEAD = "certificate.json"
MEMBERS = (HEAD, REPORT, TRANSCRIPTS)
"""The names of the members, in their order."""
FORMAT = 1
"""The number of this form; a file of another one is refused."""
LARGEST = 1 << 28
"""Bytes that a file may have; that of a whole run has 2 MiB."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP archive can give a member."""
_UNIX = 3
_MODE = 0o100644 << 16
SEAL = "sha256"
"""The last member of `certificate.json`: the hash of all before it."""


class SealedError(ValueError):
    """A file that is no certificate, or not one that can be read; the message is one line without the file's name."""


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """A certificate that was read, whole and unchanged."""

    report: Report
    transcripts: bytes
    rows: str
    """The digest of the rows of its edition."""
    scenarios: Mapping[str, str]
    """Scenario → the digest of what it was."""


def sealed(report: Report, transcripts: bytes, *, rows: str, scenarios: Mapping[str, str]) -> bytes:
    """The file of a result."""
    data = {REPORT: as_json(report).encode(), TRANSCRIPTS: transcripts}
    return _packed({HEAD: _head(plain(report), data, rows, scenarios), **data})


def opened(data: bytes) -> Sealed:
    """What a file holds.

    Raises:
        SealedError: it is not a certificate, was changed, or is in another form.
    """
    members = _members(data)
    head = _head_of(members[HEAD])
    try:
        report = parsed(members[REPORT], REPORT)
    except FolderError as error:
        raise SealedError(f"it was changed or is damaged: {error}") from error
    rows, scenarios = head["edition"]["rows"], head["scenarios"]
    others = {name: members[name] for name in (REPORT, TRANSCRIPTS)}
    # What the member says, not what is made of it: an older Wireproof wrote fewer fields.
    if _head(bounded_json(members[REPORT]), others, rows, scenarios) != members[HEAD]:
        raise SealedError(f"it was changed: {HEAD} does not speak of the report and the transcripts beside it")
    if _packed(members) != data:
        raise SealedError("it was changed: there is more in the file than its members")
    return Sealed(report=report, transcripts=members[TRANSCRIPTS], rows=rows, scenarios=scenarios)


def _head(whole: JsonObject, data: Mapping[str, bytes], rows: str, scenarios: Mapping[str, str]) -> bytes:
    """The text of `certificate.json`; all but what names the edition and the scenarios follows from the others.

    `whole` is the JSON of the report.
    """
    said = {
        "format": FORMAT,
        "target": whole["target"],
        "configuration": whole["configuration"],
        "edition": {**whole["catalogue"], "rows": rows},
        "versions": whole["versions"],
        "began": whole["began"],
        "verdicts": {name: level["summary"] for name, level in whole["levels"].items()},
        "scenarios": dict(sorted(scenarios.items())),
        "members": {name: {"bytes": len(one), SEAL: _digest(one)} for name, one in data.items()},
    }
    return _text({**said, SEAL: _digest(_text(said))})


def _text(said: object) -> bytes:
    return json.dumps(said, ensure_ascii=False, indent=1).encode(errors="backslashreplace") + b"\n"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _packed(members: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name in MEMBERS:
            about = zipfile.ZipInfo(name, _EPOCH)
            # As on any system, whichever this is.
            about.create_system, about.external_attr = _UNIX, _MODE
            archive.writestr(about, members[name])
    return made.getvalue()


def _members(data: bytes) -> dict[str, bytes]:
    """The members of a file, none of which can be larger than the file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            there = archive.infolist()
            _refuse_others(there)
            return {one.filename: archive.read(one) for one in there}
    except SealedError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise SealedError(
            f"it is not a certificate, or was damaged: {str(error).lower() or 'it ends too soon'}"
        ) from error


def _refuse_others(there: list[zipfile.ZipInfo]) -> None:
    names = [one.filename for one in there]
    missing = next((name for name in MEMBERS if name not in names), None)
    if missing is not None:
        raise SealedError(f"it is not a certificate: it has no {missing}")
    if sorted(names) != sorted(MEMBERS):
        other = next((name for name in names if name not in MEMBERS), "a member twice")
        raise SealedError(f"it is not a certificate: it holds {other!r}, which is no member of one")
    packed = next((one.filename for one in there if one.compress_type != zipfile.ZIP_STORED or one.flag_bits & 1), None)
    if packed is not None:
        raise SealedError(
            f"it is not a certificate: {packed} is packed or encrypted, and members are stored as they are"
        )


def _head_of(text: bytes) -> JsonObject:
    """`certificate.json`, of which so much is right that it can be compared."""
    try:
        head = bounded_json(text)
    except ValueError as error:
        raise SealedError(f"it was changed or is damaged: {HEAD} is no JSON") from error
    number = head.get("format") if isinstance(head, dict) else None
    if isinstance(number, int) and number > FORMAT:
        raise SealedError(f"it is in format {number}, which a newer Wireproof writes; this one reads format {FORMAT}")
    match head:
        case {"format": 1, "edition": {"rows": str()}, "scenarios": dict(scenarios), "sha256": str(seal)} if all(
            isinstance(one, str) for one in scenarios.values()
        ):
            said = {name: value for name, value in head.items() if name != SEAL}
        case _:
            raise SealedError(f"it was changed or is damaged: {HEAD} is not in format {FORMAT}")
    if _digest(_text(said)) != seal:
        raise SealedError(f"it was changed: {HEAD} has another hash than it names")
    return dict(head)
