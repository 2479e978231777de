"""Command line and environment of `wireproof-codex`, the only place that reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_codex.protocol.outputs import CrashAt
from wireproof_codex.protocol.whole_number import whole_number
from wireproof_codex.versions.version import NEWEST, PLAYED, VERSIONS, Version, last_with
from wireproof_scripts.kinds import MOST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wireproof_codex.transports.record import Recorded

_USAGE = """\
usage: wireproof-codex [--scripts FILE] [--journal FILE] [--codex-version X.Y.Z] app-server [any arguments codex takes]
       wireproof-codex [--scripts FILE] [--journal FILE] [--codex-version X.Y.Z] exec [options] [PROMPT]
       wireproof-codex [--scripts FILE] [--journal FILE] [--codex-version X.Y.Z] exec resume [ID | --last] [PROMPT]
       wireproof-codex [--scripts FILE] [--journal FILE] [--codex-version X.Y.Z] mcp-server
       wireproof-codex [--codex-version X.Y.Z] --version | login status
       wireproof-codex record [--output FILE] -- codex app-server [its arguments]

A mock of `codex app-server` over stdio, and of `codex exec`, that plays scripts. A text holding
[[wireproof:<script>#<nonce>]] chooses one; without it a friendly default answers.

  --scripts FILE   scripts of your own, YAML or JSON (environment: WIREPROOF_SCRIPTS)
  --journal FILE   write every message received and sent, one JSON object a line (environment: WIREPROOF_JOURNAL)
  --codex-version X.Y.Z
                   speak as this version does: {versions} (environment: WIREPROOF_CODEX_VERSION);
                   without it as the newest, or, to a client that begins with a method which the newest has no
                   longer (newConversation), as the last one that has it

Of what codex takes, `--listen stdio://` is accepted where the version has it; no other address is listened on.

record: run a real codex between this command's own stdin and stdout, and write what goes through into a file
({recording}, unless --output names another; it is replaced), with paths of this machine masked.

Threads that are not ephemeral are stored below CODEX_HOME, if that is set and holds no login (auth.json), for the
processes that come after this one. Otherwise each app-server keeps its own in memory, and `exec`, where a second run
resumes the first, stores them below ~/.cache/wireproof-codex (or XDG_CACHE_HOME).

mcp-server: the tools `codex` and `codex-reply` over stdio, in the versions that have the command.

exec: the options of codex, by version; what they set is kept as far as the mock knows it. Nothing is run: commands,
files and searches of a script are shown as codex shows them. `codex exec --help` of a real one explains each option.

For tests of what happens when codex dies: WIREPROOF_CRASH_AT=METHOD or METHOD:N makes the process die at the first, or
the N-th, request of this method (initialize, thread/start, ...), before it is answered. For tests of clients that ask
too much at once: with WIREPROOF_OVERLOAD_AT=N, while N lines or more wait to be written, requests are refused with
-32001 and never answered in turn, where the version is one that does so (0.100.0 and newer, of many at once).

The model begins to answer 0.02 seconds after a turn has begun, so that a client may subscribe to the turn when it has
the response; real ones take 0.02 to 0.15 seconds. WIREPROOF_PACE=SECONDS sets another time, 0 none.
"""


_RECORDING = "recording.jsonl"
# With none, a client that subscribes only after the response (ai-sdk-provider-codex-app-server) missed the turn's end.
DEFAULT_PACE = 0.02
USAGE = _USAGE.format(versions=PLAYED, recording=_RECORDING)


class CodexUsageError(Exception):
    """The command line cannot be followed; the text says why."""


class RefusedError(Exception):
    """The process ends at once as codex does, with this text on stderr and this exit status."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, kw_only=True, slots=True)
class CodexMockSettings:
    """What one process was started with."""

    command: str
    """`app-server`, `exec`, `mcp-server`, `login`, `version` or `help`."""
    scripts: Path | None
    """The file of the user's own scripts; None: those that Wireproof brings."""
    journal: Path | None
    """The file in which every message is noted; None: nowhere."""
    home: str
    """CODEX_HOME, as the handshake names it."""
    cwd: str
    """The folder of a thread that names none."""
    version: Version = NEWEST
    """The version of Codex that is played."""
    adapts: bool = True
    """No version was named: an older one is played to a client whose first requests only that one has."""
    stores: bool = False
    """Threads are stored in `home`: CODEX_HOME was set."""
    crash_at: CrashAt | None = None
    """The request at which the process dies; None: at none."""
    room: int | None = None
    """How many answers may wait to be written before requests are refused or lost; None: any number."""
    pace: float = DEFAULT_PACE
    """Seconds before the model answers."""
    arguments: tuple[str, ...] = ()
    """What follows the command."""
    before: tuple[str, ...] = ()
    """Options of codex that stand before the command."""
    cache: str = ""
    """The folder in which `exec` stores threads where CODEX_HOME is not its own."""


def read_settings(arguments: Sequence[str], environment: Mapping[str, str], cwd: str) -> CodexMockSettings:
    """Settings from the command line (without the program's name), else the environment.

    Everything that `codex` takes and the mock does not need is ignored.

    Raises:
        UsageError: an option lacks its value or cannot have it, or there is no `app-server` among the arguments.
        RefusedError: codex would not start either.
    """
    given = {option: environment.get(variable) if variable else None for option, (variable, _) in _OPTIONS.items()}
    command, before, after = _command(arguments, given)
    version = _version(given["--codex-version"])
    if command == "app-server" and given["--listen"]:
        _check_listening(given["--listen"], version)
    if command == "app-server" and _STDIO in after and not version.transport.takes_stdio:
        raise _unexpected(_STDIO)
    user, home = _homes(environment)
    return CodexMockSettings(
        command=command,
        arguments=tuple(after) if command in _WITH_ARGUMENTS else (),
        before=tuple(before),
        cache=f"{environment.get('XDG_CACHE_HOME') or user.rstrip('/') + '/.cache'}/wireproof-codex",
        scripts=_file(given["--scripts"]) if given["--scripts"] else None,
        journal=_file(given["--journal"]) if given["--journal"] else None,
        home=home,
        cwd=cwd,
        version=version,
        adapts=not given["--codex-version"],
        stores=bool(environment.get("CODEX_HOME")),  # never below the default, where a real Codex may be at home
        crash_at=_crash_at(environment.get("WIREPROOF_CRASH_AT"), version, adapts=not given["--codex-version"]),
        room=_room(environment.get("WIREPROOF_OVERLOAD_AT")),
        pace=_pace(environment.get("WIREPROOF_PACE")),
    )


def _command(arguments: Sequence[str], given: dict[str, str | None]) -> tuple[str, Sequence[str], Sequence[str]]:
    """The command, codex's options before it, and what follows it; our own options are noted in `given`."""
    command, before, after = None, list[str](), list[str]()
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        name, equals, value = argument.partition("=")
        if name in given:
            given[name] = value if equals else rest.pop(0) if rest else None
            if not given[name]:
                raise CodexUsageError(f"{name} needs {_OPTIONS[name][1]}")
        elif command is not None:
            command = _with(command, argument)
            after.append(argument)
        elif argument in _COMMANDS:
            command = _COMMANDS[argument]
            # These have arguments of their own, among them texts of users that are like ours.
            if command in _WITH_ARGUMENTS:
                return command, before, rest
        else:
            before += _option(argument, rest)
    if command is None:
        raise CodexUsageError(f"wireproof-codex plays {_PLAYS}; no command is given")
    return command, before, after


def _with(command: str, argument: str) -> str:
    """The command once it has this argument; most are passed over, as clients add options of codex."""
    if argument in _UNPLAYED:
        raise CodexUsageError(f"wireproof-codex does not play `{command} {argument}`")
    return "help" if argument in _HELP else command


def _option(argument: str, rest: list[str]) -> list[str]:
    """An option of codex that stands before the command, with its value from `rest` if it has one."""
    # As codex-python-sdk does: `--enable NAME`, `-c key=value`.
    if argument in _CODEX_VALUES and rest:
        return [argument, rest.pop(0)]
    if not argument.startswith("-"):
        raise CodexUsageError(f"wireproof-codex does not play `codex {argument}`, only {_PLAYS}")
    return [argument]


_OPTIONS: Mapping[str, tuple[str | None, str]] = {
    "--scripts": ("WIREPROOF_SCRIPTS", "a file"),
    "--journal": ("WIREPROOF_JOURNAL", "a file"),
    "--codex-version": ("WIREPROOF_CODEX_VERSION", "a version"),
    "--listen": (None, "a URL"),
}
# Passed over as options are, these would start an app-server.
_UNPLAYED = frozenset({"daemon", "generate-json-schema", "generate-ts", "proxy"})
_COMMANDS = {
    "app-server": "app-server",
    "exec": "exec",
    "e": "exec",
    "mcp-server": "mcp-server",
    "login": "login",
    "--version": "version",
    "-V": "version",
    "--help": "help",
    "-h": "help",
}
_WITH_ARGUMENTS = frozenset({"exec", "login"})
_STDIO = "--stdio"
_HELP = frozenset({"--help", "-h"})
_PLAYS = "`app-server`, `exec`, `mcp-server` and `login status`"
_CODEX_VALUES = frozenset(
    {"-c", "--config", "--enable", "--disable", "-i", "--image", "-m", "--model", "--local-provider", "-p", "--profile"}
    | {"-s", "--sandbox", "-a", "--ask-for-approval", "-C", "--cd", "--add-dir", "--remote", "--remote-auth-token-env"}
)
"""Options of codex that have a value, which is no command."""


def _check_listening(url: str, version: Version) -> None:
    if not version.transport.listens:
        raise _unexpected("--listen")
    if url != "stdio://":
        raise CodexUsageError(f"--listen: expected stdio://, found {url}; wireproof-codex listens on stdio alone")


def _unexpected(option: str) -> RefusedError:
    """The text and the status of codex 0.99.0 and 0.118.0."""
    usage = "Usage: codex app-server [OPTIONS] [COMMAND]\n\nFor more information, try '--help'."
    return RefusedError(f"error: unexpected argument '{option}' found\n\n{usage}\n", 2)


def read_recording(arguments: Sequence[str], environment: Mapping[str, str], cwd: str) -> Recorded:
    """What to record, of the arguments after `record`: `[--output FILE] -- COMMAND …`.

    Raises:
        CodexUsageError: they are others.
    """
    from wireproof_codex.transports.record import Recorded  # noqa: PLC0415 - what it needs would slow every other start

    home, codex_home = _homes(environment)
    match list(arguments):
        case ["--", *command] if command:
            file = _RECORDING
        case ["--output", file, "--", *command] if command:
            pass
        case _:
            raise CodexUsageError("expected record [--output FILE] -- COMMAND, as in record -- codex app-server")
    masks = {codex_home: "/srv/codex-home", home: "/srv/home", cwd: "/srv/workspace"}
    shown = {path: mask for path, mask in masks.items() if path != "/"}  # every path begins with "/"
    return Recorded(command=command, file=_file(file), masks=shown)


def _homes(environment: Mapping[str, str]) -> tuple[str, str]:
    """The home of the user, and that of codex."""
    user = environment.get("HOME") or "/"
    return user, environment.get("CODEX_HOME") or f"{user.rstrip('/')}/.codex"


def _file(text: str) -> Path:
    from pathlib import Path  # noqa: PLC0415 - it would slow every start that names no file

    return Path(text)


def _version(number: str | None) -> Version:
    if number and number not in VERSIONS:
        from difflib import get_close_matches  # noqa: PLC0415 - it would slow every start

        near = get_close_matches(number, VERSIONS, n=3)
        meant = f", such as {', '.join(near)}" if near else ""
        raise CodexUsageError(f"codex {number} is not played; known is {PLAYED}{meant}")
    return VERSIONS[number] if number else NEWEST


def _crash_at(text: str | None, version: Version, *, adapts: bool) -> CrashAt | None:
    if not text:
        return None
    method, colon, count = text.partition(":")
    number = whole_number(count) if colon else 1
    if not number:
        raise CodexUsageError(f"WIREPROOF_CRASH_AT: expected METHOD or METHOD:N, N from 1, found {text}")
    # At a mistyped one nothing would ever die, and a test of that would pass.
    if method not in version.requests.methods and not (adapts and last_with(method)):
        from difflib import get_close_matches  # noqa: PLC0415 - it would slow every start

        near = get_close_matches(method, version.requests.methods, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise CodexUsageError(f"WIREPROOF_CRASH_AT: codex {version.number} has no method {method}{meant}")
    return CrashAt(method, number)


def _room(text: str | None) -> int | None:
    if not text:
        return None
    number = whole_number(text)
    if not number:
        raise CodexUsageError(f"WIREPROOF_OVERLOAD_AT: expected a number from 1, found {text}")
    return number


def _pace(text: str | None) -> float:
    if not text:
        return DEFAULT_PACE
    try:
        pace = float(text)
    except ValueError:
        pace = -1.0
    if not 0 <= pace <= MOST_SECONDS:  # refuses NaN, too
        raise CodexUsageError(f"WIREPROOF_PACE: expected seconds from 0 to {MOST_SECONDS}, found {text}")
    return pace


def from_process(arguments: Sequence[str]) -> CodexMockSettings | Recorded:
    """The settings of this process, or what it is to record."""
    environment, cwd = os.environ, os.getcwd()  # noqa: PTH109 - pathlib would slow every start
    if list(arguments[:1]) == ["record"]:
        return read_recording(arguments[1:], environment, cwd)
    return read_settings(arguments, environment, cwd)
