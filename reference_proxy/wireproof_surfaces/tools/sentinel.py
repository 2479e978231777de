r"""The `<tool_call>` sentinel: a call that a model writes as JSON in its text. Pure.

    <tool_call>{"id": "call_1", "name": "localSearch", "arguments": "{\"query\": \"x\"}"}</tool_call>

It counts at the start of a line and outside code fences only. A string of arguments stays as it is, anything else
becomes compact JSON.

Backends that take no tools of a client are asked for such blocks in the developer text, behind the client's own
instructions, and the backend's base instructions stay what they are.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof_surfaces.tools import spelled_json
from wireproof_surfaces.tools.use_tool import TextCall

if TYPE_CHECKING:
    from wireproof_surfaces.conversation import Conversation, Tool

OPEN, CLOSE = "<tool_call>", "</tool_call>"

BLOCK = f"""\
# Tools

You can call the tools that are declared below, one JSON object each. To call a tool, write this on a line of its own:

{OPEN}{{"type":"tool_call","id":"ID","name":"NAME","arguments":"ARGUMENTS"}}{CLOSE}

- ID is an id of your choice that no call had before, such as call_1.
- NAME is the name of a declared tool, exactly as it is spelled there.
- ARGUMENTS is a string that holds one JSON object; the object matches the tool's `parameters`, a JSON Schema.
- The line begins with {OPEN} and is not in a code block. It holds exactly one JSON object and nothing else.
- Several calls stand on several lines. Write nothing after the last of them: the results come with the next message.
- The result of a call is told as: [tool:ID] OUTPUT

Declared tools:
"""


def in_text(conversation: Conversation) -> Conversation:
    """The conversation with its tools declared in the developer text; unchanged when it has none."""
    if not conversation.tools:
        return conversation
    # In the order given (turn.tool-registry-order).
    block = BLOCK + "\n".join(map(_declared, conversation.tools))
    # Never into the base instructions, which are the backend's own (turn.system-prompt).
    texts = [conversation.developer, block] if conversation.developer else [block]
    return replace(conversation, developer="\n\n".join(texts), tools_in_text=True)


def _declared(tool: Tool) -> str:
    """One line of JSON: its name, its description if it has one, its parameters."""
    described = {"description": tool.description} if tool.description else {}
    fields = {"name": tool.name, **described, "parameters": tool.parameters}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def read(text: str) -> TextCall | None:
    """The call between the tags; None when it is not JSON or lacks an id or a name."""
    try:
        value = spelled_json.loads(text)
    except ValueError:
        return None
    match value:
        # A number is a `str` here, by its spelling, and no name.
        case {"name": str(name), **rest} if name and not isinstance(name, spelled_json.Number):
            # A block may say either; what a client sees is the `call_id` (contract §1).
            id_ = rest.get("id") or rest.get("call_id")
            if not isinstance(id_, str) or isinstance(id_, spelled_json.Number) or not id_:
                return None
            return TextCall(id=id_, name=name, arguments=_arguments(rest.get("arguments", {})))
        case _:
            return None


def _arguments(value: object) -> str:
    if isinstance(value, str) and not isinstance(value, spelled_json.Number):
        return value
    # responses.sentinel.arguments.
    return spelled_json.compact(value)
