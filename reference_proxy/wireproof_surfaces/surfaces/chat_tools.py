"""The tools of a chat request, as `tools` or as legacy `functions`: what is acceptable, and what they say. Pure.

`tools` win: where there are any, `functions` and `function_call` are looked at but not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_surfaces.conversation import ToolChoice
from wireproof_surfaces.surfaces import declared_tools
from wireproof_surfaces.surfaces.rules import Body, fault

if TYPE_CHECKING:
    from wireproof_surfaces.conversation import Tool

FIELDS = ("tools", "functions", "tool_choice", "function_call")
"""The fields of a body that are about tools."""


def tools(body: Body, *, custom: bool = False) -> None:
    """The rule of `tools`: a list of functions with different names; `custom`: custom tools are taken, too."""
    declared_tools.listed("tools", body)
    seen: set[str] = set()
    for index, tool in enumerate(body.get("tools") or []):
        place = f"tools[{index}]"
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind == "custom" and custom:
            declared_tools.custom({"custom": None, **tool}, place, seen)
            continue
        if kind != "function":
            raise fault(f"{place}.type", '"function" or "custom"' if custom else '"function"')
        function = tool.get("function")
        declared_tools.function(function if isinstance(function, dict) else {}, f"{place}.function", seen)


def functions(body: Body) -> None:
    """The rule of `functions`: a list of them, with different names."""
    declared_tools.listed("functions", body)
    seen: set[str] = set()
    for index, function in enumerate(body.get("functions") or []):
        declared_tools.function(function if isinstance(function, dict) else {}, f"functions[{index}]", seen)


def tool_choice(body: Body) -> None:
    """The rule of `tool_choice`: a known word, or a declared tool."""
    # `tools` is known to be right: its rule stands before this one in the table.
    choice, names = body.get("tool_choice"), {_key(tool) for tool in body.get("tools") or []}
    match choice:
        case None | "none" | "auto":
            return
        case "required" if names:
            return
        case "required":
            raise fault("tool_choice", 'without "required" when no tools are declared')
        case {"type": "allowed_tools", "allowed_tools": {"mode": "auto" | "required", "tools": [_, *_] as allowed}} if (
            all(_key(tool) in names for tool in allowed)
        ):
            return
        case {"type": "allowed_tools"}:
            raise fault("tool_choice.allowed_tools", "a mode, auto or required, and a list of declared tools")
        case {"type": "function" | "custom"} if _key(choice) in names:
            return
        case {"type": "function" | "custom"}:
            raise fault("tool_choice", "the name of a declared tool")
        case _:
            raise fault("tool_choice", '"none", "auto", "required" or a declared function')


def _key(tool: object) -> tuple[object, object]:
    """The type and the name of a declared tool, or of what chooses one."""
    match tool:
        case {"type": "function" as kind, "function": {"name": str(name)}}:
            return kind, name
        case {"type": "custom" as kind, "custom": {"name": str(name)}}:
            return kind, name
        case _:
            return None, None


def function_call(body: Body) -> None:
    """The rule of `function_call`: a known word, or a declared function."""
    match body.get("function_call"):
        case None | "none" | "auto":
            return
        case {"name": str(name)} if name in {function["name"] for function in body.get("functions") or []}:
            return
        case _:
            raise fault("function_call", '"none", "auto" or the name of a declared function')


def legacy(body: Body) -> bool:
    """Whether the tools are declared as functions alone."""
    return bool(body.get("functions")) and not body.get("tools")


def choice(body: Body) -> ToolChoice:
    """Which tools of an acceptable body are called; the field of the other kind says nothing."""
    match body.get("function_call" if legacy(body) else "tool_choice"):
        # turn.tool-choice-none.
        case "none":
            return ToolChoice(calls=False)
        case "required":
            return ToolChoice(forced=True)
        case {"allowed_tools": {"mode": mode, "tools": [*tools]}}:
            return ToolChoice(names=[str(_key(tool)[1]) for tool in tools], forced=mode == "required")
        case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}} | {"name": str(name)}:
            return ToolChoice(names=(name,), forced=True)
        case _:
            return ToolChoice()


def declared(body: Body) -> list[Tool]:
    """The tools of an acceptable body, in the order given."""
    if legacy(body):
        return [declared_tools.function_tool(function) for function in body["functions"]]
    return [
        declared_tools.custom_tool(tool["custom"])
        if tool["type"] == "custom"
        else declared_tools.function_tool(tool["function"])
        for tool in body.get("tools") or []
    ]
