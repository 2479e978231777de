"""The options of a run, each defined once: what a person can say of a target, and of how it is certified.

A field of `TargetOptions` or `RunOptions` is one option. Everything else is made of the fields: the options of
`assay certify`, the `--assay-…` options of the pytest plugin, the keys of a mapping (`from_mapping`), the command that
asks for the same run again (`command_line`), and the table of the manual. A field of `TargetOptions` that has the name
of a field of `Target` becomes that field. So a new option is one field here, and the code that uses it.

This module reads no file and sends nothing, and imports nothing but the standard library and enumerations of the model:
pytest imports it in every session, whether the plugin is asked for or not.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from assay.model.dialect import CHATS, Arguments, Dialect
from assay.model.target import MASK, Agent, KeyStyle
from assay.model.verdict import VerdictLevel

if TYPE_CHECKING:
    from enum import StrEnum

SHORTEST = 0.01
"""Seconds; what is shorter ends before any proxy could answer."""
_VARIABLE = re.compile(r"(?:\$|env:)([A-Za-z_][A-Za-z0-9_]*)")
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
        return f"{self.name}={self.value if _VARIABLE.fullmatch(self.value) else MASK}"

    def resolved(self) -> tuple[str, str]:
        """The name and the value, read from the environment where it names a variable.

        Raises:
            OptionError: the variable is not set, or holds what no HTTP header can carry.
        """
        found = _VARIABLE.fullmatch(self.value)
        return self.name, self.value if found is None else secret(found[1], f"the value of {self.name}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairs:
    """NAME=VALUE, or NAME=env:VAR for a value in the environment."""

    header: bool
    """Whether it must be a header of HTTP."""
    metavar: ClassVar[str] = "NAME=VALUE"
    right: ClassVar[str] = "NAME=VALUE, printable ASCII"

    def read(self, value: object) -> Pair:
        """The name and the value."""
        name, equals, said = value.partition("=") if isinstance(value, str) else ("", "", "")
        fits = _TOKEN.fullmatch(name) if self.header else name
        if not (fits and equals and _is_printable(name) and _is_printable(said)):
            raise OptionError(self.right)
        return Pair(name, said)


@dataclass(frozen=True, slots=True)
class Flag:
    """On when it is given; off when not."""

    metavar: ClassVar[str] = ""
    right: ClassVar[str] = "true or false"

    def read(self, value: object) -> bool:
        """Whether it is on."""
        if not isinstance(value, bool):
            raise OptionError(self.right)
        return value


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One option: how it is written, what it takes, what it means."""

    field: str
    """The field of the dataclass that defines it."""
    name: str
    """Its name without dashes before it, as in `--name`, `--assay-name` and the keys of a mapping."""
    kind: Kind
    help: str
    """One sentence or two for a person, for every help text and the manual."""
    repeatable: bool
    """It may be given several times; in a mapping its value is a list. The field is a tuple."""
    default: Any

    @property
    def full_help(self) -> str:
        """The help with the default, where there is one worth a word, and whether the option may be repeated."""
        # None, "" and False say what leaving the option out means already.
        value = f"{self.default:g}" if isinstance(self.default, int | float) else f"{self.default}"
        notes = [] if self.repeatable or not self.default else [f"default {value}"]
        notes += ["may be repeated"] if self.repeatable else []
        return f"{self.help} ({', '.join(notes)})" if notes else self.help

    def read(self, value: object) -> object:
        """One value.

        Raises:
            OptionError: it is not of the option's kind.
        """
        try:
            return self.kind.read(value)
        except ValueError as error:
            # The name without dashes: it is `--name` on a command line and `--assay-name` under pytest.
            raise OptionError(f"{self.name} is {self.shown(value)}; it should be {self.kind.right}") from error

    def shown(self, value: object) -> str:
        """A wrong value as a message may show it."""
        return MASK if isinstance(self.kind, Pairs) else _short(value)

    def words(self, value: object) -> Iterator[str]:
        """The words of a command line that give the option this value; none for the default."""
        if value == self.default:
            return
        if isinstance(self.kind, Flag):
            yield f"--{self.name}"
            return
        for one in value if isinstance(value, tuple) else (value,):  # a repeatable option is given once for each value
            yield f"--{self.name}"
            yield str(one)


def _option(*, kind: Kind, help: str, name: str = "", repeatable: bool = False) -> Mapping[str, Any]:  # noqa: A002 (as click and argparse call it)
    """The metadata of a field that is an option; `name` where it is written otherwise than the field."""
    return {"name": name, "kind": kind, "help": help, "repeatable": repeatable}


class Options:
    """What the dataclasses of options have in common: all of it follows from their fields."""

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """The options, in the order in which they are defined."""
        return tuple(_option_of(one) for one in fields(cls))  # type: ignore[arg-type]  # every subclass is a dataclass

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """The options whose values were read already, by field; what is not one of these options is passed over.

        A repeatable option that was not given may be None or empty, any other None.
        """
        given: dict[str, Any] = {}
        for option in cls.options():
            # Both groups of options are made of one mapping, so each passes over what is the other's.
            value = values.get(option.field)
            if value is not None:
                given[option.field] = tuple(value) if option.repeatable else value
        return cls(**given)

    @classmethod
    def from_mapping(cls, data: Mapping[str, object]) -> Self:
        """The options that plain data give, by their names, as a TOML file would.

        Raises:
            OptionError: a name is no option's, or a value is not of its option's kind.
        """
        known = {option.name: option for option in cls.options()}
        given: dict[str, Any] = {}
        for name, value in data.items():
            if name not in known:
                # A misspelt name must not be taken for an option that was left out: the target would be judged without
                # it.
                close = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
                raise OptionError(f"{name!r} is no option of a target; {hint}")
            option = known[name]
            given[option.field] = _list(option, value) if option.repeatable else option.read(value)
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
    )


def _list(option: Option, value: object) -> tuple[object, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):  # a text is a sequence, of its characters
        raise OptionError(f"{option.name} is {_short(value)}; it should be a list, each {option.kind.right}")
    return tuple(option.read(one) for one in value)


def secret(variable: str, what: str) -> str:
    """What an environment variable holds that a person has named.

    Raises:
        OptionError: the variable is not set, or holds what no HTTP header can carry.
    """
    value = os.environ.get(variable)  # named by the person, so it is no setting of ours
    if not value:
        raise OptionError(f"the environment variable {variable}, which should hold {what}, is not set")
    # Else the HTTP client would raise in mid-run, and name neither the value nor the variable.
    if not _is_printable(value):
        raise OptionError(f"{what} in the environment variable {variable} is not printable ASCII")
    return value


def _is_printable(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _check_command(name: str, command: str | None) -> None:
    """Refuse a command that no program can be started with; None: it was not given."""
    try:
        words = shlex.split(command) if command is not None else ["none"]
    except ValueError as error:
        raise OptionError(f"the command {command!r} cannot be read: {error}") from error
    if not words:
        raise OptionError(f"the command of {name} is empty")


def _short(value: object) -> str:
    return f"{value!r:.100}"  # a value of a file may be of any length


@dataclass(frozen=True, kw_only=True)
class TargetOptions(Options):
    """Which proxy to certify, and what a person declares of it; the bundled one where none is named."""

    url: str | None = field(
        default=None, metadata=_option(kind=Text(metavar="URL"), help="Base URL of the proxy, up to and including /v1.")
    )
    command: str | None = field(
        default=None,
        metadata=_option(
            name="launch",
            kind=Text(metavar="CMD"),
            # The braces are written as a person must write them; nothing formats this text.
            help="Command that starts the proxy, with the mock as its CODEX_BIN, on 127.0.0.1:{port}. {port} is"
            " replaced by a free port (in --url too), which the variables PORT and PROXY_PORT also hold.",
        ),
    )
    codex: Path | None = field(
        default=None,
        metadata=_option(
            kind=File(),
            help="Native binary of a real Codex for the proxy to start instead of the mock. A mock of its model's"
            " service plays the scripts that it can.",
        ),
    )
    agent: Agent = field(
        default=Agent.CODEX,
        metadata=_option(
            name="backend",
            kind=OneOf(tuple(Agent)),
            help="The agent behind the proxy. For cursor Assay starts a mock of Cursor's agent service; the proxy finds"
            " its address in CURSOR_BASE_URL and a token in CURSOR_TOKEN, and {backend_url} and {backend_token} are"
            " filled in, in the command and in --env. A proxy at --url calls a mock that runs already.",
        ),
    )
    gateway: str | None = field(
        default=None,
        metadata=_option(
            kind=Text(metavar="CMD"),
            help="Command that starts a gateway on 127.0.0.1:{port}, which is to call an upstream that Assay starts."
            " {upstream_url} (it ends in /v1), {upstream_key}, {upstream_host} (host:port) and {port} are filled in, in"
            " the values of --env and --header and in its configuration, too.",
        ),
    )
    upstream: int | None = field(
        default=None,
        metadata=_option(
            kind=Port(),
            help="The gateway at --url calls http://127.0.0.1:PORT/v1 with the key `assay`: there Assay starts its"
            " upstream, or uses the `assay serve` that runs there.",
        ),
    )
    env: tuple[str, ...] = field(
        default=(),
        metadata=_option(
            kind=Variable(),
            repeatable=True,
            help="Environment variable for the command of --launch or --gateway. Reports show it, so export a secret"
            " instead: the command has all variables of this shell.",
        ),
    )
    config_template: Path | None = field(
        default=None,
        metadata=_option(
            kind=File(),
            help="Configuration of the gateway. It is filled in as --gateway says, and {config} in the command and in"
            " --env is the path of the filled file.",
        ),
    )
    model: str = field(
        default="",
        metadata=_option(kind=Text(metavar="M"), help="Model to ask for. If omitted, the first that /models lists."),
    )
    api_key_env: str | None = field(
        default=None,
        # The variable's name and not the key: `command_line` is printed in reports, and other users see a command's
        # words.
        metadata=_option(kind=Text(metavar="VAR"), help="Environment variable that holds the API key of the proxy."),
    )
    key_style: KeyStyle = field(
        default=KeyStyle.BEARER,
        metadata=_option(
            kind=OneOf(tuple(KeyStyle)),
            help="How requests carry the key: as Authorization: Bearer, in the header api-key or x-api-key, or as the"
            " query parameter key.",
        ),
    )
    header: tuple[Pair, ...] = field(
        default=(),
        metadata=_option(
            kind=Pairs(header=True),
            repeatable=True,
            help="Header that each request carries besides its own. NAME=env:VAR reads the value from the environment"
            " variable VAR; no value is ever printed.",
        ),
    )
    parameters: tuple[Pair, ...] = field(
        default=(),
        metadata=_option(
            name="query",
            kind=Pairs(header=False),
            repeatable=True,
            help="Parameter that the query of each request carries, written as for --header.",
        ),
    )
    dialects: tuple[Dialect, ...] = field(
        default=(),
        metadata=_option(
            name="dialect",
            kind=OneOf(tuple(Dialect)),
            repeatable=True,
            help="Dialect that the proxy speaks. If omitted, all are tried.",
        ),
    )
    arguments: Arguments | None = field(
        default=None,
        metadata=_option(
            kind=OneOf(tuple(Arguments)),
            help="How streams carry the arguments of a call: as fragments to be joined, or repeated from the start in"
            " each chunk. If omitted, this is detected. The report lists the clients that cumulative breaks.",
        ),
    )
    default_mode: Dialect | None = field(
        default=None,
        metadata=_option(kind=OneOf(CHATS), help="Output mode of requests that name none; needed to judge that mode."),
    )
    keepalive: float | None = field(
        default=None,
        metadata=_option(kind=Seconds(), help="Interval of the proxy's keep-alive comments; needed to judge them."),
    )
    idle_timeout: float | None = field(
        default=None,
        metadata=_option(
            kind=Seconds(), help="How long the proxy lets its backend be silent; needed to judge that limit."
        ),
    )
    body_limit: int | None = field(
        default=None,
        metadata=_option(
            kind=Count(metavar="BYTES"),
            help="Largest request body that the proxy takes; needed to judge its 413 if it takes 20 MiB.",
        ),
    )
    slots: int | None = field(
        default=None,
        metadata=_option(
            kind=Count(), help="How many turns the proxy runs at once; with --launch, needed to judge its 429."
        ),
    )
    pace: float | None = field(
        default=None,
        metadata=_option(
            kind=Seconds(),
            help="How long a plain answer takes; limits of time grow with it. If omitted, this is measured.",
        ),
    )
    timeout: float = field(default=10.0, metadata=_option(kind=Seconds(), help="How long an exchange may be silent."))
    start_timeout: float = field(
        default=30.0, metadata=_option(kind=Seconds(), help="How long a launched proxy may take to become ready.")
    )

    @property
    def bundled(self) -> bool:
        """Whether the proxy that comes with Assay is asked for: no other is named."""
        return self.url is None and self.command is None and self.gateway is None

    def check(self) -> None:
        """Refuse what cannot be an address or a command, and options that exclude each other.

        Raises:
            OptionError: the message says what would be right.
        """
        from assay.targets.address import url_fault  # noqa: PLC0415 (it imports httpx; see the head of this module)

        # Any number serves: the port is not known yet, and without one the braces are no URL.
        fault = url_fault(self.url.replace("{port}", "1")) if self.url is not None else ""
        if fault:
            raise OptionError(f"{self.url!r} is no base URL of a proxy: {fault}; one is http://127.0.0.1:8787/v1")
        for name, command in {"--launch": self.command, "--gateway": self.gateway}.items():
            _check_command(name, command)
        self._check_together()

    def _check_together(self) -> None:
        """Refuse options that exclude each other, or mean nothing alone."""
        started = self.command is not None or self.gateway is not None
        wrong = {
            "--gateway and --launch both start the target: leave one away": self.command is not None
            and self.gateway is not None,
            "a gateway calls an upstream and starts no Codex: leave --codex away": self.codex is not None
            and (self.gateway is not None or self.upstream is not None),
            "a proxy that runs already has a backend: --codex is for one that Assay starts": self.codex is not None
            and self.url is not None
            and not started,
            "a real Codex is no Cursor: leave --codex or --backend away": self.codex is not None
            and self.agent is not Agent.CODEX,
            "a gateway calls an upstream and no agent: leave --backend away": self.agent is not Agent.CODEX
            and (self.gateway is not None or self.upstream is not None),
            "--upstream is for a gateway that runs already: name it with --url, without a command": self.upstream
            is not None
            and (self.url is None or started),
            "--env is for a target that Assay starts, with --launch or --gateway": bool(self.env) and not started,
            "--config-template is for a gateway that Assay starts, with --gateway": self.config_template is not None
            and self.gateway is None,
        }
        for message, seen in wrong.items():
            if seen:
                raise OptionError(message)

    def api_key(self) -> str | None:
        """The key, from the variable that was named; None when none was.

        Raises:
            OptionError: the variable is not set, or holds what no HTTP header can carry.
        """
        return None if self.api_key_env is None else secret(self.api_key_env, "the key")

    def carried(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """The headers and the query parameters of each request, as the fields `headers` and `query` of a target.

        Raises:
            OptionError: a variable that was named is not set, or holds what no HTTP header can carry.
        """
        return {
            "headers": tuple(pair.resolved() for pair in self.header),
            "query": tuple(pair.resolved() for pair in self.parameters),
        }

    def command_line(self) -> str:
        """The command that certifies the same target again."""
        return shlex.join(["assay", "certify", *self.words()])


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options):
    """How to certify: which scenarios, which failures are known, by which level, how many exchanges at a time."""

    only: tuple[str, ...] = field(
        default=(),
        metadata=_option(
            kind=Text(metavar="NAME"),
            repeatable=True,
            help="Run only this scenario, or those that exercise this requirement. The result is no certificate.",
        ),
    )
    known_failing: Path | None = field(
        default=None,
        metadata=_option(
            kind=File(),
            help="File of known failures, `<scenario>:<requirement> <reason>` per line. They still run, and one that"
            " passes fails the run.",
        ),
    )
    output: Path | None = field(
        default=None,
        metadata=_option(
            kind=Folder(),
            help="Folder for the result: the report as data, and all transcripts. It is written at every end, also of a"
            " run that is interrupted; an earlier result there is replaced. `assay report DIR` renders it.",
        ),
    )
    level: VerdictLevel | None = field(
        default=None,
        metadata=_option(
            kind=OneOf(tuple(VerdictLevel)),
            help="Level that decides the exit status: compat fails what would make a real client break, lose or misread"
            " something, strict every broken MUST. The report has both. If omitted: compat where a real model is behind"
            " the proxy, else strict.",
        ),
    )
    edition: str | None = field(
        default=None,
        metadata=_option(
            kind=Text(metavar="DATE"),
            help="Edition of the catalogue to judge by. If omitted, the catalogue of this version.",
        ),
    )
    jobs: int = field(default=8, metadata=_option(kind=Count(), help="How many exchanges run at the same time."))
    max_requests: int | None = field(
        default=None,
        metadata=_option(
            kind=Count(),
            help="How many requests the run may send; what is left is not observed. If omitted, 100 to an endpoint with"
            " a model behind it.",
        ),
    )
    max_tokens: int | None = field(
        default=None,
        metadata=_option(
            kind=Count(),
            help="How many tokens the run's requests and answers may have at most. If omitted, 20000 at an endpoint"
            " with a model behind it.",
        ),
    )
    rate: int | None = field(
        default=None, metadata=_option(kind=Count(), help="How many requests a minute the run may send.")
    )
    yes: bool = field(
        default=False,
        metadata=_option(
            kind=Flag(), help="Accept a cost above 100 requests or 20000 tokens at an endpoint with a model behind it."
        ),
    )
    allow_partial: bool = field(
        default=False,
        metadata=_option(
            kind=Flag(), help="Accept a partial result: exit 0 although some MUSTs could not be observed."
        ),
    )
