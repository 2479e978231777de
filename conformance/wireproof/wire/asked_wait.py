"""How long a refusal for lack of capacity asks its client to wait: every spelling that services use, in seconds.

`Retry-After` counts seconds or names a date (RFC 9110, section 10.2.3); `retry-after-ms` counts milliseconds, as the
SDKs of OpenAI read it, and before the other one. Where neither stands there, `x-ratelimit-reset`, `-reset-requests` and
`-reset-tokens` say when a limit that is used up begins again, as a duration ("6m0s", "20ms"), in seconds, or as a time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{0,9})?")
_PARTS = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|us|µs|ns|d|h|m|s)")
_DURATION = re.compile(rf"(?:{_PARTS.pattern})+")
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_RESET, _REMAINING = "x-ratelimit-reset", "x-ratelimit-remaining"
_MILLISECONDS, _EPOCH = 1e12, 1e9
"""A number beyond these is no duration, but a time: in milliseconds, or in seconds, since 1970."""


def asked_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that a refusal asks to wait; None: it does not say, or not so that it is read.

    Args:
        headers: Of the refusal, by lower-case name.
        now: Only looked at where the answer has no `Date` of its own, whose clock may be wrong in the same way.
    """
    clock = _date(headers.get("date", "")) or now
    milliseconds, said = headers.get("retry-after-ms", "").strip(), headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    if _NUMBER.fullmatch(said):
        return float(said)
    due = _date(said)
    # The latest of all limits that are used up: before that the next request would be refused, too.
    return _until(due, clock) if due is not None else max(_resets(headers, clock), default=None)


def _resets(headers: Mapping[str, str], clock: datetime) -> Iterator[float]:
    """After how many seconds each limit that is used up begins again."""
    for name, value in headers.items():
        if not name.startswith(_RESET):
            continue
        remaining = headers.get(_REMAINING + name.removeprefix(_RESET), "0").strip()
        seconds = _seconds(value.strip(), clock)
        if remaining == "0" and seconds is not None:
            yield seconds


def _seconds(said: str, clock: datetime) -> float | None:
    """A duration, or the time until a moment."""
    if _NUMBER.fullmatch(said):
        number = float(said)
        number = number / 1000 if number > _MILLISECONDS else number
        return max(number - clock.timestamp(), 0.0) if number > _EPOCH else number
    if _DURATION.fullmatch(said):
        return sum(float(count) * _UNITS[unit] for count, unit in _PARTS.findall(said))
    moment = _date(said)
    return None if moment is None else _until(moment, clock)


def _until(moment: datetime, clock: datetime) -> float:
    return max((moment - clock).total_seconds(), 0.0)


def _date(text: str) -> datetime | None:
    """A date as HTTP writes it, or as RFC 3339 does."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            parsed = read(text)
        except (ValueError, OverflowError):  # a year, day or zone of twenty digits
            continue
        # Without a zone, or with -0000, it has none to Python; HTTP knows none but GMT.
        return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return None
