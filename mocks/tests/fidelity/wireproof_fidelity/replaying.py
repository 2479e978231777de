"""Plays the client of a recording against the mock."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wireproof_codex.context import ServerContext
from wireproof_codex.protocol.outputs import ProcessExit
from wireproof_codex.server import AppServer
from wireproof_codex.versions.version import VERSIONS
from wireproof_fidelity.comparable import by_thread, comparable, without_members
from wireproof_fidelity.recorded_model import recorded_model
from wireproof_fidelity.recording import Line, read_recording, without
from wireproof_fidelity.scripts import SCRIPTS
from wireproof_fidelity.table import MEASURED, PASSED_ON, recording_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from wireproof_codex.versions.version import Version
    from wireproof_fidelity.recording import Message
    from wireproof_fidelity.table import Replayed, Replays
    from wireproof_scripts.steps import Library

_START = 1_800_000_000.0
_TICK = 0.05
_NOT_UTF8 = "ÿþ"  # how a recording spells bytes that are no UTF-8
_REPEATED = ("Cursor", "Path")
_NAMING = ("conversationId", "subscriptionId")


class Replay:
    """A session with the mock; `received` is what it said. Ids that the client repeats are the mock's own.

    `theirs`: what the recorded server said. `home`: where threads are stored, None for nowhere. `exit`: the status with
    which the mock ended, None while it runs.
    """

    def __init__(self, library: Library, version: Version, theirs: Sequence[Message], home: Path | None = None) -> None:
        self._library = library
        self._version = version
        self._home = home
        self._now = _START
        self._ids: dict[str, str] = {}
        self._places: dict[str, str] = {}  # cursors and files, as they stand in a line
        self.restart(theirs)

    def restart(self, theirs: Sequence[Message]) -> None:
        """Go on with another process, to which the recorded one said this."""
        self.received: list[Message] = []
        self.exit: int | None = None
        self._theirs = {str(message["id"]): message["result"] for message in theirs if "result" in message}
        context = ServerContext(
            self._library,
            home=str(self._home or "/codex-home"),
            cwd="/srv/workspace",
            version=self._version,
            clock=lambda: self._now,
            stores=self._home is not None,
        )
        self._server = AppServer(context)

    def send(self, message: Message | str) -> None:
        """Send a message or a line of the client's, and receive everything that the mock says to it."""
        self._now += _TICK
        self._server.receive(self._line(message))
        while self.exit is None and (output := self._server.output()) is not None:
            match output:
                case ProcessExit(status):
                    self.exit = status
                case bytes() as line:
                    self._learn(json.loads(line))
                case _:
                    pass  # what stands on stderr, or is about the bytes

    def _line(self, message: Message | str) -> bytes:
        text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
        for recorded, own in (*self._places.items(), *self._ids.items()):
            text = text.replace(recorded, own)
        return text.encode("latin-1" if _NOT_UTF8 in text else "utf-8")

    def _learn(self, message: Message) -> None:
        self.received.append(message)
        theirs, ours = self._theirs.get(str(message.get("id"))), message.get("result")
        if not isinstance(theirs, dict) or not isinstance(ours, dict):
            return
        for kind in {"thread", "turn"} & theirs.keys() & ours.keys():
            self._learn_id(theirs[kind]["id"], ours[kind]["id"])
        for kind in {*_NAMING} & theirs.keys() & ours.keys():
            self._learn_id(theirs[kind], ours[kind])

        for name, place in ours.items():
            if name.endswith(_REPEATED) and isinstance(place, str) and isinstance(theirs.get(name), str):
                self._places[json.dumps(theirs[name])] = json.dumps(place)

    def _learn_id(self, theirs: str, own: str) -> None:
        if "-" in theirs:  # a number is the same on both sides
            self._ids[theirs] = own


def received_lines(lines: Iterable[Line]) -> list[Message]:
    """What the recorded server said."""
    return [line.message for line in lines if not line.sent and line.message is not None]


def replay(
    lines: Sequence[Line], session: Replay, *, skip: Collection[Any] = ()
) -> tuple[list[Message], list[Message]]:
    """What the recorded server said and what the mock says to the same client in `session`, which begins here.

    `skip`: requests that are left out with what either server says next. Lines in pieces are put together and go last.
    """
    kept = without(lines, skip)
    theirs = received_lines(kept)
    session.restart(theirs)
    for line in kept:
        if line.sent and line.message is not None:
            session.send(line.message)
    for text in "".join(line.raw for line in kept if line.sent).split("\n")[:-1]:
        if session.exit is None:
            session.send(text)
    return theirs, session.received


def model_of(row: Replayed, lines: Sequence[Line]) -> Library:
    """The scripts that the model behind a recording, of these lines, played."""
    return SCRIPTS if row.scenario in MEASURED else recorded_model(lines)


def compared(row: Replayed, table: Replays, home: Path, version: Version | None = None) -> tuple[list[str], list[str]]:
    """What the recorded server sent and what the mock sends, made comparable.

    `home`: an empty folder. `version`: what the mock plays, None for the version that was recorded.
    """
    played = version or VERSIONS[row.version]
    lines = read_recording(recording_file(row.name))
    before = read_recording(recording_file(f"{row.version}/{row.after}")) if row.after else []
    session = Replay(model_of(row, [*before, *lines]), played, received_lines(before), home if before else None)
    for line in before:
        if line.sent and line.message is not None:
            session.send(line.message)
    sides = replay(lines, session, skip=row.skip)
    if row.scenario in table.crossing:
        sides = by_thread(sides[0]), by_thread(sides[1])
    if row.scenario in MEASURED:
        sides = without_members(sides[0], PASSED_ON), without_members(sides[1], PASSED_ON)
    unsent, own, race = table.unsent.keys() | row.unsent, table.own.keys() | row.own, played.counts.early
    theirs, ours = (comparable(side, unsent=unsent, own=own, words=table.words, counts_race=race) for side in sides)
    return theirs, ours
