"""The process of `codex exec`: it reads stdin, plays one turn, and writes stdout, stderr and the last message's file.

It ends with the turn: status 0, or 1 if the turn failed or could not begin. SIGINT interrupts the turn; SIGTERM ends
the process as any other. A script's crash, garbage and cuts happen to stdout.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_codex.exec.human import HumanLines
from wireproof_codex.exec.json_events import JsonEvents
from wireproof_codex.exec.preparing import CannotBeginError, opening, prepare, shown_settings, turn_params
from wireproof_codex.exec.prompt import Input
from wireproof_codex.exec.session import CoreNotification, ExecSession, SessionRefusedError
from wireproof_codex.protocol.outputs import GarbageLine, Pieces, ProcessExit, StderrLine
from wireproof_codex.transports.stopping import Stop, stopping_on, wake_up_pipe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from wireproof_codex.exec.options import ExecOptions, Resumed
    from wireproof_codex.exec.preparing import Prepared
    from wireproof_codex.server import AppServer
    from wireproof_codex.threads.thread import Thread
    from wireproof_codex.transports.journal import LineJournal

_FAILED = 1
_PANICKED = 101  # a Rust program that cannot write to stdout
_MOST_SECONDS = 3600.0


def run(server: AppServer, options: ExecOptions, *, home: str, journal: LineJournal | None = None) -> int:
    """Run one turn with the settings of the folder `home`; the exit status."""
    with ExitStack() as stack:
        signalled = stack.enter_context(wake_up_pipe())
        stack.enter_context(stopping_on(signal.SIGINT))
        try:
            return ExecRun(server, options, home, signalled, journal).run()
        except (CannotBeginError, SessionRefusedError) as error:
            _say(str(error))
            return _FAILED
        except BrokenPipeError:
            # Else Python tries to write what is left when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            _say("failed printing to stdout: Broken pipe (os error 32)")
            return _PANICKED
        except Stop:
            return server.version.exec.interrupted_status


class ExecRun:
    """One run of `options` on `server`; `signalled` can be read once a signal has come."""

    def __init__(
        self, server: AppServer, options: ExecOptions, home: str, signalled: int, journal: LineJournal | None
    ) -> None:
        self._home = home
        self._server = server
        self._version = server.version
        self._options = options
        self._signalled = signalled
        self._journal = journal
        self._session = ExecSession(server)
        self._json = JsonEvents(self._version.exec)
        colored = options.color == "always" or (options.color == "auto" and sys.stderr.isatty())
        self._human = HumanLines(self._version, colored=colored)
        self._sizes: tuple[int, ...] = ()

    def run(self) -> int:
        """Play the turn; the exit status."""
        given = Input(is_terminal=sys.stdin.isatty(), read=sys.stdin.buffer.read)
        prepared = prepare(self._options, self._version, home=self._home, cwd=self._server.cwd, given=given, say=_say)
        self._open_last_message()
        self._note_input(prepared.text)
        self._begin(prepared)
        try:
            self._session.ask(prepared.given, turn_params(prepared, self._options))
            status = self._play()
        except Stop:
            return self._interrupted()
        self._end(failed=bool(status))
        return status

    # The session

    def _begin(self, prepared: Prepared) -> None:
        params = opening(prepared, self._options)
        resumed = self._options.resumed
        thread = self._found(resumed, prepared) if resumed else None
        if thread is None:
            self._session.begin("thread/start", params)
        else:
            self._session.begin("thread/resume", {"threadId": thread, **params})
        self._show(self._json.opened(self._session.thread_id))
        if not self._options.json:
            shown = shown_settings(prepared, self._session.thread, self._version, self._home)
            self._tell(self._human.head(shown, self._session.thread_id))
            self._tell(self._human.prompt(prepared.text))

    def _found(self, resumed: Resumed, prepared: Prepared) -> str | None:
        """The id of the session to go on with; None: a new one is begun, as codex does where it finds none."""
        error = self._version.exec.session_error
        stored = [thread for thread in self._server.thread_store.all() if not thread.archived]
        if resumed.name is not None:
            found = [thread for thread in stored if resumed.name in {thread.id, thread.name}]
            if not found and _is_uuid(resumed.name) and not self._version.exec.begins_unknown:
                raise CannotBeginError(error.format(id=resumed.name))
        elif resumed.last:
            found = [thread for thread in stored if resumed.anywhere or thread.cwd == prepared.folder]
        else:
            found = []
        return max(found, key=_written).id if found else None

    def _play(self) -> int:
        """Show what the core sends until the turn is over; the exit status."""
        while True:
            match self._session.next():
                case None:
                    self._wait()
                case CoreNotification("turn/completed", params):
                    self._pass_on("turn/completed", params)
                    return 0 if params["turn"]["status"] == "completed" else _FAILED
                case CoreNotification(method, params):
                    self._pass_on(method, params)
                case GarbageLine(line):
                    self._write(line)
                case Pieces(sizes):
                    self._sizes = sizes
                case StderrLine(text):
                    _say(text)
                case ProcessExit(status):
                    return status

    def _pass_on(self, method: str, params: Mapping[str, Any]) -> None:
        if self._options.json:
            for event in self._json.of(method, params):
                self._show(event)
        lines = list(self._human.of(method, params))  # also with --json: the last message is remembered there
        if not self._options.json:
            self._tell(lines)

    def _wait(self) -> None:
        wake = self._server.wake_at()
        patience = _MOST_SECONDS if wake is None else min(max(0.0, wake - self._server.clock()), _MOST_SECONDS)
        select.select([self._signalled], [], [], patience)

    # The end

    def _interrupted(self) -> int:
        if not self._options.json and self._version.exec.interrupted_status:
            _say("turn interrupted")
        return self._version.exec.interrupted_status

    def _end(self, *, failed: bool) -> None:
        last = self._human.last_message
        if not self._options.json:
            self._tell(self._human.tail(failed=failed))
        # A turn that failed has no last message, whatever it has said before.
        self._write_last_message(None if failed else last)
        both_terminals = sys.stdout.isatty() and sys.stderr.isatty()
        if last is not None and not failed and not self._options.json and not both_terminals:
            ended = "" if last.endswith("\n") and not self._version.exec.ends_message else "\n"
            self._write(f"{last}{ended}".encode(errors="surrogatepass"))

    @property
    def _last_message_path(self) -> Path | None:
        file = self._options.last_message_file
        return Path(self._server.cwd, file) if file else None

    def _open_last_message(self) -> None:
        path = self._last_message_path
        if path is not None and self._version.exec.last_message_file == "at start":
            try:
                path.write_text("", encoding="utf-8")
            except OSError as error:
                why = f'"{self._options.last_message_file}": {error.strerror} (os error {error.errno})'
                raise CannotBeginError(f"Error: Failed to open last message file {why}") from error

    def _write_last_message(self, text: str | None) -> None:
        path, when = self._last_message_path, self._version.exec.last_message_file
        if path is None or (text is None and when != "at end"):
            return
        try:
            path.write_text(text or "", encoding="utf-8", errors="surrogatepass", newline="")
        except OSError as error:
            why = f'"{self._options.last_message_file}": {error.strerror} (os error {error.errno})'
            _say(f"Failed to write last message file {why}")
            return
        if text is None:
            _say(f"Warning: no last agent message; wrote empty content to {self._options.last_message_file}")

    # Output

    def _show(self, event: Mapping[str, Any]) -> None:
        if self._options.json:
            line = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
            if self._journal is not None:
                self._journal.note("sent", line, self._server.clock(), message=True)
                self._journal.flush()
            self._write(line + b"\n")

    def _tell(self, lines: Iterable[str]) -> None:
        for line in lines:
            _say(line)

    def _write(self, data: bytes) -> None:
        """Write to stdout, in pieces where the script cuts it."""
        sizes = iter(self._sizes * (len(data) // max(1, sum(self._sizes)) + 1)) if self._sizes else iter([len(data)])
        while data:
            size = next(sizes)
            sys.stdout.buffer.write(data[:size])
            sys.stdout.buffer.flush()
            data = data[size:]

    def _note_input(self, text: str) -> None:
        if self._journal is not None:
            line = json.dumps({"arguments": sys.argv[1:], "prompt": text}).encode()
            self._journal.note("received", line, self._server.clock(), message=True)
            self._journal.flush()


def _written(thread: Thread) -> int:
    """When its file was written last, in nanoseconds: the turns in it end in whole seconds."""
    return Path(thread.path or "").stat().st_mtime_ns


def _is_uuid(text: str) -> bool:
    digits = text.replace("-", "")
    return len(digits) == 32 and all(digit in "0123456789abcdefABCDEF" for digit in digits)  # noqa: PLR2004 - as above


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
