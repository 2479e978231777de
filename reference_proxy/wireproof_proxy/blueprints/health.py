"""Health checks, without a key: whether the process is up, whether the backend is not given up, whether it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint

from wireproof_surfaces.errors import GIVEN_UP, STOPPING, ApiError, failure
from wireproof_surfaces.events import ChoiceFailed, FailureReason

if TYPE_CHECKING:
    from wireproof_proxy.backends.backend import AgentBackend
    from wireproof_proxy.http.capacity import TurnGate


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
