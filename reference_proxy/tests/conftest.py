"""Stand-ins: a backend that plays events, and an executable that speaks just enough of the app-server's protocol."""

from __future__ import annotations

import http.client
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from wireproof_proxy.answers.turn_runner import TurnGate, TurnRunner
from wireproof_proxy.backends.backend import BackendCount, Choices
from wireproof_proxy.backends.codex.abilities import Abilities
from wireproof_proxy.backends.codex.link import CodexLink
from wireproof_proxy.settings import CodexSettings, CursorSettings, ProxySettings
from wireproof_surfaces.events import ChoiceFinished, TextAdded, TurnOver, Working, apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from wireproof_proxy.backends.codex.turn import CodexTurn
    from wireproof_surfaces.conversation import Conversation

    MakeSettings = Callable[..., ProxySettings]
    MakeRunner = Callable[..., TurnRunner]
    RunProxy = Callable[..., AbstractContextManager["Running"]]
    Until = Callable[..., None]

DEADLINE = 60.0


class ScriptedTurn:
    """Plays events, then the end of every choice; None is a silence, an Event object one that waits for its flag."""

    def __init__(self, events: list[Any], choices: int = 1) -> None:
        ends = [TurnOver(choice=choice) for choice in range(choices)]
        self.events = [*events, *(ends if any(isinstance(event, ChoiceFinished) for event in events) else [])]
        self.closed = threading.Event()

    def next(self, timeout: float) -> Any:
        """The next event, or silence."""
        if not self.events:
            self.closed.wait(timeout)
            return None
        event = self.events.pop(0)
        if isinstance(event, threading.Event):
            if not event.wait(timeout):
                self.events.insert(0, event)
            return None
        return event

    def close(self) -> None:
        """Remember it."""
        self.closed.set()


class ScriptedBackend:
    """Plays the same events for every turn and remembers what was asked."""

    def __init__(self) -> None:
        self.events: list[Any] = [TextAdded(text="Hello"), ChoiceFinished(reason="stop")]
        self.ready = True
        self.alive = True
        self.restarts = 0
        self.asked: list[Any] = []
        self.turns: list[ScriptedTurn] = []

    def start(self) -> None:
        """Nothing to start."""

    def stop(self) -> None:
        """Nothing to stop."""

    def counts(self) -> tuple[BackendCount, ...]:
        """As many restarts as were set."""
        return (BackendCount("restarts", "Restarts of the backend.", self.restarts),)

    def await_ready(self, timeout: float) -> bool:
        """As it was set."""
        if not self.ready and timeout:
            time.sleep(0.001)
        return self.ready

    def open(self, conversation: Any, choices: int = 1) -> ScriptedTurn:
        """A turn that plays the events."""
        self.asked.append(conversation)
        self.turns.append(ScriptedTurn(self.events, choices))
        return self.turns[-1]


@pytest.fixture
def backend() -> ScriptedBackend:
    return ScriptedBackend()


@pytest.fixture
def make_settings(monkeypatch: pytest.MonkeyPatch) -> MakeSettings:
    """Settings from keywords alone, whatever the environment says."""
    for name in [*ProxySettings.model_fields, *CodexSettings.model_fields, *CursorSettings.model_fields]:
        for prefix in ("PROXY_", "CODEX_", "CURSOR_"):
            monkeypatch.delenv(prefix + name.upper(), raising=False)

    def make(**values: Any) -> ProxySettings:
        return ProxySettings(**values)

    return make


@pytest.fixture
def make_runner(backend: ScriptedBackend, make_settings: MakeSettings) -> MakeRunner:
    """A runner of the scripted backend's turns, one at a time, with these settings."""

    def make(**values: Any) -> TurnRunner:
        return TurnRunner(settings=make_settings(**values), backend=backend, gate=TurnGate(1))

    return make


@pytest.fixture
def until() -> Until:
    """Wait for a condition, with a generous deadline."""

    def wait(condition: Callable[[], object], what: str = "the condition") -> None:
        deadline = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain for {what}"
            time.sleep(0.005)

    return wait


class Server:
    """The other end of a link, by hand; one answer with as many turns as it has choices goes over it."""

    def __init__(
        self,
        kind: type[CodexTurn],
        conversation: Conversation,
        choices: int = 1,
        abilities: Abilities | None = None,
        **waits: Any,
    ) -> None:
        self.now = 0.0
        self.sent: list[Any] = []
        self.served = 0
        self.link = CodexLink(
            send=lambda line: self.sent.append(json.loads(line)),
            clock=lambda: self.now,
            abilities=abilities or Abilities(),
        )
        self.mailbox: Any = None

        def begin(steps: Any, mailbox: Any, choice: int) -> CodexTurn:
            self.mailbox = mailbox
            return kind(self.link, conversation, mailbox, steps, choice=choice, choices=choices, **waits)

        self.turn = Choices(begin, choices, self._count)

    def _count(self) -> None:
        self.served += 1

    @property
    def methods(self) -> list[str]:
        """What was asked, in order."""
        return [message["method"] for message in self.sent]

    def send(self, **message: Any) -> None:
        """Send a message."""
        self.link.feed(json.dumps(message).encode() + b"\n")

    def answer(self, **result: Any) -> None:
        """Answer the last request."""
        self.send(id=self.sent[-1]["id"], result=result)

    def refuse(self, message: str = "no") -> None:
        """Refuse the last request."""
        self.send(error={"code": -32600, "message": message}, id=self.sent[-1]["id"])

    def events(self) -> list[Any]:
        """The events since, without those that only show work."""
        events: list[Any] = []
        while event := self.turn.next(0):
            events += apart(event)
        return [event for event in events if not isinstance(event, Working | TurnOver)]


@pytest.fixture
def make_server() -> type[Server]:
    return Server


FAKE = """#!{python}
import json, os, signal, sys, time
out = sys.stdout.buffer
def send(**message):
    out.write(json.dumps(message, ensure_ascii=False).encode() + b"\\n"); out.flush()
def journal(text):
    with open({journal!r}, "a") as file:
        file.write(text + "\\n")
threads, turn, ask, waiting = 0, 0, None, []
journal("pid %d" % os.getpid())
if os.path.exists({broken!r}):
    sys.exit(3)
print("fake is up", file=sys.stderr)
def said(thread, turn, text):
    send(method="item/agentMessage/delta", params=dict(threadId=thread, turnId=turn, itemId="m", delta=text))
def fragment(thread, text):
    call = dict(index=0, id="c", type="function", function=dict(name="f", arguments=text))
    send(method="agentMessageDelta", params=dict(threadId=thread, delta=dict(tool_calls=[call])))
def called(thread, turn):
    item = dict(type="function_call", call_id="c", name="f", arguments="{{}}")
    send(method="rawResponseItem/completed", params=dict(threadId=thread, turnId=turn, item=item))
def done(thread, turn, status="completed", **more):
    send(method="turn/completed", params=dict(threadId=thread, turn=dict(id=turn, status=status, **more)))
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params") or {{}}
    journal(method or "answer " + json.dumps(message.get("result", message.get("error"))))
    if method == "initialize":
        if os.path.exists({broken!r} + ".handshake"):
            send(error=dict(code=-32600, message="no"), id=id)
        else:
            version = "/0.89.0 (old)" if os.path.exists({broken!r} + ".old") else ""
            send(id=id, result=dict(userAgent="fake" + version))
    elif method == "thread/start":
        threads += 1
        if params.get("developerInstructions") == "crash":
            os._exit(9)
        if params.get("developerInstructions") == "freeze":
            os.kill(os.getpid(), signal.SIGSTOP)
        if params.get("developerInstructions") == "overload":
            send(error=dict(code=-32001, message="Server overloaded; retry later."), id=id)
            continue
        send(id=id, result=dict(thread=dict(id="thread-%d" % threads)))
    elif method in ("thread/inject_items", "thread/unsubscribe"):
        send(id=id, result={{}})
    elif method == "turn/start":
        turn += 1
        thread, name = params["threadId"], "turn-%d" % turn
        text = params["input"][-1].get("text", "") if params["input"] else ""
        send(method="turn/started", params=dict(threadId=thread, turn=dict(id=name)))
        send(id=id, result=dict(turn=dict(id=name)))
        if text == "hang":
            said(thread, name, "begun")
        elif text == "silent":
            pass
        elif text == "two":
            said(thread, name, "begun"); waiting.append((thread, name))
            while len(waiting) == 2 and not os.path.exists({broken!r} + ".go"):
                time.sleep(0.01)
            for each in waiting if len(waiting) == 2 else []:
                said(*each, " and done"); done(*each)
        elif text == "crash":
            said(thread, name, "begun"); os._exit(9)
        elif text == "crash first":
            os._exit(9)
        elif text == "garble":
            out.write(b'{{"params":{{"threadId":"' + thread.encode() + b'","delta":"\\xff"}}}}\\n'); out.flush()
        elif text == "approve":
            send(method="item/commandExecution/requestApproval", id=0, params=dict(threadId=thread))
            said(thread, name, "asked"); ask = (thread, name)
        elif text == "unknown":
            send(method="no/such/request", id=0, params=dict(threadId=thread))
            said(thread, name, "asked"); ask = (thread, name)
        elif text == "crash in a call":
            fragment(thread, "{{"); os._exit(9)
        elif text == "crash after a call":
            called(thread, name); os._exit(9)
        elif text == "crash after the end":
            said(thread, name, "All."); done(thread, name); os._exit(9)
        elif text == "call and hang":
            fragment(thread, "{{")
        elif text == "much":
            for number in range(10_000):
                said(thread, name, "%010d" % number + "x" * 9990)
            done(thread, name); journal("all sent")
        else:
            said(thread, name, "You said: " + text); done(thread, name)
    elif method == "turn/interrupt":
        send(id=id, result={{}}); done(params["threadId"], params["turnId"], "interrupted")
    elif method is None and ask:
        said(*ask, json.dumps(message.get("result", message.get("error")))); done(*ask)
"""


class Running:
    """The command over a real socket, ready at `address`; `pid` is its process."""

    def __init__(self, address: str, process: subprocess.Popen[str]) -> None:
        self.address, self.process, self.pid = address, process, process.pid

    def post(self, text: str, **more: Any) -> http.client.HTTPConnection:
        """A connection on which one user message was sent."""
        connection = http.client.HTTPConnection(self.address, timeout=DEADLINE)
        body = {"model": "codex", "messages": [{"role": "user", "content": text}], **more}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        return connection

    @contextmanager
    def chat(self, text: str, **more: Any) -> Iterator[http.client.HTTPResponse]:
        """The response to one user message."""
        connection = self.post(text, **more)
        try:
            yield connection.getresponse()
        finally:
            connection.close()

    def status(self, path: str) -> int:
        """The status that is answered here."""
        connection = http.client.HTTPConnection(self.address, timeout=DEADLINE)
        connection.request("GET", path)
        try:
            return connection.getresponse().status
        finally:
            connection.close()

    def whole(self, text: str, **more: Any) -> Any:
        """The JSON of the response."""
        with self.chat(text, **more) as response:
            return json.loads(response.read())

    def stream(self, text: str, **more: Any) -> list[Any]:
        """The frames of the response."""
        with self.chat(text, stream=True, **more) as response:
            return frames(response.read())


def frames(data: bytes) -> list[Any]:
    """The data of a stream's frames, parsed but for [DONE]."""
    lines = [line[6:] for line in data.decode().split("\n") if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


@contextmanager
def proxy(codex: Path, **settings: str) -> Iterator[Running]:
    """The command with this executable behind it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PROXY_", "CODEX_"))}
    environment |= {"PROXY_PORT": "0", "CODEX_BIN": str(codex), "PROXY_OUTPUT_MODE": "openai-json", **settings}
    with subprocess.Popen(
        [sys.executable, "-m", "wireproof_proxy"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield Running(str(urlsplit(process.stdout.readline().split()[-1]).netloc), process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=DEADLINE)


@pytest.fixture
def run_proxy() -> RunProxy:
    return proxy


@pytest.fixture
def read_frames() -> Callable[[bytes], list[Any]]:
    return frames


class FakeCodex:
    """The executable `bin`; `journal` lists what it received; files at `broken` change how it starts."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "codex"
        self.journal_file = folder / "journal"
        self.broken = folder / "broken"
        text = FAKE.format(python=sys.executable, journal=str(self.journal_file), broken=str(self.broken))
        self.bin.write_text(text)
        self.bin.chmod(0o755)

    @property
    def journal(self) -> list[str]:
        """Every method and answer received, and the process ids, in order."""
        return self.journal_file.read_text().splitlines() if self.journal_file.exists() else []

    @property
    def pids(self) -> list[int]:
        """Of every run so far."""
        return [int(line.split()[1]) for line in self.journal if line.startswith("pid ")]


@pytest.fixture
def fake_codex(tmp_path: Path) -> FakeCodex:
    return FakeCodex(tmp_path)


@pytest.fixture
def inbox() -> queue.Queue[Any]:
    return queue.Queue()
