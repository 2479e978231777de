"""The tools of a Messages request, and which of them must be called: what is acceptable, and what it means. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import Tool, ToolChoice
from wireproof_surfaces.messages.content_blocks import cache_control
from wireproof_surfaces.messages.error_form import (
    Rule,
    array,
    boolean,
    each,
    fault,
    fault_of_several,
    mapping,
    members,
    one_of,
    some_string,
    string,
    word,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST_NAME = 128
"""The service's own limit."""
_NAME = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST_NAME}}}")


def tools(sent: object, path: str) -> None:
    """The rule of `tools`."""
    _TOOLS(sent, path)
    names = [tool["name"] for tool in array(sent, path)]
    if len(set(names)) < len(names):
        raise fault(path, "Tool names must be unique.")


def _tool(tool: object, path: str) -> None:
    kind = mapping(tool, path).get("type")
    # A tuple: what a client sends need not be hashable.
    if kind not in (None, "custom"):
        raise fault(f"{path}.type", f"Input should be 'custom': the tool {kind!r} is run by no service here")
    _CUSTOM(tool, f"{path}.custom")


def _name(name: object, path: str) -> None:
    if not _NAME.fullmatch(string(name, path)):
        raise fault(path, f"String should match pattern '^{_NAME.pattern}$'")


_CUSTOM = members(
    {"name": _name, "input_schema": members({"type": word("object")}, {})},
    {"description": string, "strict": boolean, "cache_control": cache_control},
)
_TOOLS = each(_tool)


_SINGLE: Mapping[str, Rule] = {"disable_parallel_tool_use": boolean}
choice = one_of(
    {
        "auto": members({}, _SINGLE),
        "any": members({}, _SINGLE),
        "tool": members({"name": some_string}, _SINGLE),
        "none": members({}, _SINGLE),
    }
)


def chosen(body: Mapping[str, Any]) -> ToolChoice | None:
    """The choice of an acceptable body; None where it makes none."""
    sent = body.get("tool_choice")
    if sent is None:
        return None
    kind, single = sent["type"], bool(sent.get("disable_parallel_tool_use"))
    names = (sent["name"],) if kind == "tool" else None
    return ToolChoice(calls=kind != "none", names=names, forced=kind in {"any", "tool"}, single=single)


def check(choice: ToolChoice, tools: Sequence[Tool]) -> None:
    """Refuse a choice where these tools are declared, and it is none of a request with them.

    Raises:
        ApiError: 400.
    """
    if not tools:
        raise fault_of_several("tool_choice may only be specified while providing tools.")
    for name in choice.names or ():
        if name not in {tool.name for tool in tools}:
            raise fault("tool_choice", f"Tool '{name}' not found in provided tools")


def declared(body: Mapping[str, Any]) -> tuple[Tool, ...]:
    """The tools of an acceptable body, in the order given."""
    return tuple(
        Tool(name=tool["name"], description=tool.get("description") or "", parameters=tool["input_schema"])
        for tool in body.get("tools") or []
    )
