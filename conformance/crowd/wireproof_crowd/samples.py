"""Samples: what the faultless proxy was asked, and what it answered; and what faults make of it, without a proxy.

They show what a fault does, so also which fault leaves nothing of another one.
"""

from __future__ import annotations

import io
import itertools
import threading
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wireproof.results.archive import load, save
from wireproof.scenarios import SCENARIOS
from wireproof_mocks.miniatures import Fault
from wireproof_mocks.miniatures.fault import FUNCTION_CALL, MESSAGES, OBSIDIAN_XML, OPENAI_JSON, RESPONSES
from wireproof_mocks.miniatures.middleware import WithFaults, sent_request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from wireproof.model.transcript import Transcript
    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate
    from wireproof_mocks.miniatures.fault import SentRequest

RECORDED = Path(__file__).parent / "samples.gz"
LARGEST = 15_000
"""Bytes of request and answer: larger ones show nothing that smaller ones do not."""
ENOUGH = 8
"""Samples in which a fault shows: of what is gone in all of these nothing is left."""
LOOKED_AT = 150
"""Samples that are looked at, those of the row and the scripts of the fault before others."""
_NOTHING = Fault(
    name="nothing", breaks="", dialects=(OPENAI_JSON, OBSIDIAN_XML, FUNCTION_CALL, RESPONSES, MESSAGES),
    request=lambda asked: asked, whole=lambda body, _, __: body, frames=lambda frames, _: iter(frames),
)  # fmt: skip
"""Beside it every body is parsed and written again, so that what differs is what a fault says."""
_ENDED = threading.Event()
_ENDED.set()


# Not compared by its members: what is known of a sample is kept, and to look it up by megabytes takes its time.
@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """An exchange of the faultless proxy."""

    exercises: frozenset[str]
    """The rows that its scenario exercises."""
    transcript: Transcript


def record(certificate: Certificate) -> None:
    """Keep the smaller exchanges of a certificate of the faultless proxy."""
    runs = (
        replace(
            run, exchanges={form: [*filter(_is_small, those)] for form, those in run.exchanges.items()}, set_aside={}
        )
        for run in certificate.runs
    )
    save(RECORDED, certificate.target, runs)


def _is_small(exchange: Exchange) -> bool:
    transcript = exchange.transcript
    return len(transcript.request_body) + sum(len(piece.data) for piece in transcript.pieces) < LARGEST


@cache
def samples() -> tuple[Sample, ...]:
    """All samples."""
    return tuple(
        Sample(exercises=frozenset(run.scenario.exercises), transcript=exchange.transcript)
        for run in load(RECORDED, SCENARIOS).runs
        for those in run.exchanges.values()
        for exchange in those
        if exchange.transcript.status is not None
    )


@cache
def shown_in(fault: Fault) -> tuple[Sample, ...]:
    """Samples in which a fault shows, alone; none for one that no sample can show, as by the time that it takes."""
    likeliest = sorted(samples(), key=lambda one: (fault.breaks not in one.exercises, not _is_of(fault, one)))
    shown = (one for one in likeliest[:LOOKED_AT] if played((fault,), one) != played((), one))
    return tuple(itertools.islice(shown, ENOUGH))


def _is_of(fault: Fault, sample: Sample) -> bool:
    """Whether a sample is of a script and a dialect in which a fault shows."""
    return fault.touches(_request(sample))


@cache
def _request(sample: Sample) -> SentRequest:
    return sent_request(_environ(sample.transcript))


@cache
def hides(first: Fault, second: Fault) -> bool:
    """Whether nothing is left of one of two faults where they are put into a proxy in this order.

    The second undoes what the first did, or does not find what it would change.
    """
    both = (first, second)
    return _is_gone(first, both, (second,)) or _is_gone(second, both, (first,))


def _is_gone(fault: Fault, both: tuple[Fault, ...], other: tuple[Fault, ...]) -> bool:
    shown = shown_in(fault)
    return bool(shown) and all(played(both, one) == played(other, one) for one in shown)


Played = tuple[object, ...]


@cache
def played(faults: tuple[Fault, ...], sample: Sample) -> Played:
    """What a proxy with these faults makes of a sample: the request that reaches it, and its answer, piece by piece."""
    seen: list[object] = []
    sent = sample.transcript

    def proxy(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        body = environ["wsgi.input"].read()
        seen.append((body, *sorted((name, text) for name, text in environ.items() if name.startswith("HTTP_"))))
        start_response(
            f"{sent.status} Status", [(name, text) for name, text in sent.headers if name != "transfer-encoding"]
        )
        return (piece.data for piece in sent.pieces)

    def answered(status: str, headers: list[tuple[str, str]], *_: object) -> object:
        seen.append((status, *headers))
        return None

    faulty = WithFaults(app=proxy, faults=(_NOTHING, *faults), key="key", stop=_ENDED)
    seen.extend(faulty(_environ(sent), answered))  # type: ignore[arg-type]
    return tuple(seen)


def _environ(sent: Transcript) -> WSGIEnvironment:
    url = urlsplit(sent.url)
    headers = {f"HTTP_{name.upper().replace('-', '_')}": text for name, text in sent.request_headers}
    body = sent.request_body
    return {
        **headers, "REQUEST_METHOD": sent.method, "PATH_INFO": url.path, "QUERY_STRING": url.query,
        "CONTENT_TYPE": headers.get("HTTP_CONTENT_TYPE", ""), "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
    }  # fmt: skip
