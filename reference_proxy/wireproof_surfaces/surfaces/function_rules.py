"""A declared function, wherever a request declares it: what is acceptable, and the tool that it is. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.errors import INVALID_PARAM
from wireproof_surfaces.surfaces.rules import Body, WrongParameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof_surfaces.errors import Problem

# OpenAI's rule for names of functions.
LONGEST_NAME = 64
NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}")
# OpenAI lets `parameters` be absent; Codex refuses a schema that is no object.
_EMPTY_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}


def listed(name: str, body: Body) -> Iterator[WrongParameter]:
    """The rule of a field that is a list."""
    if body.get(name) is not None and not isinstance(body[name], list):
        yield WrongParameter(name, "a list")


def function(declared: Mapping[str, Any], place: str, seen: set[str]) -> Iterator[WrongParameter]:
    """The rule of one function: a name unlike those `seen` before, a text, a schema."""
    # Codex refuses such names, and duplicates, too, but for the whole thread; here the place is named.
    yield from described(declared, place, seen)
    if not isinstance(declared.get("parameters"), dict | None):
        yield WrongParameter(f"{place}.parameters", "a JSON Schema object")


def described(
    declared: Mapping[str, Any], place: str, seen: set[str], *, unnamed: Problem = INVALID_PARAM
) -> Iterator[WrongParameter]:
    """The rule of what every tool has: a name unlike those `seen` before, and a text. `unnamed`: without a name."""
    name = declared.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        problem = unnamed if name is None else INVALID_PARAM
        yield WrongParameter(f"{place}.name", "1 to 64 letters, digits, `_` or `-`", problem)
    elif name in seen:
        yield WrongParameter(f"{place}.name", "unlike the names before it")
    else:
        seen.add(name)
    if not isinstance(declared.get("description"), str | None):
        yield WrongParameter(f"{place}.description", "a string")


def tool(declared: Mapping[str, Any]) -> Tool:
    """The tool of an acceptable declaration."""
    return Tool(
        name=declared["name"],
        description=declared.get("description") or "",
        parameters=declared.get("parameters") or _EMPTY_SCHEMA,
    )
