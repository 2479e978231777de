"""What a row of the catalogue may say: pydantic reads rows by it, and what messages say is right comes from it.

So does the JSON Schema of a row, for other tools: what `schemas/wireproof/requirement.json` holds.
"""

from __future__ import annotations

import difflib
import json
import re
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from wireproof.model.capability import Capability  # noqa: TC001 (pydantic reads the annotations)
from wireproof.model.dialect import CHATS, OPENAIS, ArgumentsMode, Dialect
from wireproof.model.requirement import Harm, JudgedOn, Level, Stage
from wireproof.model.scenario import Mode  # noqa: TC001 (as above)
from wireproof.model.side import Side  # noqa: TC001 (as above)
from wireproof.wire.facet import Facet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic_core.core_schema import WithDefaultSchema

ID = re.compile(r"[a-z][a-z0-9]*(\.[a-z0-9-]+)+")
_GROUPS: Mapping[str, tuple[Dialect, ...]] = {"all": tuple(Dialect), "openai": OPENAIS, "chat": CHATS}
"""What a row may say instead of a list of dialects."""


class CatalogueError(ValueError):
    """A row that cannot be read; the message names the file, the id and what would be right."""


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
    # Built when it is read first: most commands read no edition, whose rows are `DecidingRow`.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Index(_Strict):
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


class DecidingRow(_Strict):
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

    @property
    def said(self) -> dict[str, Any]:
        """The fields that it sets: those that it does not have the defaults of `Requirement`."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class RequirementRow(DecidingRow):
    """What a row may say."""

    text: _Sentence = Field(description="one sentence that ends with a full stop, for a developer with a broken client")
    hint: _Words = Field(description="what to do about it, as text")
    compat_why: _Sentence = Field(_LEFT_OUT, description="one sentence that says why compat is true")
    warns: _Sentence = Field(
        _LEFT_OUT, description="one sentence that says which violations are a warning at the level compat all the same"
    )
    breaks: tuple[_Effect, ...] = Field(_LEFT_OUT, description='a list of "client, client: effect", as measured')
    source: tuple[CitationRow, ...] = Field(min_length=1, description="a list of { seed, line, quote }, at least one")


def validated(model: type[_Model], place: str, table: Mapping[str, Any]) -> _Model:
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
        return f"unknown field {name!r}{suggest(name, model.model_fields)}"
    if name == "source" and len(inner) > 1:
        return f"{name}: {_mistake(CitationRow, table[name][inner[0]], tuple(inner[1:]))}"
    seen = repr(table[name]) if name in table else "missing"
    return f"{name} is {seen}; it must be {rule(model, name)}"


def rule(model: type[BaseModel], name: str) -> str:
    """What is right for a field: what it is described by, or follows from its type."""
    known = model.model_fields[name]
    kind: Any = known.annotation
    if known.description:
        # Of a flag it says what it means.
        return f"true or false: {known.description}" if kind is bool else known.description
    listed = get_args(kind)
    return f"a list of {', '.join(listed[0])}" if listed else f"one of {', '.join(kind)}"


def suggest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: those that it may have meant."""
    close = difflib.get_close_matches(name, list(known))
    return f"; did you mean {' or '.join(close)}?" if close else ""


def schema() -> dict[str, Any]:
    """The schema; what a row of a level needs besides is said by its `allOf`."""
    row, exclusion = (one.model_json_schema(schema_generator=_Plain) for one in (RequirementRow, ExclusionRow))
    defs = row.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        # A name and no address: .invalid never resolves (RFC 2606).
        "$id": "https://wireproof.invalid/schemas/wireproof/requirement.json",
        **row,
        "title": "requirement",
        "description": "One row of the requirement catalogue, as it stands under its dotted id in requirements/*.toml.",
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
            **defs,
            "exclusion": exclusion,
        },
    }


class _Plain(GenerateJsonSchema):
    """Without titles, which repeat the names of fields, and defaults, which `Requirement` has."""

    def field_title_should_be_set(self, schema: object) -> bool:
        """No field has one."""
        del schema
        return False

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        """The schema of the value alone."""
        return self.generate_inner(schema["schema"])
