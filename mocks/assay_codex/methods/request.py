"""What a method is given: a request that was admitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay_codex.context import ServerContext


@dataclass(frozen=True, slots=True)
class AdmittedRequest:
    """A request with checked `params`, asked at `now`; `reply` sends its result."""

    server: ServerContext
    params: Mapping[str, Any]
    now: float
    reply: Callable[[Any], None]
