"""A declared tool, wherever a request declares it: what is acceptable, and what it is. Pure.

A function is called with arguments. A custom tool is called with a text, free or of a grammar, which a call of it has
as its input. They are taken where a backend has models that write texts of a grammar, which Codex as a backend has not.

    chat        {"type": "custom", "custom": {"name": "calc", "format": {"type": "grammar", "grammar": {…}}}}
    responses   {"type": "custom", "name": "calc", "format": {"type": "grammar", "syntax": "lark", "definition": …}}
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.errors import INVALID_PARAM, MISSING_PARAM
from wireproof_surfaces.surfaces.rules import Body, fault, wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.errors import Problem


# OpenAI's rule for names of functions.
LONGEST_NAME = 64
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}")
# OpenAI lets `parameters` be absent; Codex refuses a schema that is no object.
_EMPTY_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}
SYNTAXES = ("lark", "regex")
FREE: Mapping[str, Any] = {"type": "text"}
_START = re.compile(r"^\s*[?!]*start\b[^:\n]*:", re.MULTILINE)


def listed(name: str, body: Body) -> None:
    """The rule of a field that is a list."""
    if body.get(name) is not None and not isinstance(body[name], list):
        raise fault(name, "a list")


def function(declared: Mapping[str, Any], place: str, seen: set[str]) -> None:
    """The rule of one function: a name unlike those `seen` before, a text, a schema."""
    # Codex refuses such names, and duplicates, too, but for the whole thread; here the place is named.
    described(declared, place, seen)
    if not isinstance(declared.get("parameters"), dict | None):
        raise fault(f"{place}.parameters", "a JSON Schema object")


def check_name(name: object, place: str, unnamed: Problem = INVALID_PARAM) -> str:
    """The name of a function, if it is one; `unnamed`: what null is."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise fault(place, "1 to 64 letters, digits, `_` or `-`", unnamed if name is None else INVALID_PARAM)
    return name


def described(declared: Mapping[str, Any], place: str, seen: set[str], *, unnamed: Problem = INVALID_PARAM) -> None:
    """The rule of what every tool has: a name unlike those `seen` before, and a text. `unnamed`: without a name."""
    name = check_name(declared.get("name"), f"{place}.name", unnamed)
    if name in seen:
        raise fault(f"{place}.name", "unlike the names before it")
    seen.add(name)
    if not isinstance(declared.get("description"), str | None):
        raise fault(f"{place}.description", "a string")


def function_tool(declared: Mapping[str, Any]) -> Tool:
    """The tool of an acceptable declaration of a function."""
    return Tool(
        name=declared["name"],
        description=declared.get("description") or "",
        parameters=declared.get("parameters") or _EMPTY_SCHEMA,
    )


def custom(tool: Mapping[str, Any], place: str, seen: set[str]) -> None:
    """The rule of one custom tool: a name unlike those `seen` before, a text, a format."""
    inside = "custom" in tool
    declared, place = (tool["custom"], f"{place}.custom") if inside else (tool, place)
    if not isinstance(declared, dict):
        raise fault(place, "an object with a name")
    described(declared, place, seen, unnamed=MISSING_PARAM)
    match declared.get("format"):
        case None | {"type": "text"}:
            return
        case {"type": "grammar"} as format_:
            # Chat has the grammar in a member of its own.
            grammar, at = (format_.get("grammar"), ".grammar") if inside else (format_, "")
            _grammar(grammar, f"{place}.format{at}")
        case _:
            raise fault(f"{place}.format.type", "one of text, grammar")


def _grammar(grammar: object, place: str) -> None:
    if not isinstance(grammar, dict):
        raise wrong(place, "an object with a syntax and a definition", grammar)
    syntax, definition = grammar.get("syntax"), grammar.get("definition")
    if syntax not in SYNTAXES:
        raise wrong(f"{place}.syntax", f"one of {', '.join(SYNTAXES)}", syntax)
    if not isinstance(definition, str) or not definition.strip():
        raise wrong(f"{place}.definition", "a grammar as text", definition)
    if syntax == "regex" and (why := _no_expression(definition)):
        raise fault(f"{place}.definition", f"a regular expression: {why}")
    if syntax == "lark" and not _START.search(definition):
        raise fault(f"{place}.definition", "a grammar of Lark's with a rule `start`")


def _no_expression(text: str) -> str | None:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)
    return None


def custom_tool(declared: Mapping[str, Any]) -> Tool:
    """That of a custom tool, which chat has in a member; its format as Responses have it."""
    format_ = declared.get("format") or FREE
    if "grammar" in format_:
        format_ = {"type": "grammar", **format_["grammar"]}
    return Tool(name=declared["name"], description=declared.get("description") or "", parameters={}, format=format_)
