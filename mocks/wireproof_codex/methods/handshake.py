"""The handshake, in a module of its own: a client waits for it, and it needs no import that turns need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_codex.notifications import messages

if TYPE_CHECKING:
    from wireproof_codex.methods.request import AdmittedRequest


def initialize(request: AdmittedRequest) -> None:
    """Answer `initialize`."""
    server, client = request.server, request.params["clientInfo"]
    server.shake_hands(client, request.params.get("capabilities") or {})
    request.reply(messages.initialized(server.user_agent, home=server.home))
    # From 0.134.0 on; 0.169.0 does not wait for `initialized` with it.
    server.notify_client("remoteControl/status/changed", messages.remote_control(server.uuid()))
