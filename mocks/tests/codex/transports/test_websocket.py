"""The executable itself, over WebSockets."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import select
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE = 30.0  # seconds after which a test gives up
Message = dict[str, Any]


class Listener:
    """A running `wireproof-codex` that listens on a free port, and its clients."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        command = [sys.executable, "-m", "wireproof_codex", "app-server", "--listen", "ws://127.0.0.1:0", *arguments]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, bufsize=0, env={**os.environ, **environment}
        )
        self.introduction = [self.line() for _ in range(4)]
        self.address = self.introduction[1].rpartition("/")[2]
        self._clients = ExitStack()

    def line(self) -> str:
        assert self.process.stderr is not None
        assert select.select([self.process.stderr], [], [], PATIENCE)[0]
        return self.process.stderr.readline().decode().rstrip("\n")

    def connect(self, *, hello: bool = True, **headers: str) -> Client:
        url = f"ws://{self.address}/"
        socket = connect(url, additional_headers=headers, proxy=None, open_timeout=PATIENCE, close_timeout=0.2)
        client = Client(self._clients.enter_context(socket))
        if hello:
            client.shake_hands()
        return client

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def discard(self) -> None:
        while self.process.poll() is None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):  # a second signal does not wait for turns that run
                self.process.wait(0.2)
        self._clients.close()
        assert self.process.stderr is not None
        self.process.stderr.close()


class Client:
    """A client of the listener."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._ids = count(1)

    def send(self, method: str, params: object) -> int:
        identity = next(self._ids)
        self.socket.send(json.dumps({"id": identity, "method": method, "params": params}))
        return identity

    def receive_until(self, met: Callable[[Message], bool]) -> list[Message]:
        received: list[Message] = [json.loads(self.socket.recv(PATIENCE))]
        while not met(received[-1]):
            received.append(json.loads(self.socket.recv(PATIENCE)))
        return received

    def ask(self, method: str, params: object) -> Any:
        identity = self.send(method, params)
        answer = self.receive_until(lambda message: message.get("id") == identity)[-1]
        return answer.get("result", answer.get("error"))

    def hear_so_far(self) -> list[Message]:
        """Everything up to the answer to a request that is sent now."""
        identity = self.send("thread/loaded/list", {})
        return self.receive_until(lambda message: message.get("id") == identity)

    def shake_hands(self, name: str = "x", **capabilities: object) -> Any:
        all_capabilities = {"experimentalApi": True, **capabilities}
        return self.ask("initialize", {"clientInfo": {"name": name, "version": "1"}, "capabilities": all_capabilities})

    def hear_until_refused(self) -> None:
        """Ask until the process is about to end, and return what it says then."""
        refused = self.ask("thread/start", {})
        while "code" not in refused:
            refused = self.ask("thread/start", {})
        assert refused == {
            "code": -32600,
            "data": {"reason": "serverShuttingDown"},
            "message": "Server is draining; retry after reconnecting",
        }

    def start_thread(self, **params: object) -> str:
        return str(self.ask("thread/start", params)["thread"]["id"])

    def start_turn(self, thread: str, text: str) -> str:
        given = [{"type": "text", "text": text}]
        return str(self.ask("turn/start", {"threadId": thread, "input": given})["turn"]["id"])

    def hear_turn(self) -> list[Message]:
        return self.receive_until(lambda message: message.get("method") == "turn/completed")


@pytest.fixture
def listen() -> Iterator[Callable[..., Listener]]:
    """Start listeners that are gone at the end."""
    with ExitStack() as stack:

        def start(*arguments: str, **environment: str) -> Listener:
            listener = Listener(*arguments, **environment)
            stack.callback(listener.discard)
            return listener

        yield start


@pytest.fixture
def listener(listen: Callable[..., Listener]) -> Listener:
    return listen()


def _methods(messages: list[Message]) -> list[str]:
    return [message.get("method", "response") for message in messages]


def test_it_says_where_it_listens(listener: Listener) -> None:
    address = listener.address
    assert address.startswith("127.0.0.1:")
    assert listener.introduction == [
        "codex app-server (WebSockets)",
        f"  listening on: ws://{address}",
        f"  readyz: http://{address}/readyz",
        f"  healthz: http://{address}/healthz",
    ]


def test_a_turn_over_a_websocket(listener: Listener) -> None:
    client = listener.connect()
    client.start_turn(client.start_thread(ephemeral=True), "[[wireproof:text/hello#1]]")
    received = client.hear_turn()
    said = [message["params"]["delta"] for message in received if message["method"] == "item/agentMessage/delta"]
    assert "".join(said) == "Hello, world!"


def test_a_call_is_answered_over_a_websocket(listener: Listener) -> None:
    client = listener.connect()
    tool = {"name": "localSearch", "description": "", "inputSchema": {}}
    client.start_turn(client.start_thread(dynamicTools=[tool]), "[[wireproof:call/one#1]]")
    asked = client.receive_until(lambda message: "id" in message)[-1]
    assert asked["method"] == "item/tool/call"
    answer = {"contentItems": [{"type": "inputText", "text": "found"}], "success": True}
    client.socket.send(json.dumps({"id": asked["id"], "result": answer}))
    assert client.hear_turn()[-1]["params"]["turn"]["status"] == "completed"


def test_each_client_has_its_own_handshake_ids_and_muted_notifications(listener: Listener) -> None:
    first, second = listener.connect(hello=False), listener.connect(hello=False)
    assert first.shake_hands("one")["userAgent"].startswith(f"one/{NEWEST.number} ")
    assert second.ask("thread/loaded/list", {})["message"] == "Not initialized"
    muted = ["thread/started", "thread/status/changed"]
    agent = second.shake_hands("two", optOutNotificationMethods=muted)["userAgent"]
    assert agent.startswith(f"one/{NEWEST.number} ")
    assert agent.endswith("(two; 1)")
    assert second.ask("initialize", {"clientInfo": {"name": "x", "version": "1"}})["message"] == "Already initialized"
    first.start_turn(first.start_thread(), "[[wireproof:text/hello#1]]")
    first.hear_turn()
    received = second.hear_so_far()
    assert _methods(received) == ["response"]


def test_a_threads_events_reach_those_that_resumed_it_and_its_status_everyone(listener: Listener) -> None:
    starter, joiner, other = (listener.connect() for _ in range(3))
    thread = starter.start_thread()
    starter.start_turn(thread, "[[wireproof:text/gate#1]]")
    starter.receive_until(lambda message: message.get("method") == "item/agentMessage/delta")
    assert joiner.ask("thread/resume", {"threadId": thread})["thread"]["id"] == thread
    starter.start_turn(starter.start_thread(), "[[wireproof:open/gate#1]]")
    received = joiner.receive_until(
        lambda message: message.get("method") == "turn/completed" and message["params"]["threadId"] == thread
    )
    assert "item/agentMessage/delta" in _methods(received)
    passed = other.hear_so_far()
    alone = {"remoteControl/status/changed"}
    assert set(_methods(passed)) - alone == {"thread/started", "thread/status/changed", "response"}


def test_a_turn_outlives_the_client_that_began_it(listener: Listener) -> None:
    starter, joiner = listener.connect(), listener.connect()
    thread = starter.start_thread()
    starter.start_turn(thread, "[[wireproof:text/gate#1]]")
    starter.receive_until(lambda message: message.get("method") == "item/agentMessage/delta")
    joiner.ask("thread/resume", {"threadId": thread})
    starter.socket.close()
    joiner.start_turn(joiner.start_thread(), "[[wireproof:open/gate#1]]")
    ended = joiner.receive_until(
        lambda message: message.get("method") == "turn/completed" and message["params"]["threadId"] == thread
    )[-1]
    assert ended["params"]["turn"]["status"] == "completed"


def test_a_client_that_leaves_a_thread_gets_no_more_of_it_while_others_do(listener: Listener) -> None:
    starter, joiner = listener.connect(), listener.connect()
    thread = starter.start_thread()
    joiner.ask("thread/resume", {"threadId": thread})
    assert starter.ask("thread/unsubscribe", {"threadId": thread}) == {"status": "unsubscribed"}
    starter.start_turn(thread, "[[wireproof:text/hello#1]]")
    assert joiner.hear_turn()
    received = starter.hear_so_far()
    assert set(_methods(received)) == {"thread/status/changed", "response"}


def test_what_is_no_message_is_passed_over(listener: Listener) -> None:
    client = listener.connect()
    client.socket.send(b'{"id":"binary","method":"thread/loaded/list","params":{}}')
    for text in ("no json", "[]", '{"id":1}\n{"id":2}'):
        client.socket.send(text)
    assert client.ask("thread/loaded/list", {}) == {"data": [], "nextCursor": None}
    assert listener.line().startswith("Failed to deserialize JSONRPCMessage: ")


@pytest.mark.parametrize(
    ("path", "headers", "answer"),
    [
        ("/readyz", {}, (200, b"")),
        ("/healthz", {}, (200, b"")),
        ("/readyz", {"Origin": "http://a"}, (403, b"")),
        ("/", {"Origin": "http://a"}, (403, b"")),
    ],
)
def test_probes_are_answered_and_browsers_are_not(
    listener: Listener, path: str, headers: dict[str, str], answer: tuple[int, bytes]
) -> None:
    assert listener.get(path, **headers) == answer


def _refused(listener: Listener, **headers: Any) -> tuple[int, bytes]:
    with pytest.raises(InvalidStatus) as refused:
        listener.connect(**headers)
    response = refused.value.response
    return response.status_code, bytes(response.body or b"")


def test_a_browser_is_refused(listener: Listener) -> None:
    assert _refused(listener, Origin="http://a") == (403, b"")


def test_with_a_token_only_those_that_send_it_are_served(listen: Callable[..., Listener], tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret\n")
    listener = listen("--ws-auth", "capability-token", "--ws-token-file", str(file))
    assert _refused(listener) == (401, b"missing websocket bearer token")
    assert _refused(listener, Authorization="Basic s3cret") == (401, b"missing websocket bearer token")
    assert _refused(listener, Authorization="Bearer wrong") == (401, b"invalid websocket bearer token")
    assert listener.connect(Authorization="bearer s3cret").ask("thread/loaded/list", {})
    assert listener.get("/readyz") == (200, b"")


def test_a_token_may_be_named_by_its_digest(listen: Callable[..., Listener]) -> None:
    listener = listen("--ws-auth", "capability-token", "--ws-token-sha256", hashlib.sha256(b"s3cret").hexdigest())
    assert _refused(listener, Authorization="Bearer wrong") == (401, b"invalid websocket bearer token")
    assert listener.connect(Authorization="Bearer s3cret").ask("thread/loaded/list", {})


def test_a_crash_ends_the_process_and_every_client_with_it(listener: Listener) -> None:
    client, other = listener.connect(), listener.connect()
    client.start_turn(client.start_thread(), "[[wireproof:fail/crash-text#1]]")
    with pytest.raises(ConnectionClosed):
        client.receive_until(lambda _: False)
    with pytest.raises(ConnectionClosed):
        other.receive_until(lambda _: False)
    assert listener.process.wait(PATIENCE) == 101


def test_a_line_that_is_no_message_is_a_frame_too(listen: Callable[..., Listener], tmp_path: Path) -> None:
    scripts = tmp_path / "s.json"
    scripts.write_text(json.dumps([{"name": "raw", "parts": [[{"cut": 3}, {"raw": "no json"}, {"say": "a"}]]}]))
    listener = listen(WIREPROOF_SCRIPTS=str(scripts))
    client = listener.connect()
    client.start_turn(client.start_thread(), "[[wireproof:raw#1]]")
    frames = [client.socket.recv(PATIENCE)]
    while "turn/completed" not in str(frames[-1]):
        frames.append(client.socket.recv(PATIENCE))
    assert "no json" in frames


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_process_and_breaks_off_every_connection(listener: Listener, signum: signal.Signals) -> None:
    client = listener.connect()
    listener.process.send_signal(signum)
    with pytest.raises(ConnectionClosed) as closed:
        client.receive_until(lambda _: False)
    assert closed.value.rcvd is None
    assert listener.process.wait(PATIENCE) == 0


def test_a_signal_lets_running_turns_end_and_nothing_new_begin(listener: Listener) -> None:
    client, other = listener.connect(), listener.connect()
    thread = client.start_thread(dynamicTools=[{"name": "localSearch", "description": "", "inputSchema": {}}])
    client.start_turn(thread, "[[wireproof:call/one#1]]")
    asked = client.receive_until(lambda message: "id" in message)[-1]
    listener.process.send_signal(signal.SIGTERM)
    other.hear_until_refused()
    assert thread in other.ask("thread/loaded/list", {})["data"]
    answer = {"contentItems": [{"type": "inputText", "text": "found"}], "success": True}
    client.socket.send(json.dumps({"id": asked["id"], "result": answer}))
    assert client.hear_turn()[-1]["params"]["turn"]["status"] == "completed"
    assert listener.process.wait(PATIENCE) == 0


def test_a_second_signal_ends_the_process_though_a_turn_runs(listener: Listener) -> None:
    client, other = listener.connect(), listener.connect()
    client.start_turn(client.start_thread(), "[[wireproof:text/hang#1]]")
    listener.process.send_signal(signal.SIGTERM)
    other.hear_until_refused()
    listener.process.send_signal(signal.SIGTERM)
    assert listener.process.wait(PATIENCE) == 0


@pytest.mark.parametrize(("version", "signum"), [("0.100.0", signal.SIGINT), ("0.111.0", signal.SIGTERM)])
def test_a_signal_that_a_version_does_not_know_kills_it(
    listen: Callable[..., Listener], version: str, signum: signal.Signals
) -> None:
    listener = listen("--codex-version", version)
    listener.process.send_signal(signum)
    assert listener.process.wait(PATIENCE) == -signum


def test_a_client_that_does_not_read_keeps_no_other_from_being_served(
    listen: Callable[..., Listener], tmp_path: Path
) -> None:
    scripts = tmp_path / "s.json"
    flood = {"say": {"pieces": ["x" * 1000], "times": 1_000_000}}
    scripts.write_text(json.dumps([{"name": "flood", "parts": [[flood]]}]))
    listener = listen(WIREPROOF_SCRIPTS=str(scripts))
    deaf, other = listener.connect(), listener.connect()
    thread = deaf.start_thread()
    deaf.send("turn/start", {"threadId": thread, "input": [{"type": "text", "text": "[[wireproof:flood#1]]"}]})
    for _ in range(20):
        assert thread in other.ask("thread/loaded/list", {})["data"]
    listener.process.kill()


def test_the_journal_holds_both_directions(listen: Callable[..., Listener], tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    listener = listen("--journal", str(path))
    client = listener.connect()
    client.start_turn(client.start_thread(), "[[wireproof:text/hello#1]]")
    client.hear_turn()
    listener.process.terminate()
    assert listener.process.wait(PATIENCE) == 0
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert (entries[0]["direction"], entries[0]["message"]["method"]) == ("received", "initialize")
    assert entries[-1]["message"]["method"] == "turn/completed"


def test_a_version_without_websockets_says_so_as_it_does() -> None:
    command = [sys.executable, "-m", "wireproof_codex", "--codex-version", "0.89.0", "app-server"]
    done = subprocess.run(
        [*command, "--listen", "ws://127.0.0.1:0"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: unexpected argument '--listen' found\n")
