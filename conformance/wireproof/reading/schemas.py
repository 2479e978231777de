"""The JSON Schemas of `schemas/`: validators by name, and what is wrong with a value in short sentences.

A name is a path below `schemas/` without `.json`: "wireproof/requirement"; a bare name is one of OpenAI's: "error". The
schemas are 2020-12 and refer to each other by relative `$ref`s. One thing is stricter than the standard: 1.0 is no
integer, since clients in typed languages refuse it where the published type is an integer. One is more lenient: objects
of published APIs may have members whose names begin with `x-`, which is how extensions are marked.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import jsonschema_rs
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match, relevance
from referencing import Registry, Resource

from wireproof.wire.violation import MemberFault, Members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from importlib.resources.abc import Traversable

    from jsonschema.protocols import Validator

_SHOWN = 60
_NUDGE = 2.0**-10
EXTENSION = "x-"
"""How the names of members begin that no schema of a published API forbids."""
_OF_APIS = ("openai", "messages")
"""The folders whose schemas are of what an API publishes."""


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


@cache
def validator(name: str) -> Validator:
    """The validator of the schema with this name; made once.

    Raises:
        UnknownSchemaError: there is no such schema.
    """
    path = name if "/" in name else f"openai/{name}"
    schema = _read(path)
    kind = _Published if path.partition("/")[0] in _OF_APIS else _Strict
    made: Validator = kind(schema, registry=_neighbours(path.rpartition("/")[0]))
    return made


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
    if _is_plainly_valid(name, instance):
        return []
    found = sorted(validator(name).iter_errors(instance), key=relevance, reverse=True)
    # Errors of several alternatives may come to the same sentence.
    return list(dict.fromkeys(_fault(_deepest(error)) for error in found))


def _is_plainly_valid(name: str, instance: object) -> bool:
    """Whether a fast validator finds nothing wrong; where it does, or cannot tell, the slow one has the word.

    Most values are valid, and the slow one takes hundreds of times as long. It is never more lenient but for members
    that begin with `x-`, and it alone refuses 1.0 as an integer.
    """
    try:
        # Twice where numbers such as 1.0 stand in it: as it is, and with numbers that are no integers to anyone. What
        # takes both asks for no integer there.
        return _fast(name).is_valid(instance) and (
            not _has_integral_float(instance) or _fast(name).is_valid(_without_integral_floats(instance))
        )
    # What is no JSON to it: lone surrogates, lists nested by the thousand.
    except (ValueError, RecursionError):
        return False


@cache
def _fast(name: str) -> jsonschema_rs.Draft202012Validator:
    """The fast validator of the schema with this name; made once."""
    path = name if "/" in name else f"openai/{name}"
    return jsonschema_rs.Draft202012Validator(_read(path), registry=_fast_neighbours(path.rpartition("/")[0]))


@cache
def _fast_neighbours(folder: str) -> jsonschema_rs.Registry:
    """As `_neighbours`, for fast validators."""
    return jsonschema_rs.Registry([(one["$id"], one) for one in _schemas_in(folder) if "$id" in one])


def _has_integral_float(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_integral_float, value.values()))
    if isinstance(value, list):
        return any(map(_has_integral_float, value))
    return isinstance(value, float) and value.is_integer()


def _without_integral_floats(value: object) -> object:
    """The value with numbers such as 1.0 moved a little towards 0.5, so that the usual bounds, 0 and 1, still hold.

    Raises:
        ValueError: there is one that is too large to be moved.
    """
    if isinstance(value, dict):
        return {name: _without_integral_floats(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_integral_floats(inner) for inner in value]
    if not (isinstance(value, float) and value.is_integer()):
        return value
    moved = value + (_NUDGE if value <= 0 else -_NUDGE)
    if moved.is_integer():
        raise ValueError(value)
    return moved


def misfits(schema: Mapping[str, Any], instance: Any) -> list[str]:  # noqa: ANN401 (any JSON value)
    """As `errors`, against a schema that a request carried."""
    made: Validator = _Strict(schema)
    return [_sentence(_deepest(error)) for error in sorted(made.iter_errors(instance), key=relevance, reverse=True)]


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


def _schemas_in(folder: str) -> list[dict[str, Any]]:
    return [_read(name) for name in names() if name.rpartition("/")[0] == folder]


@cache
def _neighbours(folder: str) -> Registry[Any]:
    """The schemas of one folder by `$id`, read at once: a registry that retrieves does so at every `$ref` again."""
    resources = [(one["$id"], Resource.from_contents(one)) for one in _schemas_in(folder) if "$id" in one]
    found: Registry[Any] = Registry().with_resources(resources)
    return found.crawl()


def _all_of(validator: Any, schemas: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    """As in the standard, but faster: of very many `if type is … then …` only the one that fits is evaluated."""
    fitting = [one for one in schemas if not _of_another_type(one, instance)]
    yield from Draft202012Validator.VALIDATORS["allOf"](validator, fitting, instance, schema)


def _of_another_type(schema: object, instance: object) -> bool:
    match schema:
        # Only the plain form is left out: any further condition might decide otherwise. An `if` about a type that is
        # absent holds, hence the default.
        case {"if": {"properties": {"type": {"const": wanted, **more}, **others}}, **rest} if not (more or others):
            return rest.keys() == {"then"} and isinstance(instance, dict) and instance.get("type", wanted) != wanted
        case _:
            return False


_Strict: Any = validators.extend(  # type: ignore[no-untyped-call]  # jsonschema has no types for it
    Draft202012Validator,
    {"allOf": _all_of},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def _no_others(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    """As in the standard, but extensions are passed over."""
    if isinstance(instance, dict) and allowed is False:
        instance = {name: value for name, value in instance.items() if not name.startswith(EXTENSION)}
    yield from Draft202012Validator.VALIDATORS["additionalProperties"](validator, allowed, instance, schema)


_Published: Any = validators.extend(_Strict, {"additionalProperties": _no_others})  # type: ignore[no-untyped-call]  # as above


def _fault(error: ValidationError) -> SchemaFault:
    steps = [step for step in error.absolute_path if isinstance(step, str)]
    unknown = error.validator == "additionalProperties"
    others = _others(error.instance, error.schema)[:1] if unknown else []
    return SchemaFault(
        sentence=_sentence(error),
        path=(*steps, *_missing(error)),
        unknown=unknown,
        about=_about(error),
        at=(*error.absolute_path, *others),
    )


def _about(error: ValidationError) -> Members | None:
    match error.validator:
        case "required":
            return Members(fault=MemberFault.MISSING, names=tuple(_missing(error)))
        case "additionalProperties":
            return Members(fault=MemberFault.EXTRA, names=tuple(_others(error.instance, error.schema)))
        case "type" | "enum" | "const" | "minimum" if error.absolute_path:
            return Members(fault=MemberFault.MISTYPED, names=(str(error.absolute_path[-1]),))
        case _:
            return None


def _missing(error: ValidationError) -> list[str]:
    """The members that an object lacks; none if it is wrong in another way."""
    wanted, seen = error.validator_value, error.instance
    if error.validator != "required" or not isinstance(wanted, list) or not isinstance(seen, dict):
        return []
    return [name for name in wanted if name not in seen]


def _deepest(error: ValidationError) -> ValidationError:
    """Of an error in alternatives, the one in the alternative that fits best."""
    found = best_match([error]) or error
    while found.context:
        # Alternatives of another type are not what was meant: where an object stands, null was not.
        fitting = [one for one in found.context if one.validator != "type" or one.relative_path]
        if not fitting:
            break
        found = min(fitting, key=lambda one: one.validator == "additionalProperties")
    return found


def _sentence(error: ValidationError) -> str:
    pointer = "".join(f"/{_escape(str(step))}" for step in error.absolute_path) or "the body"
    say = _SAYS.get(str(error.validator))
    return f"{pointer}: {say(error.instance, error.validator_value, error.schema) if say else _cut(error.message)}"


def _escape(step: str) -> str:
    # RFC 6901, section 3: ~ first, or that of a ~1 would be escaped again.
    return step.replace("~", "~0").replace("/", "~1")


def _listed(parts: list[str]) -> str:
    return f"{' and '.join(parts)} {'is' if len(parts) == 1 else 'are'}"


def _others(seen: Any, schema: Any) -> list[str]:  # noqa: ANN401 (JSON)
    return sorted(name for name in seen if name not in schema["properties"] and not name.startswith(EXTENSION))


def _shown(value: object) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


_SAYS: Mapping[str, Callable[[Any, Any, Any], str]] = {
    "required": lambda seen, wanted, _: f"{_listed([name for name in wanted if name not in seen])} missing",
    "additionalProperties": lambda seen, _, schema: f"{_listed(_others(seen, schema))} not among the published fields",
    "type": lambda seen, wanted, _: (
        f"is {_shown(seen)}, should be {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
    ),
    "enum": lambda seen, wanted, _: f"is {_shown(seen)}, should be one of {', '.join(map(_shown, wanted))}",
    "const": lambda seen, wanted, _: f"is {_shown(seen)}, should be {_shown(wanted)}",
    "minLength": lambda *_: "is empty",
    "minimum": lambda seen, wanted, _: f"is {seen}, should be at least {wanted}",
}
"""Keyword → what to say of the value seen, the keyword's value, and the schema around it."""
