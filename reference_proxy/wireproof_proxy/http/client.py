"""What an answer knows of its client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Callable


def _never() -> bool:
    return False


def _not_noticed(_callback: Callable[[], object]) -> None:
    """Under another server: a departure is noticed at the next write."""


@value(frozen=True, kw_only=True, slots=True)
class ClientState:
    """Whoever sent a request; the defaults are of one of whom nothing is known before the next write."""

    gone: Callable[[], bool] = _never
    """Whether it has left."""
    when_gone: Callable[[Callable[[], object]], object] = _not_noticed
    """Has a function called, in any thread, when it leaves."""
    stalled: Callable[[], bool] = _never
    """Whether it has taken nothing for so long that its answer is given up."""
    keep_open: bool = False
    """Whether its protocol, HTTP/1.1, can keep the connection open."""
