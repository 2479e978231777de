"""Requests whose tools may not be called, or must be."""

from wireproof.model.dialect import CHATS_WITH_TOOLS, WITH_TOOLS, Dialect
from wireproof.model.scenario import ConversationScenario, PlainScenario, Request, Scenario, Turn
from wireproof.scenarios.tools import LOCAL_SEARCH, READ_NOTE

TOOL_CHOICE: tuple[Scenario, ...] = (
    ConversationScenario(
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
    ConversationScenario(
        name="tool-choice-none-block",
        title="Tools may not be called, and the text holds a block: it is text",
        # A block in the text would be a call without `tool_choice` (codex-story, criterion 3).
        script="textual/verbatim",
        tools=(LOCAL_SEARCH,),
        body={"tool_choice": "none"},
        # In obsidian-xml a block that is forwarded and one that is text are the same characters.
        dialects=(Dialect.OPENAI_JSON, Dialect.RESPONSES),
        turns=(Turn(say="Quote a call."),),
        exercises=("turn.tool-choice-none",),
        attribute_to="turn.tool-choice-none",
    ),
    ConversationScenario(
        name="tool-choice-required",
        title="A call is demanded, and the backend calls",
        script="call/one",
        tools=(LOCAL_SEARCH, READ_NOTE),
        body={"tool_choice": "required"},
        dialects=WITH_TOOLS,
        turns=(Turn(say="Search the notes."),),
        exercises=("turn.tool-choice-forced",),
        attribute_to="turn.tool-choice-forced",
        refusable="tool_choice",
    ),
    ConversationScenario(
        # No proxy knows beforehand what its backend does: to accept the field and then to send text is to ignore it.
        name="tool-choice-required-unmet",
        title="A call is demanded, and the backend answers with text",
        script="text/hello",
        tools=(LOCAL_SEARCH, READ_NOTE),
        body={"tool_choice": "required"},
        dialects=WITH_TOOLS,
        turns=(Turn(say="Search the notes."),),
        exercises=("turn.tool-choice-forced",),
        attribute_to="turn.tool-choice-forced",
        refusable="tool_choice",
    ),
    ConversationScenario(
        name="tool-choice-named",
        title="A call of one tool is demanded, and the backend makes it",
        script="call/one",
        tools=(READ_NOTE, LOCAL_SEARCH),
        body={"tool_choice": {"type": "function", "function": {"name": "localSearch"}}},
        dialects=CHATS_WITH_TOOLS,
        turns=(Turn(say="Search the notes."),),
        exercises=("turn.tool-choice-forced",),
        attribute_to="turn.tool-choice-forced",
        refusable="tool_choice",
    ),
    ConversationScenario(
        name="tool-choice-named-unmet",
        title="A call of one tool is demanded, and the backend calls another",
        script="call/one",
        tools=(READ_NOTE, LOCAL_SEARCH),
        body={"tool_choice": {"type": "function", "function": {"name": "readNote"}}},
        dialects=CHATS_WITH_TOOLS,
        turns=(Turn(say="Read the note."),),
        exercises=("turn.tool-choice-forced",),
        attribute_to="turn.tool-choice-forced",
        refusable="tool_choice",
    ),
    ConversationScenario(
        # Responses name the function without a member around it.
        name="tool-choice-named-flat",
        title="A call of one tool is demanded of a response, and the backend answers with text",
        script="text/hello",
        tools=(READ_NOTE, LOCAL_SEARCH),
        body={"tool_choice": {"type": "function", "name": "readNote"}},
        dialects=(Dialect.RESPONSES,),
        turns=(Turn(say="Read the note."),),
        exercises=("turn.tool-choice-forced",),
        attribute_to="turn.tool-choice-forced",
        refusable="tool_choice",
    ),
    PlainScenario(
        # Without a script the mock calls the tool that the text names; a model does so, too.
        name="calls-declared",
        title="A call has the name of a declared tool",
        requests=(
            Request(
                json={
                    "model": "{model}",
                    "messages": [{"role": "user", "content": "Call the tool readNote, please."}],
                    "tools": [LOCAL_SEARCH, READ_NOTE],
                },
                headers=Dialect.OPENAI_JSON.spec.headers,
            ),
        ),
        exercises=("turn.calls-declared",),
    ),
)
