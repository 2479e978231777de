"""Plays the client of a recording against the mock."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay_mocks.codex.fidelity.recording import Line, without
from assay_mocks.codex.outputs import Exit
from assay_mocks.codex.server import Server

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from assay_mocks.codex.fidelity.recording import Message
    from assay_mocks.codex.versions import Version
    from assay_mocks.script import Library

_START = 1_800_000_000.0
_TICK = 0.05
_NOT_UTF8 = "ÿþ"  # how a recording spells bytes that are no UTF-8
_NAMING = ("conversationId", "subscriptionId")


class Replay:
    """A session with the mock; `heard` is what it said. Ids that the client repeats are the mock's own.

    `theirs`: what the recorded server said. `exit`: the status with which the mock ended, None while it runs.
    """

    def __init__(self, library: Library, version: Version, theirs: Sequence[Message]) -> None:
        self.heard: list[Message] = []
        self.exit: int | None = None
        self._server = Server(library, cwd="/srv/workspace", version=version)
        self._now = _START
        self._theirs = {str(message["id"]): message["result"] for message in theirs if "result" in message}
        self._ids: dict[str, str] = {}

    def send(self, message: Message | str) -> None:
        """Send a message or a line of the client's, and hear everything that the mock says to it."""
        self._now += _TICK
        self._server.receive(self._line(message), self._now)
        while self.exit is None and (output := self._server.output(self._now)) is not None:
            match output:
                case Exit(status):
                    self.exit = status
                case bytes() as line:
                    self._learn(json.loads(line))
                case _:
                    pass  # what stands on stderr, or is about the bytes

    def _line(self, message: Message | str) -> bytes:
        text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
        for recorded, own in self._ids.items():
            text = text.replace(recorded, own)
        return text.encode("latin-1" if _NOT_UTF8 in text else "utf-8")

    def _learn(self, message: Message) -> None:
        self.heard.append(message)
        theirs, ours = self._theirs.get(str(message.get("id"))), message.get("result")
        if not isinstance(theirs, dict) or not isinstance(ours, dict):
            return
        for kind in {"thread", "turn"} & theirs.keys() & ours.keys():
            self._learn_id(theirs[kind]["id"], ours[kind]["id"])
        for kind in {*_NAMING} & theirs.keys() & ours.keys():
            self._learn_id(theirs[kind], ours[kind])

    def _learn_id(self, theirs: str, own: str) -> None:
        if "-" in theirs:  # a number is the same on both sides
            self._ids[theirs] = own


def replay(
    lines: Sequence[Line],
    library: Library,
    version: Version,
    *,
    skip: Collection[Any] = (),
    unheard: Collection[Any] = (),
) -> tuple[list[Message], list[Message]]:
    """What the recorded server said and what the mock says to the same client.

    `skip`: requests that are left out with what either server says next; `unheard`: requests after which it is not
    compared what either says until the client's next line. Lines in pieces are put together and sent last.
    """
    kept = without(lines, skip)
    theirs = [line.message for line in without(kept, unheard) if not line.sent and line.message is not None]
    session = Replay(library, version, [line.message for line in kept if not line.sent and line.message is not None])
    for line in kept:
        if line.sent and line.message is not None:
            before = len(session.heard)
            session.send(line.message)
            if line.request in set(unheard):
                del session.heard[before:]
    for text in "".join(line.raw for line in kept if line.sent).split("\n")[:-1]:
        if session.exit is None:
            session.send(text)
    return theirs, session.heard
