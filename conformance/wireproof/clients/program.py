"""A program as a client: started for each scenario, fed, watched while it asks, and ended in time.

It has a process group of its own, and is ended with all that it started.
Whatever it does, it is bounded: its output is read and forgotten but for the end, and processes that leave its group
are found by a variable in their environment, where the system shows that.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from wireproof.clients.running import ClientEnding
from wireproof.clients.stages import MOST
from wireproof.targets.clients import past_proxies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof.clients.journal import FirstRequests
    from wireproof.clients.stages import Played
    from wireproof.model.client_scenario import ClientScenario

GRACE = 1.0
"""Seconds that a program has to end after SIGTERM."""
SHOWN = 4096
"""Bytes of the end of its output that are kept."""
_MARK = "WIREPROOF_CLIENT_RUN"
"""The variable by which its processes are known, also those that left its group."""
_PLACE = re.compile(r"\{(\w+)\}")
_READ = 65_536
LOOK = 0.02
"""Seconds between two looks at it."""
LEAVING = 3.0
"""Seconds that a program has to go when its person leaves."""
TIMEOUT = 60.0
IDLE = 20.0
HASTE = 4.0
"""Seconds without a request after which a program is ended that did not end by itself before: it waits for more."""


class ProgramError(Exception):
    """The program cannot be started; the message is one line."""


@dataclass(frozen=True, kw_only=True)
class ClientCommand:
    """A command line with places to fill in: `{base_url}`, `{key}`, `{model}` and `{prompt}`."""

    words: tuple[str, ...]
    variables: Mapping[str, str]
    """Variables of its environment besides; their values may have the same places."""

    @property
    def takes_prompt(self) -> bool:
        """Whether it has a place for the prompt; else that comes by standard input."""
        return any("{prompt}" in text for text in (*self.words, *self.variables.values()))

    def filled(self, places: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """The words and the variables with their places filled in."""
        words = [_filled(word, places) for word in self.words]
        return words, {name: _filled(value, places) for name, value in self.variables.items()}

    def __str__(self) -> str:
        """As a shell has it."""
        return shlex.join(self.words)


def _filled(text: str, places: Mapping[str, str]) -> str:
    # Not `format`: a command may have braces of its own. In one pass: a prompt may have them, too.
    return _PLACE.sub(lambda found: places.get(found[1], found[0]), text)


def heed_interrupts() -> None:
    """Have programs get SIGINT from now on, also where this one was started to ignore it, as shells do with `&`.

    They would inherit that, and seem to stay when their person leaves. To be called in the main thread.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        # A handler is no inheritance: what is executed begins with the default.
        signal.signal(signal.SIGINT, signal.default_int_handler)


class RunningProgram:
    """One run of a command, as a context manager: at its end no process of it is left.

    Raises:
        ProgramError: it cannot be started.
    """

    def __init__(self, command: ClientCommand, places: Mapping[str, str], stdin: str | None) -> None:
        self._mark = secrets.token_hex(8)
        self._tails = (_Tail(), _Tail())
        words, variables = command.filled(places)
        environment = {
            **past_proxies(),
            "OPENAI_BASE_URL": places["base_url"],
            "OPENAI_API_BASE": places["base_url"],  # the name that older clients read
            "OPENAI_API_KEY": places["key"],
            # Clients of Messages add the version themselves.
            "ANTHROPIC_BASE_URL": places["base_url"].removesuffix("/v1"),
            "ANTHROPIC_API_KEY": places["key"],
            **variables,
            _MARK: self._mark,
        }
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            reason = os.strerror(error.errno).lower() if error.errno else str(error)
            raise ProgramError(f"cannot start {words[0]}: {reason}") from error
        self._readers = [
            threading.Thread(target=tail.read, args=(pipe,), daemon=True)
            for pipe, tail in zip((self._process.stdout, self._process.stderr), self._tails, strict=True)
        ]
        for reader in self._readers:
            reader.start()
        if stdin is not None and self._process.stdin is not None:
            threading.Thread(target=_feed, args=(self._process.stdin, stdin), daemon=True).start()

    def __enter__(self) -> Self:
        """It runs."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it and whatever it has started: politely, then not."""
        if self.status is None:
            self.send(signal.SIGTERM)
            until = time.monotonic() + GRACE
            while self._process.poll() is None and time.monotonic() < until:
                time.sleep(LOOK)
        # Also where it has ended by itself: what it left behind is in its group, or has its mark.
        self.send(signal.SIGKILL)
        # Twice: one that is killed may have started another a moment before.
        for _round in range(2):
            for left in _marked(f"{_MARK}={self._mark}".encode()):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(left, signal.SIGKILL)
        self._process.wait()
        for reader, tail in zip(self._readers, self._tails, strict=True):
            reader.join(GRACE)  # its last words may not have been read yet
            tail.close()

    @property
    def status(self) -> int | None:
        """Its exit status; None: it runs."""
        return self._process.poll()

    @property
    def said(self) -> str:
        """The end of what it has printed so far: of its errors, else of its output. All is there once it was ended."""
        return self._tails[1].text or self._tails[0].text

    def send(self, number: signal.Signals) -> None:
        """Send a signal to its process group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


class _Tail:
    """The end of what a pipe gave."""

    def __init__(self) -> None:
        self._kept = b""
        self._closed = False

    def read(self, pipe: IO[bytes]) -> None:
        """Read to its end; a program that floods must not block on a pipe that nothing reads."""
        with contextlib.suppress(OSError, ValueError), pipe:
            while not self._closed and (data := os.read(pipe.fileno(), _READ)):
                self._kept = (self._kept + data)[-SHOWN:]

    def close(self) -> None:
        """Read no more: a process that nothing could find may hold the other end."""
        self._closed = True

    @property
    def text(self) -> str:
        """It as text."""
        return self._kept.decode(errors="replace").strip()


def _feed(pipe: IO[bytes], text: str) -> None:
    # A program that does not read its input closes it.
    with contextlib.suppress(OSError, ValueError), pipe:
        pipe.write(text.encode())


def _marked(mark: bytes) -> Iterator[int]:
    """The processes with this in their environment; none where the system does not show that."""
    if not sys.platform.startswith("linux"):
        return
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            # One of another user, or one that has just ended.
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


def words_of(command: Sequence[str]) -> tuple[str, ...]:
    """The words of a command, which may be given as one text, as a shell would read it.

    Raises:
        ValueError: they name no program, or a shell could not read them.
    """
    try:
        words = tuple(shlex.split(command[0]) if len(command) == 1 else command)
    except ValueError as error:
        raise ValueError(f"the command {command[0]!r} cannot be read: {error}") from error
    if not words or not words[0].strip():
        raise ValueError("the command of the client is empty")
    return words


@dataclass(kw_only=True)
class ProgramClient:
    """Starts a command for each scenario. Times are in seconds."""

    command: ClientCommand
    timeout: float = TIMEOUT
    """How long a scenario may take."""
    idle: float = IDLE
    """How long a program may go on without a request, once its last one is answered."""
    _stays: bool = False
    """Whether it has been found to stay when all is said."""

    @property
    def name(self) -> str:
        """Its command."""
        return str(self.command)

    def ask(self, played: Played, scenario: ClientScenario) -> ClientEnding:
        """Start the program, and end it.

        Raises:
            ProgramError: it cannot be started.
        """
        places = {
            "base_url": played.base_url, "key": played.key, "model": played.model, "prompt": scenario.prompts[0],
        }  # fmt: skip
        takes = self.command.takes_prompt
        lines = None if takes else "".join(f"{prompt}\n" for prompt in scenario.prompts)
        with RunningProgram(self.command, places, lines) as running:
            ended, left = self._watch(running, played.journal, leaves=scenario.leaves)
        return ClientEnding(ended=ended, left=left, said=running.said)

    def _watch(self, running: RunningProgram, journal: FirstRequests, *, leaves: bool) -> tuple[str, float | None]:
        """Why it was ended, "" if it ended by itself, and when its person left."""
        left: float | None = None
        until = time.monotonic() + self.timeout
        while running.status is None:
            now = time.monotonic()
            if journal.came > MOST:
                return f"it was ended after {MOST} requests", left
            if now >= until:
                return f"it was ended {'after its user had left' if left else f'after {self.timeout:g} s'}", left
            if _silent(journal, now) > (HASTE if self._stays else self.idle):
                self._stays = True
                return "it was ended when it asked nothing more", left
            if leaves and left is None and _streams(journal):
                left = time.monotonic()
                running.send(signal.SIGINT)  # as Ctrl-C does
                until = left + LEAVING
            time.sleep(LOOK)
        return "", left


def _silent(journal: FirstRequests, now: float) -> float:
    """How long nothing has been asked or answered; 0 before the first request."""
    ends = [one.began + one.seconds for one in journal.first if one.seconds is not None]
    return now - max(ends) if ends and journal.idle else 0.0


def _streams(journal: FirstRequests) -> bool:
    """Whether a stream is under way that has sent more than its head."""
    return any(one.ended is None and len(one.pieces) > 1 for one in journal.first)
