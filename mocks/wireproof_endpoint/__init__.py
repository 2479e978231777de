"""The endpoint that `wireproof serve` serves: scripts, played as OpenAI's API would answer them.

    request → validated request → plan → script → events → assembly → writer → bytes

One process and one event loop. A script is played where it is asked for: there is no agent behind the endpoint and no
pipe to one. How a request is read and how an answer is written is in `wireproof_surfaces`, which the reference proxy
shares; the suite judges this endpoint as it judges any proxy.

Only `http`, `serving` and `__main__` do I/O: everything else takes requests and the time, and gives what to send or
until when to wait.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof_endpoint.fixture import EndpointFixture
    from wireproof_endpoint.in_process import Transport, transport

__all__ = ["EndpointFixture", "Transport", "transport"]


_HOMES = {"EndpointFixture": "fixture", "Transport": "in_process", "transport": "in_process"}


def __getattr__(name: str) -> object:
    """Import what is asked for, when it is asked for: pytest imports this package in every session, for its fixture."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
