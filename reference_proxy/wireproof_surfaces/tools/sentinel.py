r"""The `<tool_call>` sentinel: a call that a model writes as JSON in its text. Pure.

    <tool_call>{"id": "call_1", "name": "localSearch", "arguments": "{\"query\": \"x\"}"}</tool_call>

It counts at the start of a line and outside code fences only. A string of arguments stays as it is, anything else
becomes compact JSON.
"""

from __future__ import annotations

from wireproof_surfaces.tools import spelled_json
from wireproof_surfaces.tools.use_tool import TextCall

OPEN, CLOSE = "<tool_call>", "</tool_call>"


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
            if not isinstance(id_, str) or isinstance(id_, spelled_json.Number):
                return None
            return TextCall(id=id_, name=name, arguments=_arguments(rest.get("arguments", {})))
        case _:
            return None


def _arguments(value: object) -> str:
    if isinstance(value, str) and not isinstance(value, spelled_json.Number):
        return value
    # responses.sentinel.arguments.
    return spelled_json.compact(value)
