"""The requirement catalogue: what a proxy must keep to, one row per requirement, read from TOML.

`requirements/catalogue.toml` names the date and the files in order; each table of such a file is one row and its
dotted name is the requirement's id. `requirements/excluded.toml` lists the sentences of the seed texts that no wire can
show. The fields of a row and what is right for each stand once, in `_FIELDS`; `schemas/assay/requirement.json` says
the same to other tools. Every row cites the text it comes from: seed, line (from 1) and a literal quote.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

from assay.model.scenario import Mode

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

ID = re.compile(r"[a-z][a-z0-9]*(\.[a-z0-9-]+)+")
DIALECTS = ("openai-json", "obsidian-xml", "function-call", "responses")
SEEDS = ("000", "001", "002", "003", "004", "openai", "clients")
_BOTH = "both"
_SPECIAL = ("catalogue", "excluded")


class CatalogueError(ValueError):
    """A row that cannot be read; the message names the file, the id and what would be right."""


class UnknownRequirementError(LookupError):
    """No requirement has this id; the message offers the close ones."""


class Level(StrEnum):
    """How much a requirement weighs: a broken MUST fails a proxy, a broken SHOULD warns."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class Judged(StrEnum):
    """On which exchanges a requirement is judged."""

    ALWAYS = "always"
    """Every answer."""
    CALLS = "calls"
    """Every answer in which the backend makes a tool call."""
    EXERCISED = "exercised"
    """Only where a scenario names it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """Where a sentence stands: the seed's name, the line (from 1), and words that are literally on that line."""

    seed: str
    line: int
    quote: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirement:
    """One row.

    `text` is one sentence for a developer with a broken client; `hint` says what to do. `judged` says on which
    exchanges of its modes. `breaks` says which real clients were measured to break when it is violated, as
    "client, client: effect"; empty when none was.
    """

    id: str
    level: Level
    text: str
    hint: str
    modes: tuple[Mode, ...]
    dialects: tuple[str, ...]
    judged: Judged
    breaks: tuple[str, ...]
    source: tuple[Citation, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Exclusion:
    """A sentence of a seed text that no wire can show, and why."""

    source: Citation
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Catalogue:
    """All rows, in the order of the files and of the rows in them. `date` is ISO: it names the edition."""

    date: str
    requirements: tuple[Requirement, ...]
    excluded: tuple[Exclusion, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Requirement]:
        """The rows by id, in the same order."""
        return MappingProxyType({row.id: row for row in self.requirements})

    def find(self, name: str) -> Requirement:
        """The requirement with this id.

        Raises:
            UnknownRequirementError: there is none; the message offers up to three close ids.
        """
        if name in self.by_id:
            return self.by_id[name]
        raise UnknownRequirementError(f"no requirement {name!r}{_suggest(name, self.by_id)}")


@cache
def load() -> Catalogue:
    """The catalogue of this package, read once.

    Raises:
        CatalogueError: see `read`.
    """
    return read(files("assay").joinpath("requirements"))


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
            rows[name] = _requirement(f"{stem}.toml", name, table)
    return Catalogue(date=index["date"], requirements=tuple(rows.values()), excluded=_excluded(folder))


def _parse(folder: Traversable, stem: str) -> dict[str, Any]:
    try:
        return tomllib.loads(folder.joinpath(f"{stem}.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CatalogueError(f"{stem}.toml: there is no such file beside catalogue.toml") from None
    except tomllib.TOMLDecodeError as error:
        raise CatalogueError(f"{stem}.toml: not TOML: {error}") from error


def _no_unlisted(folder: Traversable, listed: list[str]) -> None:
    found = {entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")}
    if extra := sorted(found - {*listed, *_SPECIAL}):
        raise CatalogueError(f"{extra[0]}.toml: catalogue.toml does not list it; add {extra[0]!r} to files")


def _rows(table: dict[str, Any], stem: str, prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """A table that holds only tables is a step of the dotted id; any other is a row."""
    for key, value in table.items():
        name = f"{prefix}.{key}" if prefix else key
        if not isinstance(value, dict):
            raise CatalogueError(f"{stem}.toml: {name}: stands outside a row; every field belongs in a [dotted.id]")
        if value and all(isinstance(inner, dict) for inner in value.values()):
            yield from _rows(value, stem, name)
        else:
            yield name, value


def _requirement(file: str, name: str, table: dict[str, Any]) -> Requirement:
    if not ID.fullmatch(name):
        raise CatalogueError(f"{file}: {name}: an id is lower-case words joined by dots, as in chat.stream.role-first")
    _require(file, name, table, _FIELDS)
    modes = list(Mode) if _BOTH in table["modes"] else [Mode(mode) for mode in table["modes"]]
    return Requirement(
        id=name,
        level=Level(table["level"]),
        text=table["text"],
        hint=table["hint"],
        modes=tuple(modes),
        dialects=tuple(table["dialects"]),
        judged=Judged(table["judged"]),
        breaks=tuple(table["breaks"]),
        source=tuple(_citation(file, name, entry) for entry in table["source"]),
    )


def _citation(file: str, name: str, entry: dict[str, Any]) -> Citation:
    _require(file, f"{name}: source", entry, _CITATION)
    return Citation(**entry)


def _excluded(folder: Traversable) -> tuple[Exclusion, ...]:
    entries = _parse(folder, "excluded").get("excluded", [])
    return tuple(_exclusion(f"entry {number}", entry) for number, entry in enumerate(entries, start=1))


def _exclusion(name: str, entry: dict[str, Any]) -> Exclusion:
    _require("excluded.toml", name, entry, _EXCLUDED)
    return Exclusion(source=Citation(**{key: entry[key] for key in _CITATION}), reason=entry["reason"])


_Fields = Mapping[str, tuple[Callable[[Any], bool], str]]


def _require(file: str, name: str, table: dict[str, Any], fields: _Fields) -> None:
    """Raise unless the table has exactly these fields, each with a right value."""
    place = f"{file}: {name}" if name else file
    for key in table:
        if key not in fields:
            raise CatalogueError(f"{place}: unknown field {key!r}{_suggest(key, fields)}")
    for key, (right, rule) in fields.items():
        if key not in table:
            raise CatalogueError(f"{place}: {key} is missing; it must be {rule}")
        if not right(table[key]):
            raise CatalogueError(f"{place}: {key} is {table[key]!r}; it must be {rule}")


def _suggest(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _sentence(value: object) -> bool:
    return isinstance(value, str) and value.endswith(".") and not re.search(r"[.!?] [A-Z]", value)


def _texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(_text(item) for item in value)


def _some_of(*words: str) -> Callable[[object], bool]:
    """At least one of the words, none twice."""
    return lambda value: _texts(value) and 0 < len(value) == len(set(value) & set(words))


def _breaks(value: object) -> bool:
    return _texts(value) and all(re.match(r"\S.*?: \S", item) for item in value)


def _tables(value: object) -> bool:
    return isinstance(value, list) and value != [] and all(isinstance(item, dict) for item in value)


def _line(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _iso(value: object) -> bool:
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


_INDEX: _Fields = {
    "date": (_iso, 'a day as text, "2026-11-21"'),
    "files": (_texts, 'a list of file names without .toml, ["http"]'),
}
_FIELDS: _Fields = {
    "level": (lambda value: value in list(Level), '"MUST" or "SHOULD"'),
    "text": (_sentence, "one sentence that ends with a full stop"),
    "hint": (_text, "what to do about it, as text"),
    "modes": (_some_of(*Mode, _BOTH), 'some of "stream" and "whole", or ["both"]'),
    "dialects": (_some_of(*DIALECTS), f"some of {', '.join(DIALECTS)}"),
    "judged": (lambda value: value in list(Judged), f"one of {', '.join(Judged)}"),
    "breaks": (_breaks, 'a list of "client: effect", empty when nobody was seen to break'),
    "source": (_tables, "a list of { seed, line, quote }, at least one"),
}
_CITATION: _Fields = {
    "seed": (lambda value: value in SEEDS, f"one of {', '.join(SEEDS)}"),
    "line": (_line, "a line number, counted from 1"),
    "quote": (_text, "words that stand on that line"),
}
_EXCLUDED: _Fields = {**_CITATION, "reason": (_sentence, "one sentence that says why no wire shows it")}
