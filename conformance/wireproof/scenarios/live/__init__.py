"""The scenarios for models: prompts instead of scripts, and few plain requests. A whole run fits in 80 requests."""

from wireproof.model.scenario import Scenario
from wireproof.scenarios.live.calls import TOOL_CALLS
from wireproof.scenarios.live.plain import PLAIN
from wireproof.scenarios.live.texts import TEXTS

LIVE: tuple[Scenario, ...] = (*TEXTS, *TOOL_CALLS, *PLAIN)
"""All of them, in the order of reports."""

__all__ = ["LIVE"]
