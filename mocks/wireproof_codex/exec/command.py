"""`wireproof-codex exec`: reads its options, refuses what codex refuses, and runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_codex.exec.options import UnplayedCommandError, UsageRefusedError, read_options
from wireproof_codex.exec.running import run
from wireproof_codex.settings import USAGE, CodexUsageError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_codex.server import AppServer
    from wireproof_codex.settings import CodexMockSettings
    from wireproof_codex.threads.thread_store import ThreadStore
    from wireproof_codex.transports.journal import LineJournal

_LOGIN = "auth.json"
_NOT_INHERITED = frozenset({"-a", "--ask-for-approval", "--search", "--no-alt-screen", "--oss"})
"""Options before `exec` that it does not know, or that change nothing in it; the first two have a value."""
_WITH_VALUE = frozenset({"-a", "--ask-for-approval"})


def run_command(
    settings: CodexMockSettings,
    make_server: Callable[[str], AppServer],
    open_store: Callable[[str, AppServer], ThreadStore],
    journal: LineJournal | None,
) -> int:
    """Run `codex exec` as the settings say; the exit status.

    Raises:
        RefusedError: codex would refuse the command line.
        CodexUsageError: it asks for what the mock does not play.
    """
    try:
        options = read_options(settings.arguments, settings.version, _inherited(settings.before))
    except UsageRefusedError as refused:
        raise RefusedError(str(refused), refused.status) from refused
    except UnplayedCommandError as unplayed:
        raise CodexUsageError(str(unplayed)) from unplayed
    if options.shows is not None:
        version = f"codex-cli-exec {settings.version.number}\n"
        sys.stdout.write(version if options.shows == "version" else USAGE)
        return 0
    home = _home_of_threads(settings)
    server = make_server(home)
    server.store_threads(lambda: open_store(home, server))
    return run(server, options, home=settings.home, journal=journal)


def _inherited(before: tuple[str, ...]) -> list[str]:
    kept, rest = list[str](), list(before)
    while rest:
        option = rest.pop(0)
        if option not in _NOT_INHERITED:
            kept.append(option)
        elif option in _WITH_VALUE and rest:
            rest.pop(0)
    return kept


def _home_of_threads(settings: CodexMockSettings) -> str:
    """Where threads are stored: never in a home that is, or may be, that of a real codex."""
    own = settings.stores and not Path(settings.home, _LOGIN).exists()
    return settings.home if own else settings.cache
