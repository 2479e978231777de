"""The tools that scenarios declare."""

from wireproof.model.scenario import JsonObject

# Named as those of Obsidian Copilot, whose canonical order of parameters the catalogue holds (xml.order).
LOCAL_SEARCH: JsonObject = {
    "type": "function",
    "function": {
        "name": "localSearch",
        "description": "Search the notes",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "salientTerms": {"type": "array", "items": {"type": "string"}},
                "limit": {"type": "number"},
            },
            "required": ["query"],
        },
    },
}
READ_NOTE: JsonObject = {
    "type": "function",
    "function": {
        "name": "readNote",
        "description": "Read one note",
        "parameters": {
            "type": "object",
            "properties": {"notePath": {"type": "string"}, "chunkIndex": {"type": "integer"}},
            "required": ["notePath"],
        },
    },
}
WRITE_TO_FILE: JsonObject = {
    "type": "function",
    "function": {
        "name": "writeToFile",
        "description": "Write a note",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    },
}
GET_FILE_TREE: JsonObject = {
    "type": "function",
    "function": {
        "name": "getFileTree",
        "description": "The tree of all notes",
        "parameters": {"type": "object", "properties": {}},
    },
}
GET_TIME: JsonObject = {
    "type": "function",
    "function": {
        "name": "getCurrentTime",
        "description": "The current time",
        "parameters": {"type": "object", "properties": {}},
    },
}


def _named(name: str) -> JsonObject:
    return {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}


WEB_SEARCH, CONVERT_TIME = _named("webSearch"), _named("convertTimeBetweenTimezones")
GET_TAG_LIST, REPLACE_IN_FILE = _named("getTagList"), _named("replaceInFile")
