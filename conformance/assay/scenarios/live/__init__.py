"""The scenarios for models: prompts instead of scripts, and few plain requests. A whole run fits in 80 requests."""

from assay.model.scenario import Scenario
from assay.scenarios.live.calls import TOOL_CALLS
from assay.scenarios.live.formats import FORMATS
from assay.scenarios.live.plain import PLAIN
from assay.scenarios.live.texts import TEXTS

LIVE: tuple[Scenario, ...] = (*TEXTS, *TOOL_CALLS, *FORMATS, *PLAIN)
"""All of them, in the order of reports."""

__all__ = ["LIVE"]
