"""A small text of a grammar: a regular expression, or one of Lark's. Pure.

A text is made, never searched for, and not matched afterwards: a client may send an expression that would take years.
What these rules cannot make (lookarounds, templates of Lark's) has no text.
"""

from __future__ import annotations

import importlib
import json
import re
import string
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# The standard library's own reader of expressions, which has no public name.
_READER: Any = importlib.import_module("re._parser")
_LONGEST = 4096
"""Characters of a text, or of a grammar: a client may want any number of repetitions."""
_CANDIDATES = string.ascii_letters + string.digits + " _-" + string.punctuation + "\n\t"
_CLASSES = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
}  # fmt: skip


def text_of(format_: Mapping[str, Any]) -> str | None:
    """A text of the grammar of a custom tool, as Responses declare it; None: none is known."""
    make = {"regex": of_expression, "lark": of_lark}.get(str(format_.get("syntax")))
    return make(str(format_.get("definition"))) if make else None


# Regular expressions


def of_expression(expression: str) -> str | None:
    """A text that the whole of an expression matches; None: none was found."""
    if len(expression) > _LONGEST:
        return None
    with suppress(re.error, RecursionError, OverflowError, _NoTextError):
        parsed = list(_READER.parse(expression))
        # The edges are those of the text; anywhere else they look around.
        inner = parsed[_edge(parsed[:1], "AT_BEGINNING") : len(parsed) - _edge(parsed[-1:], "AT_END")]
        made = _made(inner, {})
        return made if len(made) <= _LONGEST else None
    return None


class _NoTextError(Exception):
    """No text is known of a part: of an expression never, of a rule not yet."""


def _edge(parts: Sequence[Any], kind: str) -> bool:
    return any(str(value).startswith(kind) for _, value in parts)


def _made(parsed: Any, groups: dict[int, str]) -> str:  # noqa: ANN401 - what the reader gives
    return "".join(_part(str(kind), value, groups) for kind, value in parsed)


def _part(kind: str, value: Any, groups: dict[int, str]) -> str:  # noqa: ANN401, C901, PLR0911 - each kind
    match kind:
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return "a" if value != ord("a") else "b"
        case "ANY":
            return _CANDIDATES[0]
        case "IN":
            return _one_among(value)
        case "BRANCH":
            return _made(value[1][0], groups)
        case "SUBPATTERN":
            made = groups[value[0]] = _made(value[-1], groups)
            return made
        case "ATOMIC_GROUP":
            return _made(value, groups)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _most, inner = value
            one = _made(inner, groups) if least else ""
            if least * len(one) > _LONGEST:
                raise _NoTextError
            return one * int(least)
        case "GROUPREF" if value in groups:
            return groups[value]
        case _:
            raise _NoTextError


def _one_among(choices: Sequence[tuple[Any, Any]]) -> str:
    found = next((one for one in _CANDIDATES if _among(one, choices)), None)
    if found is None:
        raise _NoTextError
    return found


def _among(one: str, choices: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a character is one of a set."""
    kinds = [str(kind) for kind, _ in choices]
    return any(_fits(one, str(kind), value) for kind, value in choices) != ("NEGATE" in kinds)


def _fits(one: str, kind: str, value: Any) -> bool:  # noqa: ANN401 - what the reader gives
    match kind:
        case "LITERAL":
            return bool(ord(one) == value)
        case "RANGE":
            return bool(value[0] <= ord(one) <= value[1])
        case "CATEGORY":
            return re.fullmatch(_CLASSES.get(str(value), ""), one) is not None
        case _:
            return False


# Lark's grammars

_LIBRARY: Mapping[str, str] = {
    "CNAME": "a", "DIGIT": "1", "ESCAPED_STRING": '""', "FLOAT": "1.5", "HEXDIGIT": "1", "INT": "1",
    "LCASE_LETTER": "a", "LETTER": "a", "LF": "\n", "NEWLINE": "\n", "NUMBER": "1",
    "SIGNED_FLOAT": "1.5", "SIGNED_INT": "1", "SIGNED_NUMBER": "1", "UCASE_LETTER": "A",
    "WORD": "a", "WS": " ", "WS_INLINE": " ",
}  # fmt: skip
"""A text of each terminal of `%import common`."""
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|//[^\n]*|\n\s*)
    |(?P<range>"(?:\\.|[^"\\])*"\s*\.\.\s*"(?:\\.|[^"\\])*")|(?P<text>"(?:\\.|[^"\\])*")i?|/(?P<expression>(?:\\.|[^/\\\n])+)/(?P<flags>[imslux]*)
    |(?P<directive>%[^\n]*)|(?P<alias>->\s*\w+)|(?P<head>[?!]*\w+(?:\.-?\d+)?\s*:(?!:))|(?P<name>\w+)
    |~\s*(?P<times>\d+)(?:\s*\.\.\s*\d+)?|(?P<sign>[()\[\]|?*+])""",
    re.VERBOSE,
)
Token = tuple[str, str]


def of_lark(definition: str) -> str | None:
    """A text of a grammar's `start`: the shortest that its rules, each in its shortest form, make up."""
    rules = dict(_rules(definition[:_LONGEST])) if len(definition) <= _LONGEST else {}
    known: dict[str, str] = {}
    for _ in range(len(rules) + 1):
        before = dict(known)
        for name, tokens in rules.items():
            with suppress(_NoTextError):
                made = _Reading(tokens, known).alternatives()
                known[name] = min(known.get(name, made), made, key=len)
        if known == before:
            break
    return known.get("start")


def _rules(definition: str) -> Iterator[tuple[str, list[Token]]]:
    """Each rule, and each terminal, with what makes it up; also what is imported."""
    name, tokens, at = "", list[Token](), 0
    while at < len(definition):
        found = _TOKEN.match(definition, at)
        if found is None or found.end() == at:
            return  # no grammar that is read here
        at = found.end()
        kind, value = str(found.lastgroup), found[0]
        if kind == "flags":
            kind, value = "expression", (f"(?{found['flags']})" if found["flags"] else "") + found["expression"]
        if kind == "head":
            if name:
                yield name, tokens
            name, tokens = value.lstrip("?!").rstrip(": \t").split(".")[0], []
        elif kind == "directive":
            yield from _imported(value)
        elif kind not in {"space", "alias"}:
            tokens.append((kind, found["times"] if kind == "times" else value))
    if name:
        yield name, tokens


def _imported(directive: str) -> Iterator[tuple[str, list[Token]]]:
    if found := re.match(r"%import\s+common\.(\w+)(?:\s*->\s*(\w+))?", directive):
        names = [(found[1], found[2] or found[1])]
    elif found := re.match(r"%import\s+common\s*\(([^)]*)\)", directive):
        names = [(one.strip(), one.strip()) for one in found[1].split(",")]
    else:
        names = []
    for name, own in names:
        if name in _LIBRARY:
            yield own, [("text", json.dumps(_LIBRARY[name]))]


class _Reading:
    """What makes up a rule, read from left to right."""

    def __init__(self, tokens: Sequence[Token], known: Mapping[str, str]) -> None:
        self._tokens = tokens
        self._known = known
        self._at = 0

    def alternatives(self) -> str:
        """The shortest of the alternatives here that have a text."""
        found = [self._sequence()]
        while self._peek() == ("sign", "|"):
            self._at += 1
            found.append(self._sequence())
        made = [one for one in found if one is not None]
        if not made:
            raise _NoTextError
        return min(made, key=len)

    def _sequence(self) -> str | None:
        parts: list[str | None] = []
        while (token := self._peek()) is not None and token not in {("sign", "|"), ("sign", ")"), ("sign", "]")}:
            self._at += 1
            made = self._one(token)
            match self._peek():
                case ("sign", "?" | "*"):
                    self._at, made = self._at + 1, ""
                case ("sign", "+"):
                    self._at += 1
                case ("times", times):
                    self._at, made = self._at + 1, None if made is None else (made * min(int(times), _LONGEST))
            parts.append(made)
        return None if None in parts else "".join(filter(None, parts))[:_LONGEST]

    def _one(self, token: Token) -> str | None:
        match token:
            case ("sign", "(" | "[" as opened):
                return self._group(optional=opened == "[")
            case ("text", text):
                return _literal(text.removesuffix("i"))
            case ("range", text):
                return _literal(text.split("..")[0].strip())
            case ("expression", expression):
                return of_expression(expression)
            case (_, name):
                return self._known.get(name)

    def _group(self, *, optional: bool) -> str | None:
        made: str | None = None
        with suppress(_NoTextError):
            made = self.alternatives()
        if self._peek() is None:
            raise _NoTextError  # it has no end
        self._at += 1
        return "" if optional else made

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None


def _literal(text: str) -> str | None:
    try:
        return str(parse_json(text, strict=False))
    except ValueError:
        return None
