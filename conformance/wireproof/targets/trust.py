"""By what a client knows the server that it sends to."""

from __future__ import annotations

import ssl
from functools import cache
from urllib.parse import urlsplit

from wireproof.targets.address import is_local


def trust(url: str) -> ssl.SSLContext | bool:
    """By what the server at a URL is known, as httpx's `verify`; True: by the usual authorities.

    Those are for https. To load them takes longer than many requests, so a client that sends to this machine by plain
    http does without; it would accept no certificate at all.
    """
    return _no_authority() if is_local(url) and urlsplit(url).scheme == "http" else True


@cache
def _no_authority() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
