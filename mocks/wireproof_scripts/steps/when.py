"""When a script is chosen without a marker: conditions on what is asked.

A condition is what a file has under `when`: a text, which the last message of the user must contain, or an object of
the fields of `When`, all of which must hold. `asked.matching` says whether one holds, and why it does not.
"""

# No `from __future__ import annotations` here: the annotations of the fields are read when the program runs.
import fnmatch
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from wireproof_scripts.kinds import Kind

How = Literal["contains", "is", "matches", "like"]


@dataclass(frozen=True, slots=True)
class Words:
    """A rule for a text."""

    how: How
    """`contains` it in any case, `is` it, `matches` it as a regular expression, or is `like` it with * and ?."""
    text: str

    def fit(self, said: str) -> bool:
        """Whether a text keeps the rule."""
        match self.how:
            case "contains":
                return self.text.casefold() in said.casefold()
            case "is":
                return self.text == said
            case "matches":
                return re.search(self.text, said) is not None
            case "like":
                return fnmatch.fnmatchcase(said, self.text)

    def __str__(self) -> str:
        """The rule as part of a sentence."""
        return f"{'is like' if self.how == 'like' else self.how} {self.text!r}"

    @property
    def unfit(self) -> str:
        """What a text does that does not keep it."""
        return f"{_UNFIT[self.how]} {self.text!r}"


_UNFIT: Mapping[How, str] = {
    "contains": "does not contain",
    "is": "is not",
    "matches": "does not match",
    "like": "is not like",
}


@dataclass(frozen=True, slots=True)
class Span:
    """A number, or a range of them."""

    first: int
    last: int | None
    """None: any number from the first on."""

    def fit(self, number: int) -> bool:
        """Whether a number lies in it."""
        return self.first <= number and (self.last is None or number <= self.last)

    def __str__(self) -> str:
        """The range as part of a sentence."""
        if self.last is None:
            return f"is {self.first} or more"
        return f"is {self.first}" if self.first == self.last else f"is from {self.first} to {self.last}"

    @property
    def unfit(self) -> str:
        """What a number does that does not lie in it."""
        return f"is not{str(self).removeprefix('is')}"


def _is_rule(how: object, text: object) -> bool:
    """Whether these are a rule: a known word, and a text, which behind `matches` must be a regular expression."""
    if how not in get_args(How) or not isinstance(text, str) or not text:
        return False
    try:
        re.compile(text if how == "matches" else "")
    except re.error:
        return False
    return True


def _words(plain: How) -> Callable[[object], Words | None]:
    def read(value: object) -> Words | None:
        written: dict[Any, Any] = value if isinstance(value, dict) and len(value) == 1 else {plain: value}
        ((how, text),) = written.items()
        return Words(how, text) if _is_rule(how, text) else None

    return read


def _span(least: int) -> Callable[[object], Span | None]:
    """A reader of numbers from `least` on."""

    def read(value: object) -> Span | None:
        if isinstance(value, int) and not isinstance(value, bool):
            return Span(value, value) if value >= least else None
        if not isinstance(value, dict) or not value or not value.keys() <= {"from", "to"}:
            return None
        first, last = value.get("from", 0), value.get("to")
        # A range may begin with 0 where nothing is: it holds all the same.
        right = type(first) is int and first >= 0
        right = right and (last is None or (type(last) is int and last >= max(first, least)))
        return Span(first, last) if right else None

    return read


def _rules(value: object) -> dict[str, Words] | None:
    if not isinstance(value, dict) or not value:
        return None
    # Headers are text, and YAML reads 3 as a number.
    written = {str(name).lower(): str(rule) if type(rule) is int else rule for name, rule in value.items()}
    rules = {name: words for name, rule in written.items() if (words := _NAME.read(rule)) is not None}
    return rules if len(rules) == len(written) else None


_STRING = {"type": "string", "minLength": 1}
_RULE = {
    "type": "object",
    "properties": dict.fromkeys(get_args(How), _STRING),
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": False,
}
_WORDS = {"anyOf": [_STRING, _RULE]}


def _numbers(least: int) -> Kind[Span]:
    number = {"type": "integer", "minimum": least}
    span = {
        "type": "object",
        "properties": {"from": {"type": "integer", "minimum": 0}, "to": number},
        "minProperties": 1,
        "additionalProperties": False,
    }
    expected = f"a number, {least} or more, or an object with from and to"
    return Kind(expected=expected, read=_span(least), schema={"anyOf": [number, span]})


_HOWS = "an object with one of contains, is, matches (a regular expression), like"
_NAME = Kind(expected=f"a name, which may have * and ?, or {_HOWS}", read=_words("like"), schema=_WORDS)

Said = Annotated[Words, Kind(expected=f"text that is contained, or {_HOWS}", read=_words("contains"), schema=_WORDS)]
Named = Annotated[Words, _NAME]
Number = Annotated[Span, _numbers(1)]
"""A number of what is counted from 1, or a range."""
Amount = Annotated[Span, _numbers(0)]
"""How many there are, or a range."""
HeaderRules = Annotated[
    Mapping[str, Words],
    Kind(
        expected="an object of header names, each with a value, which may have * and ?",
        read=_rules,
        schema={
            "type": "object",
            "additionalProperties": {"anyOf": [_STRING, _RULE, {"type": "integer"}]},
            "minProperties": 1,
        },
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class When:
    """A condition: everything that is written must hold."""

    text: Said | None = None
    """The last message of the user."""
    system: Said | None = None
    """The instructions: the system and developer messages."""
    model: Named | None = None
    """The model that is asked for; the endpoint alone sees it."""
    tool: Named | None = None
    """The name of a tool that the request declares."""
    result: Said | None = None
    """The tool result with which the conversation ends."""
    result_of: Named | None = None
    """The name of the tool of that result."""
    turn: Number | None = None
    """How many messages the user has sent, from 1."""
    results: Amount | None = None
    """How many tool results the conversation holds."""
    request: Number | None = None
    """How many requests for an answer have come, from 1; the endpoint alone counts them."""
    digest: Named | None = None
    """The digest of the conversation up to the last message of the user, with its instructions and its tools:
    `wireproof record` writes it where a text alone tells two conversations not apart."""
    header: HeaderRules | None = None
    """Headers of the request; the endpoint alone sees them."""
    all: tuple["When", ...] = ()
    """Conditions that must all hold."""
    any: tuple["When", ...] = ()
    """Conditions of which one must hold."""
    none: tuple["When", ...] = ()
    """Conditions of which none may hold; `not` in files."""


NESTED: Mapping[str, str] = {"all": "all", "any": "any", "not": "none"}
"""What holds further conditions: its name in files → its field."""
ENDPOINTS = ("model", "request", "header")
"""What the endpoint alone sees."""


def condition(when: When | str) -> When:
    """The condition that `when` stands for: a text alone is one that must be contained."""
    return When(text=Words("contains", when)) if isinstance(when, str) else when
