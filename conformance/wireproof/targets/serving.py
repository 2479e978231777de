"""What Wireproof serves for others: the reference proxy as clients of OpenAI expect it, and at which port."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from wireproof.model.served import HOST, UNKNOWN_MODEL

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVED: Mapping[str, str] = {
    # As OpenAI behaves, which clients are written for. The proxy's own defaults, obsidian-xml and the first call alone,
    # are those of S4.
    "PROXY_OUTPUT_MODE": "openai-json",
    "PROXY_STOP_AFTER_TOOLS_MODE": "burst",
    "PROXY_ANY_MODEL": "true",
    "PROXY_UNKNOWN_MODELS": UNKNOWN_MODEL,
    "PROXY_CHATGPT_SERVICE": "true",
}
"""Settings of the reference proxy."""


def is_free(port: int) -> bool:
    """Whether a port of this machine can be listened at."""
    with suppress(OSError):
        # `create_server` sets SO_REUSEADDR, so a port that was just left counts as free.
        socket.create_server((HOST, port)).close()
        return True
    return False
