"""How long answers take that no script gives times: to the first output, and between two pieces of text. Pure.

    0.3  300ms  0.3s          always that
    0.2..0.5                  anything between, each as likely
    normal:0.3,0.1            mean and deviation; never less than nothing
    lognormal:0.3,0.5         median, and the deviation of the logarithm: a long tail, as services have
    exponential:0.3           mean

The same seed gives the n-th request the same times.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_scripts.steps import Pace, Pause

if TYPE_CHECKING:
    from wireproof_endpoint.settings import EndpointSettings
    from wireproof_scripts.steps import Step

Draw = Callable[[random.Random], float]
"""One time, in seconds."""
LONGEST = 3600.0
_TIME = re.compile(r"(\d+(?:\.\d+)?)(ms|s)?")
FORMS = "a time such as 0.3 or 300ms, 0.2..0.5, normal:0.3,0.1, lognormal:0.3,0.5 or exponential:0.3"


class TimeError(ValueError):
    """A time cannot be read; the text says what would be right."""


def times(text: str) -> Draw:
    """What draws the times that a text describes.

    Raises:
        TimeError: it describes none.
    """
    name, colon, given = text.strip().rpartition(":")
    match name or colon, given.split(".." if not name and ".." in given else ","):
        case "", [one]:
            always = _seconds(one, text)
            return lambda _chance: always
        case "", [one, other] if ".." in given and (low := _seconds(one, text)) <= (high := _seconds(other, text)):
            return lambda chance: chance.uniform(low, high)
        case "normal", [one, other]:
            mean, deviation = _seconds(one, text), _seconds(other, text)
            return lambda chance: max(0.0, chance.gauss(mean, deviation))
        case "lognormal", [one, other] if (median := _seconds(one, text)) > 0:
            middle, spread = math.log(median), _seconds(other, text)
            return lambda chance: min(LONGEST, chance.lognormvariate(middle, spread))
        case "exponential", [one] if (average := _seconds(one, text)) > 0:
            return lambda chance: min(LONGEST, chance.expovariate(1 / average))
    raise TimeError(f"{text!r} must be {FORMS}")


def _seconds(text: str, whole: str) -> float:
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise TimeError(f"{whole!r} must be {FORMS}")
    seconds = float(found[1]) / (1000 if found[2] == "ms" else 1)
    if seconds > LONGEST:
        raise TimeError(f"{whole!r} is longer than {LONGEST:g} seconds")
    return seconds


@dataclass(frozen=True, slots=True)
class _Drawn(Pace):
    """A pace whose times are drawn."""

    draw: Draw = lambda _chance: 0.0
    chance: random.Random = random.Random(0)  # noqa: RUF009, S311 - each has its own; times, no secrets

    def gaps(self) -> Iterator[float]:
        """The seconds before each delta: the first waits for nothing but the beginning."""
        yield 0.0
        while True:
            yield _swung(self.draw(self.chance), self.jitter, self.chance)


def _swung(seconds: float, jitter: float, chance: random.Random) -> float:
    return seconds * (1.0 + chance.uniform(-1.0, 1.0) * jitter)


def delays(settings: EndpointSettings) -> Callable[[int], tuple[Step, ...]] | None:
    """Gives the steps that come before those of the answer to the request of a number; None: settings ask for no times.

    Raises:
        TimeError: one of them cannot be read.
    """
    first, between = (times(text) if text else None for text in (settings.ttft, settings.itl))
    if first is None and between is None:
        return None

    def before(number: int) -> tuple[Step, ...]:
        chance = random.Random(f"{settings.seed}:{number}")  # noqa: S311 - times, no secrets
        steps: list[Step] = []
        if first is not None:
            steps.append(Pause(min(LONGEST, _swung(first(chance), settings.jitter, chance))))
        if between is not None:
            steps.append(_Drawn(jitter=settings.jitter, draw=between, chance=chance))
        return tuple(steps)

    return before
