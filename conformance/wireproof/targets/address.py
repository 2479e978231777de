"""URLs of targets: whether one can be used at all, and whether it names this machine. Nothing is sent."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx

from wireproof.model.verdict import HarnessError


def url_fault(url: str) -> str:
    """Why no request can be sent to a URL; "" when one can."""
    try:
        # httpx is what will send to it, so what it refuses is no usable URL.
        parts, _ = urlsplit(url), httpx.URL(url)
        _ = parts.port  # raises for one that is not a number
    except (ValueError, httpx.InvalidURL) as error:
        return str(error)
    if parts.scheme not in {"http", "https"}:
        return "it should begin with http:// or https://"
    return "" if parts.hostname else "it names no host"


def check_url(url: str) -> None:
    """Raise HarnessError for a URL that no request can be sent to."""
    fault = url_fault(url)
    if fault:
        raise HarnessError(f"{url!r} is no usable URL: {fault}")


def is_local(url: str) -> bool:
    """Whether a URL names this machine; a proxy that the environment names must then be left out."""
    with suppress(ValueError):
        # A name that only resolves to loopback counts as remote: nothing is looked up here.
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    return False
