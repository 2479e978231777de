"""Requests whose tools may not be called."""

from assay.model.dialect import WITH_TOOLS, Dialect
from assay.model.scenario import Scenario, Turn
from assay.scenarios.tools import LOCAL_SEARCH

TOOL_CHOICE: tuple[Scenario, ...] = (
    Scenario(
        name="tool-choice-none",
        title="Tools are declared and may not be called: none is offered",
        # It answers with what was offered, so a tool that reached the backend is seen though it was not called.
        script="reflect/received",
        tools=(LOCAL_SEARCH,),
        body={"tool_choice": "none"},
        # `tool_choice` is about `tools`; requests with `functions` have `function_call` for it.
        dialects=WITH_TOOLS,
        turns=(Turn(say="What tools have you got?"),),
        exercises=("turn.tool-choice-none",),
    ),
    Scenario(
        name="tool-choice-none-block",
        title="Tools may not be called, and the text holds a block: it is text",
        # A block in the text would be a call without `tool_choice` (S4-3).
        script="textual/verbatim",
        tools=(LOCAL_SEARCH,),
        body={"tool_choice": "none"},
        # In obsidian-xml a block that is forwarded and one that is text are the same characters.
        dialects=(Dialect.OPENAI_JSON, Dialect.RESPONSES),
        turns=(Turn(say="Quote a call."),),
        exercises=("turn.tool-choice-none",),
        attribute_to="turn.tool-choice-none",
    ),
)
