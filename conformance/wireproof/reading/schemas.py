"""The JSON Schemas of `schemas/`: what is wrong with a value, in short sentences.

A name is a path below `schemas/` without `.json`: "wireproof/requirement"; a bare name is one of OpenAI's: "error". The
schemas are 2020-12 and refer to each other by relative `$ref`s. One thing is stricter than the standard: 1.0 is no
integer, since clients in typed languages refuse it where the published type is an integer. One is more lenient: objects
of published APIs may have members whose names begin with `x-`, which is how extensions are marked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urljoin

from wireproof.model.rows import suggest
from wireproof.reading.schema_errors import MASK, SchemaError, Schemas, deepest, listed
from wireproof.wire.violation import MemberFault, Members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from importlib.resources.abc import Traversable

_SHOWN = 60
_OF_APIS = ("openai", "messages")
"""The folders whose schemas are of what an API publishes."""
_BASE = "https://wireproof.invalid/schemas/"


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
    return list(dict.fromkeys(_fault(deepest(error)) for error in schemas.errors(url, instance)))


def misfits(schema: Mapping[str, Any], instance: Any) -> list[str]:  # noqa: ANN401 (any JSON value)
    """As `errors`, against a schema that a request carried.

    Raises:
        ValueError: it is no schema, or refers to one that is not inside it.
    """
    url = urljoin(_BASE, schema.get("$id", ""))
    found = Schemas({url: schema}, extensible=False).errors(url, instance)
    return [_sentence(deepest(error)) for error in found]


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
        raise UnknownSchemaError(f"no schema {name!r}{suggest(name, names())}") from None
    return cast("dict[str, Any]", json.loads(text))


@cache
def _placed(name: str) -> tuple[Schemas, str]:
    """The schemas among which the one with this name is, and its URL.

    Raises:
        UnknownSchemaError: there is no such schema.
    """
    path = name if "/" in name else f"openai/{name}"
    _read(path)
    return _folder(path.rpartition("/")[0]), f"{_BASE}{path}.json"


@cache
def _folder(folder: str) -> Schemas:
    found = {f"{_BASE}{name}.json": _read(name) for name in names() if name.rpartition("/")[0] == folder}
    return Schemas(found, extensible=folder in _OF_APIS)


def _fault(error: SchemaError) -> SchemaFault:
    missing = error.names if error.keyword == "required" else ()
    unknown = error.keyword == "additionalProperties"
    return SchemaFault(
        sentence=_sentence(error),
        path=(*(step for step in error.path if isinstance(step, str)), *missing),
        unknown=unknown,
        about=_about(error),
        at=(*error.path, *(error.names[:1] if unknown else ())),
    )


def _about(error: SchemaError) -> Members | None:
    match error.keyword:
        case "required":
            return Members(fault=MemberFault.MISSING, names=error.names)
        case "additionalProperties":
            return Members(fault=MemberFault.EXTRA, names=error.names)
        case "type" | "enum" | "const" | "minimum" if error.path:
            return Members(fault=MemberFault.MISTYPED, names=(str(error.path[-1]),))
        case _:
            return None


def _sentence(error: SchemaError) -> str:
    # RFC 6901, section 3: ~ first, or that of a ~1 would be escaped again.
    pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.path) or "the body"
    if say := _SAYS.get(error.keyword):
        return f"{pointer}: {say(error)}"
    show = _SHOWS.get(error.keyword)
    message = f"{MASK} {show(error.wanted)}" if show else error.message
    return f"{pointer}: {_cut(message.replace(MASK, repr(error.seen)))}"


def _shown(value: object) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


_SAYS: Mapping[str, Callable[[SchemaError], str]] = {
    **dict.fromkeys(("required", "additionalProperties"), lambda error: str(_about(error))),
    "type": lambda error: f"is {_shown(error.seen)}, should be {' or '.join(listed(error.wanted))}",
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
