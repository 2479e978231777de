"""What a method is given: a request that was admitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.context import ServerContext


@dataclass(frozen=True, kw_only=True, slots=True)
class AdmittedRequest:
    """A request that may be served."""

    server: ServerContext
    params: Mapping[str, Any]
    """The parameters, checked: of the types that the version takes, the required ones present."""
    reply: Callable[[Any], None]
    """Sends the result; called once."""
