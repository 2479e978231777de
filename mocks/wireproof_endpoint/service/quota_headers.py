"""The headers that say what is left of a limit, as each API writes them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wireproof_surfaces.api_forms import MESSAGES

if TYPE_CHECKING:
    from wireproof_surfaces.api_forms import ApiForm

MINUTE = 60.0

Write = Callable[[str, int, int, float], dict[str, str]]
"""What is limited, the limit, what is left of it, and the seconds until all of it is there again → the headers."""


def writer(form: ApiForm) -> Write:
    """Writes the headers of this form."""
    return _of_messages if form is MESSAGES else of_openai


def of_openai(kind: str, limit: int, left: int, seconds: float) -> dict[str, str]:
    """The headers of OpenAI's API."""
    said = {"limit": str(limit), "remaining": str(left), "reset": written(seconds)}
    return {f"x-ratelimit-{name}-{kind}": value for name, value in said.items()}


def _of_messages(kind: str, limit: int, left: int, seconds: float) -> dict[str, str]:
    full = datetime.fromtimestamp(math.ceil(time.time() + seconds), UTC).isoformat().replace("+00:00", "Z")
    said = {"limit": str(limit), "remaining": str(left), "reset": full}
    return {f"anthropic-ratelimit-{kind}-{name}": value for name, value in said.items()}


def written(seconds: float) -> str:
    """A time as OpenAI writes it: 20ms, 1.5s, 6m0s."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms"
    minutes, rest = divmod(math.ceil(seconds * 1000) / 1000, MINUTE)
    return f"{minutes:.0f}m{rest:g}s" if minutes else f"{rest:g}s"
