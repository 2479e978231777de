"""The process of `codex exec`: it reads stdin, plays one turn, and writes stdout, stderr and the last message's file.

It is the client of an app-server in this process, as codex's own `exec` is. It ends with the turn: status 0, or 1 if
the turn failed or could not begin. SIGINT interrupts the turn; SIGTERM ends the process as any other. A script's crash,
garbage and cuts happen to stdout.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_codex.exec.human import HumanLines
from wireproof_codex.exec.json_events import JsonEvents
from wireproof_codex.exec.options import ExecOptions
from wireproof_codex.exec.preparing import (
    CannotBeginError,
    opening,
    os_error,
    prepare,
    say,
    shown_settings,
    turn_params,
)
from wireproof_codex.protocol.outputs import GarbageLine, Pieces, ProcessExit, StderrLine
from wireproof_codex.protocol.params import Refused
from wireproof_codex.server import AppServer
from wireproof_codex.settings import USAGE
from wireproof_codex.transports.outbox import split
from wireproof_codex.transports.stopping import Stop, stopping_on, wake_up_pipe
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from wireproof_codex.context import ServerContext
    from wireproof_codex.exec.options import Resumed
    from wireproof_codex.exec.preparing import Prepared
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.settings import CodexMockSettings
    from wireproof_codex.threads.thread import Thread
    from wireproof_codex.transports.journal import Direction, LineJournal

_FAILED = 1
_PANICKED = 101  # a Rust program that cannot write to stdout
_MOST_SECONDS = 3600.0
_LOGIN = "auth.json"
_NOT_INHERITED = frozenset({"-a", "--ask-for-approval", "--search", "--no-alt-screen", "--oss"})
"""Options before `exec` that it does not know, or that change nothing in it; the first two have a value."""
_WITH_VALUE = frozenset({"-a", "--ask-for-approval"})


def run(settings: CodexMockSettings, make_context: Callable[..., ServerContext], journal: LineJournal | None) -> int:
    """Run `codex exec` as the settings say; the exit status. `make_context` is given the home of the threads.

    Raises:
        RefusedError: codex would refuse the command line.
        CodexUsageError: it asks for what the mock does not play.
    """
    options = ExecOptions([*_inherited(settings.before), *settings.arguments], settings.version)
    if "--help" in options or "--version" in options:
        sys.stdout.write(USAGE if "--help" in options else f"codex-cli-exec {settings.version.number}\n")
        return 0
    # Never in a home that is, or may be, that of a real codex.
    own = settings.stores and not Path(settings.home, _LOGIN).exists()
    context = make_context(settings.home if own else settings.cache, stores=True)
    server = AppServer(context, crash_at=settings.crash_at)
    with wake_up_pipe() as signalled, stopping_on(signal.SIGINT):
        try:
            return ExecRun(server, options, settings.home, signalled, journal).run()
        except CannotBeginError as error:
            say(str(error))
            return _FAILED
        except BrokenPipeError:
            # Else Python tries to write what is left when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            say("failed printing to stdout: Broken pipe (os error 32)")
            return _PANICKED
        except Stop:
            return settings.version.exec.interrupted_status


def _inherited(before: tuple[str, ...]) -> list[str]:
    kept, rest = list[str](), list(before)
    while rest:
        option = rest.pop(0)
        if option not in _NOT_INHERITED:
            kept.append(option)
        elif option in _WITH_VALUE and rest:
            rest.pop(0)
    return kept


class ExecRun:
    """One run of `options` on `server`; `signalled` can be read once a signal has come."""

    def __init__(
        self, server: AppServer, options: ExecOptions, home: str, signalled: int, journal: LineJournal | None
    ) -> None:
        self._home = home
        self._server = server
        self._context = server.context
        self._version = server.context.version
        self._options = options
        self._as_json = "--json" in options
        self._last_message_file = options.one("--output-last-message")
        self._signalled = signalled
        self._journal = journal
        self._json = JsonEvents(self._version)
        color = options.one("--color")
        colored = sys.stderr.isatty() if color in {None, "auto"} else color == "always"
        self._human = HumanLines(self._version, colored=colored)
        self._last_message: str | None = None
        """The last complete message of the model."""
        self._sizes: tuple[int, ...] = ()

    def run(self) -> int:
        """Play the turn; the exit status.

        Raises:
            CannotBeginError: it cannot begin; with what is to be said about it.
        """
        prepared = prepare(self._options, self._version, home=self._home, cwd=self._context.cwd)
        self._open_last_message()
        self._note("received", json.dumps({"arguments": sys.argv[1:], "prompt": prepared.text}).encode())
        thread_id = self._begin(prepared)
        try:
            turn = turn_params(prepared, self._options)
            self._ask("turn/start", {"threadId": thread_id, "input": prepared.given, **turn})
            status = self._play()
        except Stop:
            return self._interrupted()
        self._end(failed=bool(status))
        return status

    # The session

    def _begin(self, prepared: Prepared) -> str:
        """Open the thread; its id."""
        client = {"name": "codex_exec", "version": self._version.number}
        self._ask("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        params = opening(prepared, self._options)
        resumed = self._options.resumed
        found = self._found(resumed, prepared) if resumed else None
        if found is None:
            opened = self._ask("thread/start", params)
        else:
            opened = self._ask("thread/resume", {"threadId": found, **params})
        thread_id = str(opened["thread"]["id"])
        if self._as_json:
            self._show(self._json.opened(thread_id))
        else:
            self._tell(self._human.head(shown_settings(prepared, opened, self._version, self._home), thread_id))
            self._tell(self._human.prompt(prepared.text))
        return thread_id

    def _ask(self, method: str, params: Json) -> Json:
        try:
            return self._server.ask(method, params)
        except Refused as refused:
            raise CannotBeginError(f"{method} failed: {refused.message} (code {refused.code})") from refused

    def _found(self, resumed: Resumed, prepared: Prepared) -> str | None:
        """The id of the session to go on with; None: a new one is begun, as codex does where it finds none."""
        error = self._version.exec.session_error
        stored = [thread for thread in self._context.thread_store.all() if not thread.archived]
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
            match self._server.output():
                case None:
                    self._wait()
                case bytes() as line:
                    message = parse_json(line)
                    method, params = message["method"], message["params"]
                    if "id" in message:
                        self._answer(message["id"], method)
                    else:
                        self._pass_on(method, params)
                    if method == "turn/completed":
                        return 0 if params["turn"]["status"] == "completed" else _FAILED
                case GarbageLine(line):
                    self._write(line)
                case Pieces(sizes):
                    self._sizes = sizes
                case StderrLine(text):
                    say(text)
                case ProcessExit(status):
                    return status

    def _answer(self, request: int, method: str) -> None:
        # The policy is `never`, so codex asks nobody; a script that wants the client asked goes on as if it had not.
        answer: Json = {"result": {"decision": "accept"}}
        if not method.endswith("/requestApproval"):
            answer = {"error": {"code": -32000, "message": f"{method} is not supported in exec mode"}}
        self._server.receive(json.dumps({"id": request, **answer}).encode())

    def _pass_on(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "item/completed" and params["item"]["type"] == "agentMessage":
            self._last_message = params["item"]["text"]
        if self._as_json:
            for event in self._json.of(method, params):
                self._show(event)
        else:
            self._tell(self._human.of(method, params))

    def _wait(self) -> None:
        wake = self._context.wake_at()
        patience = _MOST_SECONDS if wake is None else min(max(0.0, wake - self._context.clock()), _MOST_SECONDS)
        select.select([self._signalled], [], [], patience)

    # The end

    def _interrupted(self) -> int:
        if not self._as_json and self._version.exec.interrupted_status:
            say("turn interrupted")
        return self._version.exec.interrupted_status

    def _end(self, *, failed: bool) -> None:
        # A turn that failed has no last message, whatever it has said before.
        last = None if failed else self._last_message
        if not self._as_json:
            self._tell(self._human.tail(failed=failed))
        self._write_last_message(last)
        both_terminals = sys.stdout.isatty() and sys.stderr.isatty()
        if last is not None and not self._as_json and not both_terminals:
            ended = "" if last.endswith("\n") and not self._version.exec.ends_message else "\n"
            self._write(f"{last}{ended}".encode(errors="surrogatepass"))

    @property
    def _last_message_path(self) -> Path | None:
        return Path(self._context.cwd, self._last_message_file) if self._last_message_file else None

    def _open_last_message(self) -> None:
        path = self._last_message_path
        if path is not None and self._version.exec.last_message_file == "at start":
            try:
                path.write_text("", encoding="utf-8")
            except OSError as error:
                why = f'"{self._last_message_file}": {os_error(error)}'
                raise CannotBeginError(f"Error: Failed to open last message file {why}") from error

    def _write_last_message(self, text: str | None) -> None:
        path, when = self._last_message_path, self._version.exec.last_message_file
        if path is None or (text is None and when != "at end"):
            return
        try:
            path.write_text(text or "", encoding="utf-8", errors="surrogatepass", newline="")
        except OSError as error:
            say(f'Failed to write last message file "{self._last_message_file}": {os_error(error)}')
            return
        if text is None:
            say(f"Warning: no last agent message; wrote empty content to {self._last_message_file}")

    # Output

    def _show(self, event: Mapping[str, Any]) -> None:
        line = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
        self._note("sent", line)
        self._write(line + b"\n")

    def _note(self, direction: Direction, line: bytes) -> None:
        if self._journal is not None:
            self._journal.note(direction, line, self._context.clock(), message=True)
            self._journal.flush()

    def _tell(self, lines: Iterable[str]) -> None:
        for line in lines:
            say(line)

    def _write(self, data: bytes) -> None:
        """Write to stdout, in pieces where the script cuts it."""
        for piece in split(data, cycle(self._sizes or (len(data),))):
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()


def _written(thread: Thread) -> int:
    """When its file was written last, in nanoseconds: the turns in it end in whole seconds."""
    return Path(thread.path or "").stat().st_mtime_ns


def _is_uuid(text: str) -> bool:
    digits = text.replace("-", "")
    return len(digits) == 32 and all(digit in "0123456789abcdefABCDEF" for digit in digits)  # noqa: PLR2004 - as above
