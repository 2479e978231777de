"""A small valid value for a JSON Schema: the arguments with which the default answer calls a tool it does not know."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from typing import Any

from wireproof_scripts.default.grammar_example import of_expression

Schema = Mapping[str, Any]

_DECODER = json.JSONDecoder()
_MOST_BRACES = 32
_DEEPEST = 8  # a schema may refer to itself
_MOST_ITEMS = 16  # a client may declare any least number, a million too
_MOST_CHARACTERS = 4096
_USUAL = 1.5
_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "user@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",  # this and its neighbours: reserved for documentation
    "ipv6": "2001:db8::1",
    "hostname": "example.com",
}


def example(schema: object, root: Schema | None = None, depth: int = 0) -> object:
    """A value that is valid under `schema` as far as it uses common keywords.

    `root`: the schema in which references are looked up; None if it is `schema` itself.
    """
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return "example" if depth <= _DEEPEST else None  # `true` is a schema as well
    root = schema if root is None else root
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    for keyword in ("enum", "examples"):
        if _list(schema, keyword):
            return schema[keyword][0]
    merged = _resolved(schema, root)
    if merged is not schema:
        return example(merged, root, depth + 1)
    return _TYPES.get(_type(schema), _text)(schema, root, depth)


def schema_in(texts: Sequence[str]) -> Schema | None:
    """The first JSON Schema of an object with properties that is written in one of these; None if there is none."""
    for text in texts:
        # Clients write it at the first brace or soon after; a text of braces alone must not cost anything.
        for found in islice(re.finditer(r"\{", text), _MOST_BRACES):
            with suppress(ValueError, RecursionError):
                value, _ = _DECODER.raw_decode(text, found.start())
                if _map(value, "properties"):
                    return dict(value)
    return None


def _resolved(schema: object, root: Schema) -> Schema:
    """The schema with one reference, union or combination merged into it; `schema` itself if it has none."""
    if not isinstance(schema, Mapping):
        return {}
    rest = {key: value for key, value in schema.items() if key not in {"$ref", "anyOf", "oneOf", "allOf"}}
    if isinstance(schema.get("$ref"), str):
        return {**_target(schema["$ref"], root), **rest}
    for union in ("anyOf", "oneOf"):
        if _list(schema, union):
            return _merged(rest, schema[union][0])
    if _list(schema, "allOf"):
        merged: Schema = rest
        for part in schema["allOf"]:
            merged = _merged(merged, _resolved(part, root))
        return merged
    return schema


def _merged(one: Schema, other: object) -> Schema:
    if not isinstance(other, Mapping):
        return one
    properties = {**_map(one, "properties"), **_map(other, "properties")}
    required = [*_list(one, "required"), *_list(other, "required")]
    merged = {**one, **other}
    return {**merged, "properties": properties, "required": required} if properties else merged


def _target(pointer: str, root: Schema) -> Schema:
    """What a reference inside the schema points to; an empty schema for any other reference."""
    found: Any = root
    for step in pointer.removeprefix("#").strip("/").split("/"):
        name = step.replace("~1", "/").replace("~0", "~")  # in this order: `~01` is `~1`, not `/`
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


# A client may declare anything, also what is no schema: a keyword whose value has the wrong type counts as absent.


def _map(schema: Schema, keyword: str) -> Mapping[str, Any]:
    value = schema.get(keyword)
    return value if isinstance(value, Mapping) else {}


def _list(schema: Schema, keyword: str) -> list[Any]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def _number_of(schema: Schema, keyword: str) -> float | None:
    value = schema.get(keyword)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) <= sys.float_info.max else None


def _count_of(schema: Schema, keyword: str, most: int) -> int | None:
    value = _number_of(schema, keyword)
    return None if value is None else int(min(max(value, 0), most))


def _type(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        # ["null", T]: an argument that may be left out is shown.
        kind = next((name for name in kind if name != "null"), "null")
    if isinstance(kind, str):
        return kind
    if "properties" in schema or "required" in schema:
        return "object"
    return "array" if "items" in schema else "string"


def _object(schema: Schema, root: Schema, depth: int) -> dict[str, Any]:
    properties = _map(schema, "properties")
    names = _list(schema, "required") or list(properties)[:1]
    return {str(name): example(properties.get(str(name), {}), root, depth + 1) for name in names}


def _array(schema: Schema, root: Schema, depth: int) -> list[Any]:
    # Fewer the deeper it stands: arrays in arrays multiply.
    least = _count_of(schema, "minItems", max(_MOST_ITEMS >> max(2 * (depth - 1), 0), 2))
    least = (1 if schema.get("items") else 0) if least is None else least
    items = [example(item, root, depth + 1) for item in _list(schema, "prefixItems")]
    more = [example(schema.get("items", {}), root, depth + 1) for _ in range(least - len(items))]
    return items + (list(range(len(more))) if schema.get("uniqueItems") and len(more) > 1 else more)


def _bounds(schema: Schema, gap: float) -> tuple[float | None, float | None]:
    """The least and the greatest number allowed; `gap` is the distance kept from an exclusive bound."""
    low, above = _number_of(schema, "minimum"), _number_of(schema, "exclusiveMinimum")
    high, below = _number_of(schema, "maximum"), _number_of(schema, "exclusiveMaximum")
    return (
        above + gap if low is None and above is not None else low,
        below - gap if high is None and below is not None else high,
    )


def _step(schema: Schema) -> Fraction:
    return abs(_exact(_number_of(schema, "multipleOf") or 1))


def _exact(number: float) -> Fraction:
    """The number as it is written: 0.1 and not what is nearest to it in binary digits, whose multiples are others."""
    return Fraction(str(number))


def _multiple(schema: Schema, step: Fraction, gap: float) -> Fraction:
    """The first multiple of `step` from the least number on; where it is too large, the last one that is not."""
    low, high = _bounds(schema, gap)
    # A least number below nothing says little: zod's `int()` has -9007199254740991 there.
    start = low if low is not None and low >= 0 else min(1, 1 if high is None else high)
    made = math.ceil(_exact(start) / step) * step
    return made if high is None or made <= high else math.floor(_exact(high) / step) * step


def _integer(schema: Schema, _root: Schema, _depth: int) -> int:
    # Of the multiples of 3/10 the whole ones are those of 3.
    return int(_multiple(schema, Fraction(_step(schema).numerator), 1))


def _number(schema: Schema, root: Schema, depth: int) -> float:
    low, high = _bounds(schema, 0)
    if "multipleOf" in schema:
        # A whole one where it will do: of others, floating-point numbers do not show that they are multiples.
        whole, least, most = _integer(schema, root, depth), -math.inf if low is None else low, high
        fits = least <= whole and (most is None or whole <= most)
        return whole if fits else float(_multiple(schema, _step(schema), 0))
    if low is not None and low < 0 and (high is None or high > _USUAL):
        return _USUAL
    # Between two bounds or off a single one, so it is right whether they are exclusive or not.
    if low is not None and high is not None:
        return low / 2 + high / 2  # the sum of both may be beyond all numbers
    if low is not None:
        return low + 1
    return _USUAL if high is None else high - 1


def _text(schema: Schema, _root: Schema, _depth: int) -> str:
    text = _FORMATS.get(str(schema.get("format")), "example")
    least = _count_of(schema, "minLength", _MOST_CHARACTERS) or 0
    most = _count_of(schema, "maxLength", _MOST_CHARACTERS)
    made = of_expression(schema["pattern"]) if isinstance(schema.get("pattern"), str) else None
    if made is not None and least <= len(made) <= (len(made) if most is None else most):
        return made
    longer = text * (1 + least // len(text)) if len(text) < least else text
    return longer[:most]


_TYPES: Mapping[str, Callable[[Schema, Schema, int], Any]] = {
    "object": _object,
    "array": _array,
    "integer": _integer,
    "number": _number,
    "string": _text,
    "boolean": lambda _schema, _root, _depth: True,
    "null": lambda _schema, _root, _depth: None,
}
