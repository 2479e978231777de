"""Which requests are served: what is checked before a request reaches its method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_codex.methods.handshake import initialize
from wireproof_codex.protocol.params import OVERLOAD, OVERLOADED, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.methods.table import Method
    from wireproof_codex.protocol.connection import ConnectedClient
    from wireproof_codex.protocol.rpc import ClientRequest
    from wireproof_codex.versions.version import Version


class Room:
    """How many outputs may wait to be fetched before requests are too many; None for any number."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._beyond = 0

    def ignores(self, waiting: int) -> bool:
        """True if a request is never answered, because too many outputs wait.

        Of those beyond the room every other one is; a real 0.169.0 loses some by chance (2 700 of 5 000 in one write).

        Raises:
            Refused: one too many that is answered.
        """
        # Off unless WIREPROOF_OVERLOAD_AT asks for it: which requests are lost is chance in the real server.
        if self._most is None or waiting < self._most:
            return False
        self._beyond += 1
        if self._beyond % 2:
            raise Refused(OVERLOAD, OVERLOADED)
        return True


def load_methods() -> Mapping[str, Method]:
    """All methods that the mock plays, imported at the first call: a client waits for the handshake."""
    from wireproof_codex.methods.table import METHODS  # noqa: PLC0415 - it would slow every start

    return METHODS


def admit(request: ClientRequest, client: ConnectedClient, version: Version) -> tuple[Method, Mapping[str, Any]]:
    """The method that serves a request of `client`, and its checked parameters.

    Raises:
        Refused: it may not be served.
    """
    method = request.method
    # Errors of reading the request, in the words of serde: they come before all others, also before the handshake.
    if method not in version.requests.methods:
        listed = ", ".join(f"`{name}`" for name in version.requests.methods)
        raise Refused(f"Invalid request: unknown variant `{method}`, expected one of {listed}")
    params = version.requests.params.check(method, request.params)
    if method == "initialize":
        if client.capabilities is not None:
            raise Refused("Already initialized")
        return initialize, params
    # `initialized` is not waited for: 0.89.0 and 0.169.0 serve requests without it.
    if client.capabilities is None:
        raise Refused("Not initialized")
    if not client.experimental:
        _check_gate(method, params, version)
    # The rest neither proxies nor the SDKs that were run ask for (docs/fidelity.md).
    played = load_methods().get(method)
    if played is None:
        raise Refused(f"wireproof-codex does not play {method}")
    return played, params


def _check_gate(method: str, params: Mapping[str, Any], version: Version) -> None:
    # null always passes; from 0.125.0 on even an empty list needs the capability.
    passing: tuple[object, ...] = (None,) if version.requests.gates_empty_lists else (None, [])
    fields = [name for name in version.requests.gated_params.get(method, ()) if params.get(name) not in passing]
    if method in version.requests.gated_methods or fields:
        what = f"{method}.{fields[0]}" if fields else method
        raise Refused(f"{what} requires experimentalApi capability")
