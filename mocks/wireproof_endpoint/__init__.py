"""The endpoint that `wireproof serve` serves: scripts, played as OpenAI's API would answer them.

    request → validated request → plan → script → events → assembly → writer → bytes

One process and one event loop. A script is played where it is asked for: there is no agent behind the endpoint and no
pipe to one. What is taken of the reference proxy is how a request is read and how an answer is written; the suite
judges this endpoint as it judges any proxy. Only `http`, `serving` and `__main__` do I/O: everything else takes
requests and the time, and gives what to send or until when to wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof_endpoint.in_process import Transport, transport

__all__ = ["Transport", "transport"]


def __getattr__(name: str) -> object:
    """Import what is asked for, when it is asked for: pytest imports this package in every session, for its fixture."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from wireproof_endpoint import in_process  # noqa: PLC0415

    return getattr(in_process, name)
