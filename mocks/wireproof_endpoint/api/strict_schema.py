"""What OpenAI's API asks of the schemas of strict tools and of strict structured output. Pure.

Every object is closed and requires all its properties, the root is an object, and some keywords may not stand anywhere
(https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORBIDDEN = ("allOf", "dependentRequired", "dependentSchemas", "else", "if", "not", "oneOf", "then")
_DEEPEST = 64
"""Deeper than any schema that the API takes: what is deeper is not looked at."""


def needed(schema: object) -> str | None:
    """What would make a schema strict, with the place; None for one that is."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "an object at its root: `type: object`"
    return next(_needed(schema, (), 0), None)


def _needed(schema: object, place: tuple[str, ...], depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    where = f"in {'.'.join(place)}" if place else "at its root"
    if keyword := next((name for name in FORBIDDEN if name in schema), None):
        yield f"no `{keyword}` {where}"
    if _is_object(schema):
        if schema.get("additionalProperties") is not False:
            yield f"`additionalProperties: false` {where}"
        if missing := sorted(_names(schema, "properties") - _required(schema)):
            yield f"{', '.join(missing)} among the `required` {where}"
    for name, inner in _inner(schema):
        yield from _needed(inner, (*place, *name), depth + 1)


def _is_object(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _names(schema: Mapping[str, Any], keyword: str) -> set[str]:
    value = schema.get(keyword)
    return set(value) if isinstance(value, dict) else set()


def _required(schema: Mapping[str, Any]) -> set[str]:
    value = schema.get("required")
    return {str(name) for name in value} if isinstance(value, list) else set()


def _inner(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], object]]:
    """The schemas in a schema, each with its place there."""
    for keyword in ("properties", "$defs", "definitions"):
        value = schema.get(keyword)
        for name, inner in value.items() if isinstance(value, dict) else ():
            yield (keyword, name), inner
    union = schema.get("anyOf")
    for index, inner in enumerate(union if isinstance(union, list) else ()):
        yield ("anyOf", str(index)), inner
    yield ("items",), schema.get("items")
