"""The JSON Schemas of `schemas/`: what is wrong with a value, in short sentences.

A name is a path below `schemas/` without `.json`: "wireproof/requirement"; a bare name is one of OpenAI's: "error". The
schemas are 2020-12 and refer to each other by relative `$ref`s. One thing is stricter than the standard: 1.0 is no
integer, since clients in typed languages refuse it where the published type is an integer. One is more lenient: objects
of published APIs may have members whose names begin with `x-`, which is how extensions are marked.

jsonschema-rs finds the errors. Which of them to name first, and which of those in alternatives, it does not say: that
is decided here, as the Python package jsonschema would.
"""

from __future__ import annotations

import difflib
import json
import math
from dataclasses import dataclass
from functools import cache, reduce
from importlib.resources import files
from itertools import chain, combinations
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urljoin

from jsonschema_rs import Draft202012Validator, Registry, ValidationError, ValidationErrorKind

from wireproof.wire.violation import MemberFault, Members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from importlib.resources.abc import Traversable

_SHOWN = 60
_DEEPEST = 200
"""How deep values are looked into: the schemas look less deep, and jsonschema-rs takes nothing deeper than 255."""
_OF_APIS = ("openai", "messages")
"""The folders whose schemas are of what an API publishes."""
_MASK = "{value}"
"""What messages of jsonschema-rs have in the place of the value; it would write out the whole one for each error."""
_BASE = "https://wireproof.invalid/schemas/"
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
class SchemaFault:
    """One thing that is wrong with a JSON value."""

    sentence: str
    """It starts with a JSON pointer, as in "/choices/0: index is missing"; the value itself is "the body"."""
    path: tuple[str, ...]
    """The names of members that lead to it, without the places in lists; last those that are missing."""
    unknown: bool
    """Members stand there that the schema does not know; else what it knows is missing or wrong."""
    about: Members | None
    """The members that are missing or not known, or the one that has a wrong type; None: the value itself is wrong."""
    at: tuple[str | int, ...]
    """Leads to it, with the places in lists; to the object in which members are missing, to the first that is unknown.
    """


class UnknownSchemaError(LookupError):
    """No schema has this name; the message offers the close ones."""


def root(package: Traversable | None = None) -> Traversable:
    """The folder of schemas: inside an installed `wireproof`, else at the top of the checkout that it is part of.

    Raises:
        FileNotFoundError: the package holds no schemas and is in no checkout.
    """
    package = package or files("wireproof")
    installed = package.joinpath("_data", "schemas")
    checkout = Path(str(package)).parent.parent / "schemas"
    for folder in (installed, checkout):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"no schemas at {installed} nor at {checkout}: the installation of wireproof is not complete"
    )


def errors(name: str, instance: object) -> list[str]:
    """The sentences of `faults`.

    Raises:
        UnknownSchemaError: there is no such schema.
    """
    return [fault.sentence for fault in faults(name, instance)]


def faults(name: str, instance: Any) -> list[SchemaFault]:  # noqa: ANN401 (any JSON value)
    """What is wrong with a JSON value, the most relevant first; empty when it is valid.

    Raises:
        UnknownSchemaError: there is no such schema.
    """
    schemas, url = _placed(name)
    # Errors of several alternatives may come to the same sentence.
    return list(dict.fromkeys(_fault(_deepest(error)) for error in schemas.errors(url, instance)))


def misfits(schema: Mapping[str, Any], instance: Any) -> list[str]:  # noqa: ANN401 (any JSON value)
    """As `errors`, against a schema that a request carried.

    Raises:
        ValueError: it is no schema, or refers to one that is not inside it.
    """
    url = urljoin(_BASE, schema.get("$id", ""))
    found = _Schemas({url: schema}, extensible=False).errors(url, instance)
    return [_sentence(_deepest(error)) for error in found]


def published(name: str) -> frozenset[str]:
    """The members that a schema names; without those of what it refers to.

    Raises:
        UnknownSchemaError: there is no such schema.
    """
    return frozenset(_read(name)["properties"])


def names() -> tuple[str, ...]:
    """All names of schemas, sorted."""
    return tuple(sorted(_walk(root())))


def _walk(folder: Traversable, prefix: str = "") -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".json"):
            yield prefix + entry.name.removesuffix(".json")


def _read(name: str) -> dict[str, Any]:
    try:
        text = root().joinpath(*f"{name}.json".split("/")).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        close = difflib.get_close_matches(name, names())
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise UnknownSchemaError(f"no schema {name!r}{hint}") from None
    return cast("dict[str, Any]", json.loads(text))


@cache
def _placed(name: str) -> tuple[_Schemas, str]:
    """The schemas among which the one with this name is, and its URL.

    Raises:
        UnknownSchemaError: there is no such schema.
    """
    path = name if "/" in name else f"openai/{name}"
    _read(path)
    return _folder(path.rpartition("/")[0]), f"{_BASE}{path}.json"


@cache
def _folder(folder: str) -> _Schemas:
    found = {f"{_BASE}{name}.json": _read(name) for name in names() if name.rpartition("/")[0] == folder}
    return _Schemas(found, extensible=folder in _OF_APIS)


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
        elif keyword == "type" and _whole(value):
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


def _whole(types: object) -> bool:
    return isinstance(types, str | list) and "integer" in types and "number" not in types


def _together(types: str | list[str]) -> str:
    return "-".join(sorted(_listed(types)))


def _listed(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types


def _is(value: object, types: str | list[str]) -> bool:
    return any(
        isinstance(value, _TYPES[name]) and isinstance(value, bool) is (name == "boolean") for name in _listed(types)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Error:
    """One error of jsonschema-rs, with what is said of it, and what decides which is said."""

    keyword: str
    """"" for the schema `false`."""
    path: tuple[str | int, ...]
    seen: Any
    wanted: Any
    """The value of the keyword."""
    names: tuple[str, ...]
    """The members that are missing, or are not allowed."""
    alternatives: list[_Error]
    """What is wrong in each, when none of them is right."""
    message: str
    order: tuple[int, ...]
    """Sorted by this, errors have the order in which the schema states what they break, and a list its items."""
    relevance: tuple[Any, ...]
    """The greater, the more it says: what is high up; of siblings, the last; alternatives after all else there."""


class _Schemas:
    """Schemas that refer to each other, by URL; `extensible`: their closed objects may have extensions."""

    def __init__(self, schemas: Mapping[str, Any], *, extensible: bool) -> None:
        self._stated = schemas
        self._prepared = {url: _prepared(schema, extensible=extensible) for url, schema in schemas.items()}
        self._registry = Registry([*self._prepared.items(), (_DRAFT_4, _draft_4())])
        self._validator = cache(self._compile)
        self._located = cache(self._locate)

    def _compile(self, url: str) -> Draft202012Validator:
        return Draft202012Validator(
            self._prepared[url], registry=self._registry, base_uri=url, offline=True, mask=_MASK
        )

    def errors(self, url: str, instance: object) -> list[_Error]:
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
    ) -> list[_Error]:
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
            alternatives: list[_Error] = []
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
                _Error(
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


def _fault(error: _Error) -> SchemaFault:
    missing = error.names if error.keyword == "required" else ()
    unknown = error.keyword == "additionalProperties"
    return SchemaFault(
        sentence=_sentence(error),
        path=(*(step for step in error.path if isinstance(step, str)), *missing),
        unknown=unknown,
        about=_about(error),
        at=(*error.path, *(error.names[:1] if unknown else ())),
    )


def _about(error: _Error) -> Members | None:
    match error.keyword:
        case "required":
            return Members(fault=MemberFault.MISSING, names=error.names)
        case "additionalProperties":
            return Members(fault=MemberFault.EXTRA, names=error.names)
        case "type" | "enum" | "const" | "minimum" if error.path:
            return Members(fault=MemberFault.MISTYPED, names=(str(error.path[-1]),))
        case _:
            return None


def _deepest(error: _Error) -> _Error:
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


def _sentence(error: _Error) -> str:
    pointer = "".join(f"/{_escape(str(step))}" for step in error.path) or "the body"
    if say := _SAYS.get(error.keyword):
        return f"{pointer}: {say(error)}"
    show = _SHOWS.get(error.keyword)
    message = f"{_MASK} {show(error.wanted)}" if show else error.message
    return f"{pointer}: {_cut(message.replace(_MASK, repr(error.seen)))}"


def _escape(step: str) -> str:
    # RFC 6901, section 3: ~ first, or that of a ~1 would be escaped again.
    return step.replace("~", "~0").replace("/", "~1")


def _are(names: tuple[str, ...]) -> str:
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _shown(value: object) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


_SAYS: Mapping[str, Callable[[_Error], str]] = {
    "required": lambda error: f"{_are(error.names)} missing",
    "additionalProperties": lambda error: f"{_are(error.names)} not among the published fields",
    "type": lambda error: f"is {_shown(error.seen)}, should be {' or '.join(_listed(error.wanted))}",
    "enum": lambda error: f"is {_shown(error.seen)}, should be one of {', '.join(map(_shown, error.wanted))}",
    "const": lambda error: f"is {_shown(error.seen)}, should be {_shown(error.wanted)}",
    "minLength": lambda _: "is empty",
    "minimum": lambda error: f"is {error.seen}, should be at least {error.wanted}",
}
"""Keyword → what to say of an error."""
_SHOWS: Mapping[str, Callable[[Any], str]] = {
    "anyOf": lambda _: "is not valid under any of the given schemas",
    "maxItems": lambda most: "is too long" if most else "is expected to be empty",
    "maxLength": lambda most: "is too long" if most else "is expected to be empty",
    "maxProperties": lambda most: "has too many properties" if most else "is expected to be empty",
    "minItems": lambda least: "should be non-empty" if least == 1 else "is too short",
    "not": lambda wrong: f"should not be valid under {wrong!r}",
    "pattern": lambda pattern: f"does not match {pattern!r}",
}
"""Keyword → what to say of its value, after the value seen; for other keywords, jsonschema-rs has a message."""
