"""The scenarios of the suite, as data."""

from assay.model.scenario import Scenario
from assay.scenarios.agent import AGENT
from assay.scenarios.calls import CALLS
from assay.scenarios.choices import CHOICES
from assay.scenarios.clients import CLIENTS
from assay.scenarios.failures import FAILURES
from assay.scenarios.http import HTTP, REUSE
from assay.scenarios.leaving import LEAVING
from assay.scenarios.params import PARAMS
from assay.scenarios.precedence import PRECEDENCE
from assay.scenarios.responses import BLOCKS as RESPONSES_BLOCKS
from assay.scenarios.responses import INPUT, SETTINGS
from assay.scenarios.sentinel import SENTINEL
from assay.scenarios.shapes import SHAPES
from assay.scenarios.stored import STORED
from assay.scenarios.structured import STRUCTURED
from assay.scenarios.text import TEXT
from assay.scenarios.tool_choice import TOOL_CHOICE
from assay.scenarios.turns import TURNS
from assay.scenarios.untouched import UNTOUCHED
from assay.scenarios.xml import BLOCKS, MODES, TEXTUAL

SCENARIOS: tuple[Scenario, ...] = (
    *TEXT,
    *CALLS,
    *FAILURES,
    *LEAVING,
    *BLOCKS,
    *TEXTUAL,
    *MODES,
    *SHAPES,
    *CHOICES,
    *SENTINEL,
    *SETTINGS,
    # Of one module, but each beside the scenarios of chat that are about the same.
    *RESPONSES_BLOCKS,
    *TURNS,
    *UNTOUCHED,
    *TOOL_CHOICE,
    *STRUCTURED,
    *HTTP,
    *REUSE,
    *PRECEDENCE,
    *PARAMS,
    *CLIENTS,
    *INPUT,
    *STORED,
    *AGENT,
)
"""All of them, in the order of reports."""

__all__ = ["SCENARIOS"]
