"""The tools of a responses request: what is acceptable, which are offered, and how the response repeats them. Pure.

A function is declared flat, as this API does, in the chat API's shape, or in a namespace. Tools of the other published
types are run by OpenAI itself: they are accepted, repeated, and not offered to the backend, which has none of them.
Custom tools are offered where the backend can call them, else as if they were of those.

    {"type": "namespace", "name": "crm", "description": …, "tools": [{"type": "function", "name": "find", …}]}

Backends and texts have one name for a function in a namespace, so this one is `crm__find` there. In a response, and in
what a client sends back of one, a call of it has both names: {"type": "function_call", "namespace": "crm", "name":
"find", …}. A client that was asked to run `crm__find`, or `find`, would not know what is meant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import ToolChoice
from wireproof_surfaces.surfaces import declared_tools
from wireproof_surfaces.surfaces.declared_tools import LONGEST_NAME, check_name
from wireproof_surfaces.surfaces.rules import Body, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

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

Spaces = Mapping[str, tuple[str, str]]
"""Namespace and name of functions, by the names by which a backend knows them."""

# Signs that a name may have, so that the joined name is one too.
_BETWEEN = "__"
_HASH = 8


def joined(namespace: str, name: str) -> str:
    """One name for both; what is too long ends in a hash of it."""
    full = f"{namespace}{_BETWEEN}{name}"
    if len(full) <= LONGEST_NAME:
        return full
    digest = hashlib.blake2b(full.encode(), digest_size=_HASH // 2).hexdigest()
    # The hash keeps two long names apart that begin alike.
    return f"{full[: LONGEST_NAME - _HASH - 1]}_{digest}"


def called(item: Mapping[str, Any]) -> str:
    """The name of the function that a function_call names."""
    namespace = item.get("namespace")
    return joined(namespace, item["name"]) if isinstance(namespace, str) and namespace else str(item["name"])


def namespace(tool: Mapping[str, Any], place: str, seen: set[str]) -> None:
    """The rule of a namespace: a name, and tools whose functions have names unlike those `seen` before."""
    name, tools = check_name(tool.get("name"), f"{place}.name"), tool.get("tools")
    if not isinstance(tools, list) or not all(isinstance(inner, dict) for inner in tools):
        raise fault(f"{place}.tools", "a list of tools")
    for index, inner in enumerate(tools):
        if inner.get("type") == "function":
            _member(inner, f"{place}.tools[{index}]", name, seen)


def _member(inner: Mapping[str, Any], place: str, name: str, seen: set[str]) -> None:
    # An empty set: two namespaces may have functions of one name; the joined names are compared below.
    declared_tools.function(inner, place, set())
    full = joined(name, str(inner.get("name")))
    if full in seen:
        raise fault(f"{place}.name", "unlike the names before it")
    seen.add(full)


def functions(tool: Mapping[str, Any]) -> Iterator[Json]:
    """The functions of an acceptable namespace as a backend gets them; each description begins with the namespace's."""
    for inner in tool["tools"]:
        if inner.get("type") == "function":
            about = filter(None, (tool.get("description"), inner.get("description")))
            yield {**inner, "name": joined(tool["name"], inner["name"]), "description": "\n\n".join(map(str, about))}


def tools(body: Body, *, custom: bool = False) -> None:
    """The rule of `tools`: a list of published ones, functions with different names; `custom`: those can be called."""
    declared_tools.listed("tools", body)
    seen: set[str] = set()
    for index, tool in enumerate(body.get("tools") or []):
        place = f"tools[{index}]"
        kind = tool.get("type") if isinstance(tool, dict) else None
        # isinstance: a list or an object cannot be looked up in a set.
        if not (isinstance(kind, str) and kind in TYPES):
            raise fault(f"{place}.type", f"one of {', '.join(sorted(TYPES))}")
        if kind == "function":
            # Flat, or in the chat API's shape (responses.input.items).
            inside = f"{place}.function" if "function" in tool else place
            declared_tools.function(_function(tool), inside, seen)
        if kind == "namespace":
            namespace(tool, place, seen)
        if kind == "custom" and custom:
            declared_tools.custom({name: tool[name] for name in tool if name != "custom"}, place, seen)


def tool_choice(body: Body, *, custom: bool = False) -> None:
    """The rule of `tool_choice`: a known word, a declared tool, or some of them; `custom`: also custom ones."""
    choice, names = body.get("tool_choice"), {tool.name for tool in declared(body, custom=custom)}
    if choice is None or (choice in WORDS and choice != "required"):
        return
    match _chosen(choice, body, custom=custom):
        case [*chosen] if chosen and names.issuperset(chosen):
            return
        case [*_]:
            raise fault("tool_choice", "the name of a declared tool")
        case _ if choice == "required":
            if not names:
                raise fault("tool_choice", 'without "required" when no functions are declared')
        # Sorted, so a list: the type that a client sends need not be hashable.
        case _ if isinstance(choice, dict) and choice.get("type") in sorted(_kinds(body) - {"function"}):
            raise fault("tool_choice", "of a function: tools of other types are not run here")
        case _:
            raise fault("tool_choice", '"none", "auto", "required", or a declared tool')


def choice(body: Body, *, custom: bool = False) -> ToolChoice:
    """Which tools of an acceptable body are called; `custom`: custom ones, too."""
    sent = body.get("tool_choice")
    if sent in ("none", "required"):
        return ToolChoice(calls=sent != "none", forced=sent == "required")
    names = _chosen(sent, body, custom=custom)
    match sent:
        case {"type": "allowed_tools", "mode": mode} if mode != "required":
            return ToolChoice(names=names)
        case _:
            return ToolChoice(names=names, forced=names is not None)


def spaces(body: Body) -> Spaces:
    """The functions that stand in namespaces."""
    held = [(space["name"], inner) for space in _of_type(body, "namespace") for inner in space["tools"]]
    found = [(name, inner["name"]) for name, inner in held if inner.get("type") == "function"]
    return {joined(*names): names for names in found}


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


def declared(body: Body, *, custom: bool = False) -> list[Tool]:
    """The tools of an acceptable body that calls may be of, in the order given; `custom`: custom ones, too."""
    found: list[Tool] = []
    for tool in body.get("tools") or []:
        match tool["type"]:
            case "function":
                found.append(declared_tools.function_tool(_function(tool)))
            case "namespace":
                found += map(declared_tools.function_tool, functions(tool))
            case "custom" if custom:
                found.append(declared_tools.custom_tool(tool))
            case _:
                pass
    return found


def _of_type(body: Body, kind: str) -> list[Mapping[str, Any]]:
    return [tool for tool in body.get("tools") or [] if tool["type"] == kind]


def _kinds(body: Body) -> set[str]:
    return {tool["type"] for tool in body.get("tools") or []}


def _chosen(choice: object, body: Body, *, custom: bool) -> list[str] | None:
    """The names of the functions that were chosen; None where the choice names none."""
    match choice:
        case {"type": "function", "function": {"name": str(name)}}:
            return [name]
        case {"type": "function" | "custom" as kind, "name": str()} if isinstance(choice, dict) and (
            custom or kind == "function"
        ):
            return [called(choice)]
        case {"type": "namespace", "name": str(name)}:
            return [called for called, names in spaces(body).items() if names[0] == name]
        case {"type": "allowed_tools", "tools": [*tools]}:
            return [name for tool in tools for name in _chosen(tool, body, custom=custom) or []]
        case {"type": "function"}:
            return []
        case _:
            return None
