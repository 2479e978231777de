"""The protocols of agents' frameworks that go on in text, or by a tool of their own. Pure.

smolagents ends a run by `final_answer`: a tool among those that are declared, or a function that code calls. DSPy wants
each of its fields under a heading, `[[ ## answer ## ]]`, and a last heading that says it is completed.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from wireproof_scripts.default.schema_example import example

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FINAL = "final_answer"
"""smolagents' tool that ends a run."""
_FIELD = re.compile(r"`\[\[ ## (\w+) ## \]\]`([^`\n]*)")
_COMPLETED = "completed"
_PYTHON = {"int": "1", "float": "1.5", "bool": "True"}
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


def fields(text: str, answer: str) -> str | None:
    """Each field that DSPy asks for at the end of a text, under its heading; None: it asks for none."""
    asked = text[text.rfind("Respond with the corresponding output fields") :]
    found = [(name, hint) for name, hint in _FIELD.findall(asked)[:_MOST_FIELDS] if name != _COMPLETED]
    if not found or f"## {_COMPLETED} ##" not in asked:
        return None
    parts = [f"[[ ## {name} ## ]]\n{_value(hint, answer)}" for name, hint in found]
    return "\n\n".join([*parts, f"[[ ## {_COMPLETED} ## ]]"])


def _value(hint: str, answer: str) -> str:
    """A value of the type that is asked for, as `(must be formatted as a valid Python int)`; else the answer."""
    if kind := re.search(r"valid Python (\w+)", hint):
        return _PYTHON.get(kind[1], answer)
    if choice := re.search(r"match (?:exactly )?one of:\s*([^;)]+)", hint):
        return choice[1].strip()
    if schema := re.search(r"JSON schema:\s*(\{.*\})", hint):
        try:
            return json.dumps(example(json.loads(schema[1])), ensure_ascii=False)
        except (ValueError, RecursionError):
            return answer
    return answer
