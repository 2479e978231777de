"""`python -m wireproof_mocks.miniatures [NAME+NAME…]`: serve the proxy with faults, as `wireproof-proxy` is served.

Without a name every fault is served at once, each below its own path: `/<name>/v1/…`, and `/none/v1/…` without any.
Below `/<name>+<name>/v1/…` a proxy has several faults; what the later ones change, they change after the earlier ones.
The settings are those of `wireproof-proxy`.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from wireproof_mocks.miniatures import FAULTS
from wireproof_mocks.miniatures.middleware import WithFaults
from wireproof_proxy.answers.turn_runner import TurnGate
from wireproof_proxy.app import create_app
from wireproof_proxy.backends.table import make_backend
from wireproof_proxy.http.wsgi import wsgi_server
from wireproof_proxy.settings import ProxySettings, SettingsError, load
from wireproof_surfaces.http.edge_limits import EdgeLimits
from wireproof_surfaces.http.stop_signals import stop_signals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from wireproof_proxy.backends.backend import AgentBackend

NONE = "none"
FURTHER = 2**20
"""Bytes that a body may have beyond what the proxy takes: a fault takes larger ones."""


class Miniatures:
    """All miniatures of one application, selected by the path's first segment; without one, no fault."""

    def __init__(self, app: WSGIApplication, key: str | None, slots: int, stop: threading.Event) -> None:
        self._app, self._key, self._slots, self._stop = app, key, slots, stop
        self._rooms = {name: self.with_faults(name) for name in (*FAULTS, NONE)}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        name, _, rest = environ["PATH_INFO"].removeprefix("/").partition("/")
        if "+" in name and name not in self._rooms and FAULTS.keys() >= set(name.split("+")):
            # `setdefault`: of two requests that come at once the second finds the first one's.
            self._rooms.setdefault(name, self.with_faults(name))
        if name in self._rooms:
            # The proxy below knows nothing of the segment: to it every miniature is served at the root.
            environ["PATH_INFO"] = f"/{rest}"
            return self._rooms[name](environ, start_response)
        return self._rooms[NONE](environ, start_response)

    def with_faults(self, names: str) -> WithFaults:
        """The application with the faults of these names, which a plus parts; "none" for no fault."""
        faults = tuple(FAULTS[name] for name in names.split("+") if name != NONE)
        return WithFaults(app=self._app, faults=faults, key=self._key, slots=self._slots, stop=self._stop)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM; exit status 1 when the address is taken, 2 for an unknown name or a bad setting."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if any(set(names.split("+")) - {*FAULTS, NONE} for names in given) or len(given) > 1:
        return _complain(2, f"give one of: {', '.join([NONE, *FAULTS])}")
    try:
        settings = load()
        backend = make_backend(settings)
    except SettingsError as error:
        return _complain(2, str(error))
    return _serve(settings, backend, *given)


def _serve(settings: ProxySettings, backend: AgentBackend, names: str | None = None) -> int:
    key = settings.api_key.get_secret_value() if settings.api_key else None
    stop = threading.Event()
    slots = settings.max_concurrency
    # One proxy and one backend for all miniatures: a process for each would cost more than it shows.
    proxy = create_app(settings, backend, TurnGate(slots))
    every = Miniatures(proxy, key, slots, stop)
    # Under a name the faults alone are served, at the paths of `wireproof-proxy`, so that they can be put in its place.
    app = every.with_faults(names) if names else every
    # Every body is read: which ones the proxy refuses by their heads, a fault may have changed.
    limits = EdgeLimits(body=settings.max_body_bytes + FURTHER, stalled=settings.stalled_client_ms / 1000)
    with stop_signals() as wait:
        try:
            server = wsgi_server(app, settings.host, settings.port, turns=slots, limits=limits)
        except OSError as error:
            return _complain(1, f"cannot listen on {settings.host}:{settings.port}: {error}")
        server.start()
        backend.start()
        print(f"miniatures listening on {server.url}", flush=True)  # noqa: T201 (whoever started it waits for this)
        wait()
        # Before the server stops, which waits for bodies that a fault holds open.
        stop.set()
        backend.stop()
        server.stop()
    return 0


def _complain(status: int, text: str) -> int:
    print(f"miniatures: {text}", file=sys.stderr)  # noqa: T201 (a command)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
