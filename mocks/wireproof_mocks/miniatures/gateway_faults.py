"""Faults of gateways, which call an upstream: settings of a request that do not reach it as they are.

They show in front of an upstream alone: an agent has no such settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.fault import WITH_MESSAGES, Fault, FaultExample, Json

if TYPE_CHECKING:
    from collections.abc import Callable

_SETTINGS = "turn.settings-reach-backend"
OWN_LIMIT = 1024
"""The tokens that a gateway allows whatever it is asked for."""


def _without(*names: str) -> Callable[[Json], Json]:
    return lambda asked: {name: value for name, value in asked.items() if name not in names}


def _own_limit(asked: Json) -> Json:
    return {**asked, "max_tokens": OWN_LIMIT}


GATEWAY_FAULTS: tuple[Fault, ...] = (
    Fault(
        name="stop-not-passed-on",
        breaks=_SETTINGS,
        in_turns=True,
        # Of chat alone: where Messages are served, an answer says at which text it stopped, which other rows are about.
        request=_without("stop"),
        examples=(FaultExample(before={"stop": ["."], "n": 1}, after={"n": 1}),),
    ),
    Fault(
        name="temperature-not-passed-on",
        breaks=_SETTINGS,
        in_turns=True,
        request=_without("temperature"),
        dialects=WITH_MESSAGES,
        examples=(FaultExample(before={"temperature": 0.25, "n": 1}, after={"n": 1}),),
    ),
    Fault(
        name="own-limit-of-tokens",
        breaks=_SETTINGS,
        in_turns=True,
        request=_own_limit,
        dialects=WITH_MESSAGES,
        examples=(FaultExample(before={"max_tokens": 5}, after={"max_tokens": OWN_LIMIT}),),
    ),
)
"""Each is a gateway that passes all else on."""
