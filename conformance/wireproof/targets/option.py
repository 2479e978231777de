"""One option, made of the field of a dataclass: its name, what it takes, what it means; and what groups of them share.

It reads no file and sends nothing: pytest imports it in every session, whether the plugin is asked for or not.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from wireproof.model.target import MASK
from wireproof.targets.kinds import Flag, OptionError, Pairs, Reasons, Variable

if TYPE_CHECKING:
    from wireproof.targets.kinds import Kind, Schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One option: how it is written, what it takes, what it means."""

    field: str
    """The field of the dataclass that defines it."""
    name: str
    """Its name without dashes before it, as in `--name`, `--wireproof-name` and the keys of a mapping."""
    kind: Kind
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
        return f"no-{self.name}" if isinstance(self.kind, Flag) else ""

    @property
    def full_help(self) -> str:
        """The help with the default, where there is one worth a word, and whether the option may be repeated."""
        # None, "" and False say what leaving the option out means already.
        value = f"{self.default:g}" if isinstance(self.default, float) else f"{self.default}"
        notes = [] if self.repeatable or not self.default else [f"default {value}"]
        notes += ["may be repeated"] if self.repeatable else []
        notes += [f"also --{name}" for name in self.also]
        return f"{self.help} ({', '.join(notes)})" if notes else self.help

    def read(self, value: object) -> object:
        """One value.

        Raises:
            OptionError: it is not of the option's kind.
        """
        try:
            return self.kind.read(value)
        except ValueError as error:
            # The name without dashes: it is `--name` on a command line and `--wireproof-name` under pytest.
            raise OptionError(f"{self.name} is {self.shown(value)}; it should be {self.kind.right}") from error

    def read_data(self, value: object) -> object:
        """The value that data of a file give: of the type that `schema` says, never a text for a number.

        Raises:
            OptionError: it is not of the option's kind.
        """
        if not self.repeatable:
            return self._read_typed(value)
        if isinstance(value, Mapping) and self.named:
            # TOML writes names with values as a table.
            value = [f"{name}={one}" if isinstance(one, str) else one for name, one in value.items()]
        if isinstance(value, str) or not isinstance(value, Sequence):  # a text is a sequence, of its characters
            table = " or a table" if self.named else ""
            raise OptionError(f"{self.name} is {self.shown(value)}; it should be a list{table}, each {self.kind.right}")
        return tuple(self._read_typed(one) for one in value)

    def _read_typed(self, value: object) -> object:
        if not _is_of(value, self.kind.schema):
            raise OptionError(f"{self.name} is {self.shown(value)}; it should be {self.kind.right}")
        return self.read(value)

    @property
    def named(self) -> bool:
        """Whether its values are names with values, which a file may give as a table."""
        return self.repeatable and isinstance(self.kind, Variable | Pairs | Reasons)

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the option in a file."""
        # No default: what was left out may be detected, or be another one on the command line.
        described = {"description": self.full_help}
        if not self.repeatable:
            return {**self.kind.schema, **described}
        many: Schema = {"type": "array", "items": self.kind.schema}
        table = {"type": "object", "additionalProperties": {"type": "string"}}
        return {"anyOf": [many, table], **described} if self.named else {**many, **described}

    def shown(self, value: object) -> str:
        """A wrong value as a message may show it."""
        return MASK if isinstance(self.kind, Pairs) else _short(value)

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
    kind: Kind,
    help: str,  # noqa: A002 (as click and argparse call it)
    name: str = "",
    also: tuple[str, ...] = (),
    repeatable: bool = False,
) -> Mapping[str, Any]:
    """The metadata of a field that is an option; `name` where it is written otherwise than the field."""
    return {"name": name, "also": also, "kind": kind, "help": help, "repeatable": repeatable}


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
    facts = one.metadata
    if one.default is MISSING:
        raise TypeError(f"the option {one.name} needs a default: it may be left out")
    return Option(
        field=one.name,
        name=facts["name"] or one.name.replace("_", "-"),
        kind=facts["kind"],
        help=facts["help"],
        repeatable=facts["repeatable"],
        default=one.default,
        also=facts["also"],
    )


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


def _is_of(value: object, schema: Schema) -> bool:
    """Whether a value of a file is of a schema's type; True is an int to Python alone."""
    types = _TYPES[schema["type"]]
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}


def _short(value: object) -> str:
    return f"{value!r:.100}"  # a value of a file may be of any length
