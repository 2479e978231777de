"""Which of a client's tools scenarios call, and with what: read from the requests in which it declares them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.wire.fields import JsonObject, json_object, object_of, text_of
from wireproof_scripts.default.schema_example import example

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.client_record import ClientRecord
    from wireproof.reading.client_requests import AnswerRequest

UNDECLARED = "wireproof_no_such_tool"
"""A tool that no client declares."""
_HARMLESS = re.compile(
    r"read|get|list|look|search|find|glob|grep|fetch|query|view|show|echo|ping|time|date|weather|calc|add|lookup",
    re.IGNORECASE,
)
_HARMFUL = re.compile(
    r"write|edit|delete|remove|rm|kill|exec|run|bash|shell|command|patch|send|post|create|update|move|install",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolUse:
    """A tool and the arguments that it is called with."""

    name: str
    arguments: JsonObject
    text_field: str
    """The argument that takes a text; "": none does, and one that is not declared carries it."""

    def spelled(self) -> str:
        """The arguments in a spelling that no JSON writer has, as a model writes them."""
        inner = ", ".join(f"{json.dumps(name)}:  {json.dumps(value)}" for name, value in self.arguments.items())
        return f"{{ {inner} }}" if inner else "{}"

    def with_text(self, text: str) -> str:
        """The arguments with a text in them."""
        return json.dumps({**self.arguments, self.text_field or "note": text}, ensure_ascii=False)


def tool_use(record: ClientRecord) -> ToolUse | None:
    """The tool of a client that is called: one that looks rather than acts, else the first; None: it declares none."""
    declared = [tool for one in record.asked if one.request for tool in _functions(one.request)]
    # Of names that say both, such as `execute_query`, what acts weighs more.
    ranked = sorted(declared, key=lambda tool: (bool(_HARMFUL.search(tool[0])), not _HARMLESS.search(tool[0])))
    return _used(*ranked[0]) if ranked else None


def named_tool(given: str | None) -> ToolUse | None:
    """The tool that a person names as NAME, or as NAME=JSON with its arguments; None: they name none.

    Raises:
        ValueError: the arguments are no JSON object.
    """
    if given is None:
        return None
    name, _, arguments = given.partition("=")
    said = json_object(arguments) if arguments else {}
    if said is None:
        raise ValueError(f"the arguments of {name} are no JSON object: {arguments}")
    texts = [field for field, value in said.items() if isinstance(value, str)]
    return ToolUse(name=name, arguments=said, text_field=texts[0] if texts else "")


def _functions(request: AnswerRequest) -> Iterable[tuple[str, object]]:
    for tool in request.tools:
        function = object_of(tool.get("function")) or tool
        name = text_of(function.get("name"))
        if name and (tool.get("type", "function") == "function" or "input_schema" in tool):
            yield name, function.get("parameters") or tool.get("input_schema")


def _used(name: str, schema: object) -> ToolUse:
    arguments = example(schema if isinstance(schema, dict) else {"type": "object"})
    properties = object_of(object_of(schema).get("properties"))
    texts = [field for field, kind in properties.items() if object_of(kind).get("type") == "string"]
    free = [field for field in texts if not object_of(properties[field]).get("enum")]
    return ToolUse(name=name, arguments=object_of(arguments), text_field=free[0] if free else "")
