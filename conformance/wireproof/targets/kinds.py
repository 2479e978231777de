"""What values an option takes: read from the text of a command line or from the data of a file, and their JSON Schema.

This module reads no file (but the variables that a person names), and imports the standard library and the model alone:
pytest imports it in every session, whether the plugin is asked for or not.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from wireproof.model.target import MASK

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

    Schema = Mapping[str, Any]
    """A JSON Schema of one value."""

SHORTEST = 0.01
"""Seconds; what is shorter ends before any proxy could answer."""
VARIABLE = re.compile(r"(?:\$|env:)([A-Za-z_][A-Za-z0-9_]*)")
# RFC 9110, section 5.6.2.
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
LAST_PORT = 65535


class OptionError(ValueError):
    """An option has a value that it cannot have; the message names the option, the value, and what would be right."""


class Kind(Protocol):
    """What values an option takes."""

    @property
    def metavar(self) -> str:
        """What stands for the value in a help text; "" for an option without a value."""

    @property
    def right(self) -> str:
        """What would be right, to complete "it should be …"."""

    @property
    def schema(self) -> Schema:
        """What a file may hold as the value."""

    def read(self, value: object) -> object:
        """The value of an option, from the text of a command line or from the data of a file.

        Raises:
            ValueError: it is not `right`; an OptionError is one.
        """


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """Any text."""

    metavar: str
    right: ClassVar[str] = "a text"
    schema: ClassVar[Schema] = {"type": "string"}

    def read(self, value: object) -> str:
        """The text as it is."""
        if not isinstance(value, str):
            raise OptionError(self.right)
        return value


@dataclass(frozen=True, slots=True)
class Seconds:
    """A time that can be waited for, in seconds."""

    metavar: ClassVar[str] = "SECONDS"
    right: ClassVar[str] = f"a time in seconds, at least {SHORTEST}"
    schema: ClassVar[Schema] = {"type": "number", "minimum": SHORTEST}

    def read(self, value: object) -> float:
        """The time; neither nan nor endless."""
        # True is an int to Python; a person who wrote `timeout = true` meant something else.
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise OptionError(self.right)
        seconds = float(value)
        # A chain of comparisons, so that nan, which compares false with anything, is refused too.
        if not SHORTEST <= seconds < math.inf:
            raise OptionError(self.right)
        return seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """A whole number from 1 on."""

    metavar: str = "N"
    right: ClassVar[str] = "a whole number, at least 1"
    schema: ClassVar[Schema] = {"type": "integer", "minimum": 1}

    def read(self, value: object) -> int:
        """The number."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise OptionError(self.right)
        number = int(value)
        # None of the counts (bytes, slots, jobs) means anything at 0.
        if number < 1:
            raise OptionError(self.right)
        return number


@dataclass(frozen=True, slots=True)
class Port:
    """A port of this machine that can be named."""

    metavar: ClassVar[str] = "PORT"
    right: ClassVar[str] = "a port, from 1 to 65535"
    schema: ClassVar[Schema] = {"type": "integer", "minimum": 1, "maximum": LAST_PORT}

    def read(self, value: object) -> int:
        """Its number."""
        if isinstance(value, bool) or not isinstance(value, str | int) or not 1 <= int(value) <= LAST_PORT:
            raise OptionError(self.right)
        return int(value)


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable with its value."""

    metavar: ClassVar[str] = "NAME=VALUE"
    right: ClassVar[str] = "the name of a variable, = and its value"
    schema: ClassVar[Schema] = {"type": "string", "pattern": "^[^=]+="}

    def read(self, value: object) -> str:
        """Both, as they were written."""
        # An empty name cannot be set; an empty value can.
        if not isinstance(value, str) or not value.partition("=")[0] or "=" not in value:
            raise OptionError(self.right)
        return value


@dataclass(frozen=True, slots=True)
class File:
    """A file that exists."""

    metavar: ClassVar[str] = "FILE"
    right: ClassVar[str] = "a file that exists"
    schema: ClassVar[Schema] = {"type": "string", "minLength": 1}

    def read(self, value: object) -> Path:
        """Its path."""
        # Looked for at once: a run must not be driven to its end for a name that was misspelt.
        if not isinstance(value, str | os.PathLike) or not Path(value).is_file():
            raise OptionError(self.right)
        return Path(value)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to write to, which need not exist."""

    metavar: ClassVar[str] = "DIR"
    right: ClassVar[str] = "a folder, or a name that nothing has yet"
    schema: ClassVar[Schema] = {"type": "string", "minLength": 1}

    def read(self, value: object) -> Path:
        """Its path."""
        if not isinstance(value, str | os.PathLike) or not str(value) or Path(value).is_file():
            raise OptionError(self.right)
        return Path(value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A member of an enumeration."""

    members: tuple[StrEnum, ...]

    @property
    def metavar(self) -> str:
        """All values."""
        return "|".join(self.members)

    @property
    def right(self) -> str:
        """All values, in words."""
        return f"one of {', '.join(self.members)}"

    @property
    def schema(self) -> Schema:
        """All values."""
        return {"type": "string", "enum": [str(one) for one in self.members]}

    def read(self, value: object) -> StrEnum:
        """The member with this value."""
        # Not `self.members[0].__class__(value)`: the choice may be some members of an enumeration only, as for
        # `default_mode`.
        found = next((member for member in self.members if member == value), None)
        if found is None:
            raise OptionError(self.right)
        return found


@dataclass(frozen=True, slots=True)
class Pair:
    """A name and a value that may be secret: only the name of the variable that holds it is ever shown."""

    name: str
    value: str = field(repr=False)
    """As it was written."""

    def __str__(self) -> str:
        """How reports write it."""
        return f"{self.name}={self.value if VARIABLE.fullmatch(self.value) else MASK}"

    @property
    def is_variable(self) -> bool:
        """Whether the value is that of an environment variable."""
        return VARIABLE.fullmatch(self.value) is not None

    def resolved(self) -> tuple[str, str]:
        """The name and the value, read from the environment where it names a variable.

        Raises:
            OptionError: the variable is not set, or holds what no HTTP header can carry.
        """
        found = VARIABLE.fullmatch(self.value)
        return self.name, self.value if found is None else secret(found[1], f"the value of {self.name}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairs:
    """NAME=VALUE, or NAME=env:VAR for a value in the environment."""

    header: bool
    """Whether it must be a header of HTTP."""
    metavar: ClassVar[str] = "NAME=VALUE"
    right: ClassVar[str] = "NAME=VALUE, printable ASCII"
    schema: ClassVar[Schema] = {"type": "string", "pattern": "^[^=]+="}

    def read(self, value: object) -> Pair:
        """The name and the value."""
        name, equals, said = value.partition("=") if isinstance(value, str) else ("", "", "")
        fits = _TOKEN.fullmatch(name) if self.header else name
        if not (fits and equals and is_printable(name) and is_printable(said)):
            raise OptionError(self.right)
        return Pair(name, said)


@dataclass(frozen=True, slots=True)
class Reason:
    """Something that is declared, and why."""

    name: str
    why: str

    def __str__(self) -> str:
        """How it is written."""
        return f"{self.name}={self.why}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reasons:
    """NAME=REASON."""

    what: str
    """What the name is of, for `metavar`."""
    names: tuple[str, ...] = ()
    """The names that there are; empty: any, as far as is known here."""

    @property
    def metavar(self) -> str:
        """What is named, and the reason."""
        return f"{self.what}=REASON"

    @property
    def right(self) -> str:
        """Both, and the names that there are."""
        there = f"; there are {', '.join(self.names)}" if self.names else ""
        return f"{self.what}=REASON{there}"

    @property
    def schema(self) -> Schema:
        """A text of both."""
        return {"type": "string", "pattern": "^[^=]+=.*[^ ]"}

    def read(self, value: object) -> Reason:
        """The name and the reason."""
        name, _, why = value.partition("=") if isinstance(value, str) else ("", "", "")
        # A reason of blanks is none.
        if not name or not why.strip() or (self.names and name not in self.names):
            raise OptionError(self.right)
        return Reason(name, why.strip())


@dataclass(frozen=True, slots=True)
class Flag:
    """On or off."""

    metavar: ClassVar[str] = ""
    right: ClassVar[str] = "true or false"
    schema: ClassVar[Schema] = {"type": "boolean"}

    def read(self, value: object) -> bool:
        """Whether it is on."""
        if not isinstance(value, bool):
            raise OptionError(self.right)
        return value


def secret(variable: str, what: str) -> str:
    """What an environment variable holds that a person has named.

    Raises:
        OptionError: the variable is not set, or holds what no HTTP header can carry.
    """
    value = os.environ.get(variable)  # named by the person, so it is no setting of ours
    if not value:
        raise OptionError(f"the environment variable {variable}, which should hold {what}, is not set")
    # Else the HTTP client would raise in mid-run, and name neither the value nor the variable.
    if not is_printable(value):
        raise OptionError(f"{what} in the environment variable {variable} is not printable ASCII")
    return value


def is_printable(text: str) -> bool:
    """Whether an HTTP header can carry a text."""
    return text.isascii() and text.isprintable()
