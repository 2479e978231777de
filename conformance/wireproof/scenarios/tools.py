"""The tools that scenarios declare."""

from wireproof.model.scenario import JsonObject

TEXT: JsonObject = {"type": "string"}


def tool(
    name: str,
    description: str,
    properties: JsonObject | None = None,
    required: tuple[str, ...] = (),
    **more: object,
) -> JsonObject:
    """A tool as chat completions declare it; `properties`: JSON Schemas by name; `more`: of the schema of all."""
    parameters: dict[str, object] = {"type": "object"}
    if properties is not None:
        parameters["properties"] = properties
    if required:
        parameters["required"] = [*required]
    parameters |= more
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def called(said: str | None, *calls: tuple[str, str, str]) -> JsonObject:
    """A message of the assistant with calls: the id, the tool, and the arguments of each."""
    return {
        "role": "assistant",
        "content": said,
        "tool_calls": [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in calls
        ],
    }


# Named as those of Obsidian Copilot, whose canonical order of parameters the catalogue holds (xml.order).
LOCAL_SEARCH = tool(
    "localSearch",
    "Search the notes",
    {"query": TEXT, "salientTerms": {"type": "array", "items": TEXT}, "limit": {"type": "number"}},
    ("query",),
)
READ_NOTE = tool("readNote", "Read one note", {"notePath": TEXT, "chunkIndex": {"type": "integer"}}, ("notePath",))
WRITE_TO_FILE = tool("writeToFile", "Write a note", {"path": TEXT, "content": TEXT}, ("path", "content"))
GET_FILE_TREE = tool("getFileTree", "The tree of all notes", {})
GET_TIME = tool("getCurrentTime", "The current time", {})
WEB_SEARCH, CONVERT_TIME, GET_TAG_LIST, REPLACE_IN_FILE = (
    tool(name, name) for name in ("webSearch", "convertTimeBetweenTimezones", "getTagList", "replaceInFile")
)
