"""Some of all requests fail, as they do at services: which, and how, follows from a seed. Pure."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from wireproof_endpoint.journal.why import Considered
from wireproof_scripts.steps import Say
from wireproof_scripts.steps.http import Disconnect, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_scripts.steps import Step

NAME = "chaos"
"""What a journal calls the script of a request that failed so."""
_CUT = (Say(("This answer", " breaks off")),)
FAULTS: Mapping[str, tuple[Step, ...]] = {
    "a 429 with Retry-After: 1": (Status(429, retry_after="1"),),
    "a 500": (Status(500),),
    "a 503": (Status(503),),
    "the connection is closed before the answer": (Disconnect(),),
    "the connection is closed within the answer": (*_CUT, Disconnect(at="mid-frame")),
    "the connection is reset within the answer": (*_CUT, Disconnect(at="mid-frame", reset=True)),
}
"""What happens → the steps of it. All of it is what clients are to try again after, or to report."""


def fault_of(number: int, *, share: float, seed: int) -> str | None:
    """What happens to the request of this number, a name of `FAULTS`; None: nothing.

    `share`: of all that fail, from 0 to 1.
    """
    chance = random.Random(f"{NAME}:{seed}:{number}")  # noqa: S311 - the same ones each time
    return chance.choice(tuple(FAULTS)) if chance.random() < share else None


def why(fault: str, share: float, instead: str) -> tuple[Considered, ...]:
    """What a journal says of a fault."""
    said = f"by --chaos {share:g}: {fault}, in the place of {instead}"
    return (Considered(script=NAME, answers=True, why=said),)
