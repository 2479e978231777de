"""`wireproof-codex record`: runs a real `codex app-server` and writes down what goes through its pipes.

It stands between the client and the process: whatever comes is passed on at once, byte for byte, and each line is
written down with its time. A signal that asks it to end is passed on too, and it ends with the status of the process.
The file has one JSON object a line:

    {"t": seconds, "dir": "C->" | "S->", "msg": the message | "raw": a line that is no message, with its end}
    {"t": seconds, "dir": "ERR", "msg": a line of stderr}
    {"t": seconds, "dir": "EOF", "raw": "stdout closed"}
    {"t": seconds, "dir": "META", "data": {"cmd": the command} | {"exit": its status}}

Paths of this machine stand as others in it. Characters of `raw` from U+0080 to U+00FF are bytes where the line is no
UTF-8.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Literal

from wireproof_codex.protocol.rpc import LineSplitter, parse
from wireproof_codex.transports.stopping import wake_up_pipe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

Direction = Literal["C->", "S->", "ERR", "EOF", "META"]

_PIECE = 65_536
_PATIENCE = 2.0  # seconds for the rest of the output when something that the process started holds its pipes open
_SIGNALLED = 128  # plus the signal's number, as shells give it
_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """What is to be recorded."""

    command: Sequence[str]
    """The command and its arguments."""
    file: Path
    """The recording; what it held is replaced."""
    masks: Mapping[str, str]
    """Paths of this machine, each with the path that the recording shows instead."""


class Recording:
    """Writes a recording; lines may come from several threads."""

    def __init__(self, file: IO[str], masks: Mapping[str, str], clock: Callable[[], float]) -> None:
        self._file = file
        # The longest first: the home is the beginning of most other paths.
        self._masks = sorted(masks.items(), key=lambda mask: len(mask[0]), reverse=True)
        self._clock = clock
        self._begun = clock()
        self._lock = threading.Lock()

    def line(self, direction: Direction, line: bytes) -> None:
        """Write down a line that came, with or without its end."""
        text = self._masked(_text(line))
        if direction == "ERR":
            self._write(direction, "msg", json.dumps(text.rstrip("\n"), ensure_ascii=False))
        elif _is_object(text):
            self._write(direction, "msg", text.strip())  # as it came: parsed, numbers would lose their spelling
        else:
            self._write(direction, "raw", json.dumps(text, ensure_ascii=False))

    def end(self) -> None:
        """Write down that stdout was closed."""
        self._write("EOF", "raw", '"stdout closed"')

    def note(self, **data: object) -> None:
        """Write down something about the recording."""
        self._write("META", "data", self._masked(json.dumps(data, ensure_ascii=False)))

    def _masked(self, text: str) -> str:
        for path, mask in self._masks:
            text = text.replace(path, mask)
        return text

    def _write(self, direction: Direction, key: str, value: str) -> None:
        with self._lock:
            at = round(self._clock() - self._begun, 6)
            self._file.write(f'{{"t": {at}, "dir": "{direction}", "{key}": {value}}}\n')
            self._file.flush()


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse(text), dict)
    except ValueError:
        return False


def record(recorded: Recorded) -> int:
    """Run the command until it ends; its exit status, 128 and the number of the signal that ended it.

    Raises:
        OSError: the command cannot be started, or the file not written.
    """
    with recorded.file.open("w", encoding="utf-8") as file:
        recording = Recording(file, recorded.masks, time.monotonic)
        recording.note(cmd=list(recorded.command))
        status = _relay(recorded.command, recording)
        recording.note(exit=status)
    return status


def _relay(command: Sequence[str], recording: Recording) -> int:
    pipe = subprocess.PIPE
    signal.signal(signal.SIGCHLD, lambda *_: None)  # handled, so that the wake-up pipe shows the end of the process
    with (
        wake_up_pipe() as woken,
        # A session of its own: Ctrl-C reaches all of a terminal's process group, and the process would get it twice.
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True) as process,
    ):
        assert process.stdin  # noqa: S101 - pipes were asked for
        assert process.stdout  # noqa: S101 - same
        assert process.stderr  # noqa: S101 - same
        for signum in _PASSED_ON:
            signal.signal(signum, lambda number, _: process.send_signal(number))
        relays = [
            _thread(_pass_on, process.stdout, sys.stdout.buffer, recording, "S->"),
            _thread(_pass_on, process.stderr, sys.stderr.buffer, recording, "ERR"),
        ]
        _thread(_hand_in, process.stdin, recording)  # not joined: the client may say nothing more, and stay
        # A signal that comes just before the main thread begins to wait for a process interrupts nothing; reading from
        # the wake-up pipe ends whenever it comes, and then the handler runs.
        while (status := process.poll()) is None:
            os.read(woken, 1)
        for thread in relays:
            thread.join(_PATIENCE)
    return status if status >= 0 else _SIGNALLED - status  # `subprocess` has a signal as a negative number


def _thread(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _hand_in(stdin: IO[bytes], recording: Recording) -> None:
    """Pass on what the client sends, to the end."""
    with stdin:
        _move(sys.stdin.buffer.fileno(), stdin.fileno(), recording, "C->")


def _pass_on(source: IO[bytes], target: IO[bytes], recording: Recording, direction: Direction) -> None:
    """Pass on what the process writes, to the end; it is written down even if the client has stopped reading."""
    _move(source.fileno(), target.fileno(), recording, direction)
    if direction == "S->":
        recording.end()


def _move(source: int, target: int, recording: Recording, direction: Direction) -> None:
    lines = LineSplitter()
    while piece := os.read(source, _PIECE):
        # Written down before it is passed on: an answer must not come before what it answers.
        for line in lines.feed(piece):
            recording.line(direction, line + b"\n")
        with suppress(BrokenPipeError):
            _write(target, piece)
    for line in lines.end():
        recording.line(direction, line)


def _write(target: int, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[os.write(target, left) :]
