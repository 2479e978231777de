"""The tools of a responses request: what is acceptable, which are offered, and how the response repeats them. Pure.

A function is declared flat, as this API does, in the chat API's shape, or in a namespace. Tools of the other published
types are run by OpenAI itself: they are accepted, repeated, and not offered to the backend, which has none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_surfaces.surfaces import function_rules, namespaces
from wireproof_surfaces.surfaces.rules import Body, WrongParameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof_surfaces.conversation import Tool
    from wireproof_surfaces.surfaces.json_text import Json


HOSTED = frozenset(
    {
        "apply_patch",
        "code_interpreter",
        "computer",
        "computer_use_preview",
        "custom",
        "file_search",
        "image_generation",
        "local_shell",
        "mcp",
        "programmatic_tool_calling",
        "shell",
        "tool_search",
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
    }
)
"""Published types of tools that neither are functions nor hold some."""
TYPES = HOSTED | {"function", "namespace"}

WORDS = ("none", "auto", "required")


def tools(body: Body) -> Iterator[WrongParameter]:
    """The rule of `tools`: a list of published tools, the functions among them with different names."""
    yield from function_rules.listed("tools", body)
    seen: set[str] = set()
    for index, tool in enumerate(body.get("tools") or []):
        place = f"tools[{index}]"
        kind = tool.get("type") if isinstance(tool, dict) else None
        # isinstance: a list or an object cannot be looked up in a set.
        if not (isinstance(kind, str) and kind in TYPES):
            yield WrongParameter(f"{place}.type", f"one of {', '.join(sorted(TYPES))}")
            return
        if kind == "function":
            # Flat, or in the chat API's shape (responses.input.items).
            inside = f"{place}.function" if "function" in tool else place
            yield from function_rules.function(_function(tool), inside, seen)
        if kind == "namespace":
            yield from namespaces.namespace(tool, place, seen)


def tool_choice(body: Body) -> Iterator[WrongParameter]:
    """The rule of `tool_choice`: a known word, a declared tool, or some of the declared tools."""
    choice, names = body.get("tool_choice"), _names(body)
    if choice is None or (choice in WORDS and choice != "required"):
        return
    match _chosen(choice, body):
        case [*chosen] if chosen and names.issuperset(chosen):
            return
        case [*_]:
            yield WrongParameter("tool_choice", "the name of a declared tool")
        case _ if choice == "required":
            if not names:
                yield WrongParameter("tool_choice", 'without "required" when no functions are declared')
        # Sorted, so a list: the type that a client sends need not be hashable.
        case _ if isinstance(choice, dict) and choice.get("type") in sorted(_kinds(body) - {"function"}):
            yield WrongParameter("tool_choice", "of a function: tools of other types are not run here")
        case _:
            yield WrongParameter("tool_choice", '"none", "auto", "required", or a declared tool')


def allowed(body: Body) -> bool:
    """Whether calls may reach the client."""
    return bool(body.get("tool_choice") != "none")


def offered(body: Body) -> Iterator[Tool]:
    """The tools the model may call: none, those that were chosen, or all, in the order given."""
    if not allowed(body):
        return
    chosen = _chosen(body.get("tool_choice"), body)
    for function in _functions(body):
        if chosen is None or function["name"] in chosen:
            yield function_rules.tool(function)


def forced(body: Body) -> tuple[str, ...]:
    """The tools of which one must be called; none where the model may answer as it likes."""
    match body.get("tool_choice"):
        case "required":
            return tuple(function["name"] for function in _functions(body))
        case {"type": "allowed_tools", "mode": mode} if mode != "required":
            return ()
        case choice:
            return tuple(_chosen(choice, body) or ())


def spaces(body: Body) -> namespaces.Spaces:
    """The functions that stand in namespaces."""
    return {name: names for tool in _of_type(body, "namespace") for name, names in namespaces.spaces(tool).items()}


def echoed_tools(body: Body) -> list[Json]:
    """`tools` as the response repeats them: functions flat, all else as it was declared."""
    return [_flat(tool) if tool["type"] == "function" else tool for tool in body.get("tools") or []]


def echoed_choice(body: Body) -> object:
    """`tool_choice` as the response repeats it: a function flat, all else as it was said."""
    match body.get("tool_choice"):
        case None:
            return "auto"
        case {"type": "function", "function": {"name": str(name)}}:
            return {"type": "function", "name": name}
        case choice:
            return choice


def _flat(tool: Mapping[str, Any]) -> Json:
    function = _function(tool)
    return {
        "type": "function",
        "name": function["name"],
        "description": function.get("description"),
        "parameters": function.get("parameters"),
        "strict": bool(function.get("strict")),
    }


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """What declares the function; empty where it is no object."""
    inside = tool.get("function", tool)
    return inside if isinstance(inside, dict) else {}


def _functions(body: Body) -> list[Mapping[str, Any]]:
    functions: list[Mapping[str, Any]] = []
    for tool in body.get("tools") or []:
        functions += [_function(tool)] if tool["type"] == "function" else []
        functions += namespaces.functions(tool) if tool["type"] == "namespace" else []
    return functions


def _of_type(body: Body, kind: str) -> list[Mapping[str, Any]]:
    return [tool for tool in body.get("tools") or [] if tool["type"] == kind]


def _names(body: Body) -> set[str]:
    return {function["name"] for function in _functions(body)}


def _kinds(body: Body) -> set[str]:
    return {tool["type"] for tool in body.get("tools") or []}


def _chosen(choice: object, body: Body) -> list[str] | None:
    """The names of the functions that were chosen; None where the choice names none."""
    match choice:
        case {"type": "function", "function": {"name": str(name)}}:
            return [name]
        case {"type": "function", "name": str()} if isinstance(choice, dict):
            return [namespaces.called(choice)]
        case {"type": "namespace", "name": str(name)}:
            return [called for called, names in spaces(body).items() if names[0] == name]
        case {"type": "allowed_tools", "tools": [*tools]}:
            return [name for tool in tools for name in _chosen(tool, body) or []]
        case {"type": "function"}:
            return []
        case _:
            return None
