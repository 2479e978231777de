"""The requirement catalogue: what a proxy must keep to, one row per requirement, read from TOML.

`requirements/catalogue.toml` names the date, the cited texts, and the files in order; each table of such a file is one
row and its dotted name is the requirement's id. `requirements/excluded.toml` lists the sentences of the cited texts
that no wire can show. What a row may say, and what is right for each field, stands once, in `RequirementRow`: pydantic
reads rows by it, and the messages and `schemas/wireproof/requirement.json` (`row_schema`) come from it.

A row of one's own: `read` a folder of such files, or make `Requirement(...)` in code, and `load().extended(...)` with
it. `judging.judge` says how to give it a check.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, ValidationError

from wireproof.model.capability import Capability  # noqa: TC001 (pydantic reads the annotations)
from wireproof.model.dialect import CHATS, OPENAIS, ArgumentsMode, Dialect
from wireproof.model.measured import measured_lines
from wireproof.model.requirement import Citation, Harm, JudgedOn, Level, Requirement, Stage
from wireproof.model.scenario import Mode  # noqa: TC001 (as above)
from wireproof.model.side import Side  # noqa: TC001 (as above)
from wireproof.wire.facet import Facet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from importlib.resources.abc import Traversable

    from wireproof.model.scenario import Form

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
]

ID = re.compile(r"[a-z][a-z0-9]*(\.[a-z0-9-]+)+")
_GROUPS: Mapping[str, tuple[Dialect, ...]] = {"all": tuple(Dialect), "openai": OPENAIS, "chat": CHATS}
"""What a row may say instead of a list of dialects."""
MEASURED = "measured"
_SPECIAL = ("catalogue", "excluded", MEASURED)
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


def read(folder: Traversable) -> Catalogue:
    """The catalogue of a folder of TOML files.

    Raises:
        CatalogueError: a file is missing, unlisted or no TOML, or a row is not right.
    """
    index = _validated(_Index, "catalogue.toml", _parse(folder, "catalogue"))
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
    row = _validated(RequirementRow, place, table)
    _require_reason(place, row)
    values = _said(row)
    values["source"] = tuple(_citation(f"{place}: source", one, seeds) for one in row.source)
    return Requirement(id=name, **values)


def read_fields(file: str, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row that decide verdicts, as they stand in a file, as values in code.

    Raises:
        CatalogueError: the id, a field or a value is not right.
    """
    return _said(_validated(_Deciding, _place(file, name), table))


def _place(file: str, name: str) -> str:
    """How messages name a row; raises for what is no id."""
    if not ID.fullmatch(name):
        raise CatalogueError(f"{file}: {name}: an id is lower-case words joined by dots, as in chat.stream.role-first")
    return f"{file}: {name}"


def _said(table: BaseModel) -> dict[str, Any]:
    """The fields that a table sets: those that it does not have the defaults of `Requirement`."""
    return {name: getattr(table, name) for name in table.model_fields_set}


def _require_reason(place: str, row: RequirementRow) -> None:
    """Raise if a row's mark of compat is missing where it is needed, or gives no reason."""
    for key in ("compat", "harm"):
        # A MUST without it would silently be a note, or stand last in reports.
        if row.level is Level.MUST and key not in row.model_fields_set:
            raise CatalogueError(
                f"{place}: {key} is missing; it must be {_rule(RequirementRow, key)} (every MUST says it)"
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
        said = _validated(ExclusionRow, place, entry)
        found.append(Exclusion(source=_citation(place, said, seeds), reason=said.reason))
    return tuple(found)


def _validated(model: type[_Model], place: str, table: Mapping[str, Any]) -> _Model:
    """A table, read; a message of what is wrong with it begins with the place."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        # Unknown names first: a misspelt field would otherwise be reported as a missing one.
        first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        raise CatalogueError(f"{place}: {_mistake(model, table, first['loc'])}") from error


def _mistake(model: type[BaseModel], table: Mapping[str, Any], loc: tuple[str | int, ...]) -> str:
    """What is wrong at a place of a table: with a field, with one of a table in it, or with its value."""
    key, *inner = loc
    name = str(key)
    if name not in model.model_fields:
        return f"unknown field {name!r}{_suggest(name, model.model_fields)}"
    if name == "source" and len(inner) > 1:
        return f"{name}: {_mistake(CitationRow, table[name][inner[0]], tuple(inner[1:]))}"
    seen = repr(table[name]) if name in table else "missing"
    return f"{name} is {seen}; it must be {_rule(model, name)}"


def _rule(model: type[BaseModel], name: str) -> str:
    """What is right for a field: what it is described by, or follows from its type."""
    known = model.model_fields[name]
    kind: Any = known.annotation
    if known.description:
        # Of a flag it says what it means.
        return f"true or false: {known.description}" if kind is bool else known.description
    listed = get_args(kind)
    return f"a list of {', '.join(listed[0])}" if listed else f"one of {', '.join(kind)}"


def _suggest(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


# What is right for a field.


def _none_twice(values: tuple[StrEnum, ...]) -> tuple[StrEnum, ...]:
    if len(set(values)) != len(values):
        raise ValueError(values)
    return values


def _one_sentence(text: str) -> str:
    # No pattern of a schema says this: that a sentence has no other behind it.
    if re.search(r"[.!?] [A-Z]", text):
        raise ValueError(text)
    return text


def _of_group(value: object) -> object:
    return _GROUPS.get(value, value) if isinstance(value, str) else value


def _day(value: str) -> str:
    # `fromisoformat` also reads 20261121 and 2026-W47-6.
    if date.fromisoformat(value).isoformat() != value:
        raise ValueError(value)
    return value


_Model = TypeVar("_Model", bound=BaseModel)
_Member = TypeVar("_Member", bound=StrEnum)
_Some = Annotated[
    tuple[_Member, ...], Field(min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(_none_twice)
]
_Facets = Annotated[
    tuple[Facet, ...],
    Field(json_schema_extra={"uniqueItems": True}),
    AfterValidator(_none_twice),
    AfterValidator(frozenset),
]
# Strict: 1 and "yes" would be true otherwise.
_Flag = Annotated[bool, Field(strict=True)]
_Words = Annotated[str, Field(pattern=r"\S")]
_Sentence = Annotated[str, Field(pattern=r"\.$"), AfterValidator(_one_sentence)]
_Effect = Annotated[str, Field(pattern=r"^\S.*?: \S")]
_Dialects = Annotated[
    _Some[Dialect], BeforeValidator(_of_group, json_schema_input_type=Literal["all", "openai", "chat"] | _Some[Dialect])
]
_LEFT_OUT: Any = None
"""The value of a field that a row need not set: the default is that of `Requirement`."""


class _Strict(BaseModel):
    # Built when it is read first: most commands read no edition, whose rows are `_Deciding`.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _Index(_Strict):
    """What `catalogue.toml` says."""

    date: Annotated[str, AfterValidator(_day)] = Field(description='a day as text, "2026-11-21"')
    seeds: dict[str, _Words] = Field(
        min_length=1, description='a table of the cited texts by name, each with its title, { "004" = "A story" }'
    )
    files: tuple[_Words, ...] = Field(description='a list of file names without .toml, ["http"]')


class CitationRow(_Strict):
    """Where a sentence stands."""

    seed: _Words = Field(description="the name of a text that catalogue.toml lists in seeds")
    line: StrictInt = Field(ge=1, description="a line number, counted from 1")
    quote: _Words = Field(description="words that stand on that line")


class ExclusionRow(CitationRow):
    """One entry of excluded.toml."""

    reason: _Sentence = Field(description="one sentence that says why no wire shows it")


class _Deciding(_Strict):
    """What a row says that decides verdicts."""

    level: Level
    dialects: _Dialects = Field(
        description=f"one of {', '.join(map(json.dumps, _GROUPS))}, or a list of {', '.join(Dialect)}"
    )
    modes: _Some[Mode] = _LEFT_OUT
    side: Side = _LEFT_OUT
    judged: JudgedOn = _LEFT_OUT
    stage: Stage = _LEFT_OUT
    invariant: _Flag = Field(_LEFT_OUT, description="content that holds of any answer")
    spoils: _Facets = Field(_LEFT_OUT, description="parts of an answer that are lost where it is broken")
    needs: _Facets = Field(_LEFT_OUT, description="parts of an answer that are there where it is judged")
    on_failure: _Flag = Field(_LEFT_OUT, description="still judged where there should have been an HTTP error")
    arguments: ArgumentsMode = _LEFT_OUT
    facets: _Some[Facet] = _LEFT_OUT
    capability: Capability = _LEFT_OUT
    alike: _Flag = Field(_LEFT_OUT, description="means the same in every dialect of chat")
    at_crash: _Flag = Field(_LEFT_OUT, description="may be broken only where the backend dies")
    on_time: _Flag = Field(_LEFT_OUT, description="may seem broken on a busy machine")
    harm: Harm = _LEFT_OUT
    compat: _Flag = Field(_LEFT_OUT, description="a real client would break, lose, double or misread something")


class RequirementRow(_Deciding):
    """What a row may say."""

    text: _Sentence = Field(description="one sentence that ends with a full stop, for a developer with a broken client")
    hint: _Words = Field(description="what to do about it, as text")
    compat_why: _Sentence = Field(_LEFT_OUT, description="one sentence that says why compat is true")
    warns: _Sentence = Field(
        _LEFT_OUT, description="one sentence that says which violations are a warning at the level compat all the same"
    )
    breaks: tuple[_Effect, ...] = Field(_LEFT_OUT, description='a list of "client, client: effect", as measured')
    source: tuple[CitationRow, ...] = Field(min_length=1, description="a list of { seed, line, quote }, at least one")
