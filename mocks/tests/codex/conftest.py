from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.context import Ids, ServerContext
from wireproof_codex.protocol.outputs import GarbageLine, Pieces, ProcessExit, StderrLine
from wireproof_codex.server import AppServer
from wireproof_codex.versions.version import NEWEST, VERSIONS
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.threads.thread import Thread
    from wireproof_scripts.steps import Library

    MakeClient = Callable[..., "Client"]
Message = dict[str, Any]


class Received(list[Message]):
    """Messages of the server, in order."""

    @property
    def methods(self) -> list[str]:
        return [message.get("method", "response") for message in self]

    @property
    def text_deltas(self) -> list[str]:
        return [params["delta"] for params in self.params_of("item/agentMessage/delta")]

    @property
    def deltas(self) -> list[Any]:
        """The deltas of text that `agentMessageDelta` carries."""
        return [params["delta"] for params in self.params_of("agentMessageDelta")]

    def events(self, kind: str) -> list[Any]:
        """The messages of one type in the older family."""
        return [params["msg"] for params in self.params_of(f"codex/event/{kind}")]

    def params_of(self, method: str) -> list[Any]:
        return [message["params"] for message in self if message.get("method") == method]

    @property
    def tool_requests(self) -> list[Message]:
        return [message for message in self if message.get("method") == "item/tool/call"]

    @property
    def raw(self) -> list[Any]:
        return [params["item"] for params in self.params_of("rawResponseItem/completed")]


class CountedIds(Ids):
    """Ids that a test can foresee."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._uuids = count(1)

    def uuid(self, now: float) -> str:
        del now
        return f"00000000-0000-7000-8000-{next(self._uuids):012}"

    def number(self) -> int:
        return next(self._numbers)


class Client:
    """Talks to a server core; time passes only when a test lets it."""

    def __init__(
        self, library: Library, version: str = NEWEST.number, conditions: Mapping[str, Any] | None = None, **more: Any
    ) -> None:
        self.now = 1_800_000_000.0
        self.context = ServerContext(library, version=VERSIONS[version], clock=lambda: self.now, **more)
        self.context.ids = CountedIds()
        self.server = AppServer(self.context, **(conditions or {}))
        self.outputs: list[GarbageLine | Pieces] = []
        self.notes: list[str] = []
        self.exit: int | None = None
        self._requests = count(1000)

    @property
    def cuts(self) -> list[tuple[int, ...]]:
        """The sizes of pieces in which output was to be cut."""
        return [output.sizes for output in self.outputs if isinstance(output, Pieces)]

    def thread(self, identity: str) -> Thread:
        """A thread of the server that has not been put away."""
        thread = self.context.threads.get(identity)
        assert thread is not None
        return thread

    def send(self, message: object) -> Received:
        """Send one message; everything the server says until it waits."""
        return self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> Received:
        self.server.receive(line)
        return self.receive()

    def receive(self) -> Received:
        received = Received()
        while (output := self.server.output()) is not None:
            match output:
                case GarbageLine() | Pieces():
                    self.outputs.append(output)
                case StderrLine(text):
                    self.notes.append(text)
                case ProcessExit(status):
                    self.exit = status
                    break
                case line:
                    received.append(json.loads(line))
        return received

    def wait(self, seconds: float) -> Received:
        """Let time pass; everything the server says."""
        self.now += seconds
        return self.receive()

    def ask(self, method: str, params: object) -> tuple[Any, Received]:
        """Send a request; its result (or error), and everything said."""
        request = next(self._requests)
        received = self.send({"id": request, "method": method, "params": params})
        answer = next(message for message in received if message.get("id") == request and "method" not in message)
        return answer.get("result", answer.get("error")), received

    def shake_hands(self, **capabilities: object) -> None:
        all_capabilities = {"experimentalApi": True, **capabilities}
        self.ask("initialize", {"clientInfo": {"name": "test", "version": "1"}, "capabilities": all_capabilities})

    def start_thread(self, *tools: str, **params: object) -> str:
        if tools:
            params["dynamicTools"] = [{"name": tool, "description": "", "inputSchema": {}} for tool in tools]
        result, _ = self.ask("thread/start", {"ephemeral": True, **params})
        return str(result["thread"]["id"])

    def start_turn(self, thread: str, text: str | None) -> tuple[str, Received]:
        given = [] if text is None else [{"type": "text", "text": text}]
        result, received = self.ask("turn/start", {"threadId": thread, "input": given})
        return str(result["turn"]["id"]), received

    def play(self, text: str | None, *tools: str, **params: object) -> Received:
        """A turn on a thread of its own; everything said until it waits."""
        return self.start_turn(self.start_thread(*tools, **params), text)[1]

    def answer(self, request: int, text: str = "result") -> Received:
        content = [{"type": "inputText", "text": text}]
        return self.send({"id": request, "result": {"contentItems": content, "success": True}})


@pytest.fixture(autouse=True)
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of a test is stored in the home of who runs it."""
    monkeypatch.delenv("CODEX_HOME", raising=False)


@pytest.fixture
def make_client() -> MakeClient:
    """A client of a server with this library; the handshake is done."""

    def make(library: Library = LIBRARY, version: str = NEWEST.number, **server: Any) -> Client:
        client = Client(library, version, **server)
        client.shake_hands()
        return client

    return make


@pytest.fixture
def client(make_client: MakeClient) -> Client:
    """A client of a server with the library; the handshake is done."""
    return make_client()


@pytest.fixture
def older(make_client: MakeClient) -> Client:
    """A client of a server that speaks as 0.89.0; the handshake is done."""
    return make_client(version="0.89.0")


@pytest.fixture
def stranger_of() -> MakeClient:
    """A client that has not shaken hands with a server of this kind."""
    return lambda **server: Client(LIBRARY, **server)


@pytest.fixture
def stranger() -> Client:
    """A client that has not shaken hands."""
    return Client(LIBRARY)
