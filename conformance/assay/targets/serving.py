"""What `assay serve` serves, and every upstream that Assay starts: the reference proxy with the settings for that."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from assay.scenarios.http import UNKNOWN_MODEL

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST = "127.0.0.1"
SERVED_KEY = "assay"
"""The key that clients must send, unless another is chosen."""
SERVED: Mapping[str, str] = {
    # As OpenAI behaves, which clients and gateways are written for. The proxy's own defaults, obsidian-xml and the
    # first call alone, are those of S4.
    "PROXY_OUTPUT_MODE": "openai-json",
    "PROXY_STOP_AFTER_TOOLS_MODE": "burst",
    # A gateway's clients name models of their own. One name is unknown all the same, so that it shows what a gateway
    # makes of the upstream's refusal.
    "PROXY_ANY_MODEL": "true",
    "PROXY_UNKNOWN_MODELS": UNKNOWN_MODEL,
    "PROXY_CHATGPT_SERVICE": "true",
}
"""Settings of the reference proxy."""


def is_free(port: int) -> bool:
    """Whether a port of this machine can be listened at."""
    with suppress(OSError):
        must_be_free(port)
        return True
    return False


def must_be_free(port: int) -> None:
    """Raise OSError unless a port of this machine can be listened at."""
    # `create_server` sets SO_REUSEADDR, so a port that was just left counts as free.
    socket.create_server((HOST, port)).close()
