"""The scenarios of the suite, as data."""

from wireproof.model.scenario import ConversationScenario, PlainScenario, Scenario
from wireproof.scenarios.agent import AGENT
from wireproof.scenarios.calls import CALLS
from wireproof.scenarios.clients import CLIENTS
from wireproof.scenarios.demands import CHOICES, STRUCTURED, TOOL_CHOICE
from wireproof.scenarios.failures import FAILURES, LEAVING
from wireproof.scenarios.http import HTTP, REUSE
from wireproof.scenarios.messages import MESSAGES
from wireproof.scenarios.messages_input import MESSAGES_INPUT
from wireproof.scenarios.params import PARAMS
from wireproof.scenarios.precedence import PRECEDENCE
from wireproof.scenarios.responses import BLOCKS as RESPONSES_BLOCKS
from wireproof.scenarios.responses import INPUT, SETTINGS
from wireproof.scenarios.sentinel import SENTINEL
from wireproof.scenarios.shapes import SHAPES
from wireproof.scenarios.stored import STORED
from wireproof.scenarios.surfaces import SURFACES
from wireproof.scenarios.text import TEXT
from wireproof.scenarios.turns import TURNS
from wireproof.scenarios.untouched import UNTOUCHED
from wireproof.scenarios.xml import BLOCKS, MODES, TEXTUAL

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
    *MESSAGES,
    *MESSAGES_INPUT,
    *SURFACES,
    *AGENT,
)
"""All of them, in the order of reports."""
CONVERSATIONS: tuple[ConversationScenario, ...] = tuple(
    scenario for scenario in SCENARIOS if isinstance(scenario, ConversationScenario)
)
PLAIN: tuple[PlainScenario, ...] = tuple(scenario for scenario in SCENARIOS if isinstance(scenario, PlainScenario))

__all__ = ["CONVERSATIONS", "PLAIN", "SCENARIOS"]
