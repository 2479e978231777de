"""One option, made of the field of a dataclass: its name, what it takes, what it means; and what groups of them share.

It reads no file and sends nothing: pytest imports it in every session, whether the plugin is asked for or not.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar, Union, get_args, get_origin

from wireproof.model.target import MASK
from wireproof.targets.kinds import FLAG, OptionError, OptionKind, one_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from wireproof.targets.kinds import Schema

_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One option: how it is written, what it takes, what it means."""

    field: str
    """The field of the dataclass that defines it."""
    name: str
    """Its name without dashes before it, as in `--name`, `--wireproof-name` and the keys of a mapping."""
    value: Any
    """The annotation of one value."""
    kind: OptionKind
    """What it takes, of that annotation."""
    help: str
    """One sentence or two for a person, for every help text and the manual."""
    repeatable: bool
    """It may be given several times; in a mapping its value is a list. The field is a tuple."""
    default: Any
    also: tuple[str, ...] = ()
    """Other names that it is known by."""

    @property
    def names(self) -> tuple[str, ...]:
        """All its names, its own first."""
        return (self.name, *self.also)

    @property
    def off(self) -> str:
        """The name that turns a flag off which a target file turns on; "" where the option is no flag."""
        return f"no-{self.name}" if self.kind is FLAG else ""

    @property
    def full_help(self) -> str:
        """The help with the default, where there is one worth a word, and whether the option may be repeated."""
        # None, "" and False say what leaving the option out means already.
        value = f"{self.default:g}" if isinstance(self.default, float) else f"{self.default}"
        notes = [] if self.repeatable or not self.default else [f"default {value}"]
        notes += ["may be repeated"] if self.repeatable else []
        notes += [f"also --{name}" for name in self.also]
        return f"{self.help} ({', '.join(notes)})" if notes else self.help

    def read(self, value: object, *, strict: bool = False) -> object:
        """One value, from the text of a command line; `strict`: from data, which have types.

        Raises:
            OptionError: it is not of the option's kind.
        """
        # A file may hold one, a command line cannot; no program, path or variable takes it.
        if isinstance(value, str) and "\0" in value:
            raise OptionError(f"{self.name} is {self.shown(value)}; it should have no NUL character")
        try:
            return _adapter(self.value).validate_python(value, strict=strict)
        # Also pydantic's, whose own message is of several lines and shows what may be secret.
        except ValueError as error:
            # The name without dashes: it is `--name` on a command line and `--wireproof-name` under pytest.
            raise OptionError(f"{self.name} is {self.shown(value)}; it should be {self.kind.right}") from error

    def read_data(self, value: object) -> object:
        """The value that data of a file give: of the type that `schema` says, never a text for a number.

        Raises:
            OptionError: it is not of the option's kind.
        """
        if not self.repeatable:
            return self.read(value, strict=True)
        if isinstance(value, Mapping) and self.kind.has_name:
            # TOML writes names with values as a table.
            value = [f"{name}={one}" if isinstance(one, str) else one for name, one in value.items()]
        if isinstance(value, str) or not isinstance(value, Sequence):  # a text is a sequence, of its characters
            table = " or a table" if self.kind.has_name else ""
            raise OptionError(f"{self.name} is {self.shown(value)}; it should be a list{table}, each {self.kind.right}")
        return tuple(self.read(one, strict=True) for one in value)

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the option in a file."""
        # No default: what was left out may be detected, or be another one on the command line.
        described = {"description": self.full_help}
        one = _adapter(self.value).json_schema()
        if not self.repeatable:
            return {**one, **described}
        many: Schema = {"type": "array", "items": one}
        table = {"type": "object", "additionalProperties": {"type": "string"}}
        return {"anyOf": [many, table], **described} if self.kind.has_name else {**many, **described}

    def shown(self, value: object) -> str:
        """A wrong value as a message may show it."""
        return MASK if self.kind.is_secret else f"{value!r:.100}"  # a value of a file may be of any length

    def words(self, value: object) -> Iterator[str]:
        """The words of a command line that give the option this value; none for the default."""
        if value == self.default:
            return
        if self.off:
            yield f"--{self.name}"
            return
        for one in value if isinstance(value, tuple) else (value,):  # a repeatable option is given once for each value
            yield f"--{self.name}"
            yield str(one)


def option(
    *,
    default: _Value,
    help: str,  # noqa: A002 (as click and argparse call it)
    name: str = "",
    also: tuple[str, ...] = (),
) -> _Value:
    """A field that is an option; `name` where it is written otherwise than the field."""
    return field(default=default, metadata={"name": name, "also": also, "help": help})


class Options:
    """What the dataclasses of options have in common: all of it follows from their fields."""

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """The options, in the order in which they are defined."""
        return tuple(_option_of(one) for one in fields(cls))  # type: ignore[arg-type]  # every subclass is a dataclass

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """The options whose values were read already, by field; what is not one of these options is passed over.

        An option that was not given is None, and a repeatable one may be empty.
        """
        given: dict[str, Any] = {}
        for option in cls.options():
            # Both groups of options are made of one mapping, so each passes over what is the other's.
            value = values.get(option.field)
            if value is not None:
                given[option.field] = tuple(value) if option.repeatable else value
        return cls(**given)

    def words(self) -> list[str]:
        """The words of a command line that give these options; what has its default is left out."""
        return [word for option in self.options() for word in option.words(getattr(self, option.field))]


def _option_of(one: Field[Any]) -> Option:
    if one.default is MISSING:
        raise TypeError(f"the option {one.name} needs a default: it may be left out")
    repeatable = get_origin(one.type) is tuple
    value: Any = one.type
    if repeatable or isinstance(value, UnionType) or get_origin(value) is Union:
        # What the tuple holds, or what is not None, which says that the option was left out.
        value = next(each for each in get_args(value) if each is not NoneType)
    kind = _kind_of(value)
    return Option(
        field=one.name,
        name=one.metadata["name"] or one.name.replace("_", "-"),
        value=value if get_origin(value) is Annotated else Annotated[value, kind],
        kind=kind,
        help=one.metadata["help"],
        repeatable=repeatable,
        default=one.default,
        also=one.metadata["also"],
    )


@cache
def _kind_of(value: Any) -> OptionKind:  # noqa: ANN401 (an annotation)
    """What stands beside the type in an annotation; of an enumeration and of a flag it follows from the type."""
    if get_origin(value) is Annotated:
        return next(one for one in value.__metadata__ if isinstance(one, OptionKind))
    return one_of(tuple(value)) if issubclass(value, StrEnum) else FLAG


@cache
def _adapter(value: Any) -> TypeAdapter[Any]:  # noqa: ANN401 (an annotation)
    from pydantic import TypeAdapter  # noqa: PLC0415 (not before a value is read; see `kinds`)

    return TypeAdapter(value)


def find(name: str, known: Mapping[str, Option]) -> Option:
    """The option of this name.

    Raises:
        OptionError: there is none; the message has the nearest name.
    """
    if name in known:
        return known[name]
    # A misspelt name must not be taken for an option that was left out: the target would be judged without it.
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
    raise OptionError(f"{name!r} is not an option of a target; {hint}")
