"""What values an option takes, as annotations: a type that pydantic reads, with the words of help texts and messages.

This module reads no file (but the variables that a person names), and imports the standard library and the model alone:
pytest imports it in every session, whether the plugin is asked for or not. So pydantic is imported when a value is
read, and what it has to know of an annotation is said by `OptionKind` in the two methods that it looks for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from wireproof.model.target import MASK

if TYPE_CHECKING:
    from enum import StrEnum

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

Schema = Mapping[str, Any]
"""A JSON Schema of one value."""
SHORTEST = 0.01
"""Seconds; what is shorter ends before any proxy could answer."""
LONGEST = 1_000_000_000
"""Seconds, some 31 years; no system waits for any number of them."""
VARIABLE = re.compile(r"(?:\$|env:)([A-Za-z_][A-Za-z0-9_]*)")
# RFC 9110, section 5.6.2.
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class OptionError(ValueError):
    """An option has a value that it cannot have; the message names the option, the value, and what would be right."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionKind:
    """What values an option takes; it stands beside the type in an annotation.

    A value is read from the text of a command line, or from the data of a file; there pydantic is strict: a number must
    be no text, nor a text a number.
    """

    metavar: str
    """What stands for the value in a help text; "" for an option without a value."""
    right: str
    """What would be right, to complete "it should be …"."""
    limits: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The limits of a number or a text, by pydantic's names for them."""
    make: Callable[[object], object] | None = None
    """Makes the value, or raises ValueError; None: pydantic knows the type."""
    schema: Schema = field(default_factory=dict, hash=False)
    """What a file may hold, where `make` is given."""
    members: tuple[str, ...] = ()
    """All values, where they can be listed."""
    path: Literal["", "file", "dir"] = ""
    """What it names the path of: shells complete it, and a file names it as seen from its own folder."""
    has_name: bool = False
    """Its text is NAME=VALUE, so a file may give several as a table."""
    is_secret: bool = False
    """A message must not show it."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """How pydantic reads a value."""
        if self.make is None:
            found: CoreSchema = {**handler(source), **self.limits}
            return found
        from pydantic_core.core_schema import no_info_plain_validator_function  # noqa: PLC0415 (see the head)

        return no_info_plain_validator_function(self.make)

    def __get_pydantic_json_schema__(self, known: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """What editors check a value of a file by."""
        return dict(self.schema) or handler(known)


def text(metavar: str) -> OptionKind:
    """Any text."""
    return OptionKind(metavar=metavar, right="a text")


def one_of(members: tuple[StrEnum, ...]) -> OptionKind:
    """Some or all members of an enumeration."""

    def make(value: object) -> StrEnum:
        found = next((member for member in members if member == value), None)
        if found is None:
            raise ValueError(value)
        return found

    schema = {"type": "string", "enum": [str(one) for one in members]}
    return OptionKind(
        metavar="|".join(members), right=f"one of {', '.join(members)}", make=make, schema=schema, members=members
    )


FLAG = OptionKind(metavar="", right="true or false")
"""On or off: of an option whose type is bool."""
# None of the counts (bytes, slots, jobs) means anything at 0.
_FROM_ONE = "a whole number, at least 1"
Count = Annotated[int, OptionKind(metavar="N", right=_FROM_ONE, limits={"ge": 1})]
Bytes = Annotated[int, OptionKind(metavar="BYTES", right=_FROM_ONE, limits={"ge": 1})]
# A run makes one body that is too large, and one request more than there are slots: more would fill the memory here.
BodySize = Annotated[
    int, OptionKind(metavar="BYTES", right="a whole number, from 1 to 1073741824", limits={"ge": 1, "le": 1 << 30})
]
Slots = Annotated[int, OptionKind(metavar="N", right="a whole number, from 1 to 10000", limits={"ge": 1, "le": 10_000})]
Port = Annotated[int, OptionKind(metavar="PORT", right="a port, from 1 to 65535", limits={"ge": 1, "le": 65535})]
Seconds = Annotated[
    float,
    OptionKind(
        metavar="SECONDS",
        right=f"a time in seconds, from {SHORTEST} to {LONGEST}",
        limits={"ge": SHORTEST, "le": LONGEST, "allow_inf_nan": False},
    ),
]
"""A time that can be waited for."""


# An empty name cannot be set; an empty value can.
_WITH_NAME = {"pattern": "^[^=]+="}
Variable = Annotated[
    str,
    OptionKind(metavar="NAME=VALUE", right="the name of a variable, = and its value", limits=_WITH_NAME, has_name=True),
]
"""An environment variable with its value."""


def _file(value: object) -> Path:
    # Looked for at once: a run must not be driven to its end for a name that was misspelt.
    if not isinstance(value, str | os.PathLike) or not _is_file(value):
        raise ValueError(value)
    return Path(value)


def _folder(value: object) -> Path:
    if not isinstance(value, str | os.PathLike) or not str(value) or _is_file(value):
        raise ValueError(value)
    return Path(value)


def _is_file(path: str | os.PathLike[str]) -> bool:
    # `Path.is_file` raises where a name is too long, or a folder on the way may not be entered.
    return os.path.isfile(path)  # noqa: PTH113 - see above


_PATH: Schema = {"type": "string", "minLength": 1}
File = Annotated[Path, OptionKind(metavar="FILE", right="a file that exists", make=_file, schema=_PATH, path="file")]
Folder = Annotated[
    Path,
    OptionKind(metavar="DIR", right="a folder, or a name that nothing has yet", make=_folder, schema=_PATH, path="dir"),
]
"""A folder to write to, which need not exist."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A name and a value that may be secret: only the name of the variable that holds it is ever shown."""

    name: str
    value: str = field(repr=False)
    """As it was written."""

    def __str__(self) -> str:
        """How reports write it."""
        return f"{self.name}={self.value if self.is_variable else MASK}"

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


def parameter(value: object) -> Pair:
    """NAME=VALUE, or NAME=env:VAR for a value in the environment.

    Raises:
        ValueError: it is neither, or no HTTP header can carry it.
    """
    name, equals, said = value.partition("=") if isinstance(value, str) else ("", "", "")
    if not (name and equals and is_printable(name) and is_printable(said)):
        raise ValueError(MASK)
    return Pair(name, said)


def header(value: object) -> Pair:
    """The same, of which the name must be that of a header of HTTP."""
    found = parameter(value)
    if not _TOKEN.fullmatch(found.name):
        raise ValueError(MASK)
    return found


def _pairs(make: Callable[[object], Pair]) -> OptionKind:
    return OptionKind(
        metavar="NAME=VALUE", right="NAME=VALUE, printable ASCII",
        make=make, schema={"type": "string", **_WITH_NAME}, has_name=True, is_secret=True,
    )  # fmt: skip


Header = Annotated[Pair, _pairs(header)]
Parameter = Annotated[Pair, _pairs(parameter)]


@dataclass(frozen=True, slots=True)
class Reason:
    """Something that is declared, and why."""

    name: str
    why: str

    def __str__(self) -> str:
        """How it is written."""
        return f"{self.name}={self.why}"


def reasons(what: str, names: tuple[str, ...] = ()) -> OptionKind:
    """NAME=REASON; `what` the name is of, and the `names` that there are; empty: any, as far as is known here."""

    def make(value: object) -> Reason:
        name, _, why = value.partition("=") if isinstance(value, str) else ("", "", "")
        # A reason of blanks is none.
        if not name or not why.strip() or (names and name not in names):
            raise ValueError(value)
        return Reason(name, why.strip())

    there = f"; there are {', '.join(names)}" if names else ""
    return OptionKind(
        metavar=f"{what}=REASON", right=f"{what}=REASON{there}",
        make=make, schema={"type": "string", "pattern": "^[^=]+=.*[^ ]"}, has_name=True,
    )  # fmt: skip


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
