"""Which names and addresses are this machine's own. Pure.

Without a key these alone are served. A web page that has its own name resolve to 127.0.0.1 (DNS rebinding) is of the
same origin as what answers there, so no rule about origins keeps it out; but its requests carry its name in `Host`.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from urllib.parse import urlsplit


def is_loopback(name: str) -> bool:
    """Whether a host name or an address, without a port, is this machine's own."""
    name = name.strip("[]").rstrip(".").lower()
    # RFC 6761, 6.3: browsers resolve these by themselves.
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


# The same few names come with each request.
@lru_cache(maxsize=16)
def names_loopback(host: str) -> bool:
    """Whether the value of a `Host` header is a name of this machine, with or without a port."""
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False
