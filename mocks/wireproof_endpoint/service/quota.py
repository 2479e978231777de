"""How many requests and tokens a minute a key may use: headers that say what is left, and a 429 when nothing is.

As OpenAI's limits: what was used comes back little by little, at the rate of the limit. A request is counted before it
is answered, by a quarter of its characters and what `max_tokens` and its kin allow.
"""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wireproof_surfaces.api_forms import MESSAGES, OPENAI
from wireproof_surfaces.errors import ApiError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_surfaces.api_forms import ApiForm

MINUTE = 60.0
KEYS = 1024
"""Keys that are kept apart; of more, those used least recently begin again."""
_CHARACTERS = 4
"""Of a token, about."""
PATHS = frozenset({"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/embeddings", "/v1/messages"})
"""What is counted."""
UNSAID = 16
"""Tokens that are counted for an answer of which the request does not say how long it may be."""
_ROOM = re.compile(rb'"max_(?:completion_|output_)?tokens"\s*:\s*(\d{1,7})')
_KEYS = ("authorization", "api-key", "x-api-key")
_SHORT = {"requests": "RPM", "tokens": "TPM"}


@dataclass(slots=True)
class _Bucket:
    """What is left of one limit, for one key."""

    limit: int
    left: float
    at: float

    def look(self, now: float) -> None:
        """Let come back what has come back by now."""
        self.left = min(self.limit, self.left + (now - self.at) * self.limit / MINUTE)
        self.at = now

    def wait(self, wanted: float) -> float:
        """Seconds until so much is left; nothing where it is."""
        return max(0.0, (min(wanted, self.limit) - self.left) * MINUTE / self.limit)


def room_of(body: bytes) -> int:
    """How many tokens an answer may have by the request in this body; `UNSAID` where it does not say, or is none."""
    found = [int(digits) for digits in _ROOM.findall(body)]
    return max(found, default=UNSAID)


class Quota:
    """`requests` and `tokens` a minute; None: any number. `clock` gives seconds, and never goes back."""

    def __init__(self, *, requests: int | None, tokens: int | None, clock: Callable[[], float]) -> None:
        limits = {"requests": requests, "tokens": tokens}
        self._limits = {name: limit for name, limit in limits.items() if limit is not None}
        self._clock = clock
        self._keys: OrderedDict[str, dict[str, _Bucket]] = OrderedDict()

    def take(self, headers: Mapping[str, str], size: int, room: int, form: ApiForm = OPENAI) -> dict[str, str]:
        """Count a request of `size` bytes whose answer has room for so many tokens: the headers of its answer.

        `form`: that of the API, which has headers of its own.

        Raises:
            ApiError: 429, with these headers and the time after which it may be tried again.
        """
        now = self._clock()
        buckets = self._buckets(headers, now)
        wanted = {"requests": 1.0, "tokens": float(-(-size // _CHARACTERS) + room)}
        for name, bucket in buckets.items():
            wait = bucket.wait(wanted[name])
            if wait > 0:
                raise _exhausted(name, bucket, wanted[name], wait, _headers(buckets, form))
        for name, bucket in buckets.items():
            # A request that alone is larger than the limit takes all of it.
            bucket.left = max(0.0, bucket.left - wanted[name])
        return _headers(buckets, form)

    def _buckets(self, headers: Mapping[str, str], now: float) -> dict[str, _Bucket]:
        key = next((headers[name] for name in _KEYS if name in headers), "")
        full = {name: _Bucket(limit, limit, now) for name, limit in self._limits.items()}
        buckets = self._keys.setdefault(key, full)
        self._keys.move_to_end(key)
        if len(self._keys) > KEYS:
            self._keys.popitem(last=False)
        for bucket in buckets.values():
            bucket.look(now)
        return buckets


def _headers(buckets: Mapping[str, _Bucket], form: ApiForm) -> dict[str, str]:
    """What each limit is, what is left of it, and when all of it is there again, as this API writes it."""
    found: dict[str, str] = {}
    for kind, bucket in buckets.items():
        said = {"limit": str(bucket.limit), "remaining": str(math.floor(bucket.left))}
        seconds = bucket.wait(bucket.limit)
        if form is MESSAGES:
            full = datetime.fromtimestamp(math.ceil(time.time() + seconds), UTC).isoformat().replace("+00:00", "Z")
            found |= {f"anthropic-ratelimit-{kind}-{name}": value for name, value in {**said, "reset": full}.items()}
        else:
            said["reset"] = _written(seconds)
            found |= {f"x-ratelimit-{name}-{kind}": value for name, value in said.items()}
    return found


def _exhausted(name: str, bucket: _Bucket, wanted: float, wait: float, headers: dict[str, str]) -> ApiError:
    used = bucket.limit - math.floor(bucket.left)
    message = (
        f"Rate limit reached on {name} per min ({_SHORT[name]}): Limit {bucket.limit}, Used {used}, "
        f"Requested {wanted:.0f}. Please try again in {_written(wait)}."
    )
    problem = Problem(429, name, "rate_limit_exceeded", message)
    waits = {"Retry-After": str(math.ceil(wait)), "retry-after-ms": str(math.ceil(wait * 1000))}
    return ApiError(problem, headers={**headers, **waits})


def _written(seconds: float) -> str:
    """A time as OpenAI writes it: 20ms, 1.5s, 6m0s."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms"
    minutes, rest = divmod(math.ceil(seconds * 1000) / 1000, MINUTE)
    return f"{minutes:.0f}m{rest:g}s" if minutes else f"{rest:g}s"
