"""Console command `wireproof-codex`: what starts `codex app-server` can start it instead."""

from __future__ import annotations

import os
import sys
from contextlib import closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from wireproof_codex.context import ServerContext
from wireproof_codex.server import AppServer
from wireproof_codex.settings import USAGE, CodexMockSettings, CodexUsageError, RefusedError, from_process
from wireproof_codex.transports.journal import LineJournal
from wireproof_codex.transports.stdio import serve
from wireproof_codex.versions.version import unmeasured
from wireproof_scripts.files.errors import ScriptError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from wireproof_scripts.steps import Library

_USAGE_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status (2: it cannot be followed, the reason is on stderr)."""
    _open_closed_streams()
    try:
        settings = from_process(sys.argv[1:] if arguments is None else arguments)
        if not isinstance(settings, CodexMockSettings):
            from wireproof_codex.transports.record import record  # noqa: PLC0415 - it would slow every other start

            return record(settings)
        return _COMMANDS[settings.command](settings)
    except RefusedError as refused:
        sys.stderr.write(str(refused))
        return refused.status
    except (CodexUsageError, OSError, ValueError) as error:  # the user's mistake: one line, no traceback
        sys.stderr.write(f"wireproof-codex: {error}\n")
        return _USAGE_ERROR


def _open_closed_streams() -> None:
    """Open the standard streams that are closed, on nothing, as the runtime of a Rust program does."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _say_version(settings: CodexMockSettings) -> int:
    # The number that was asked for, as clients choose by it: ai-sdk-provider-codex-cli refuses versions before 0.153.0.
    sys.stdout.write(f"codex-cli {settings.version.number}\n")
    return 0


def _say_usage(_settings: CodexMockSettings) -> int:
    sys.stdout.write(USAGE)
    return 0


def _serve(settings: CodexMockSettings) -> int:
    unlike = unmeasured(settings.version)
    if unlike:
        sys.stderr.write(f"wireproof-codex: {unlike}\n")  # stdout carries messages alone
        sys.stderr.flush()
    context = _context(settings, settings.home, stores=settings.stores)
    server = AppServer(context, crash_at=settings.crash_at, room=settings.room, adapts=settings.adapts)
    with _journal(settings) as journal:
        return serve(server, journal)


def _context(settings: CodexMockSettings, home: str, *, stores: bool) -> ServerContext:
    return ServerContext(
        _library(settings), home=home, cwd=settings.cwd, version=settings.version, pace=settings.pace, stores=stores
    )


def _journal(settings: CodexMockSettings) -> AbstractContextManager[LineJournal | None]:
    return closing(LineJournal(settings.journal)) if settings.journal else nullcontext()


def _exec(settings: CodexMockSettings) -> int:
    from wireproof_codex.exec.running import run  # noqa: PLC0415 - app-servers do without it

    with _journal(settings) as journal:
        return run(settings, partial(_context, settings), journal)


def _serve_mcp(settings: CodexMockSettings) -> int:
    from wireproof_codex.mcp_server.server import McpServer  # noqa: PLC0415 - app-servers do without it

    if not settings.version.mcp_server.offered:
        sys.stderr.write("Error: stdin is not a terminal\n")  # a prompt for the terminal, as every unknown word
        return 1
    server = McpServer(AppServer(_context(settings, settings.home, stores=False), crash_at=settings.crash_at))
    with _journal(settings) as journal:
        return serve(server, journal)


def _login(settings: CodexMockSettings) -> int:
    from wireproof_codex.login import status  # noqa: PLC0415 - few starts need it

    return status(settings.arguments, settings.home, settings.version.exec.key_login)


def _library(settings: CodexMockSettings) -> Library | Callable[[], Library | ScriptError]:
    """The scripts; those of a file are looked at again for each turn, but must be readable at the start."""
    if settings.scripts is None:
        return _bundled
    from wireproof_scripts.files.read import ScriptFiles  # noqa: PLC0415 - YAML would slow every start without a file
    from wireproof_scripts.library import LIBRARY  # noqa: PLC0415 - with a file, these are read at the start

    file = ScriptFiles([settings.scripts], LIBRARY, "codex")
    read = file.library()
    if isinstance(read, ScriptError):
        raise read
    return file.library


def _bundled() -> Library:
    from wireproof_scripts.library import LIBRARY  # noqa: PLC0415 - it is needed for the first turn only

    return LIBRARY


_COMMANDS: Mapping[str, Callable[[CodexMockSettings], int]] = {
    "app-server": _serve,
    "exec": _exec,
    "mcp-server": _serve_mcp,
    "login": _login,
    "version": _say_version,
    "help": _say_usage,
}

if __name__ == "__main__":
    sys.exit(main())
