"""What OpenAI's API asks of the schemas of functions and of structured output. Pure.

Of a function that is not strict it is lenient about what a schema says, and refuses what is none: a root that is no
object, a keyword whose value has the wrong type, a type that there is not, an array that does not say of what.

Where tools or structured output are strict every object is closed and requires all its properties, the root is an
object, and some keywords may not stand anywhere
(https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
AT_NO_ROOT = ("allOf", "anyOf", "enum", "not", "oneOf")
NOT_STRICT = ("allOf", "dependentRequired", "dependentSchemas", "else", "if", "not", "oneOf", "then")
_DEEPEST = 64
"""Deeper than any schema that the API takes: what is deeper is not looked at."""

Place = tuple[str, ...]


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_schema(value: object) -> bool:
    return isinstance(value, dict | bool)


def _is_filled(value: object) -> bool:
    return isinstance(value, list) and bool(value)


_KEYWORDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "properties": (lambda value: isinstance(value, dict) and all(map(_is_schema, value.values())), "schemas by name"),
    "required": (_is_texts, "a list of strings"),
    "items": (_is_schema, "a schema"),
    "enum": (_is_filled, "a list that is not empty"),
    "description": (lambda value: isinstance(value, str), "a string"),
    **dict.fromkeys(("anyOf", "oneOf", "allOf"), (_is_filled, "a list of schemas")),
}
"""Keyword → whether a value is right, and what a right one is."""


def wrong(schema: object) -> str | None:
    """What would make this a schema that is taken, with the place; None for one that is."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "a JSON Schema of `type: object`"
    if keyword := next((name for name in AT_NO_ROOT if name in schema), None):
        return f"a JSON Schema without `{keyword}` at its root"
    return next(_found(_faults, schema, ("items", "additionalProperties")), None)


def _faults(schema: Mapping[str, Any], where: str) -> Iterator[str]:
    kinds = schema.get("type", [])
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if kind not in TYPES:
            yield f"a JSON Schema whose `type` is one of {', '.join(TYPES)} {where}"
        elif kind == "array" and "items" not in schema:
            yield f"a JSON Schema with `items` for the array {where}"
    for name, (right, said) in _KEYWORDS.items():
        if name in schema and not right(schema[name]):
            yield f"a JSON Schema whose `{name}` is {said} {where}"


def needed(schema: object) -> str | None:
    """What would make a schema strict, with the place; None for one that is."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "an object at its root: `type: object`"
    return next(_found(_needed, schema, ("items",)), None)


def _needed(schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if keyword := next((name for name in NOT_STRICT if name in schema), None):
        yield f"no `{keyword}` {where}"
    kind, properties, required = (schema.get(name) for name in ("type", "properties", "required"))
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        if schema.get("additionalProperties") is not False:
            yield f"`additionalProperties: false` {where}"
        names = set(properties) if isinstance(properties, dict) else set()
        if missing := sorted(names - set(map(str, required if isinstance(required, list) else ()))):
            yield f"{', '.join(missing)} among the `required` {where}"


def _found(
    rule: Callable[[Mapping[str, Any], str], Iterator[str]],
    schema: object,
    single: tuple[str, ...],
    place: Place = (),
    depth: int = 0,
) -> Iterator[str]:
    """What a rule finds in a schema and in those in it, of which each is given to it with the words for its place.

    `single`: the keywords that hold one schema.
    """
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    yield from rule(schema, f"in {'.'.join(place)}" if place else "at its root")
    for below, inner in _inner(schema, single):
        yield from _found(rule, inner, single, (*place, *below), depth + 1)


def _inner(schema: Mapping[str, Any], single: tuple[str, ...]) -> Iterator[tuple[Place, object]]:
    """The schemas in a schema, each with its place there; what is none is passed over."""
    for keyword in ("properties", "$defs", "definitions"):
        value = schema.get(keyword)
        for name, inner in value.items() if isinstance(value, dict) else ():
            yield (keyword, str(name)), inner
    for keyword in ("anyOf", "oneOf", "allOf"):
        value = schema.get(keyword)
        for index, inner in enumerate(value if isinstance(value, list) else ()):
            yield (keyword, str(index)), inner
    for keyword in single:
        yield (keyword,), schema.get(keyword)
