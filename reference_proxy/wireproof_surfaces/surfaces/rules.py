"""The parts of which tables of parameter rules are made: which field, and what would be right. Pure.

A check returns None for a right value and otherwise says what a right one is. A rule looks at a request's body and
raises the refusal of the first fault that it finds; the first rule that finds one answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from wireproof_surfaces.errors import INVALID_PARAM, MISSING_PARAM, ApiError, Problem

Body = Mapping[str, Any]
Check = Callable[[Any], str | None]
Rule = Callable[[Body], None]


def fault(param: str, right: str, problem: Problem = INVALID_PARAM) -> ApiError:
    """The refusal of a parameter; `right` completes "PARAM must be …"."""
    return ApiError(problem, message=f"`{param}` must be {right}.", param=param)


def wrong(param: str, right: str, value: object) -> ApiError:
    """The refusal of a parameter that has this value; None: it is missing."""
    return fault(param, right, MISSING_PARAM if value is None else INVALID_PARAM)


def first_fault(rules: Iterable[Rule], body: Body) -> None:
    """Raise the first fault of a body by these rules.

    Raises:
        ApiError: 400, naming the parameter and what would be right.
    """
    # Of the fields that a rule is about: others may be any, and as long and as many as a client likes.
    for rule in _applying(tuple(rules), frozenset(body.keys() & _named)):
        rule(body)


_about: dict[Rule, tuple[str, ...]] = {}
"""The fields that a rule is about, of which one must be there; rules that are not here are asked of every body."""
_named: set[str] = set()
"""All of those fields."""


def where(names: tuple[str, ...], rule: Rule) -> Rule:
    """The rule, for bodies that have any of these fields: it finds no fault with others."""
    _about[rule] = names
    _named.update(names)
    return rule


# Most fields are absent from most requests, and those of one client all have the same.
@lru_cache
def _applying(rules: tuple[Rule, ...], names: frozenset[str]) -> tuple[Rule, ...]:
    """The rules, in order, that have something to say of a body with these fields."""
    return tuple(rule for rule in rules if rule not in _about or not names.isdisjoint(_about[rule]))


def required(name: str, check: Check) -> Rule:
    """The field must be there and right; null is not there."""

    def rule(body: Body) -> None:
        value = body.get(name)
        if right := check(value):
            raise wrong(name, right, value)

    return rule


def optional(name: str, check: Check) -> Rule:
    """The field may be absent or null, else it must be right."""

    def rule(body: Body) -> None:
        value = body.get(name)
        if value is not None and (right := check(value)):
            raise fault(name, right)

    return where((name,), rule)


def boolean(value: object) -> str | None:
    """True or false."""
    return None if isinstance(value, bool) else "true or false"


def text(value: object) -> str | None:
    """A string with something in it."""
    return None if isinstance(value, str) and value else "a non-empty string"


def mapping(value: object) -> str | None:
    """A JSON object."""
    return None if isinstance(value, dict) else "an object"


def number(low: float, high: float) -> Check:
    """A number from `low` to `high`; booleans are none."""

    def check(value: object) -> str | None:
        right = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        return None if right else f"a number from {low:g} to {high:g}"

    return check


def integer(low: int, high: int | None = None) -> Check:
    """A whole number from `low`, to `high` if there is one; booleans are none."""

    def check(value: object) -> str | None:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value and (high is None or value <= high):
            return None
        return f"an integer from {low} to {high}" if high is not None else f"an integer, {low} or more"

    return check


SAMPLING: tuple[Rule, ...] = (optional("temperature", number(0, 2)), optional("top_p", number(0, 1)))
"""OpenAI's ranges (API reference, "temperature" and "top_p")."""


def stream_options(check: Check) -> Rule:
    """The rule of `stream_options`: absent, or right in a request that asks for a stream."""
    right = optional("stream_options", check)

    def rule(body: Body) -> None:
        # param.stream-options.
        if body.get("stream_options") is not None and not body.get("stream"):
            raise fault("stream_options", "absent unless `stream` is true")
        right(body)

    return where(("stream_options",), rule)
