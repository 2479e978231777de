"""`assay-proxy`: an OpenAI-compatible face for `codex app-server`, set up by environment variables."""

from __future__ import annotations

import argparse
import logging
import sys
from typing import TYPE_CHECKING

from assay_proxy.app import create_app
from assay_proxy.backends.codex import config
from assay_proxy.backends.codex.supervisor import Supervisor
from assay_proxy.http.capacity import Gate
from assay_proxy.http.server import Server
from assay_proxy.http.stop_signals import stop_signals
from assay_proxy.settings import Settings, SettingsError, backend_environment, describe, load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed.wsgi import WSGIApplication

SETTLE_SECONDS = 3.0
"""How long answers that the end of the backend has cut off may take to say so."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the exit status: 0 stopped, 1 the address is taken, 2 a bad setting."""
    argparse.ArgumentParser(
        prog="assay-proxy",
        description=__doc__,
        epilog=f"environment variables, their defaults and meanings:\n{describe()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args(arguments)
    try:
        settings = load()
    except SettingsError as error:
        _complain(str(error))
        return 2
    logging.basicConfig(level=settings.log_level.upper(), format="%(levelname)s %(name)s %(message)s")
    return serve(settings)


def serve(settings: Settings, wrap: Callable[[WSGIApplication], WSGIApplication] | None = None) -> int:
    """Run backend and server until a signal says stop, then let running answers finish for `PROXY_DRAIN_MS`.

    `wrap` gives the application that is served in the place of the proxy's own.
    """
    backend = Supervisor(
        [settings.codex.bin, "app-server", *config.ARGUMENTS],
        backend_environment(),
        restart_limit=settings.restart_limit,
        protocol=settings.codex_protocol,
        patience=settings.stalled_client_ms / 1000,
        silence=settings.call_wait_ms / 1000,
    )
    gate = Gate(settings.max_concurrency)
    app: WSGIApplication = create_app(settings, backend, gate)
    server = Server(wrap(app) if wrap else app, settings.host, settings.port, turns=settings.max_concurrency)
    with stop_signals() as wait:
        try:
            server.start()
        except OSError as error:
            _complain(f"cannot listen on {settings.host}:{settings.port}: {error}")
            return 1
        backend.start()
        print(f"assay-proxy listening on {server.url}", flush=True)  # noqa: T201 - whoever started it waits for this
        wait()
        gate.shut()
        gate.await_empty(settings.drain_ms / 1000)
        backend.stop()
        gate.await_empty(SETTLE_SECONDS)
        server.stop()
    return 0


def _complain(text: str) -> None:
    print(f"assay-proxy: {text}", file=sys.stderr)  # noqa: T201 - a command's own output


if __name__ == "__main__":
    sys.exit(main())
