"""What a journal shows of the client that asked: the rows of `wireproof client`, without scenarios of its own.

For whoever develops a client against `wireproof serve`, or tests it with the fixture. Only what is there is judged: a
row that nothing shows is not spoken of.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from wireproof.clients.journal import ENDS, transcripts_of
from wireproof.clients.running import run_of, target_of
from wireproof.judging.client_judge import judge_client
from wireproof.model.catalogue import load
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.report.excerpt import excerpt
from wireproof.scenarios.judged_clients import JOURNAL
from wireproof.wire.fields import list_of, object_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.requirement import Level
    from wireproof_endpoint.journal.entry import JournalEntry


@dataclass(frozen=True, kw_only=True)
class ClientFinding:
    """Something that a client did wrong."""

    requirement: str
    level: Level
    request: int
    """The number of the request in the journal, from 1."""
    seen: str
    place: str
    """The part of the request's body that shows it; "": the request as such."""
    text: str
    """What is right."""
    hint: str
    """What to do about it."""

    def __str__(self) -> str:
        """It in a few lines."""
        place = f"\n  there: {self.place}" if self.place else ""
        return f"{self.requirement} ({self.level}): request {self.request}: {self.seen}{place}\n  to do: {self.hint}"


class JournalFileError(ValueError):
    """A file that is no journal; the message says where and why."""


def findings(entries: Iterable[JournalEntry]) -> list[ClientFinding]:
    """What the client did wrong whose requests these are, in the order of the catalogue."""
    every, catalogue = list(entries), load()
    run = run_of(JOURNAL, transcripts_of(every))
    exchanges = {one.number: one.transcript for those in run.exchanges.values() for one in those}
    found = []
    for outcome in judge_client([run], target_of([run], ""), catalogue):
        row = catalogue.by_id[outcome.requirement]
        for finding in outcome.findings:
            violation, transcript = finding.violation, exchanges[finding.exchange]
            shown = excerpt(transcript.request_body, violation.place).at if violation.place else ""
            found.append(ClientFinding(
                requirement=row.id, level=row.level, request=every[finding.exchange].number, seen=violation.seen,
                place=shown, text=row.text, hint=violation.hint or row.hint,
            ))  # fmt: skip
    return found


def as_json(entries: Iterable[JournalEntry]) -> list[dict[str, Any]]:
    """The same for the page of the journal."""
    return [asdict(one) for one in findings(entries)]


def run_of_lines(text: str, name: str) -> ScenarioRun:
    """The run that the lines of a journal's file are; `name` is what messages call it.

    Raises:
        JournalFileError: a line is none of a journal.
    """
    # Not `splitlines`: a line may hold what is a line end to that, such as U+2028, as it is.
    found = [_read(line, f"{name}, line {number}") for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    # In the order in which the requests came; a line is written when its answer has ended.
    found.sort(key=lambda one: one.began)
    start = found[0].began if found else 0.0
    return run_of(JOURNAL, [replace(one, began=one.began - start) for one in found])


def _read(line: str, place: str) -> Transcript:
    try:
        data = json.loads(line)
        return _transcript(data, datetime.fromisoformat(data["when"]).timestamp())
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise JournalFileError(
            f"{place}: this is no line of a journal as `wireproof serve --journal` writes it: {error}"
        ) from error


def _transcript(data: Mapping[str, Any], began: float) -> Transcript:
    headers = _pairs(data.get("headers"))
    host = dict(headers).get("host", "127.0.0.1")
    body = data.get("body")
    kept = body is not None and not data.get("body_cut")
    return Transcript(
        method=text_of(data.get("method")) or "",
        url=f"http://{host}{text_of(data.get('path')) or ''}",
        request_headers=headers,
        request_body=json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass") if kept else b"",
        status=data["status"] if isinstance(data.get("status"), int) else None,
        headers=_pairs(data.get("answer_headers")),
        pieces=tuple(_pieces(data)),
        end=ENDS.get(text_of(data.get("ended")) or "", End.LEFT),
        seconds=float(data.get("seconds") or 0.0),
        began=began,
        script=text_of(data.get("script")) or "",
    )


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(said)) for name, said in object_of(value).items())


def _pieces(data: Mapping[str, Any]) -> Iterator[Piece]:
    """The pieces of an answer; frames are noted without the blank line behind them."""
    streams = "event-stream" in str(object_of(data.get("answer_headers")).get("Content-Type", ""))
    for one in map(object_of, list_of(data.get("sent"))):
        text = (text_of(one.get("text")) or "") + ("\n\n" if streams else "")
        yield Piece(at=float(one.get("at") or 0.0), data=text.encode(errors="surrogatepass"))
