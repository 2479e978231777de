"""What is wrong with a value by a JSON Schema, the most relevant first: errors of jsonschema-rs, in an order.

It does not say which of its errors to name first, and which of those in alternatives: that is decided here, as the
Python package jsonschema would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, reduce
from itertools import chain, combinations
from operator import getitem
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

from jsonschema_rs import Draft202012Validator, Registry, ValidationError, ValidationErrorKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DEEPEST = 200
"""How deep values are looked into: the schemas look less deep, and jsonschema-rs takes nothing deeper than 255."""
MASK = "{value}"
"""What messages of jsonschema-rs have in the place of the value; it would write out the whole one for each error."""
_DRAFT_4 = "https://wireproof.invalid/draft-4"
_TYPES: Mapping[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": int | float,
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
_OF_SCHEMAS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""The keywords whose value has a schema under each name."""
_OF_VALUES = ("const", "enum", "default", "examples")
"""The keywords whose value is no schema, whatever it looks like."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SchemaError:
    """One error of jsonschema-rs, with what is said of it, and what decides which is said."""

    keyword: str
    """"" for the schema `false`."""
    path: tuple[str | int, ...]
    seen: Any
    wanted: Any
    """The value of the keyword."""
    names: tuple[str, ...]
    """The members that are missing, or are not allowed."""
    alternatives: list[SchemaError]
    """What is wrong in each, when none of them is right."""
    message: str
    order: tuple[int, ...]
    """Sorted by this, errors have the order in which the schema states what they break, and a list its items."""
    relevance: tuple[Any, ...]
    """The greater, the more it says: what is high up; of siblings, the last; alternatives after all else there."""


class Schemas:
    """Schemas that refer to each other, by URL; `extensible`: their closed objects may have extensions."""

    def __init__(self, schemas: Mapping[str, Any], *, extensible: bool) -> None:
        self._stated = schemas
        self._prepared = {url: _prepared(schema, extensible=extensible) for url, schema in schemas.items()}
        self._registry = Registry([*self._prepared.items(), (_DRAFT_4, _draft_4())])
        self._validator = cache(self._compile)
        self._located = cache(self._locate)

    def _compile(self, url: str) -> Draft202012Validator:
        return Draft202012Validator(self._prepared[url], registry=self._registry, base_uri=url, offline=True, mask=MASK)

    def errors(self, url: str, instance: object) -> list[SchemaError]:
        """What is wrong, the most relevant first."""
        validator = self._validator(url)
        try:
            if validator.is_valid(instance):
                return []
        # What is no JSON to it, as lone surrogates and lists nested by the hundred are, is made such.
        except ValueError:
            pass
        names: dict[str, str] = {}
        found = validator.iter_errors(_plain(instance, names))
        return sorted(self._read(found, url, instance, names), key=lambda error: error.relevance, reverse=True)

    def _read(
        self, errors: Iterable[ValidationError], url: str, instance: object, names: Mapping[str, str]
    ) -> list[SchemaError]:
        """The errors as the schema orders them; `names`: those of members, by what jsonschema-rs was given for them."""
        read = []
        for error in errors:
            path = tuple(names[step] if isinstance(step, str) else step for step in error.instance_path)
            seen: Any = reduce(getitem, path, instance)  # type: ignore[arg-type]  # it has what the path says
            inner = error
            if isinstance(error.kind, ValidationErrorKind.PropertyNames):
                inner = error.kind.error
                seen = names[str(inner.instance)]
            places, schema, keyword = self._located(url, tuple(inner.evaluation_path))
            indexes = (step for step in path if isinstance(step, int))
            # NaN, for which another number stood, is below and above nothing.
            if keyword in {"minimum", "maximum"} and isinstance(seen, float) and math.isnan(seen):
                continue
            wanted = schema[keyword] if keyword else None
            alternatives: list[SchemaError] = []
            members: list[str] = []
            match inner.kind:
                case ValidationErrorKind.AnyOf(context) | ValidationErrorKind.OneOfNotValid(context):
                    alternatives = self._read(chain.from_iterable(context), url, instance, names)
                case ValidationErrorKind.AdditionalProperties(unexpected):
                    members = sorted(names[name] for name in unexpected)
                case ValidationErrorKind.Required() if keyword == "required":
                    members = [name for name in schema[keyword] if name not in seen]
            right_type = bool(keyword) and "type" in schema and _is(seen, schema["type"])
            read.append(
                SchemaError(
                    keyword=keyword,
                    path=path,
                    seen=seen,
                    wanted=wanted,
                    names=tuple(members),
                    alternatives=alternatives,
                    message=error.message,
                    order=tuple(next(indexes, 0) if place is None else place for place in places),
                    relevance=(-len(path), path, keyword not in {"anyOf", "oneOf"}, not right_type),
                )
            )
        return sorted(read, key=lambda one: one.order)

    def _locate(self, url: str, path: tuple[str | int, ...]) -> tuple[tuple[int | None, ...], Any, str]:
        """Where the keyword stands to which a path of evaluation leads, in what, and its name.

        That is the place of each step among its siblings; and None, the index of an item, after each keyword `items`.
        """
        order: list[int | None] = []
        named = False
        above: Any = None
        inner = self._stated[url]
        for step in path:
            # It is `_prepared` that refers to draft 4.
            if step == "$dynamicRef" and step not in inner:
                continue
            above, inner = inner, inner[step]
            # What follows from a condition is found where that is.
            place = "if" if step in {"then", "else"} and "if" in above else step
            order.append(place if isinstance(place, int) else list(above).index(place))
            if step == "items" and not named:
                order.append(None)
            named = step in _OF_SCHEMAS and not named
            if step in {"$ref", "$dynamicRef"} and isinstance(inner, str):
                url, inner = self._referred(url, inner)
            if isinstance(inner, dict) and isinstance(inner.get("$id"), str):
                url = urljoin(url, inner["$id"])
        if inner is False and path[-1:] != ("additionalProperties",):
            return tuple(order), inner, ""
        return tuple(order), above, str(path[-1])

    def _referred(self, url: str, reference: str) -> tuple[str, Any]:
        """What a reference in the schema with this URL leads to, and the URL of the schema in which that stands."""
        document, _, pointer = urljoin(url, reference).partition("#")
        anchor, *steps = unquote(pointer).split("/")
        if document in self._stated and not anchor:
            return document, reduce(_stepped, steps, self._stated[document])
        # What this finds has lost the order of its members.
        found = self._registry.resolver(url).lookup(reference)
        return found.resolver.base_uri, found.contents


def _stepped(inside: Any, step: str) -> Any:  # noqa: ANN401 (JSON)
    return inside[int(step) if isinstance(inside, list) else step.replace("~1", "/").replace("~0", "~")]


def _plain(value: Any, names: dict[str, str], depth: int = _DEEPEST) -> Any:  # noqa: ANN401 (any JSON value)
    """A value as jsonschema-rs takes it: without lone surrogates, NaN and infinities, and not too deep.

    `names` gets the names that members have in it, each with the one that it stands for.
    """
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case list():
            return [_plain(one, names, depth - 1) for one in value if depth]
        case dict():
            given = {name.encode(errors="backslashreplace").decode(): name for name in value if depth}
            names.update(given)
            return {new: _plain(value[name], names, depth - 1) for new, name in given.items()}
        case float() if not math.isfinite(value):
            return 0.5 if math.isnan(value) else math.copysign(1e308, value)
        case _:
            return value


def _prepared(schema: Any, *, extensible: bool) -> Any:  # noqa: ANN401 (JSON)
    """A schema to which 1.0 is no integer and, if `extensible`, members are no others that begin with `x-`."""
    if isinstance(schema, list):
        return [_prepared(one, extensible=extensible) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _OF_SCHEMAS and isinstance(value, dict):
            found[keyword] = {name: _prepared(inner, extensible=extensible) for name, inner in value.items()}
        elif keyword == "type" and isinstance(value, str | list) and "integer" in value and "number" not in value:
            # There may be a `$ref` already.
            found["$dynamicRef"] = f"{_DRAFT_4}#/definitions/{_together(value)}"
        else:
            found[keyword] = value if keyword in _OF_VALUES else _prepared(value, extensible=extensible)
    if extensible and found.get("additionalProperties") is False:
        found["patternProperties"] = {**found.get("patternProperties", {}), "^x-": True}
    return found


def _draft_4() -> dict[str, Any]:
    """All that a value can be that may be an integer and no other number, in the draft to which 1.0 is no integer."""
    others = _TYPES.keys() - {"integer", "number"}
    found = [["integer", *some] for count in range(len(others) + 1) for some in combinations(others, count)]
    return {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "definitions": {_together(types): {"type": types} for types in found},
    }


def _together(types: str | list[str]) -> str:
    return "-".join(sorted(listed(types)))


def listed(types: str | list[str]) -> list[str]:
    """The types that a schema allows, of one or of several."""
    return [types] if isinstance(types, str) else types


def _is(value: object, types: str | list[str]) -> bool:
    return any(
        isinstance(value, _TYPES[name]) and isinstance(value, bool) is (name == "boolean") for name in listed(types)
    )


def deepest(error: SchemaError) -> SchemaError:
    """Of an error in alternatives, the one in the alternative that fits best."""
    while error.alternatives:
        least, *others = sorted(error.alternatives, key=lambda one: one.relevance)
        if others and others[0].relevance == least.relevance:
            break
        error = least
    while error.alternatives:
        # Alternatives of another type are not what was meant: where an object stands, null was not.
        fitting = [one for one in error.alternatives if one.keyword != "type" or one.path != error.path]
        if not fitting:
            break
        error = min(fitting, key=lambda one: one.keyword == "additionalProperties")
    return error
