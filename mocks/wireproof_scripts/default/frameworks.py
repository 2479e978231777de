"""The protocols of agents' frameworks that go on in text, or by a tool of their own. Pure.

smolagents ends a run by `final_answer`: a tool among those that are declared, or a function that code calls; results
come as what a user says. DSPy gives its fields under headings, `[[ ## question ## ]]`, wants others under theirs, and a
last heading that says it is completed; its agents name a tool in one field, and its arguments in the next.
"""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from wireproof_scripts.default.asked_for import arguments_for
from wireproof_scripts.default.plain_wishes import wanted
from wireproof_scripts.default.schema_example import example
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FINAL = "final_answer"
"""smolagents' tool that ends a run."""
_FIELD = re.compile(r"`\[\[ ## (\w+) ## \]\]`([^`\n]*)")
_COMPLETED = "completed"
_GIVEN = re.compile(r"^\[\[ ## (\w+) ## \]\]\n(.*?)(?=^\[\[ ## |\Z)", re.MULTILINE | re.DOTALL)
_TOOL = re.compile(r"^\s*\(\d+\) (\w+), whose .{0,4000}? takes arguments (\{.*\})\.$", re.MULTILINE)
_FINISH = "finish"
"""The tool that ends a run of DSPy's."""
_OBSERVED = "Observation:"
"""What smolagents says before a result."""
_PYTHON = {"int": "1", "float": "1.5", "bool": "True", "dict": "{}", "list": "[]"}
_MOST_FIELDS = 64


def final_tool(tools: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The tool that ends a run, if it is declared."""
    return next((tool for tool in tools if tool["name"] == FINAL), None)


def final_code(developer: str, answer: str) -> str | None:
    """Code that ends a run, as instructions that speak of it ask for; None: these do not."""
    if f"{FINAL}(" not in developer:
        return None
    call = f"{FINAL}({json.dumps(answer, ensure_ascii=False)})"
    if "<code>" in developer:
        return f"Thought: This answers it.\n<code>\n{call}\n</code>"
    if "```py" in developer:
        return f"Thought: This answers it.\n```py\n{call}\n```<end_code>"
    return None


def observed(text: str) -> str | None:
    """The result that smolagents hands on as what a user says; None: it is none."""
    return text.removeprefix(_OBSERVED).strip() if text.startswith(_OBSERVED) else None


def fields(text: str, developer: str = "") -> str | None:
    """Each field that DSPy asks for at the end of a text, under its heading; None: it asks for none."""
    before, found, asked = text.rpartition("Respond with the corresponding output fields")
    wants = [(name, hint) for name, hint in _FIELD.findall(asked)[:_MOST_FIELDS] if name != _COMPLETED]
    if not found or not wants or f"## {_COMPLETED} ##" not in asked:
        return None
    given = {name: value.strip() for name, value in _GIVEN.findall(before)}
    question = next(filter(None, given.values()), before.strip())
    answer = wanted(question) or f"You said: {question}"
    parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in _values(wants, answer, given, developer)]
    return "\n\n".join([*parts, f"[[ ## {_COMPLETED} ## ]]"])


def _values(
    wants: Sequence[tuple[str, str]], answer: str, given: Mapping[str, str], developer: str
) -> Iterator[tuple[str, str]]:
    tools = dict(_TOOL.findall(developer)) if _FINISH in developer else {}
    observed_already = any(name.startswith("observation") for name in given)
    called = _FINISH if observed_already else next(iter(tools), _FINISH)
    for name, hint in wants:
        match name:
            case "next_tool_name" if called in tools:
                yield name, called
            case "next_tool_args" if called in tools:
                yield name, arguments_for(_declared(called, tools[called]), answer)
            case _:
                yield name, _value(hint, answer)


def _declared(name: str, arguments: str) -> dict[str, Any]:
    """A tool as clients declare it, all of its arguments required."""
    properties: Any = {}
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        properties = ast.literal_eval(arguments)
    properties = properties if isinstance(properties, dict) else {}
    return {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": list(properties)}}


def _value(hint: str, answer: str) -> str:
    """A value of the type that is asked for, as `(must be formatted as a valid Python int)`; else the answer."""
    if choice := re.search(r"match (?:exactly )?one of:\s*([^;)]+)|valid Python Literal\[['\"]([^'\"]+)", hint):
        return (choice[1] or choice[2]).strip()
    if schema := re.search(r"JSON schema:\s*(\{.*\})", hint):
        try:
            return json.dumps(example(parse_json(schema[1])), ensure_ascii=False)
        except ValueError:
            return answer
    if kind := re.search(r"valid Python (\w+)", hint):
        return _PYTHON.get(kind[1], answer)
    return answer
