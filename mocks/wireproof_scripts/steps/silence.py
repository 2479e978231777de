"""Steps of time: silence, its end, and the pace of what comes after them."""

# No `from __future__ import annotations` here: the annotations of the fields are read when the program runs.
import random
from collections.abc import Iterator
from dataclasses import dataclass

from wireproof_scripts.kinds import MOST_SECONDS, Count, Name, Rate, Seconds, Share, Text


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence for some time."""

    seconds: Seconds
    """How long."""


@dataclass(frozen=True, slots=True)
class Pace:
    """From here on the text comes at the pace of a model: each delta has its time."""

    rate: Rate | None = None
    """Deltas a second; without it only the first one waits."""
    first: Seconds = 0.0
    """Seconds before the first of them."""
    jitter: Share = 0.0
    """How much a delta's own time may be longer or shorter: from 0, exact, to 1, anything up to twice as long."""
    seed: Count = 0
    """Another seed gives other times; the same one the same."""

    def gaps(self) -> Iterator[float]:
        """The seconds before each delta, without end."""
        chance = random.Random(self.seed)  # noqa: S311 - times, no secrets
        yield self.first
        while True:
            # Drawn even without jitter: the times of a seed do not depend on it.
            swing = chance.uniform(-1.0, 1.0) * self.jitter
            yield min((1.0 + swing) / self.rate, MOST_SECONDS) if self.rate else 0.0


@dataclass(frozen=True, slots=True)
class Gate:
    """Silence until a turn under the same nonce plays `open` with the same name."""

    name: Name = "gate"
    """Which gate."""
    timeout: Seconds = 5.0
    """The longest silence."""
    late: Text = "(the gate was not opened in time)"
    """The text that is sent when the timeout has passed; then the part goes on."""


@dataclass(frozen=True, slots=True)
class Open:
    """Open a gate for every turn under the same nonce, now or later."""

    name: Name = "gate"
    """Which gate."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Silence until the turn is interrupted."""
