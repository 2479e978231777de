"""Which requests are served: what is checked before a request reaches its method; and the handshake.

A client waits for this module, so it imports nothing that turns need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_codex.notifications import messages
from wireproof_codex.protocol.params import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.context import AdmittedRequest, ServerContext
    from wireproof_codex.methods.table import Method
    from wireproof_codex.versions.version import Version


def initialize(request: AdmittedRequest) -> None:
    """Answer `initialize`."""
    server, client, capabilities = request.server, request.params["clientInfo"], request.params.get("capabilities")
    server.client, server.capabilities = client["name"], capabilities or {}
    # Before 0.99.0 an unknown member of the parameters, which is passed over.
    if server.version.requests.opt_out:
        server.opted_out = frozenset(server.capabilities.get("optOutNotificationMethods") or ())
    server.user_agent = messages.user_agent(client, version=server.version.number)
    request.reply(messages.initialized(server.user_agent, home=server.home))
    # From 0.134.0 on; 0.169.0 does not wait for `initialized` with it.
    server.notify_client("remoteControl/status/changed", messages.remote_control(server.uuid()))


def load_methods() -> Mapping[str, Method]:
    """All methods that the mock plays, imported at the first call: a client waits for the handshake."""
    from wireproof_codex.methods.table import METHODS  # noqa: PLC0415 - it would slow every start

    return METHODS


def admit(method: str, given: object, server: ServerContext) -> tuple[Method, Mapping[str, Any]]:
    """The function that serves a request of this method, and the checked parameters.

    Raises:
        Refused: it may not be served.
    """
    version = server.version
    # Errors of reading the request, in the words of serde: they come before all others, also before the handshake.
    if method not in version.requests.methods:
        listed = ", ".join(f"`{name}`" for name in version.requests.methods)
        raise Refused(f"Invalid request: unknown variant `{method}`, expected one of {listed}")
    params = version.requests.params.check(method, given)
    if method == "initialize":
        if server.capabilities is not None:
            raise Refused("Already initialized")
        return initialize, params
    # `initialized` is not waited for: 0.89.0 and 0.169.0 serve requests without it.
    if server.capabilities is None:
        raise Refused("Not initialized")
    if not server.experimental:
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
