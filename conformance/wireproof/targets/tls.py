"""TLS verification for a target's URL."""

from __future__ import annotations

import ssl
from functools import cache
from urllib.parse import urlsplit

from wireproof.targets.address import is_local


def verify_for(url: str) -> ssl.SSLContext | bool:
    """What httpx verifies the server at a URL by; True: the usual certificate authorities.

    Those are for https. To load them takes longer than many requests, so a client that sends to this machine by plain
    http does without; it would accept no certificate at all.
    """
    return _no_authority() if is_local(url) and urlsplit(url).scheme == "http" else True


@cache
def _no_authority() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
