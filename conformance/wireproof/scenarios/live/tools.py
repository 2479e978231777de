"""The tools that prompts ask a model to call. Their schemas are strict, so that arguments can be held against them."""

from typing import Any

from wireproof.model.scenario import JsonObject


def _strict(name: str, description: str, **properties: JsonObject) -> JsonObject:
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        # A strict schema names every property here and allows no other.
        "required": list(properties),
        "additionalProperties": False,
    }
    function = {"name": name, "description": description, "parameters": parameters, "strict": True}
    return {"type": "function", "function": function}


_TEXT: JsonObject = {"type": "string"}

SAVE_NOTE = _strict("save_note", "Save a note", title=_TEXT, text=_TEXT, pages={"type": "integer"})
GET_WEATHER = _strict("get_weather", "The weather of a city", city=_TEXT)
LIST_NOTES: JsonObject = {"type": "function", "function": {"name": "list_notes", "description": "All notes"}}
GET_TIME = _strict("get_time", "The time in a city", city=_TEXT, hours={"type": "integer", "enum": [12, 24]})
