"""Conditions as plain JSON data, and back: what stands under `when`.

A text, or an object of the fields of `When`; `all`, `any` and `not` hold further conditions.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_type_hints

from wireproof_scripts.files.definitions import field_descriptions
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.values import at, list_in, no_others, read, shown
from wireproof_scripts.kinds import NAME, Kind, kind_of
from wireproof_scripts.steps.when import NESTED, Span, When, Words

if TYPE_CHECKING:
    from collections.abc import Mapping

_HINTS = get_type_hints(When, include_extras=True)
KINDS: Mapping[str, Kind[Any]] = {
    field.name: kind_of(_HINTS[field.name]) for field in fields(When) if field.name not in NESTED.values()
}
"""Every field of a condition but those that hold further ones, and what may stand there."""
NAMES = (*KINDS, *NESTED)


def when_from_json(data: object, place: str) -> When | str:
    """The condition that `data` describes.

    Raises:
        ScriptError: it describes none.
    """
    if isinstance(data, list):
        raise ScriptError(place, f"expected a text or an object, found {shown(data)}; one of several is {{any: […]}}")
    if not isinstance(data, dict):
        return read(NAME, data, place)
    return _when(data, place)


def _when(data: object, place: str) -> When:
    if isinstance(data, str):
        data = {"text": data}
    if not isinstance(data, dict) or not data:
        raise ScriptError(place, f"expected a text, or an object with {', '.join(NAMES)}, found {shown(data)}")
    no_others(data, NAMES, place)
    values: dict[str, Any] = {}
    for name, value in data.items():
        field, there = NESTED.get(name, name), at(place, name)
        values[field] = _nested(name, value, there) if name in NESTED else _leaf(name, value, there)
    return When(**values)


def _leaf(name: str, value: object, place: str) -> object:
    rules = {place: value}
    if name == "header" and isinstance(value, dict):
        rules = {at(place, str(header)): rule for header, rule in value.items()}
    for where, rule in rules.items():
        _check_expression(rule, where)
    return read(KINDS[name], value, place)


def _check_expression(rule: object, place: str) -> None:
    """Check what a rule has under `matches`: what is wrong with it says more than that it is no rule."""
    match rule:
        case {"matches": str(expression)}:
            try:
                re.compile(expression)
            except re.error as error:
                problem = f"expected a regular expression, found {shown(expression)}: {error}"
                raise ScriptError(at(place, "matches"), problem) from error


def _nested(name: str, data: object, place: str) -> tuple[When, ...]:
    if name == "not" and not isinstance(data, list):
        return (_when(data, place),)
    conditions = list_in(data, place, "a list of conditions")
    return tuple(_when(one, f"{place}[{index}]") for index, one in enumerate(conditions))


def when_to_json(when: When) -> dict[str, Any]:
    """The condition as JSON data."""
    written = {name: getattr(when, name) for name in KINDS}
    data = {name: _rule(rule) for name, rule in written.items() if rule is not None}
    nested = {name: [when_to_json(one) for one in getattr(when, field)] for name, field in NESTED.items()}
    return {**data, **{name: conditions for name, conditions in nested.items() if conditions}}


def _rule(rule: Words | Span | Mapping[str, Words]) -> object:
    match rule:
        case Words(how, text):
            return {how: text}
        case Span(first, last):
            return first if first == last else {"from": first, **({} if last is None else {"to": last})}
        case _:
            return {name: _rule(one) for name, one in rule.items()}


def condition_schema() -> dict[str, Any]:
    """The schema of a condition."""
    about = field_descriptions(When)
    properties = {name: {"description": about[name], **kind.schema} for name, kind in KINDS.items()}
    inner = {"$ref": "#/$defs/condition"}
    several = {"type": "array", "items": inner, "minItems": 1}
    properties |= {name: {"description": about[field], **several} for name, field in NESTED.items() if name != "not"}
    properties["not"] = {"description": about[NESTED["not"]], "anyOf": [inner, several]}
    closed = {"type": "object", "properties": properties, "minProperties": 1, "additionalProperties": False}
    return {"description": "When a script is chosen.", "anyOf": [NAME.schema, closed]}
