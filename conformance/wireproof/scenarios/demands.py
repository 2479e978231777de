"""What requests demand of an answer: several choices, a call of a tool or none, JSON."""

from functools import partial

from wireproof.model.dialect import CHATS, CHATS_WITH_TOOLS, WITH_TOOLS, Dialect
from wireproof.model.scenario import ConversationScenario, JsonObject, Request, Scenario, Turn
from wireproof.scenarios.plain import plain
from wireproof.scenarios.tools import LOCAL_SEARCH, READ_NOTE

_choices = partial(
    ConversationScenario,
    choices=2,
    dialects=CHATS,
    exercises=("chat.stream.isolation", "chat.whole.choices", "chat.stream.parity"),
)
CHOICES: tuple[ConversationScenario, ...] = (
    _choices(
        name="choices-text",
        title="Two choices, two texts",
        script="choices/text",
        turns=(Turn(say="Say it in two ways."),),
    ),
    _choices(
        name="choices-mixed",
        title="Two choices: text in one, a call in the other",
        script="choices/mixed",
        turns=(Turn(say="Say it, or search."),),
        tools=(LOCAL_SEARCH,),
        dialects=CHATS_WITH_TOOLS,
    ),
    _choices(
        name="choices-indexed",
        title="Two choices in one turn, whose events say which one they are of",
        script="choices/indexed",
        turns=(Turn(say="Say it in two ways at once."),),
        usage=True,
    ),
    _choices(
        name="choices-usage",
        title="Two choices, each with its own counts: the usage is their sum",
        script="choices/usage",
        turns=(Turn(say="Count both."),),
        usage=True,
        exercises=(
            "chat.stream.isolation",
            "chat.stream.usage",
            "chat.stream.usage-details",
            "chat.whole.usage",
            "chat.stream.parity",
        ),
    ),
)


def _demanded(
    name: str,
    title: str,
    choice: str | JsonObject,
    dialects: tuple[Dialect, ...],
    script: str = "call/one",
    *,
    say: str = "Search the notes.",
) -> ConversationScenario:
    return ConversationScenario(
        name=f"tool-choice-{name}",
        title=title,
        script=script,
        tools=(LOCAL_SEARCH, READ_NOTE) if choice == "required" else (READ_NOTE, LOCAL_SEARCH),
        body={"tool_choice": choice},
        dialects=dialects,
        turns=(Turn(say=say),),
        exercises=("turn.tool-choice-forced",),
        attribute_to="turn.tool-choice-forced",
        refusable="tool_choice",
    )


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
    _demanded("required", "A call is demanded, and the backend calls", "required", WITH_TOOLS),
    # No proxy knows beforehand what its backend does: to accept the field and then to send text is to ignore it.
    _demanded(
        "required-unmet", "A call is demanded, and the backend answers with text", "required", WITH_TOOLS, "text/hello"
    ),
    _demanded(
        "named",
        "A call of one tool is demanded, and the backend makes it",
        {"type": "function", "function": {"name": "localSearch"}},
        CHATS_WITH_TOOLS,
    ),
    _demanded(
        "named-unmet",
        "A call of one tool is demanded, and the backend calls another",
        {"type": "function", "function": {"name": "readNote"}},
        CHATS_WITH_TOOLS,
        say="Read the note.",
    ),
    _demanded(
        "named-flat",
        "A call of one tool is demanded of a response, and the backend answers with text",
        # Responses name the function without a member around it.
        {"type": "function", "name": "readNote"},
        (Dialect.RESPONSES,),
        "text/hello",
        say="Read the note.",
    ),
    _demanded(
        "named-flat-unmet",
        "A call of one tool is demanded of a response, and the backend calls another",
        {"type": "function", "name": "readNote"},
        (Dialect.RESPONSES,),
        say="Read the note.",
    ),
    # Without a script the mock calls the tool that the text names; a model does so, too.
    plain(
        "calls-declared",
        "A call has the name of a declared tool",
        ("turn.calls-declared",),
        Request(
            json={
                "model": "{model}",
                "messages": [{"role": "user", "content": "Call the tool readNote, please."}],
                "tools": [LOCAL_SEARCH, READ_NOTE],
            },
            headers=Dialect.OPENAI_JSON.spec.headers,
        ),
    ),
)

# Such that what the backend reports of itself matches it: so a proxy that looks at the answer has no reason to refuse.
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "input": {"type": "array", "description": "What was  asked", "items": {"type": "object"}},
        "history": {"type": "array"},
        "tools": {"type": "array"},
    },
    "required": ["input", "history", "tools"],
    "additionalProperties": True,
}
NAMED: JsonObject = {"name": "report", "schema": SCHEMA, "strict": False}
_structured = partial(
    ConversationScenario,
    script="reflect/received",
    turns=(Turn(say="What have you received? Answer in JSON."),),
    exercises=("turn.structured-output",),
)

STRUCTURED: tuple[ConversationScenario, ...] = (
    _structured(
        name="structured-schema",
        title="A schema of the answer reaches the backend",
        body={"response_format": {"type": "json_schema", "json_schema": NAMED}},
        dialects=CHATS,
        refusable="response_format",
    ),
    _structured(
        name="structured-schema-text",
        title="A schema of a response reaches the backend",
        body={"text": {"format": {"type": "json_schema", **NAMED}}},
        dialects=(Dialect.RESPONSES,),
        refusable="text",
    ),
    _structured(
        name="structured-schema-config",
        title="A schema of a message reaches the backend",
        # Spelt as `output_config.format` when it is sent.
        body={"response_format": {"type": "json_schema", "json_schema": NAMED}},
        dialects=(Dialect.MESSAGES,),
        refusable="output_config",
    ),
    _structured(
        # The backend answers in prose: to accept the field and to send that is to ignore it.
        name="structured-object",
        title="A JSON object is demanded, and the backend answers in prose",
        script="text/hello",
        body={"response_format": {"type": "json_object"}},
        dialects=CHATS,
        turns=(Turn(say="Greet me in JSON."),),
        attribute_to="turn.structured-output",
        refusable="response_format",
    ),
    _structured(
        name="structured-object-text",
        title="A JSON object is demanded of a response, and the backend answers in prose",
        script="text/hello",
        body={"text": {"format": {"type": "json_object"}}},
        dialects=(Dialect.RESPONSES,),
        turns=(Turn(say="Greet me in JSON."),),
        attribute_to="turn.structured-output",
        refusable="text",
    ),
)
