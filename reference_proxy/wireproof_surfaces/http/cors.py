"""Requests of browser and desktop clients: which headers let them in from where, and which names are our own. Pure.

Without a key this machine's own names alone are served. A web page that has its own name resolve to 127.0.0.1 (DNS
rebinding) is of the same origin as what answers there, so no rule about origins keeps it out; but its requests have its
name in `Host`. Header names of requests are lower-case here.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping


# A browser shows a page's script no other header of an answer, but for a few harmless ones.
EXPOSED = "request-id, x-request-id, x-proxy-output-mode, x-proxy-tool-arguments, x-proxy-stop-after-tools, retry-after"
_ANYONE = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": EXPOSED}


@dataclass(frozen=True, slots=True)
class Cors:
    """Lets `origins` in; `*` is any. No credentials are ever allowed, so `*` may be sent literally."""

    origins: tuple[str, ...]

    def allow(self, request: Mapping[str, str]) -> Mapping[str, str]:
        """The headers of every response, error or not."""
        if "*" in self.origins:
            return _ANYONE
        origin = request.get("origin", "")
        if origin not in self.origins:
            # A hint to caches: another origin may get another answer.
            return {"Vary": "Origin"}
        return {
            "Vary": "Origin",
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": EXPOSED,
        }

    def admits(self, origin: str | None) -> bool:
        """Whether a page of this origin may ask, where the browser does not keep it from that; None: it is no page."""
        return origin is None or "*" in self.origins or origin in self.origins

    def preflight(self, request: Mapping[str, str]) -> dict[str, str]:
        """The further headers of the answer to OPTIONS: the methods, and whichever headers the client wants to send."""
        methods = "GET, POST, OPTIONS"
        if request.get("access-control-request-method") == "DELETE":
            methods += ", DELETE"
        headers = {
            "Access-Control-Allow-Methods": methods,
            # Named one by one: `*` does not cover `authorization`.
            "Access-Control-Allow-Headers": request.get(
                "access-control-request-headers", "authorization, content-type"
            ),
            "Access-Control-Max-Age": "600",
        }
        # Without it Chromium keeps a public page from a proxy on its own machine: those that are not let in get none.
        asks = request.get("access-control-request-private-network") == "true"
        if asks and ("*" in self.origins or request.get("origin") in self.origins):
            headers["Access-Control-Allow-Private-Network"] = "true"
        return headers


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


_OF_ALL_INTERFACES = {str(ipaddress.IPv4Address(0)), str(ipaddress.IPv6Address(0))}


def reaches_this_machine(name: str) -> bool:
    """Whether a client that connects to a host name or an address reaches its own machine.

    By the address of all interfaces, too: servers print it as theirs.
    """
    return is_loopback(name) or name.strip("[]") in _OF_ALL_INTERFACES


# The same few names come with each request.
@lru_cache(maxsize=16)
def names_loopback(host: str) -> bool:
    """Whether the value of a `Host` header is a name of this machine, with or without a port."""
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False
