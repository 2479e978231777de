"""What a text asks for: which of the declared tools, how often, and with which arguments. Pure.

A tool is asked for by its name, else by the words of its name in one sentence ("Save this as a note" is save_note),
else the one that a short text concerns ("What is the weather in Bern?" is get_weather), else the first one is when the
text speaks of tools. What the text forbids is not asked for ("do not call get_weather").
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wireproof_scripts.default.grammar_example import text_of
from wireproof_scripts.default.schema_example import example
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    Tool = Mapping[str, Any]

_SPEAKS_OF_TOOLS = re.compile(r"\b(tool|function)s?\b", re.IGNORECASE)
_DOING = r"(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|run(?:ning)?)"
_FORBIDS = re.compile(
    rf"\b(?:do not|don['\u2019]t|never|without)\s+(?:\w+\s+){{0,2}}?{_DOING}\b[^.!?;,\n]*"
    r"|\b(?:without|no)\s+(?:any\s+)?(?:tool|function)s?\b[^.!?;,\n]*",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:twice|once (?:per|for each)|(?:both|two|several|parallel) (?:tool |function )?calls)\b", re.IGNORECASE
)
_SHORT = 280
"""Characters of a text that concerns one thing: an agent's instructions speak of many."""
_SHORTEST = 3
"""Letters of a word that has no plural's ending."""
_VERBS = frozenset(
    [
        "add",
        "calc",
        "calculate",
        "call",
        "check",
        "compute",
        "convert",
        "create",
        "current",
        "delete",
        "do",
        "execute",
        "fetch",
        "find",
        "for",
        "from",
        "get",
        "give",
        "in",
        "info",
        "list",
        "look",
        "lookup",
        "make",
        "my",
        "new",
        "now",
        "of",
        "open",
        "perform",
        "query",
        "read",
        "retrieve",
        "return",
        "run",
        "search",
        "send",
        "set",
        "show",
        "tell",
        "the",
        "to",
        "update",
        "use",
    ]
)
"""Words of names that say what is done, and not about what."""
_WORD = re.compile(r"(?<!\w)[A-Za-z]+(?![A-Za-z0-9_])")
_PLACES = re.compile(r"location|city|town|place|country|region", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:in|at|for|of|near|to)\s+((?:[A-Z][\w.'-]*)(?:,?[ ]+[A-Z][\w.'-]*)*)")
_READ = 8192
"""Characters at the end of a text in which words and values are looked for: a long one must not hold others up."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
# After a space or a sign, so that the apostrophe of "the title's" opens nothing.
_QUOTED = r"""(?:[:=]\s*)?(?<=[\s:=(])(?:'([^'\n]*)'|"([^"\n]*)"|“([^”\n]*)”)(?!\w)"""
_SHOWN = re.compile(r"```\w*\n(.+?)\n?```|`([^`\n]+)`|\"([^\"\n]+)\"|(?<!\w)'([^'\n]+)'(?!\w)", re.DOTALL)
"""What a text shows: a block of code, or what stands in quotes."""
_REST = r"[:=]\s*(\S.*?)\s*$"


def tools_asked_for(text: str, tools: Sequence[Tool]) -> list[Tool]:
    """The tools to call, in the order in which the text names them; the same one twice where it asks for two calls."""
    # Most requests declare none, and a text may be long.
    if not tools:
        return []
    wanted = _FORBIDS.sub("", text)
    places = {place: tool for tool in tools if (place := _place(wanted, tool)) is not None}
    named = [places[place] for place in sorted(places)]
    if not named and (spoken := [tool for tool in tools if _in_words(wanted, tool)]):
        named = spoken[:1]
    if not named and len(wanted) <= _SHORT:
        named = _concerned(wanted, tools)
    if not named and _SPEAKS_OF_TOOLS.search(wanted):
        named = list(tools[:1])
    return named * 2 if len(named) == 1 and _SEVERAL.search(wanted) else named


def names(text: str, tool: Tool) -> bool:
    """Whether the text has the tool's name in it."""
    return _place(text, tool) is not None


def arguments_for(tool: Tool, text: str) -> str:
    """Arguments that are valid for the tool: a specimen, with what the text says of its strings and numbers.

    Of a custom tool: a text of its grammar, or, where any text will do, the one that is quoted, else all of it.
    """
    if (format_ := tool.get("format")) is not None:
        shown = _SHOWN.search(text[-_READ:])
        return text_of(format_) or (next(filter(None, shown.groups())) if shown else text) or "example"
    made = filled(tool.get("inputSchema", {"type": "object"}), text)
    # Whatever a client declares, the arguments of a call are an object.
    return made if made.startswith("{") else "{}"


def filled(schema: object, text: str) -> str:
    """A specimen of the schema as JSON, with what the text says of its strings and numbers."""
    specimen = example(schema)
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if isinstance(specimen, dict) and isinstance(properties, dict):
        for name, property_ in properties.items():
            said = _said(text, str(name), property_)
            if said is not None:
                specimen[name] = said
    return json.dumps(specimen, ensure_ascii=False)


def _place(text: str, tool: Tool) -> int | None:
    # No \b: the name of a tool may begin or end with a hyphen, where \b finds no edge.
    found = re.search(rf"(?<!\w){re.escape(tool['name'])}(?!\w)", text)
    return found.start() if found else None


def _in_words(text: str, tool: Tool) -> bool:
    words = _WORDS.findall(tool["name"])
    # A name of one word is that word, and was looked for.
    if len(words) < 2:  # noqa: PLR2004
        return False
    pattern = r"\b[^.!?\n]{0,200}?\b".join(map(re.escape, words))
    return re.search(rf"\b{pattern}\b", text[-_READ:], re.IGNORECASE) is not None


def _concerned(text: str, tools: Sequence[Tool]) -> list[Tool]:
    """The one tool of whose name the text has all that the tool is about; none where several are meant."""
    said = {_stem(word.lower()) for word in _WORD.findall(text)}
    found = [tool for tool in tools if (about := _about(tool)) and about <= said]
    return found if len(found) == 1 else []


def _about(tool: Tool) -> set[str]:
    """The words of a name that has a verb and more, without its verbs."""
    words = {word.lower() for word in _WORDS.findall(tool["name"])}
    rest = words - _VERBS
    return {_stem(word) for word in rest} if rest < words else set()


def _stem(word: str) -> str:
    """The word without the ending of a plural."""
    return word[:-1] if len(word) > _SHORTEST and word.endswith("s") and not word.endswith("ss") else word


def _said(text: str, name: str, schema: object) -> str | int | float | None:
    """The value that the text gives the argument, if the schema takes it; None: it gives none."""
    if not isinstance(schema, dict) or not schema.keys() <= _PLAIN:
        return None
    spelled = r"[ _-]?".join(map(re.escape, _WORDS.findall(name))) or re.escape(name)
    before = rf"(?<!\w){spelled}e?d?(?!\w)[^\n'\"“:=]{{0,24}}?"
    found = [re.search(before + value, text[-_READ:], re.IGNORECASE | re.MULTILINE) for value in (_QUOTED, _REST)]
    value = next((group for one in found if one for group in one.groups() if group is not None), None)
    if value is None and _PLACES.search(name) and (place := _PLACE.search(text[-_READ:])):
        value = place[1].rstrip(".")
    match schema.get("type"):
        case "integer" | "number" if value is not None:
            return _number(value)
        case "string":
            return value
        case _:
            return None


def _number(text: str) -> int | float | None:
    found = re.match(r"-?\d+(?:\.\d+)?", text)
    return parse_json(found[0]) if found else None


_PLAIN = {"type", "description", "title"}
"""The keywords of a schema that takes any value of its type."""
