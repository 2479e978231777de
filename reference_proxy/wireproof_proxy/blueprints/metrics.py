"""`/metrics`: requests by surface, mode and status, how long they took, running turns, and the backend.

Each label has few values, whatever clients ask for: a surface is the name of a blueprint, and paths that are no route
of ours are counted as `other`. None needs a character to be escaped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING, Literal

from flask import Blueprint, Response

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof_proxy.backends.backend import AgentBackend
    from wireproof_proxy.http.capacity import TurnGate

SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus' text format, which every version of it reads."""


@dataclass
class _Durations:
    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    """How many were within each of `SECONDS` and no shorter one; the last took longer than all."""
    sum: float = 0.0


@dataclass(eq=False)
class Metrics:
    """The counts of one application; turns and the backend are looked at when `/metrics` is read."""

    gate: TurnGate
    backend: AgentBackend
    _requests: Counter[str] = field(default_factory=Counter)
    _durations: defaultdict[str, _Durations] = field(default_factory=lambda: defaultdict(_Durations))
    _lock: Lock = field(default_factory=Lock)

    def answered(self, surface: str, mode: str, status: int, seconds: float) -> None:
        """Count a request; `mode` is stream, whole or none."""
        labels = f'surface="{surface}",mode="{mode}"'
        with self._lock:
            self._requests[f'{{{labels},status="{status}"}}'] += 1
            durations = self._durations[labels]
            durations.counts[bisect_left(SECONDS, seconds)] += 1
            durations.sum += seconds

    def text(self) -> bytes:
        """All metrics, in Prometheus' text format."""
        with self._lock:
            counted = [
                *_family("requests_total", "counter", "Requests that were answered.", self._requests.items()),
                *_family(
                    "request_seconds",
                    "histogram",
                    "Seconds from a request to the end of its answer.",
                    (sample for labels, each in self._durations.items() for sample in _histogram(labels, each)),
                ),
            ]
        return "".join([*counted, *self._now()]).encode()

    def _now(self) -> Iterator[str]:
        yield from _family("running_turns", "gauge", "Turns that run.", [("", self.gate.taken)])
        ready = int(self.backend.await_ready(0))
        yield from _family("backend_ready", "gauge", "Whether the backend answers: 1 or 0.", [("", ready)])
        for name, help_, value in self.backend.counts():
            yield from _family(f"backend_{name}_total", "counter", help_, [("", value)])


def metrics_blueprint(metrics: Metrics) -> Blueprint:
    """`/metrics`, without a key."""
    blueprint = Blueprint("metrics", __name__)

    @blueprint.get("/metrics")
    def show() -> Response:
        return Response(metrics.text(), content_type=TEXT_FORMAT)

    return blueprint


def _family(
    name: str, kind: Literal["counter", "gauge", "histogram"], help_: str, samples: Iterable[tuple[str, float]]
) -> Iterator[str]:
    """The lines of a metric; a sample is what follows the name, and its value."""
    name = f"wireproof_proxy_{name}"
    yield f"# HELP {name} {help_}\n# TYPE {name} {kind}\n"
    yield from (f"{name}{rest} {value}\n" for rest, value in samples)


def _histogram(labels: str, durations: _Durations) -> Iterator[tuple[str, float]]:
    within = tuple(accumulate(durations.counts))
    for bound, count in zip((*SECONDS, "+Inf"), within, strict=True):
        yield f'_bucket{{{labels},le="{bound}"}}', count
    yield f"_count{{{labels}}}", within[-1]
    yield f"_sum{{{labels}}}", durations.sum
