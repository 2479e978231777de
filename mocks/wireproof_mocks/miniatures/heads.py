"""What becomes of the heads of responses, and of the keys of requests: another status, a header less or another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.miniatures.fault import Environ, FaultHead, Heads, SentRequest

SERVER_ERROR = 500
"""The lowest status that says that the backend failed."""


def always(*_: object) -> bool:
    """Whatever the request and its response are."""
    return True


def restated(status: str, when: Callable[[FaultHead, SentRequest], object]) -> Heads:
    """Another status."""
    return lambda head, request: replace(head, status=status) if when(head, request) else head


def one_for_another(code: int, status: str, when: Callable[[SentRequest], object] = always) -> Heads:
    """One status becomes another."""
    return restated(status, lambda head, request: head.code == code and when(request))


def as_streams(lowest: int = SERVER_ERROR, highest: int = 599) -> Heads:
    """Errors with these statuses answer a request for a stream with 200."""
    return restated("200 OK", lambda head, request: lowest <= head.code <= highest and request.streamed)


def forgetting(header: str, when: Callable[[FaultHead, SentRequest], object] = always) -> Heads:
    """A header is forgotten; its name is given in lower case."""
    return lambda head, request: head.without(header) if when(head, request) else head


def let_in(when: Callable[[Environ], object]) -> Callable[[Environ], None]:
    """Requests get past the door."""

    def change(environ: Environ) -> None:
        if when(environ):
            environ["HTTP_AUTHORIZATION"] = f"Bearer {environ['wireproof.key']}"

    return change
