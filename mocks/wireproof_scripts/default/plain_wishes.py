"""What a text plainly wants said: these very words, or the sum of two numbers. Pure.

Suites and first tests of clients ask so, to see whether an answer arrives. A text that only may mean it is echoed.
"""

from __future__ import annotations

import re
from decimal import Decimal, DecimalException
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

READ = 2048
"""Characters of a text that are looked at: a wish of this kind is short."""
LONGEST = 16
"""Digits of a number."""
SHORT = 120
"""Characters of instructions that may be a wish, and nothing else."""
_NUMBER_ALONE = re.compile(r"\b(?:just|only) (?:the|that|its) (?:number|code|value|result)\b", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(r"(?<![\w.])-?\d{1,16}(?:\.\d{1,16})?(?!\w)")
_SAYS = r"\b(?:reply|respond|answer|say|output|return|print|write|repeat)\b(?:\s+(?:back|to me|me))?(?:\s+with)?"
_NOUN = r"(?:words?|texts?|numbers?|phrase|sentence|string|token|json(?:\s+object)?|object|value|line)"
_KIND = rf"(?:\s+(?:the|this|these|one|a single)\s+(?:(?:exact|single|following)\s+)?{_NOUN}\b)?\s*:?\s+"
_EXACTLY = re.compile(rf"{_SAYS}\s+exactly\b", re.IGNORECASE)
_ONLY = r"\s+(?:exactly|only|just|nothing but|verbatim)(?:\s+with)?"
_QUOTED = r"""(?:"([^"\n]+)"|'([^'\n]+)'|“([^”\n]+)”|`([^`\n]+)`)"""
_BARE = r"(\S[^\n]*?)"
_NOTHING_ELSE = r"[.,]?\s*(?:(?:and|with)\s+)?nothing (?:else|more)\b"
_END = rf"(?=\s*{_NOTHING_ELSE}|,?\s*without\b|[.!?](?:\s|$)|\s*(?:\n|$))"
_WISHES = tuple(
    re.compile(f"(?i:{before})(?:{_QUOTED}|{said})(?i:{after})")
    for before, said, after in (
        # `say X and nothing else`, `reply with exactly X`
        (rf"{_SAYS}(?:{_ONLY})?{_KIND}", _BARE, rf"\s*{_NOTHING_ELSE}"),
        (rf"{_SAYS}{_ONLY}{_KIND}", _BARE, _END),
        # `reply with "X"`, `reply OK`, `answer with the word PONG`
        (rf"{_SAYS}{_KIND}", r"([A-Z0-9]{2,}|\d+)", _END),
    )
)
_SOME = re.compile(
    r"(?:an?|the|that|your|my|one|two|three|some|its?|his|her|their|in|if|when|with|about|json|yaml|xml|code)\b",
    re.IGNORECASE,
)
"""How a description begins, of which the words themselves are not wanted."""

_NUMBER = rf"(-?\d{{1,{LONGEST}}}(?:\.\d{{1,{LONGEST}}})?)"
_SIGN = r"(\+|-|\u2212|\*|\u00d7|x|plus|minus|times|added to|multiplied by)"
_SUM = re.compile(rf"(?<![\w.+*-]){_NUMBER}\s*{_SIGN}\s*{_NUMBER}(?![\w*]|[.,]\d|\s*[+*/-]\s*\d)", re.IGNORECASE)
_SUM_OF = re.compile(
    rf"\b(sum|product|difference)\s+(?:of|between)\s+{_NUMBER}\s+and\s+{_NUMBER}(?![\w]|\.\d)"
    rf"|\b(add|multiply)\s+{_NUMBER}\s+(?:and|to|by)\s+{_NUMBER}(?![\w]|\.\d)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[=?]|\b(?:what|how much|calculate|compute|evaluate|solve|add|multiply|subtract|sum|product|difference)\b",
    re.IGNORECASE,
)
_SAYS_MORE = re.compile(r"[^\W\d_]{2}")
_SUBTRACT = {"-", "\u2212", "minus", "difference"}
_MULTIPLY = {"*", "\u00d7", "x", "times", "multiplied by", "product", "multiply"}


def wanted(text: str) -> str | None:
    """What the text plainly wants said; None: nothing of this kind."""
    read = text[:READ]
    return _sum(read) or _exactly(read)


def wanted_always(instructions: str) -> str | None:
    """What instructions want said to whatever is said: they are short, and begin with `reply with exactly X`."""
    begins = len(instructions) <= SHORT and _EXACTLY.match(instructions)
    return _exactly(instructions) if begins else None


def asks_for_number(text: str) -> bool:
    """Whether a text asks for a number of what was said before, and for nothing else."""
    return _NUMBER_ALONE.search(text[:READ]) is not None


def number(texts: Iterable[str]) -> str | None:
    """The last number in the first of some texts that has one; None if none has."""
    return next((found[-1] for text in texts if (found := _WHOLE_NUMBER.findall(text[:READ]))), None)


def _exactly(text: str) -> str | None:
    for found in filter(None, (wish.search(text) for wish in _WISHES)):
        *quoted, bare = found.groups()
        if bare is None:
            return next(said for said in quoted if said is not None)
        said = bare.strip().rstrip(".!?")
        if said and not _SOME.match(said):
            return said
    return None


def _sum(text: str) -> str | None:
    """The result of the only sum in a text."""
    found = [*_SUM.finditer(text), *_SUM_OF.finditer(text)]
    # Behind a sign it is the end of a longer one.
    if len(found) != 1 or text[: found[0].start()].rstrip().endswith(("+", "-", "*", "/")):
        return None
    # In a sentence that asks for no result, `555-1234` is no difference.
    if not _ASKS.search(text) and _SAYS_MORE.search(text[: found[0].start()] + text[found[0].end() :]):
        return None
    one, two, sign = _parts(found[0])
    try:
        left, right = Decimal(one), Decimal(two)
    except DecimalException:
        return None
    result = left - right if sign in _SUBTRACT else left * right if sign in _MULTIPLY else left + right
    return f"{result:f}"


def _parts(found: re.Match[str]) -> tuple[str, str, str]:
    """Both numbers, and the sign or the word between them."""
    groups = [group for group in found.groups() if group is not None]
    words = [group for group in groups if not re.fullmatch(_NUMBER, group)]
    numbers = [group for group in groups if re.fullmatch(_NUMBER, group)]
    return numbers[0], numbers[1], words[0].lower()
