"""The Codex backend as the settings describe it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_proxy.backends.codex import config
from wireproof_proxy.backends.codex.supervisor import Supervisor
from wireproof_proxy.settings import backend_environment

if TYPE_CHECKING:
    from wireproof_proxy.settings import ProxySettings


def codex_backend(settings: ProxySettings) -> Supervisor:
    """A supervisor of `CODEX_BIN app-server`, not started yet."""
    return Supervisor(
        [settings.codex.bin, "app-server", *config.ARGUMENTS],
        backend_environment(),
        restart_limit=settings.restart_limit,
        protocol=settings.codex_protocol,
        patience=settings.stalled_client_ms / 1000,
        silence=settings.call_wait_ms / 1000,
    )
