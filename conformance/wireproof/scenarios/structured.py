"""Answers that must be JSON: of a schema, or any object."""

from wireproof.model.dialect import CHATS, Dialect
from wireproof.model.scenario import ConversationScenario, JsonObject, Turn

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

STRUCTURED: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="structured-schema",
        title="A schema of the answer reaches the backend",
        script="reflect/received",
        body={"response_format": {"type": "json_schema", "json_schema": NAMED}},
        dialects=CHATS,
        turns=(Turn(say="What have you received? Answer in JSON."),),
        exercises=("turn.structured-output",),
        refusable="response_format",
    ),
    ConversationScenario(
        name="structured-schema-text",
        title="A schema of a response reaches the backend",
        script="reflect/received",
        body={"text": {"format": {"type": "json_schema", **NAMED}}},
        dialects=(Dialect.RESPONSES,),
        turns=(Turn(say="What have you received? Answer in JSON."),),
        exercises=("turn.structured-output",),
        refusable="text",
    ),
    ConversationScenario(
        name="structured-schema-config",
        title="A schema of a message reaches the backend",
        script="reflect/received",
        # Spelt as `output_config.format` when it is sent.
        body={"response_format": {"type": "json_schema", "json_schema": NAMED}},
        dialects=(Dialect.MESSAGES,),
        turns=(Turn(say="What have you received? Answer in JSON."),),
        exercises=("turn.structured-output",),
        refusable="output_config",
    ),
    ConversationScenario(
        # The backend answers in prose: to accept the field and to send that is to ignore it.
        name="structured-object",
        title="A JSON object is demanded, and the backend answers in prose",
        script="text/hello",
        body={"response_format": {"type": "json_object"}},
        dialects=CHATS,
        turns=(Turn(say="Greet me in JSON."),),
        exercises=("turn.structured-output",),
        attribute_to="turn.structured-output",
        refusable="response_format",
    ),
    ConversationScenario(
        name="structured-object-text",
        title="A JSON object is demanded of a response, and the backend answers in prose",
        script="text/hello",
        body={"text": {"format": {"type": "json_object"}}},
        dialects=(Dialect.RESPONSES,),
        turns=(Turn(say="Greet me in JSON."),),
        exercises=("turn.structured-output",),
        attribute_to="turn.structured-output",
        refusable="text",
    ),
)
