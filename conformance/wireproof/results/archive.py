"""Runs in a file: what was sent and what came back, so that a run can be judged again without its target.

The file is gzip over JSON lines. The first line holds the target; each further one a scenario as it was driven. Bodies
are text where they are UTF-8 and base64 where they are not, so that a recording can be read and compared. Nothing that
is judged is kept, only transcripts: what is read in them is read again, and by the reader of the day.

No secret stands in it: see `masking`. A file that others may have made is neither deep nor of more parts than a result
has. An empty list takes three characters in a file and some sixty bytes in memory, so a bound of bytes alone would let
a file of some megabytes fill the memory.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter

from wireproof.judging.outcomes import ScenarioRun
from wireproof.model import dialect
from wireproof.model.capability import Capability
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode, PlainScenario
from wireproof.model.target import Target
from wireproof.model.transcript import Transcript
from wireproof.reading import recorded
from wireproof.requests.adapted import adapted
from wireproof.results.masking import masked_runs, masked_target
from wireproof.wire.fields import parse_json
from wireproof_scripts.files.regular import content_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from wireproof.model.scenario import Scenario
    from wireproof.reading.exchange import Exchange

FORMAT = 1
"""The number of this form; a file of another one is refused."""
MOST = 1 << 28
"""Bytes of an unpacked file at most. A whole run has 40 MiB; a file of a few kB may unpack to what fills the memory."""
MOST_PARTS = 2_000_000
"""Lists and objects that a file may hold; that of a whole run has some 100,000."""
Json = Any
_T = TypeVar("_T")


@cache
def _adapter(kind: type[_T]) -> TypeAdapter[_T]:
    """What writes and reads a target or a transcript, field by field: a new one is there without a word here."""
    form = TypeAdapter(kind)
    # Their annotations name types that the model imports for type checkers alone.
    form.rebuild(_types_namespace={**vars(dialect), "Mapping": Mapping, "Capability": Capability})
    return form


class ArchiveError(ValueError):
    """A file that holds no runs; the message says where and why."""


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A run as it was recorded."""

    target: Target
    runs: tuple[ScenarioRun, ...]
    unknown: tuple[str, ...] = ()
    """Scenarios of the file that do not exist any more; they cannot be judged."""


def save(path: Path, target: Target, runs: Iterable[ScenarioRun]) -> None:
    """Write runs of a target to a file, whose folder must exist."""
    head = {"format": FORMAT, "target": _adapter(Target).dump_python(masked_target(target), mode="json")}
    lines = (head, *map(_of_run, masked_runs(tuple(runs), target)))
    # Without a time in its head: the same runs give the same file.
    with path.open("wb") as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
        for line in lines:
            packed.write(json.dumps(line, ensure_ascii=False).encode(errors="backslashreplace") + b"\n")


def load(path: Path, scenarios: Iterable[Scenario]) -> Archive:
    """The runs in a file, of the scenarios that exist.

    Raises:
        ArchiveError: the file cannot be read, or holds no runs.
    """
    try:
        data = content_of(path, MOST)
    except OSError as error:
        raise ArchiveError(f"{path} holds no recorded run: {error}") from error
    return of_bytes(data, scenarios, name=str(path))


def of_bytes(data: bytes, scenarios: Iterable[Scenario], *, name: str) -> Archive:
    """The runs in what a file held; `name` is what messages call it.

    Raises:
        ArchiveError: it holds no runs.
    """
    try:
        head, *lines = _bounded(_unpacked(data).splitlines())
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ArchiveError(f"{name} holds no recorded run: {error}") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ArchiveError(f"{name} is not in format {FORMAT}, the one that this version of Wireproof reads")
    try:
        target = _adapter(Target).validate_python(head["target"])
        known = {scenario.name: adapted(scenario, target) for scenario in scenarios}
        runs = tuple(_run(known[line["scenario"]], line, target) for line in lines if line["scenario"] in known)
        unknown = tuple(line["scenario"] for line in lines if line["scenario"] not in known)
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # pydantic's ValidationError is a ValueError
        raise ArchiveError(f"{name} is damaged: {_first_line(error)}") from error
    return Archive(target=target, runs=runs, unknown=unknown)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _unpacked(data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        plain = packed.read(MOST + 1)
    if len(plain) > MOST:
        raise ValueError(f"unpacked it has more than {MOST >> 20} MiB, and no run has")
    return plain


def _of_run(run: ScenarioRun) -> Json:
    ended = {"ended": run.ended} if run.ended else {}
    return {
        "scenario": run.scenario.name,
        **ended,
        "error": run.error,
        "not_driven": [[*_of_form(form), reason] for form, reason in run.not_driven.items()],
        "absent": [[*_of_form(form), reason] for form, reason in run.absent.items()],
        "exchanges": _of_exchanges(run.exchanges),
        "repeated": run.repeated,
        "set_aside": _of_exchanges(run.set_aside),
    }


def _run(scenario: Scenario, line: Json, target: Target) -> ScenarioRun:
    return ScenarioRun(
        scenario=scenario,
        error=_text(line["error"]),
        not_driven={_form(*form): _text(reason) for *form, reason in line["not_driven"]},
        # Recordings of the corpus are older than this member.
        absent={_form(*form): _text(reason) for *form, reason in line.get("absent", ())},
        exchanges=_exchanges(scenario, line["exchanges"], target),
        repeated=int(line["repeated"]),
        ended=_text(line.get("ended", "")),
        set_aside=_exchanges(scenario, line["set_aside"], target),
    )


def _of_exchanges(exchanges: Mapping[Form, Sequence[Exchange]]) -> Json:
    return [[*_of_form(form), list(map(_of_exchange, those))] for form, those in exchanges.items()]


def _exchanges(scenario: Scenario, data: Json, target: Target) -> dict[Form, list[Exchange]]:
    return {
        _form(*form): [_exchange(scenario, number, _form(*form), target, one) for number, one in enumerate(those)]
        for *form, those in data
    }


def _of_exchange(exchange: Exchange) -> Json:
    return {
        "transcript": _of_transcript(exchange.transcript),
        # A further try may have allowed the model more tokens than the scenario does.
        "cap": exchange.conversation.cap if exchange.turn else None,
        "earlier": [_of_exchange(one) for one in exchange.earlier],
    }


def _exchange(scenario: Scenario, number: int, form: Form, target: Target, data: Json) -> Exchange:
    """The exchange as it was when it was driven, read anew."""
    transcript = _transcript(data["transcript"])
    if isinstance(scenario, PlainScenario):
        return recorded.of_request(scenario, number, form, target, transcript)
    sent = scenario if data["cap"] == scenario.cap else dataclasses.replace(scenario, cap=data["cap"])
    earlier = [_exchange(scenario, number, form, target, one) for one in data["earlier"]]
    return recorded.of_turn(sent, number, form, target, transcript, earlier=earlier)


def _of_form(form: Form) -> Sequence[str]:
    return (form.dialect.value, form.mode.value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} stands where a text should")
    return value


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
    # By pydantic, since what has another type would be found out in the midst of a judgement. Nothing is made before:
    # it takes what is of the right class for valid.
    pieces = [{"at": at, "data": _bytes(piece)} for at, piece in data["pieces"]]
    read = {**data, "request_body": _bytes(data["request_body"]), "pieces": pieces}
    found: Transcript = _adapter(Transcript).validate_python(read)
    return found


def _of_bytes(data: bytes) -> Json:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _bytes(data: Json) -> bytes:
    return data.encode() if isinstance(data, str) else base64.b64decode(data["base64"])


def bounded_json(text: bytes) -> Json:
    """The value of a JSON text.

    Raises:
        ValueError: it is no JSON, too deep, or of too many parts.
    """
    (value,) = _bounded([text])
    return value


def _bounded(texts: Sequence[bytes]) -> list[Json]:
    """The values of JSON texts, all of which together are bounded; raises as `bounded_json`."""
    if sum(one.count(b"[") + one.count(b"{") for one in texts) > MOST_PARTS:
        raise ValueError(f"it holds more than {MOST_PARTS:,} lists and objects, and no result does")
    return [parse_json(one) for one in texts]
