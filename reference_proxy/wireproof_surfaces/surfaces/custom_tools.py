"""Custom tools, which are called with a text: free, or of a grammar. Pure.

    chat        {"type": "custom", "custom": {"name": "calc", "format": {"type": "grammar", "grammar": {…}}}}
    responses   {"type": "custom", "name": "calc", "format": {"type": "grammar", "syntax": "lark", "definition": …}}

A call of one has its text, the input, where a call of a function has its arguments. They are taken where a backend has
models that write texts of a grammar, which Codex as a backend has not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.errors import MISSING_PARAM
from wireproof_surfaces.surfaces.function_rules import described
from wireproof_surfaces.surfaces.rules import WrongParameter, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SYNTAXES = ("lark", "regex")
FREE: Mapping[str, Any] = {"type": "text"}
_START = re.compile(r"^\s*[?!]*start\b[^:\n]*:", re.MULTILINE)


def faults(tool: Mapping[str, Any], place: str, seen: set[str]) -> Iterator[WrongParameter]:
    """The rule of one custom tool: a name unlike those `seen` before, a text, a format."""
    inside = "custom" in tool
    declared, place = (tool["custom"], f"{place}.custom") if inside else (tool, place)
    if not isinstance(declared, dict):
        yield WrongParameter(place, "an object with a name")
        return
    yield from described(declared, place, seen, unnamed=MISSING_PARAM)
    match declared.get("format"):
        case None | {"type": "text"}:
            return
        case {"type": "grammar"} as format_:
            # Chat has the grammar in a member of its own.
            grammar, at = (format_.get("grammar"), ".grammar") if inside else (format_, "")
            yield from _grammar(grammar, f"{place}.format{at}")
        case _:
            yield WrongParameter(f"{place}.format.type", "one of text, grammar")


def _grammar(grammar: object, place: str) -> Iterator[WrongParameter]:
    if not isinstance(grammar, dict):
        yield wrong(place, "an object with a syntax and a definition", grammar)
        return
    syntax, definition = grammar.get("syntax"), grammar.get("definition")
    if syntax not in SYNTAXES:
        yield wrong(f"{place}.syntax", f"one of {', '.join(SYNTAXES)}", syntax)
    if not isinstance(definition, str) or not definition.strip():
        yield wrong(f"{place}.definition", "a grammar as text", definition)
    elif syntax == "regex" and (fault := _no_expression(definition)):
        yield WrongParameter(f"{place}.definition", f"a regular expression: {fault}")
    elif syntax == "lark" and not _START.search(definition):
        yield WrongParameter(f"{place}.definition", "a grammar of Lark's with a rule `start`")


def _no_expression(text: str) -> str | None:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)
    return None


def tool(declared: Mapping[str, Any]) -> Tool:
    """The tool of an acceptable declaration, which chat has in a member; its format as Responses have it."""
    format_ = declared.get("format") or FREE
    if "grammar" in format_:
        format_ = {"type": "grammar", **format_["grammar"]}
    return Tool(name=declared["name"], description=declared.get("description") or "", parameters={}, format=format_)
