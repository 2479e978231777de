"""Refusals for lack of capacity, 429 and 503: which are waited for, and how long. No I/O.

A client that gets one sends its request again: when `Retry-After` says, else after a pause that grows with each try.
So does Wireproof, since a proxy that is busy or limits its rate breaks nothing. Three things end the waiting: the
answer, the limit of all waits of an exchange, and the experience that waiting for this kind of refusal brings nothing.

What an answer says of the account behind a target, or of when it may be asked again, the whole run heeds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wireproof.model.target import Backend
from wireproof.model.transcript import Wait
from wireproof.targets.budget import SpentError
from wireproof.targets.probe import BUSY
from wireproof.targets.recognition import NO_ENTRY, UNAUTHORIZED, error_of, is_about_key, lasting
from wireproof.wire.asked_wait import asked_wait
from wireproof.wire.fields import json_object, object_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.model.target import Target
    from wireproof.model.transcript import Transcript
    from wireproof.targets.budget import TargetClock

LONGEST = 60.0
"""Seconds; what a target asks for beyond this is not granted. Limits of a rate are often counted by the minute."""
FIRST, GROWTH, MOST = 0.1, 2.0, 4.0
"""Seconds of the first pause where the target asks for none, how many times longer each next one is, and at most."""
EAGER = 0.05
"""Seconds of each pause of a client that knows that the backend is only being started again."""
JITTER = 0.25
"""The part of a pause of our own that is left to chance, so that clients do not come back all at once."""
ENOUGH = 2
"""Exchanges that waited in vain until a kind of refusal is taken for what it says, and not for a lack of capacity."""

Kind = tuple[str, int, str]
"""A kind of refusal: path, status, and the error's code or type."""


def is_busy(answer: Transcript) -> bool:
    """Whether an answer is a refusal for lack of capacity, as far as it says so itself."""
    return answer.status in BUSY and not lasting(answer.status, error_of(answer.body))


def kind_of(answer: Transcript) -> Kind:
    """What kind of refusal an answer is."""
    error = object_of((json_object(answer.body) or {}).get("error"))
    # Where there is none, the status alone says what it is.
    names = [one for one in (error.get("code"), error.get("type")) if isinstance(one, str)]
    return urlsplit(answer.url).path, answer.status or 0, next(iter(names), "")


def retry_after(answer: Transcript, now: datetime) -> float | None:
    """The seconds that an answer asks to wait; None: it does not say. `now`: see `asked_wait`."""
    return asked_wait({name.lower(): value for name, value in answer.headers}, now)


@dataclass(kw_only=True)
class Experience:
    """What waiting has brought in a run, by the kind of the refusal; all exchanges share one.

    A status that a proxy always gives to some kind of request is no lack of capacity, and hundreds of exchanges would
    wait for it.
    """

    in_vain: Counter[Kind] = field(default_factory=Counter)
    rewarded: Counter[Kind] = field(default_factory=Counter)

    def worth(self, kind: Kind) -> bool:
        """Whether to wait for a refusal of this kind."""
        return self.in_vain[kind] < ENOUGH or self.rewarded[kind] > self.in_vain[kind]


@dataclass(kw_only=True)
class Patience:
    """The waits of one exchange."""

    limit: float
    """Seconds after which no further wait begins; the last one may exceed it."""
    experience: Experience
    chance: Callable[[], float]
    """A number from 0 to 1, another each time."""
    eager: bool = False
    """Ask again at once and all the time, whatever the target asks for: a backend is only being started again."""
    waits: list[Wait] = field(default_factory=list)
    """The waits so far."""
    _kind: Kind | None = None
    """The kind of the last refusal; None: there was none."""

    def after(self, answer: Transcript, now: datetime) -> Wait | None:
        """How long to wait before the request is sent again; None: this answer stands."""
        busy = is_busy(answer)
        if self._kind is not None and not (busy and kind_of(answer) == self._kind):
            self.experience.rewarded[self._kind] += 1
        self._kind = kind_of(answer) if busy else None
        if self._kind is None or not self.experience.worth(self._kind):
            return None
        if sum(one.seconds for one in self.waits) >= self.limit:
            self.experience.in_vain[self._kind] += 1
            return None
        asked = retry_after(answer, now) is not None
        wait = Wait(status=answer.status or 0, seconds=self._pause(answer, now), asked=asked)
        self.waits.append(wait)
        return wait

    def _pause(self, answer: Transcript, now: datetime) -> float:
        # The exponent is bounded, too: a float of 2 to the thousandth would be too large.
        usual = EAGER if self.eager else min(FIRST * GROWTH ** min(len(self.waits), 10), MOST)
        asked = None if self.eager else retry_after(answer, now)
        if asked is not None:
            # Never at once, whatever it says: a target that asks for 0 seconds would be asked without end.
            return min(max(asked, usual), LONGEST)
        return usual * (1 - JITTER * self.chance())


def set_clock(target: Target, clock: TargetClock, answer: Transcript, sent_after: int) -> bool:
    """Have all requests wait as an answer asks; whether they do, and the run is not over with it.

    `sent_after`: how many refusals the clock had seen when the request was sent.

    Raises:
        SpentError: it is, and the answer is about the account.
    """
    live = target.backend is Backend.LIVE
    # With a script behind the target, the script may say so.
    why = lasting(answer.status, error_of(answer.body)) if live and not answer.ok else ""
    try:
        if why and answer.status not in NO_ENTRY:
            clock.stop(f"the target answers HTTP {answer.status}: {why}")
        elif is_busy(answer):
            clock.refused(answer.status or 0, retry_after(answer, datetime.now(UTC)), sent_after=sent_after)
        elif answer.status is not None:
            clock.served()
    except SpentError:
        # With no account behind it, that it has no capacity any more is the target's own fault.
        if live:
            raise
        return False
    return True


def bars(target: Target, answer: Transcript) -> bool:
    """Whether a service refuses the key that it has taken until now."""
    if target.backend is not Backend.LIVE or answer.status not in NO_ENTRY:
        return False
    key, sent = target.api_key, {value for _, value in answer.request_headers}
    # Some requests have a wrong key, or none, on purpose.
    if key is not None and not sent & {key, f"Bearer {key}"}:
        return False
    # 403 refuses what a request asks for, too: a model, a prompt, a picture.
    return answer.status == UNAUTHORIZED or is_about_key(error_of(answer.body))
