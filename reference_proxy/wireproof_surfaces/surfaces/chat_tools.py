"""The tools of a chat request, as `tools` or as legacy `functions`: what is acceptable, and what they say. Pure.

`tools` win: where there are any, `functions` and `function_call` are looked at but not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_surfaces.surfaces import declared_tools
from wireproof_surfaces.surfaces.rules import Body, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def allowed(body: Body) -> bool:
    """Whether calls may reach the client."""
    # turn.tool-choice-none.
    return body.get("function_call" if legacy(body) else "tool_choice") != "none"


def offered(body: Body) -> Iterator[Tool]:
    """The tools the model may call: none, the one that was named, or all, in the order given."""
    if not allowed(body):
        return
    named = _named(body)
    for tool in _declared(body):
        # Codex cannot be made to call a tool (it always asks with "auto"), so what was named is offered alone.
        if named is None or tool.name in named:
            yield tool


def forced(body: Body) -> tuple[str, ...]:
    """The tools of which one must be called; none where the model may answer as it likes."""
    if not legacy(body) and body.get("tool_choice") == "required":
        return tuple(tool.name for tool in _declared(body))
    match body.get("tool_choice"):
        case {"allowed_tools": {"mode": "auto"}}:
            return ()
        case _:
            return _named(body) or ()


def _declared(body: Body) -> Iterator[Tool]:
    for function in body["functions"] if legacy(body) else ():
        yield declared_tools.function_tool(function)
    for tool in body.get("tools") or []:
        custom = tool["type"] == "custom"
        yield declared_tools.custom_tool(tool["custom"]) if custom else declared_tools.function_tool(tool["function"])


def _named(body: Body) -> tuple[str, ...] | None:
    """The names of the tools that were chosen; None where none was."""
    match body.get("function_call") if legacy(body) else body.get("tool_choice"):
        case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}} | {"name": str(name)}:
            return (name,)
        case {"allowed_tools": {"tools": [*tools]}}:
            return tuple(str(_key(tool)[1]) for tool in tools)
        case _:
            return None
