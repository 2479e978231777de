"""The requirement catalogue: what a proxy must keep to, one row per requirement, read from TOML.

`requirements/catalogue.toml` names the date, the cited texts, and the files in order; each table of such a file is one
row and its dotted name is the requirement's id. `requirements/excluded.toml` lists the sentences of the cited texts
that no wire can show. What a row may say, and what is right for each field, stands in `wireproof.model.rows`.

A row of one's own: `read` a folder of such files, or make `Requirement(...)` in code, and `load().extended(...)` with
it. `judging.judge` says how to give it a check.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from wireproof.model.requirement import Citation, JudgedOn, Level, Requirement
from wireproof.model.rows import (
    ID,
    CatalogueError,
    CitationRow,
    DecidingRow,
    ExclusionRow,
    Index,
    RequirementRow,
    rule,
    suggest,
    validated,
)
from wireproof.wire.facet import Facet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from importlib.resources.abc import Traversable

    from wireproof.model.capability import Capability
    from wireproof.model.scenario import Form
    from wireproof.model.side import Side

__all__ = [
    "Catalogue",
    "CatalogueError",
    "Citation",
    "Exclusion",
    "JudgedOn",
    "Level",
    "Requirement",
    "UnknownRequirementError",
    "load",
    "read",
    "read_fields",
    "row_of",
    "row_of_capability",
]

MEASURED = "measured"
_SPECIAL = ("catalogue", "excluded", MEASURED)
"""Files of the folder that hold no rows."""


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
        raise UnknownRequirementError(f"no requirement {name!r}{suggest(name, self.by_id)}")

    def about(self, side: Side) -> Catalogue:
        """The rows about one end of the wire."""
        return replace(self, requirements=tuple(row for row in self.requirements if row.side is side))

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


@cache
def row_of(facet: Facet, form: Form) -> str:
    """The id of the row that speaks of this part of answers of this form.

    It is one of this package, whatever catalogue a run is judged by, as the ids of checks are: an edition that lacks
    the row passes over what breaks it.

    Raises:
        LookupError: no row does; the catalogue has a hole.
    """
    row = load().of_facet(facet, form)
    if row is None:
        raise LookupError(f"no row of the catalogue has {facet.value!r} among its facets for {form}")
    return row.id


@cache
def row_of_capability(capability: Capability, form: Form) -> str:
    """The id of the row that asks for a capability; that of tool calls depends on the form."""
    rows = (row.id for row in load().requirements if row.capability is capability)
    return next(rows, None) or row_of(Facet.CALL, form)


def read(folder: Traversable) -> Catalogue:
    """The catalogue of a folder of TOML files.

    Raises:
        CatalogueError: a file is missing, unlisted or no TOML, or a row is not right.
    """
    index = validated(Index, "catalogue.toml", _parse(folder, "catalogue"))
    _no_unlisted(folder, index.files)
    measured = measured_lines(_parse(folder, MEASURED)) if folder.joinpath(f"{MEASURED}.toml").is_file() else {}
    rows: dict[str, Requirement] = {}
    for stem in index.files:
        for name, table in _rows(_parse(folder, stem), stem):
            if name in rows:
                raise CatalogueError(f"{stem}.toml: {name}: an earlier file has this id; each id stands once")
            if name in measured:
                table["breaks"] = [*measured.pop(name), *table.get("breaks", [])]
            rows[name] = _requirement(f"{stem}.toml", name, table, index.seeds)
    for name in measured:
        raise CatalogueError(f"{MEASURED}.toml: {name}: the catalogue has no such id")
    excluded = _excluded(folder, index.seeds)
    return Catalogue(
        date=index.date, requirements=tuple(rows.values()), excluded=excluded, seeds=MappingProxyType(index.seeds)
    )


def measured_lines(table: Mapping[str, Any]) -> dict[str, list[str]]:
    """Requirement → lines "client, client: effect form", of what the file says that real clients were measured to do.

    `conformance/clients/tests/measure.py --write` writes it; what a row says that it `breaks` is made from it.
    """
    found: dict[str, list[str]] = {}
    for entry in table.get("form", []):
        alike: dict[str, list[str]] = {}
        for client, effect in entry["effects"].items():
            alike.setdefault(effect, []).append(client)
        lines = (f"{', '.join(clients)}: {effect} {entry['form']}" for effect, clients in alike.items())
        found.setdefault(entry["requirement"], []).extend(lines)
    return found


def _parse(folder: Traversable, stem: str) -> dict[str, Any]:
    try:
        return tomllib.loads(folder.joinpath(f"{stem}.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CatalogueError(f"{stem}.toml: there is no such file beside catalogue.toml") from None
    except tomllib.TOMLDecodeError as error:
        raise CatalogueError(f"{stem}.toml: not TOML: {error}") from error


def _no_unlisted(folder: Traversable, listed: tuple[str, ...]) -> None:
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
    place = _place(file, name)
    row = validated(RequirementRow, place, table)
    _require_reason(place, row)
    values = row.said
    values["source"] = tuple(_citation(f"{place}: source", one, seeds) for one in row.source)
    return Requirement(id=name, **values)


def read_fields(file: str, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row that decide verdicts, as they stand in a file, as values in code.

    Raises:
        CatalogueError: the id, a field or a value is not right.
    """
    return validated(DecidingRow, _place(file, name), table).said


def _place(file: str, name: str) -> str:
    """How messages name a row; raises for what is no id."""
    if not ID.fullmatch(name):
        raise CatalogueError(f"{file}: {name}: an id is lower-case words joined by dots, as in chat.stream.role-first")
    return f"{file}: {name}"


def _require_reason(place: str, row: RequirementRow) -> None:
    """Raise if a row's mark of compat is missing where it is needed, or gives no reason."""
    for key in ("compat", "harm"):
        # A MUST without it would silently be a note, or stand last in reports.
        if row.level is Level.MUST and key not in row.model_fields_set:
            raise CatalogueError(
                f"{place}: {key} is missing; it must be {rule(RequirementRow, key)} (every MUST says it)"
            )
    reasons = [key for key in ("breaks", "compat_why") if key in row.model_fields_set]
    if row.compat and not reasons:
        raise CatalogueError(f"{place}: compat is true without a reason; name the clients in breaks, or say compat_why")
    if not row.compat and reasons:
        raise CatalogueError(f"{place}: {reasons[0]} gives a reason for compat, and compat is not true")


def _citation(place: str, said: CitationRow, seeds: Collection[str]) -> Citation:
    if said.seed not in seeds:
        raise CatalogueError(f"{place}: seed is {said.seed!r}; it must be one of {', '.join(seeds)}")
    return Citation(seed=said.seed, line=said.line, quote=said.quote)


def _excluded(folder: Traversable, seeds: Collection[str]) -> tuple[Exclusion, ...]:
    found = []
    for number, entry in enumerate(_parse(folder, "excluded").get("excluded", []), start=1):
        place = f"excluded.toml: entry {number}"
        said = validated(ExclusionRow, place, entry)
        found.append(Exclusion(source=_citation(place, said, seeds), reason=said.reason))
    return tuple(found)
