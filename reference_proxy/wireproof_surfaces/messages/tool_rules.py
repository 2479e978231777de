"""The tools of a Messages request, and which of them must be called: what is acceptable, and what it means. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.messages.content_blocks import cache_control
from wireproof_surfaces.messages.faults import (
    Fault,
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
CHOICES = ("auto", "any", "tool", "none")


def tools(sent: object, longest: int) -> Iterator[Fault]:
    """The rule of `tools`; a backend may take names up to `longest` only."""
    if not isinstance(sent, list):
        yield Fault("tools", "Input should be a valid list")
        return
    for index, tool in enumerate(sent):
        yield from _tool(tool, f"tools.{index}", longest)
    names = [tool["name"] for tool in sent]
    if len(set(names)) < len(names):
        yield Fault("tools", "Tool names must be unique.")


def _tool(tool: object, path: str, longest: int) -> Iterator[Fault]:
    if not isinstance(tool, dict):
        yield Fault(path, "Input should be a valid dictionary")
        return
    kind = tool.get("type")
    if kind not in {None, "custom"} if isinstance(kind, str | None) else True:
        yield Fault(f"{path}.type", f"Input should be 'custom': the tool {kind!r} is run by no service here")
        return
    path = f"{path}.custom"
    if "name" not in tool:
        yield missing(f"{path}.name")
    pattern = f"[a-zA-Z0-9_-]{{1,{longest}}}"
    if not isinstance(tool["name"], str):
        yield from string(tool["name"], f"{path}.name")
    elif not re.fullmatch(pattern, tool["name"]):
        yield Fault(f"{path}.name", f"String should match pattern '^{pattern}$'")
    if "input_schema" not in tool:
        yield missing(f"{path}.input_schema")
    yield from mapping(tool["input_schema"], f"{path}.input_schema")
    if "type" not in tool["input_schema"]:
        yield missing(f"{path}.input_schema.type")
    if tool["input_schema"]["type"] != "object":
        yield Fault(f"{path}.input_schema.type", "Input should be 'object'")
    optional = {"description": string, "strict": boolean, "cache_control": cache_control}
    yield from members(tool, path, {}, optional)


def choice(sent: object, body: Mapping[str, Any]) -> Iterator[Fault]:
    """The rule of `tool_choice`, in a body whose tools are acceptable."""
    if not isinstance(sent, dict):
        yield Fault("tool_choice", "Input should be a valid dictionary")
        return
    kind = sent.get("type")
    if kind is None:
        yield missing("tool_choice.type")
    if kind not in CHOICES:
        yield Fault("tool_choice.type", f"Input should be {listed(CHOICES)}")
    path = f"tool_choice.{kind}"
    required = {"name": some_string} if kind == "tool" else {}
    yield from members(sent, path, required, {"disable_parallel_tool_use": boolean})
    names = [tool["name"] for tool in body.get("tools") or []]
    if not names:
        yield Fault("tool_choice", "tool_choice may only be specified while providing tools.", whole=True)
    if kind == "tool" and sent["name"] not in names:
        yield Fault("tool_choice", f"Tool '{sent['name']}' not found in provided tools")


def offered(body: Mapping[str, Any]) -> Iterator[Tool]:
    """The tools the model may call, in the order given."""
    chosen = body.get("tool_choice") or {}
    for tool in body.get("tools") or []:
        if chosen.get("type") == "none" or (chosen.get("type") == "tool" and chosen["name"] != tool["name"]):
            continue
        yield Tool(name=tool["name"], description=tool.get("description") or "", parameters=tool["input_schema"])


def allowed(body: Mapping[str, Any]) -> bool:
    """Whether calls may reach the client."""
    return (body.get("tool_choice") or {}).get("type") != "none"


def forced(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The tools of which one must be called; none where the model may answer as it likes."""
    match body.get("tool_choice"):
        case {"type": "any"}:
            return tuple(tool["name"] for tool in body["tools"])
        case {"type": "tool", "name": name}:
            return (name,)
        case _:
            return ()


def single(body: Mapping[str, Any]) -> bool:
    """Whether one call at most is asked for."""
    return bool((body.get("tool_choice") or {}).get("disable_parallel_tool_use"))
