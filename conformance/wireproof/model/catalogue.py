"""The requirement catalogue: what a proxy must keep to, one row per requirement, read from TOML.

`requirements/catalogue.toml` names the date, the cited texts, and the files in order; each table of such a file is one
row and its dotted name is the requirement's id. `requirements/excluded.toml` lists the sentences of the cited texts
that no wire can show. What a row may say, and what is right for each field, stands once, in `_ROW`: the reader, its
messages and `schemas/wireproof/requirement.json` (`schema()`) come from it.

A row of one's own: `read` a folder of such files, or make `Requirement(...)` in code, and `load().extended(...)` with
it. `judging.judge` says how to give it a check.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from wireproof.model.capability import Capability
from wireproof.model.dialect import CHATS, Arguments, Dialect
from wireproof.model.requirement import Citation, Facet, Harm, Harmless, Judged, Level, Requirement, Stage
from wireproof.model.scenario import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from enum import StrEnum
    from importlib.resources.abc import Traversable

    from wireproof.model.scenario import Form

__all__ = [
    "Catalogue",
    "CatalogueError",
    "Citation",
    "Exclusion",
    "Judged",
    "Level",
    "Requirement",
    "UnknownRequirementError",
    "load",
    "read",
    "read_fields",
    "schema",
]

ID = re.compile(r"[a-z][a-z0-9]*(\.[a-z0-9-]+)+")
_GROUPS: Mapping[str, tuple[Dialect, ...]] = {"all": tuple(Dialect), "chat": CHATS}
"""What a row may say instead of a list of dialects."""
_SPECIAL = ("catalogue", "excluded")
"""Files of the folder that hold no rows."""


class CatalogueError(ValueError):
    """A row that cannot be read; the message names the file, the id and what would be right."""


class UnknownRequirementError(LookupError):
    """No requirement has this id; the message offers the close ones."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exclusion:
    """A sentence of a cited text that no wire can show."""

    source: Citation
    reason: str
    """Why none can."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Catalogue:
    """All rows."""

    date: str
    """A day in ISO form; it names the edition."""
    requirements: tuple[Requirement, ...]
    """In the order of the files and of the rows in them. Reports and the judge keep to it."""
    excluded: tuple[Exclusion, ...]
    seeds: Mapping[str, str] = field(default_factory=dict)
    """The texts that rows cite: name → title."""
    later: frozenset[str] = frozenset()
    """Of an older edition: the requirements that came after it. What breaks them is passed over."""
    withdrawn: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of an older edition: its rows that have no check any more, as they stand in its file. It is judged without."""

    @cached_property
    def by_id(self) -> Mapping[str, Requirement]:
        """The rows by id, in the same order."""
        return MappingProxyType({row.id: row for row in self.requirements})

    def find(self, name: str) -> Requirement:
        """The requirement with this id.

        Raises:
            UnknownRequirementError: no row has it; the message offers up to three close ids.
        """
        if name in self.by_id:
            return self.by_id[name]
        raise UnknownRequirementError(f"no requirement {name!r}{_suggest(name, self.by_id)}")

    def of_facet(self, facet: Facet, form: Form) -> Requirement | None:
        """The row that speaks of this part of answers of this form. None: no row does.

        A row of the form's own mode goes before one of its dialect only, such as that of parity, which names streams
        and is about whole answers as well.
        """
        rows = [row for row in self.requirements if facet in row.facets and form.dialect in row.dialects]
        return min(rows, key=lambda row: form.mode not in row.modes, default=None)

    def extended(self, *rows: Requirement) -> Catalogue:
        """This catalogue with more rows behind its own.

        Raises:
            CatalogueError: it has one of the ids already.
        """
        known = set(self.by_id)
        for row in rows:
            if row.id in known:
                raise CatalogueError(f"{row.id}: the catalogue has this id already; each id stands once")
            # The new rows may also repeat an id among themselves.
            known.add(row.id)
        return replace(self, requirements=(*self.requirements, *rows))


@cache
def load() -> Catalogue:
    """The catalogue of this package, read once.

    Raises:
        CatalogueError: see `read`.
    """
    return read(files("wireproof").joinpath("requirements"))


def read(folder: Traversable) -> Catalogue:
    """The catalogue of a folder of TOML files.

    Raises:
        CatalogueError: a file is missing, unlisted or no TOML, or a row is not right.
    """
    index = _parse(folder, "catalogue")
    _require("catalogue.toml", "", index, _INDEX)
    _no_unlisted(folder, index["files"])
    rows: dict[str, Requirement] = {}
    for stem in index["files"]:
        for name, table in _rows(_parse(folder, stem), stem):
            if name in rows:
                raise CatalogueError(f"{stem}.toml: {name}: an earlier file has this id; each id stands once")
            rows[name] = _requirement(f"{stem}.toml", name, table, index["seeds"])
    excluded = _excluded(folder, index["seeds"])
    return Catalogue(
        date=index["date"], requirements=tuple(rows.values()), excluded=excluded, seeds=MappingProxyType(index["seeds"])
    )


def schema() -> dict[str, Any]:
    """The JSON Schema of a row, for other tools: what `schemas/wireproof/requirement.json` holds."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        # A name and no address: .invalid never resolves (RFC 2606).
        "$id": "https://wireproof.invalid/schemas/wireproof/requirement.json",
        "title": "requirement",
        "description": "One row of the requirement catalogue, as it stands under its dotted id in requirements/*.toml.",
        **_object_schema(_ROW),
        "allOf": [
            {
                "if": {"properties": {"level": {"const": Level.MUST.value}}},
                "then": {"required": ["compat", "harm"]},
            },
            {
                "if": {"properties": {"compat": {"const": True}}, "required": ["compat"]},
                "then": {"anyOf": [{"required": ["breaks"]}, {"required": ["compat_why"]}]},
                "else": {"not": {"anyOf": [{"required": ["breaks"]}, {"required": ["compat_why"]}]}},
            },
        ],
        "$defs": {
            "id": {"description": "lower-case words joined by dots", "type": "string", "pattern": f"^{ID.pattern}$"},
            # Here for scenario.json, which is written by hand and refers to it.
            "dialect": {"enum": [dialect.value for dialect in Dialect]},
            "citation": _object_schema(_CITATION),
            "exclusion": {**_object_schema(_EXCLUDED), "description": "One entry of excluded.toml."},
        },
    }


def _parse(folder: Traversable, stem: str) -> dict[str, Any]:
    try:
        return tomllib.loads(folder.joinpath(f"{stem}.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CatalogueError(f"{stem}.toml: there is no such file beside catalogue.toml") from None
    except tomllib.TOMLDecodeError as error:
        raise CatalogueError(f"{stem}.toml: not TOML: {error}") from error


def _no_unlisted(folder: Traversable, listed: list[str]) -> None:
    """Raise if there is a file that the index does not name: its rows would silently not be judged."""
    found = {entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")}
    if extra := sorted(found - {*listed, *_SPECIAL}):
        raise CatalogueError(f"{extra[0]}.toml: catalogue.toml does not list it; add {extra[0]!r} to files")


def _rows(table: dict[str, Any], stem: str, prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """A table that holds only tables is a step of the dotted id; any other is a row."""
    for key, value in table.items():
        name = f"{prefix}.{key}" if prefix else key
        if not isinstance(value, dict):
            raise CatalogueError(f"{stem}.toml: {name}: stands outside a row; every field belongs in a [dotted.id]")
        # An empty table is a row, so that it is reported for the fields that it lacks.
        if value and all(isinstance(inner, dict) for inner in value.values()):
            yield from _rows(value, stem, name)
        else:
            yield name, value


def _requirement(file: str, name: str, table: dict[str, Any], seeds: Collection[str]) -> Requirement:
    if not ID.fullmatch(name):
        raise CatalogueError(f"{file}: {name}: an id is lower-case words joined by dots, as in chat.stream.role-first")
    _require(file, name, table, _ROW)
    _require_reason(f"{file}: {name}", table)
    read_fields = {key: _ROW[key].read(value) for key, value in table.items() if key != "source"}
    source = tuple(_citation(file, f"{name}: source", entry, seeds) for entry in table["source"])
    return Requirement(id=name, source=source, **read_fields)


def read_fields(file: str, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Some fields of a row, as they stand in a file, as values in code.

    Raises:
        CatalogueError: the id, a field or a value is not right.
    """
    if not ID.fullmatch(name):
        raise CatalogueError(f"{file}: {name}: an id is lower-case words joined by dots, as in chat.stream.role-first")
    _require(file, name, dict(table), {key: replace(one, required=False) for key, one in _ROW.items()})
    return {key: _ROW[key].read(value) for key, value in table.items()}


def _require_reason(place: str, table: Mapping[str, Any]) -> None:
    """Raise if a row's mark of compat is missing where it is needed, or gives no reason."""
    for key in ("compat", "harm"):
        # A MUST without it would silently be a note, or stand last in reports.
        if table["level"] == Level.MUST and key not in table:
            raise CatalogueError(f"{place}: {key} is missing; it must be {_ROW[key].rule} (every MUST says it)")
    reasons = [key for key in ("breaks", "compat_why") if key in table]
    if table.get("compat") and not reasons:
        raise CatalogueError(f"{place}: compat is true without a reason; name the clients in breaks, or say compat_why")
    if not table.get("compat") and reasons:
        raise CatalogueError(f"{place}: {reasons[0]} gives a reason for compat, and compat is not true")


def _citation(
    file: str, name: str, entry: dict[str, Any], seeds: Collection[str], fields: Mapping[str, _Field] | None = None
) -> Citation:
    _require(file, name, entry, fields or _CITATION)
    if entry["seed"] not in seeds:
        raise CatalogueError(f"{file}: {name}: seed is {entry['seed']!r}; it must be one of {', '.join(seeds)}")
    return Citation(**{key: entry[key] for key in _CITATION})


def _excluded(folder: Traversable, seeds: Collection[str]) -> tuple[Exclusion, ...]:
    entries = _parse(folder, "excluded").get("excluded", [])
    return tuple(
        Exclusion(source=_citation("excluded.toml", f"entry {number}", entry, seeds, _EXCLUDED), reason=entry["reason"])
        for number, entry in enumerate(entries, start=1)
    )


def _require(file: str, name: str, table: dict[str, Any], fields: Mapping[str, _Field]) -> None:
    """Raise unless the table has all required fields, no unknown ones, and each with a right value."""
    place = f"{file}: {name}" if name else file
    # Unknown names first: a misspelt field would otherwise be reported as a missing one.
    for key in table:
        if key not in fields:
            raise CatalogueError(f"{place}: unknown field {key!r}{_suggest(key, fields)}")
    for key, one in fields.items():
        if key not in table and one.required:
            raise CatalogueError(f"{place}: {key} is missing; it must be {one.rule}")
        if key in table and not one.right(table[key]):
            raise CatalogueError(f"{place}: {key} is {table[key]!r}; it must be {one.rule}")


def _suggest(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


# What is right for a field. A field is made by one of the functions below: each gives the test, the words of the
# message and the schema together, so that they cannot say different things.


@dataclass(frozen=True, kw_only=True)
class _Field:
    """What is right for one field of a table."""

    right: Callable[[Any], bool]
    rule: str
    """Completes "it must be"."""
    schema: Mapping[str, Any]
    required: bool = True
    """False: a row that does not set it has the default of `Requirement`."""
    read: Callable[[Any], Any] = lambda value: value
    """The value in code."""


def _object_schema(fields: Mapping[str, _Field]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {key: dict(one.schema) for key, one in fields.items()},
        "required": [key for key, one in fields.items() if one.required],
        "additionalProperties": False,
    }


def _text(rule: str, pattern: str = r"\S", *, sentence: bool = False) -> _Field:
    """A text in which the pattern is found; a sentence has no other behind it, which no pattern of a schema says."""

    def right(value: object) -> bool:
        # Not `fullmatch`: a schema's `pattern` is not anchored either.
        found = isinstance(value, str) and re.search(pattern, value) is not None
        return found and not (sentence and re.search(r"[.!?] [A-Z]", str(value)))

    return _Field(right=right, rule=rule, schema={"description": rule, "type": "string", "pattern": pattern})


def _texts(rule: str, pattern: str = r"\S", *, required: bool = True) -> _Field:
    def right(value: object) -> bool:
        return isinstance(value, list) and all(isinstance(item, str) and re.search(pattern, item) for item in value)

    schema = {"description": rule, "type": "array", "items": {"type": "string", "pattern": pattern}}
    return _Field(right=right, rule=rule, schema=schema, required=required, read=tuple)


def _flag(rule: str) -> _Field:
    schema = {"description": rule, "type": "boolean"}
    return _Field(
        right=lambda value: isinstance(value, bool), rule=f"true or false: {rule}", schema=schema, required=False
    )


def _word(kind: type[StrEnum], *, required: bool = False) -> _Field:
    """One of the values of an enum."""
    words = [one.value for one in kind]
    return _Field(
        right=lambda value: value in words,
        rule=f"one of {', '.join(words)}",
        schema={"enum": words},
        required=required,
        read=kind,
    )


def _words(kind: type[StrEnum]) -> _Field:
    """At least one of the values of an enum, none twice."""
    words = [one.value for one in kind]

    def right(value: object) -> bool:
        if not isinstance(value, list) or not all(item in words for item in value):
            return False
        return 0 < len(value) == len(set(value))

    return _Field(
        right=right,
        rule=f"a list of {', '.join(words)}",
        schema={"type": "array", "items": {"enum": words}, "minItems": 1, "uniqueItems": True},
        required=False,
        read=lambda value: tuple(map(kind, value)),
    )


def _dialects() -> _Field:
    """A list of dialects, or the word for a group of them."""
    listed = _words(Dialect)
    groups = " or ".join(f'"{group}"' for group in _GROUPS)
    return _Field(
        right=lambda value: (isinstance(value, str) and value in _GROUPS) or listed.right(value),
        rule=f"{groups}, or {listed.rule}",
        schema={"anyOf": [{"enum": list(_GROUPS)}, listed.schema]},
        required=True,
        read=lambda value: _GROUPS[value] if isinstance(value, str) else listed.read(value),
    )


def _iso(value: object) -> bool:
    try:
        # `fromisoformat` also reads 20261121 and 2026-W47-6.
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _is_title(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


_INDEX: Mapping[str, _Field] = {
    "date": _Field(right=_iso, rule='a day as text, "2026-11-21"', schema={"type": "string", "format": "date"}),
    "seeds": _Field(
        right=lambda value: isinstance(value, dict) and value != {} and all(map(_is_title, value.values())),
        rule='a table of the cited texts by name, each with its title, { "004" = "A story" }',
        schema={"type": "object", "additionalProperties": {"type": "string"}},
    ),
    "files": _texts('a list of file names without .toml, ["http"]'),
}
_CITATION: Mapping[str, _Field] = {
    "seed": _text("the name of a text that catalogue.toml lists in seeds"),
    "line": _Field(
        # TOML's true is an int in Python.
        right=lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 1,
        rule="a line number, counted from 1",
        schema={"description": "counted from 1", "type": "integer", "minimum": 1},
    ),
    "quote": _text("words that stand on that line"),
}
_EXCLUDED: Mapping[str, _Field] = {
    **_CITATION,
    "reason": _text("one sentence that says why no wire shows it", r"\.$", sentence=True),
}
_ROW: Mapping[str, _Field] = {
    "level": _word(Level, required=True),
    "text": _text(
        "one sentence that ends with a full stop, for a developer with a broken client", r"\.$", sentence=True
    ),
    "hint": _text("what to do about it, as text"),
    "dialects": _dialects(),
    "modes": _words(Mode),
    "judged": _word(Judged),
    "stage": _word(Stage),
    "invariant": _flag("content that holds of any answer"),
    "harmless": _word(Harmless),
    "on_failure": _flag("still judged where there should have been an HTTP error"),
    "arguments": _word(Arguments),
    "facets": _words(Facet),
    "capability": _word(Capability),
    "alike": _flag("means the same in every dialect of chat"),
    "at_crash": _flag("may be broken only where the backend dies"),
    "on_time": _flag("may seem broken on a busy machine"),
    "harm": _word(Harm),
    "compat": _flag("a real client would break, lose, double or misread something"),
    "compat_why": replace(_text("one sentence that says why compat is true", r"\.$", sentence=True), required=False),
    "breaks": _texts('a list of "client, client: effect", as measured', r"^\S.*?: \S", required=False),
    "source": _Field(
        right=lambda value: isinstance(value, list) and value != [] and all(isinstance(item, dict) for item in value),
        rule="a list of { seed, line, quote }, at least one",
        schema={"type": "array", "items": {"$ref": "#/$defs/citation"}, "minItems": 1},
    ),
}
"""What a row may say, in the order in which rows say it."""
