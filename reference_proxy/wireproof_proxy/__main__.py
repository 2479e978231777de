"""`wireproof-proxy`: serve a coding agent (`codex app-server`) as OpenAI's API, set up by environment variables."""

from __future__ import annotations

import argparse
import logging
import os
import resource
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from wireproof_proxy.access import socket_gate
from wireproof_proxy.answers.turn_runner import TurnGate
from wireproof_proxy.app import body_limit, create_app
from wireproof_proxy.backends.table import make_backend
from wireproof_proxy.http.wsgi import wsgi_server
from wireproof_proxy.settings import ProxySettings, SettingsError, describe, load
from wireproof_surfaces.http.edge_limits import EdgeLimits
from wireproof_surfaces.http.stop_signals import stop_signals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof_proxy.backends.backend import AgentBackend

SETTLE_SECONDS = 3.0
"""How long answers may take to report the end of the backend, which has cut them off."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the exit status: 0 stopped, 1 the address is taken, 2 a bad setting."""
    argparse.ArgumentParser(
        prog="wireproof-proxy",
        description=__doc__,
        epilog=f"environment variables, their defaults and meanings:\n{describe()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args(arguments)
    try:
        settings = load()
        backend = make_backend(settings)  # raises SettingsError too, for an unknown PROXY_BACKEND
    except SettingsError as error:
        _complain(str(error))
        return 2
    _raise_limit()
    logging.basicConfig(level=settings.log_level.upper(), format="%(levelname)s %(name)s %(message)s")
    return serve(settings, backend)


def serve(settings: ProxySettings, backend: AgentBackend) -> int:
    """Run backend and server until a signal says stop, then let running answers finish for `PROXY_DRAIN_MS`."""
    gate = TurnGate(settings.max_concurrency)
    app = create_app(settings, backend, gate)
    # Caught before anything runs: a signal that comes before `wait` counts too.
    with stop_signals() as wait:
        try:
            # Before the backend: when the address is taken, no process has been started yet.
            server = wsgi_server(
                app,
                settings.host,
                settings.port,
                turns=settings.max_concurrency,
                accept=body_limit(app, settings),
                sockets=socket_gate(settings),
                limits=EdgeLimits(body=settings.max_body_bytes, stalled=settings.stalled_client_ms / 1000),
            )
        except OSError as error:
            # asyncio's own words say the address once more, and the number of the error.
            reason = os.strerror(error.errno).lower() if error.errno is not None and error.errno > 0 else str(error)
            _complain(f"cannot listen on {settings.host}:{settings.port}: {reason}; name another with PROXY_PORT")
            return 1
        server.start()
        backend.start()
        print(f"wireproof-proxy listening on {server.url}", flush=True)  # noqa: T201 - whoever started it waits for this
        wait()
        # The order matters: no new turns; then time for those that run; then the end of the backend, which fails the
        # rest; then time for the failures to reach their clients; the connections last.
        gate.shut()
        gate.await_empty(settings.drain_ms / 1000)
        server.drop_stuck()
        backend.stop()
        gate.await_empty(SETTLE_SECONDS)
        server.stop()
    return 0


def _raise_limit() -> None:
    """As many open files as may be: each client is one, and the usual 1024 are few."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _complain(text: str) -> None:
    print(f"wireproof-proxy: {text}", file=sys.stderr)  # noqa: T201 - a command's own output


if __name__ == "__main__":
    sys.exit(main())
