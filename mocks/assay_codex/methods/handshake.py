"""The handshake, which stands apart: a client waits for it, and it needs nothing of what threads and turns do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay_codex.notifications import messages

if TYPE_CHECKING:
    from assay_codex.methods.asked import Asked


def initialize(asked: Asked) -> None:
    """Answer `initialize`."""
    server, client = asked.server, asked.params["clientInfo"]
    server.shake_hands(client, asked.params.get("capabilities") or {})
    asked.reply(messages.initialized(server.user_agent, home=server.home))
    server.tell_client("remoteControl/status/changed", messages.remote_control(server.ids.uuid(asked.now)), asked.now)
