"""The tools of a Messages request, and which of them must be called: what is acceptable, and what it means. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.messages.content_blocks import cache_control
from wireproof_surfaces.messages.faults import (
    RequestFault,
    boolean,
    listed,
    mapping,
    members,
    missing,
    some_string,
    string,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONGEST_NAME = 128
"""The service's own limit."""
_NAME = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST_NAME}}}")
CHOICES = ("auto", "any", "tool", "none")


def tools(sent: object) -> Iterator[RequestFault]:
    """The rule of `tools`."""
    if not isinstance(sent, list):
        yield RequestFault("tools", "Input should be a valid list")
        return
    for index, tool in enumerate(sent):
        yield from _tool(tool, f"tools.{index}")
    names = [tool["name"] for tool in sent]
    if len(set(names)) < len(names):
        yield RequestFault("tools", "Tool names must be unique.")


def _tool(tool: object, path: str) -> Iterator[RequestFault]:
    if not isinstance(tool, dict):
        yield RequestFault(path, "Input should be a valid dictionary")
        return
    kind = tool.get("type")
    if kind not in {None, "custom"} if isinstance(kind, str | None) else True:
        yield RequestFault(f"{path}.type", f"Input should be 'custom': the tool {kind!r} is run by no service here")
        return
    path = f"{path}.custom"
    if "name" not in tool:
        yield missing(f"{path}.name")
    if not isinstance(tool["name"], str):
        yield from string(tool["name"], f"{path}.name")
    elif not _NAME.fullmatch(tool["name"]):
        yield RequestFault(f"{path}.name", f"String should match pattern '^{_NAME.pattern}$'")
    if "input_schema" not in tool:
        yield missing(f"{path}.input_schema")
    yield from mapping(tool["input_schema"], f"{path}.input_schema")
    if "type" not in tool["input_schema"]:
        yield missing(f"{path}.input_schema.type")
    if tool["input_schema"]["type"] != "object":
        yield RequestFault(f"{path}.input_schema.type", "Input should be 'object'")
    optional = {"description": string, "strict": boolean, "cache_control": cache_control}
    yield from members(tool, path, {}, optional)


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

    def faults(self, tools: tuple[Tool, ...]) -> Iterator[RequestFault]:
        """What is wrong with it where these tools are declared."""
        if not tools:
            yield RequestFault("tool_choice", "tool_choice may only be specified while providing tools.", whole=True)
        elif self.name is not None and self.name not in {tool.name for tool in tools}:
            yield RequestFault("tool_choice", f"Tool '{self.name}' not found in provided tools")


def choice(sent: object) -> Iterator[RequestFault]:
    """The rule of `tool_choice` by itself."""
    if not isinstance(sent, dict):
        yield RequestFault("tool_choice", "Input should be a valid dictionary")
        return
    kind = sent.get("type")
    if kind is None:
        yield missing("tool_choice.type")
    if kind not in CHOICES:
        yield RequestFault("tool_choice.type", f"Input should be {listed(CHOICES)}")
    required = {"name": some_string} if kind == "tool" else {}
    yield from members(sent, f"tool_choice.{kind}", required, {"disable_parallel_tool_use": boolean})


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
