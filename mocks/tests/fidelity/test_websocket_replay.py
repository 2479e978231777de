"""Two recorded WebSocket clients of one real server, played again together.

A line of a client's came after the last notification before it, whose time is noted. A client is gone when it has
received what the recorded one had.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from wireproof_fidelity.comparable import comparable
from wireproof_fidelity.recording import read_recording
from wireproof_fidelity.table import RECORDINGS, load_replays

from wireproof_codex.server import AppServer
from wireproof_codex.versions.version import VERSIONS
from wireproof_scripts.steps import Pause, Say, Script, Step, Usage

RECORDED = next(one for one in reversed(list(VERSIONS)) if (RECORDINGS / one / "ws_client_a.jsonl").is_file())
"""The newest version of which such a session was recorded."""
TABLE = load_replays()
UNSENT = set(TABLE.unsent)
USAGE = Usage(input=120, output=30, cached=20, reasoning=5)
Message = dict[str, Any]
Sent = tuple[float, str, Message]
"""A message, from which client, and the time in epoch seconds; 0 before the first notification."""


def _ticks(number: int) -> Script:
    steps: list[Step] = [step for tick in range(number) for step in (Say((f"tick{tick} ",)), Pause(0.1))]
    return Script(name=f"slow-{number}", title="", when=f"[[slow:{number},", parts=((*steps, USAGE),))


PLAIN = Script(name="plain", title="", when="[[plain]]", parts=((Say(("Hello", " from", " the", " stub.")), USAGE),))
LIBRARY = {script.name: script for script in (PLAIN, _ticks(10), _ticks(20))}


def _recorded() -> tuple[list[Sent], dict[str, list[Message]]]:
    """What the clients sent, in its order, and what they received."""
    sent: list[Sent] = []
    received: dict[str, list[Message]] = {name: [] for name in "ab"}
    for name in "ab":
        at = 0.0
        for line in read_recording(RECORDINGS / RECORDED / f"ws_client_{name}.jsonl"):
            assert line.message is not None
            if line.sent:
                sent.append((at, name, line.message))
            else:
                received[name].append(line.message)
                at = line.message.get("emittedAtMs", at * 1000) / 1000
    return sorted(sent, key=lambda one: one[:2]), received


class Together:
    """Plays the clients to one server; `received` is what it sent to each."""

    def __init__(self, wanted: dict[str, int]) -> None:
        self.received: dict[str, list[Message]] = {name: [] for name in wanted}
        self._now = 0.0
        self._server = AppServer(LIBRARY, cwd="/srv/workspace", version=VERSIONS[RECORDED], clock=lambda: self._now)
        self._clients = {name: self._server.connect() for name in wanted}
        self._wanted = wanted
        self._ids: dict[str, str] = {}

    def send(self, name: str, message: Message, now: float) -> None:
        text = json.dumps(message, ensure_ascii=False)
        for theirs, ours in self._ids.items():
            text = text.replace(theirs, ours)
        self._now = now
        self._server.receive(text.encode(), self._clients[name])

    def play(self, now: float) -> None:
        """Hear everything up to this time."""
        while (wake := self._server.wake_at()) is not None and wake <= now:
            self._play(max(wake, self._now))
        self._play(now)

    def _play(self, now: float) -> None:
        self._now = now
        while (addressed := self._server.addressed()) is not None:
            names = [name for name, client in self._clients.items() if client is addressed.to]
            if isinstance(addressed.output, bytes) and names:
                self._receive(names[0], json.loads(addressed.output))

    def _receive(self, name: str, message: Message) -> None:
        self.received[name].append(message)
        if len(_notifications(self.received[name])) == self._wanted[name]:
            self._server.disconnect(self._clients.pop(name))

    def name_thread(self, theirs: str) -> None:
        [self._ids[theirs]] = self._server.threads.ids() or [theirs]


def _notifications(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.get("method") not in UNSENT]


@pytest.fixture(scope="module")
def sides() -> tuple[dict[str, list[Message]], dict[str, list[Message]]]:
    """What the recorded clients received, and what they receive of the mock."""
    sent, theirs = _recorded()
    thread = next(message["result"]["thread"]["id"] for message in theirs["a"] if "thread" in message.get("result", ()))
    together = Together({name: len(_notifications(messages)) for name, messages in theirs.items()})
    for at, name, message in sent:
        together.play(at)
        together.name_thread(thread)
        together.send(name, message, at)
    together.play(sent[-1][0] + 60)
    return theirs, together.received


@pytest.mark.parametrize("name", "ab")
def test_each_client_gets_what_the_recorded_one_received(
    name: str, sides: tuple[dict[str, list[Message]], dict[str, list[Message]]]
) -> None:
    theirs, ours = (
        comparable(side[name], unsent=UNSENT, own={*TABLE.own, "userAgent"}, words=TABLE.words) for side in sides
    )
    assert ours == theirs


def test_the_server_goes_by_the_name_of_its_first_client(
    sides: tuple[dict[str, list[Message]], dict[str, list[Message]]],
) -> None:
    for received in sides:
        agents = [message["result"]["userAgent"] for name in "ab" for message in received[name] if _is_hello(message)]
        assert [(agent.partition("/")[0], agent.rpartition("(")[2]) for agent in agents] == [
            ("wsa", "wsa; 1)"),
            ("wsa", "wsb; 1)"),
        ]


def _is_hello(message: Message) -> bool:
    return "userAgent" in (message.get("result") or ())


def test_a_client_that_is_unknown_is_sent_nothing() -> None:
    server = AppServer(LIBRARY)
    client = server.connect()
    server.notify_all("thread/started", {})
    assert server.addressed() is None
    server.disconnect(client)
