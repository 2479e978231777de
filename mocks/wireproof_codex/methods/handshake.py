"""The handshake, in a module of its own: a client waits for it, and it needs no import that turns need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_codex.notifications import messages

if TYPE_CHECKING:
    from wireproof_codex.context import AdmittedRequest


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
