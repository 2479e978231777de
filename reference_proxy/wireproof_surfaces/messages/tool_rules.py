"""The tools of a Messages request, and which of them must be called: what is acceptable, and what it means. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import Tool
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
    from collections.abc import Mapping

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


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolChoice:
    """Which of the tools are called."""

    kind: str = "auto"
    name: str | None = None
    """The tool that is called, of the kind `tool`."""
    single: bool = False
    """Whether one call at most is asked for."""

    @property
    def calls(self) -> bool:
        """Whether calls may reach the client."""
        return self.kind != "none"

    def offered(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """The tools the model may call, of those that are declared."""
        return tuple(tool for tool in tools if self.calls and self.name in {None, tool.name})

    def forced(self, tools: tuple[Tool, ...]) -> tuple[str, ...]:
        """The tools of which one must be called; none where the model may answer as it likes."""
        return tuple(tool.name for tool in self.offered(tools)) if self.kind in {"any", "tool"} else ()

    def check(self, tools: tuple[Tool, ...]) -> None:
        """Refuse it where these tools are declared, and it is none of a request with them.

        Raises:
            ApiError: 400.
        """
        if not tools:
            raise fault_of_several("tool_choice may only be specified while providing tools.")
        if self.name is not None and self.name not in {tool.name for tool in tools}:
            raise fault("tool_choice", f"Tool '{self.name}' not found in provided tools")


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
    single = bool(sent.get("disable_parallel_tool_use"))
    return ToolChoice(kind=sent["type"], name=sent["name"] if sent["type"] == "tool" else None, single=single)


def declared(body: Mapping[str, Any]) -> tuple[Tool, ...]:
    """The tools of an acceptable body, in the order given."""
    return tuple(
        Tool(name=tool["name"], description=tool.get("description") or "", parameters=tool["input_schema"])
        for tool in body.get("tools") or []
    )
