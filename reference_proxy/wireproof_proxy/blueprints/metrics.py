"""For whoever runs the proxy, without a key: `/metrics`, and the health checks.

The metrics are requests by surface, mode and status, how long they took, running turns, and the backend. Each label has
few values, whatever clients ask for: a surface is the name of a blueprint, and paths that are no route of ours are
counted as `other`. The checks say whether the process is up, whether the backend is not given up, whether it answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flask import Blueprint, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from wireproof_surfaces.errors import GIVEN_UP, STOPPING, ApiError, failure
from wireproof_surfaces.events import ChoiceFailed, FailureReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

    from wireproof_proxy.answers.turn_runner import TurnGate
    from wireproof_proxy.backends.backend import AgentBackend


SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


@dataclass(eq=False)
class Metrics:
    """The counts of one application; turns and the backend are looked at when `/metrics` is read."""

    gate: TurnGate
    backend: AgentBackend
    # Not the library's global one, which would refuse the metrics of a second application in the process.
    _registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    def __post_init__(self) -> None:
        labels = ("surface", "mode")
        # The library adds `_total` to the name.
        self._requests = Counter(
            "wireproof_proxy_requests", "Requests that were answered.", (*labels, "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "wireproof_proxy_request_seconds",
            "Seconds from a request to the end of its answer.",
            labels,
            registry=self._registry,
            buckets=SECONDS,
        )
        self._registry.register(_Now(self.gate, self.backend))

    def answered(self, surface: str, mode: str, status: int, seconds: float) -> None:
        """Count a request; `mode` is stream, whole or none."""
        self._requests.labels(surface, mode, str(status)).inc()
        self._seconds.labels(surface, mode).observe(seconds)

    def text(self) -> bytes:
        """All metrics, in Prometheus' text format."""
        return generate_latest(self._registry)


def metrics_blueprint(metrics: Metrics) -> Blueprint:
    """`/metrics`."""
    blueprint = Blueprint("metrics", __name__)

    @blueprint.get("/metrics")
    def show() -> Response:
        return Response(metrics.text(), content_type=CONTENT_TYPE_LATEST)

    return blueprint


@dataclass(frozen=True)
class _Now(Collector):
    gate: TurnGate
    backend: AgentBackend

    def collect(self) -> Iterator[Metric]:
        """The current values."""
        yield GaugeMetricFamily("wireproof_proxy_running_turns", "Turns that run.", value=self.gate.taken)
        ready = self.backend.await_ready(0)
        yield GaugeMetricFamily("wireproof_proxy_backend_ready", "Whether the backend answers: 1 or 0.", value=ready)
        for name, help_, value in self.backend.counts():
            yield CounterMetricFamily(f"wireproof_proxy_backend_{name}", help_, value=value)


def health_blueprint(backend: AgentBackend, gate: TurnGate) -> Blueprint:
    """`/healthz`, `/livez` and `/readyz`."""
    blueprint = Blueprint("health", __name__)

    @blueprint.get("/healthz")
    def up() -> dict[str, str]:
        return {"status": "ok"}

    @blueprint.get("/livez")
    def live() -> dict[str, str]:
        if not backend.alive:
            raise ApiError(GIVEN_UP)
        return {"status": "alive"}

    @blueprint.get("/readyz")
    def ready() -> dict[str, str]:
        # A proxy that stops is alive but not ready: whoever goes by readiness sends it no more requests.
        if gate.shut_down:
            raise ApiError(STOPPING)
        # 0: a health check never waits, and starts no backend that was given up.
        if not backend.await_ready(0):
            raise failure(ChoiceFailed(FailureReason.UNAVAILABLE))
        return {"status": "ready"}

    return blueprint
