"""Console command `wireproof-cursor`: serve until interrupted; the base URL is printed."""

from __future__ import annotations

import signal
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

from wireproof_cursor.settings import CursorUsageError, read_settings
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.read import ScriptFiles
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wireproof_cursor.settings import CursorMockSettings
    from wireproof_scripts.steps import Library

_USAGE_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status (2: it cannot be followed, the reason is on stderr)."""
    signals = {signal.SIGINT, signal.SIGTERM}
    # Before there is a thread, so that none of them takes one.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        _serve(read_settings(sys.argv[1:] if arguments is None else arguments), signals)
    except (CursorUsageError, ScriptError, OSError) as error:
        sys.stderr.write(f"wireproof-cursor: {error}\n")
        return _USAGE_ERROR
    finally:
        # A second Ctrl-C, which would end the cleaning up with a traceback.
        while signal.sigtimedwait(signals, 0) is not None:
            pass
        # As it was, for whoever called `main` as a function.
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return 0


def _serve(settings: CursorMockSettings, signals: set[signal.Signals]) -> None:
    try:
        # Here, so that an installation without them gets a sentence: what they import is in an extra.
        from wireproof_cursor.journal import journal  # noqa: PLC0415
        from wireproof_cursor.runs.context import RunConditions  # noqa: PLC0415
        from wireproof_cursor.serving import serving  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise CursorUsageError(f"it needs python -m pip install 'wireproof[cursor]' ({error})") from error
    conditions = RunConditions(lenient=settings.lenient)
    with (
        journal(settings.journal) if settings.journal else nullcontext(None) as note,
        serving(_library(settings), settings.port, conditions=conditions, journal=note) as mock,
    ):
        sys.stdout.write(f"{mock.url}\n")
        sys.stdout.flush()
        # Waited for instead of handled: no handler can run in the midst of the cleaning up.
        signal.sigwait(signals)


def _library(settings: CursorMockSettings) -> Library | Callable[[], Library | ScriptError]:
    """The scripts; those of a file are looked at again for each run, but must be readable at the start."""
    if settings.scripts is None:
        return LIBRARY
    file = ScriptFiles([settings.scripts], LIBRARY, "cursor")
    read = file.library()
    if isinstance(read, ScriptError):
        raise read
    return file.library


if __name__ == "__main__":
    sys.exit(main())
