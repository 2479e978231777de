"""Requests for an answer in a JSON schema."""

from wireproof.model.asks import Fits
from wireproof.model.scenario import ConversationScenario, JsonObject, Turn
from wireproof.scenarios.live.prompts import BOTH, SHORT, TEXT

PERSON: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "born": {"type": "integer"},
        "fields": {"type": "array", "items": {"type": "string", "enum": ["mathematics", "poetry", "law"]}},
    },
    "required": ["name", "born", "fields"],
    "additionalProperties": False,
}

FORMATS: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="live-schema",
        title="An answer in a JSON schema, which the prompt does not mention",
        # Not in the prompt: a proxy that drops the schema gets prose from its model.
        turns=(Turn(say="Who was Ada Lovelace, born in 1815? Be brief.", asks=Fits(schema=PERSON)),),
        usage=True,
        cap=2 * SHORT,
        dialects=BOTH,
        exercises=("turn.structured-output", *TEXT),
    ),
)
