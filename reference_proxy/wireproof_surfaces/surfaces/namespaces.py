"""Functions in a namespace, under the names by which a backend knows them. Pure.

    {"type": "namespace", "name": "crm", "description": …, "tools": [{"type": "function", "name": "find", …}]}

Backends and texts have one name for a function, so this one is `crm__find` there. In a response, and in what a client
sends back of one, a call of it has both names: {"type": "function_call", "namespace": "crm", "name": "find", …}. A
client that was asked to run `crm__find`, or `find`, would not know what is meant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.surfaces import declared_tools
from wireproof_surfaces.surfaces.declared_tools import LONGEST_NAME, NAME
from wireproof_surfaces.surfaces.rules import WrongParameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_surfaces.surfaces.json_text import Json

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


def namespace(tool: Mapping[str, Any], place: str, seen: set[str]) -> Iterator[WrongParameter]:
    """The rule of a namespace: a name, and tools whose functions have names unlike those `seen` before."""
    name, tools = tool.get("name"), tool.get("tools")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        yield WrongParameter(f"{place}.name", "1 to 64 letters, digits, `_` or `-`")
    elif not isinstance(tools, list) or not all(isinstance(inner, dict) for inner in tools):
        yield WrongParameter(f"{place}.tools", "a list of tools")
    else:
        for index, inner in enumerate(tools):
            if inner.get("type") == "function":
                yield from _function(inner, f"{place}.tools[{index}]", name, seen)


def _function(inner: Mapping[str, Any], place: str, name: str, seen: set[str]) -> Iterator[WrongParameter]:
    # An empty set: two namespaces may have functions of one name; the joined names are compared below.
    yield from declared_tools.function(inner, place, set())
    full = joined(name, str(inner.get("name")))
    if full in seen:
        yield WrongParameter(f"{place}.name", "unlike the names before it")
    seen.add(full)


def functions(tool: Mapping[str, Any]) -> Iterator[Json]:
    """The functions of an acceptable namespace as a backend gets them; each description begins with the namespace's."""
    for inner in tool["tools"]:
        if inner.get("type") == "function":
            about = filter(None, (tool.get("description"), inner.get("description")))
            yield {**inner, "name": joined(tool["name"], inner["name"]), "description": "\n\n".join(map(str, about))}


def spaces(tool: Mapping[str, Any]) -> Spaces:
    """The names of the functions of an acceptable namespace."""
    found = [(tool["name"], inner["name"]) for inner in tool["tools"] if inner.get("type") == "function"]
    return {joined(*names): names for names in found}
