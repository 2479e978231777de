"""By what an endpoint is known that Wireproof serves: to its clients, to gateways in front of it, and to scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST = "127.0.0.1"
SERVED_KEY = "wireproof"
"""The key that clients must send, unless another is chosen."""
UNKNOWN_MODEL = "wireproof-no-such-model"
"""A model that no target serves. An upstream that serves every other name refuses this one, so that it shows what a
gateway makes of an upstream's refusal."""
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
