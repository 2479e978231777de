"""The executable itself, over pipes."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

pytestmark = pytest.mark.sampled(20)

HELLO = {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "x", "version": "1"}, "capabilities": {}}}
PATIENCE = 30.0  # seconds after which a test gives up


class Process:
    """A running `wireproof-codex` whose stdin and stdout are pipes."""

    def __init__(self, *arguments: str, command: Sequence[str] = ("-m", "wireproof_codex"), **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *command, *arguments, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, **environment},
        )
        self.pieces: list[bytes] = []
        self._unread = b""
        self._threads = 0

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, message: object) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def receive(self) -> Any:
        """The next message; None at the end."""
        assert self.process.stdout is not None
        while b"\n" not in self._unread:
            assert select.select([self.process.stdout], [], [], PATIENCE)[0]
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            if not piece:
                return None
            self.pieces.append(piece)
            self._unread += piece
        line, self._unread = self._unread.split(b"\n", 1)
        return json.loads(line)

    def receive_until(self, met: Callable[[Any], bool]) -> list[Any]:
        received = [self.receive()]
        while received[-1] is not None and not met(received[-1]):
            received.append(self.receive())
        return received

    def shake_hands(self) -> None:
        self.send({**HELLO, "params": {**HELLO["params"], "capabilities": {"experimentalApi": True}}})  # type: ignore[dict-item]
        assert "userAgent" in self.receive()["result"]

    def start_turn(self, text: str, **params: object) -> tuple[str, str]:
        self._threads += 1
        self.send({"id": f"thread-{self._threads}", "method": "thread/start", "params": {"ephemeral": True, **params}})
        answer = self.receive_until(lambda message: message.get("id") == f"thread-{self._threads}")[-1]
        thread = answer["result"]["thread"]["id"]
        given = [{"type": "text", "text": text}]
        self.send(
            {"id": f"turn-{self._threads}", "method": "turn/start", "params": {"threadId": thread, "input": given}}
        )
        answer = self.receive_until(lambda message: message.get("id") == f"turn-{self._threads}")[-1]
        return thread, answer["result"]["turn"]["id"]

    def forget_what_came(self) -> None:
        """Drop what was read and not yet returned, as a client does that has not subscribed to it."""
        self._unread = b""

    def discard(self) -> None:
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        self.process.wait()

    def end(self) -> int:
        return self.process.wait(PATIENCE)

    def ticks(self) -> int:
        """What it has used of the processor, in hundredths of a second."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()


def _ends(method: str) -> Callable[[Any], bool]:
    return lambda message: message.get("method") == method


def _said(received: list[Any]) -> str:
    deltas = (
        message["params"] for message in received if message and message.get("method") == "item/agentMessage/delta"
    )
    return "".join(params["delta"] for params in deltas)


@pytest.fixture
def start() -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def begin(*arguments: str, **how: Any) -> Process:
        started.append(Process(*arguments, **how))
        return started[-1]

    yield begin
    for process in started:
        process.discard()


@pytest.fixture
def process(start: Callable[..., Process]) -> Process:
    began = start()
    began.shake_hands()
    return began


def test_a_text_turn_over_pipes(process: Process) -> None:
    process.start_turn("[[wireproof:text/hello#a]]")
    assert _said(process.receive_until(_ends("turn/completed"))) == "Hello, world!"


def test_a_tool_turn_over_pipes(process: Process) -> None:
    tool = {"name": "localSearch", "description": "", "inputSchema": {}}
    process.start_turn("[[wireproof:call/then-text#a]]", dynamicTools=[tool])
    asked = process.receive_until(_ends("item/tool/call"))[-1]
    content = [{"type": "inputText", "text": "found"}]
    process.send({"id": asked["id"], "result": {"contentItems": content, "success": True}})
    assert _said(process.receive_until(_ends("turn/completed"))) == "All clear."


def test_an_interrupt_over_pipes(process: Process) -> None:
    thread, turn = process.start_turn("[[wireproof:text/hang#a]]")
    process.receive_until(_ends("item/agentMessage/delta"))
    process.send({"id": "i", "method": "turn/interrupt", "params": {"threadId": thread, "turnId": turn}})
    ended = process.receive_until(_ends("turn/completed"))[-1]
    assert ended["params"]["turn"]["status"] == "interrupted"


def test_a_gate_opened_from_another_thread_over_pipes(process: Process) -> None:
    process.start_turn("[[wireproof:text/gate#a]]")
    process.receive_until(_ends("item/agentMessage/delta"))
    process.start_turn("[[wireproof:open/gate#a]]")
    received = process.receive_until(_ends("turn/completed"))
    assert _said([*received, *process.receive_until(_ends("turn/completed"))]) in {"secondopened", "openedsecond"}


def test_time_passes_over_pipes(start: Callable[..., Process], tmp_path: Path) -> None:
    scripts = tmp_path / "s.yaml"
    scripts.write_text("- {name: slow, parts: [[{pause: 0.02}, {say: a}, {pause: 0.02}, {say: b}]]}")
    process = start("--scripts", str(scripts))
    process.shake_hands()
    process.start_turn("[[wireproof:slow#a]]")
    assert _said(process.receive_until(_ends("turn/completed"))) == "ab"


def test_in_the_longest_silence_other_turns_are_played(start: Callable[..., Process], tmp_path: Path) -> None:
    scripts = tmp_path / "s.yaml"
    scripts.write_text("- {name: slow, parts: [[{say: a}, {pause: 1000000000}, {say: b}]]}")
    process = start("--scripts", str(scripts))
    process.shake_hands()
    process.start_turn("[[wireproof:slow#a]]")
    process.receive_until(_ends("item/agentMessage/delta"))
    process.start_turn("Hello")
    assert _said(process.receive_until(_ends("turn/completed")))


def test_a_reader_sees_each_cut_of_the_output(process: Process) -> None:
    process.start_turn("[[wireproof:text/cut-bytes#a]]")
    text = _said(process.receive_until(_ends("turn/completed")))
    assert text == "\U0001f600" * 16 + "\u65e5\u672c\u8a9e" * 8 + " \u00e9nd"
    continued = [piece for piece in process.pieces if 0x80 <= piece[0] < 0xC0]
    assert len(continued) > 3
    process.start_turn("[[wireproof:text/hello#a]]")
    assert _said(process.receive_until(_ends("turn/completed"))) == "Hello, world!"
    process.close_input()
    assert process.end() == 0


def test_garbage_reaches_the_reader_and_the_journal(start: Callable[..., Process], tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    process = start("--journal", str(journal))
    process.shake_hands()
    process.start_turn("[[wireproof:fail/garbled#a]]")
    with pytest.raises(UnicodeDecodeError):
        process.receive_until(_ends("turn/completed"))
    process.receive_until(_ends("turn/completed"))
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [entry["direction"] for entry in entries if "raw" in entry] == ["sent"]
    process.close_input()
    assert process.end() == 0


def test_it_dies_where_the_environment_says(start: Callable[..., Process]) -> None:
    process = start(WIREPROOF_CRASH_AT="initialize")
    process.send(HELLO)
    assert process.receive() is None
    assert process.end() == 101


def test_an_older_version_over_pipes(start: Callable[..., Process]) -> None:
    process = start("--codex-version", "0.89.0")
    process.shake_hands()
    process.start_turn("[[wireproof:text/hello#a]]")
    received = process.receive_until(_ends("turn/completed"))
    assert _said(received) == "Hello, world!"
    assert any(message["method"] == "codex/event/agent_message" for message in received)


def test_reflect_over_pipes(process: Process) -> None:
    process.start_turn("[[wireproof:reflect/received#a]]", developerInstructions="é 😀")
    reflected = json.loads(_said(process.receive_until(_ends("turn/completed"))))
    assert (reflected["developer"], reflected["history"]) == ("é 😀", [])


def test_a_client_that_subscribes_after_the_response_gets_the_end_of_the_turn(start: Callable[..., Process]) -> None:
    process = start(WIREPROOF_PACE="1")
    process.shake_hands()
    process.start_turn("[[wireproof:text/hello#a]]")
    process.forget_what_came()
    received = process.receive_until(_ends("turn/completed"))
    assert received[-1]["params"]["turn"]["status"] == "completed"
    assert _said(received)


def test_a_crash_ends_the_process_after_what_was_said(process: Process) -> None:
    process.start_turn("[[wireproof:fail/crash-text#a]]")
    assert _said(process.receive_until(lambda _: False)) == "Last words"
    assert process.end() == 101


SLOW = """
import itertools, sys
from wireproof_codex import context
seconds = itertools.count(1_800_000_000)
context.epoch_clock = lambda: lambda: float(next(seconds))
from wireproof_codex.__main__ import main
sys.exit(main(["app-server"]))
"""


def test_a_crash_ends_a_process_that_gets_little_time_after_what_was_said(start: Callable[..., Process]) -> None:
    process = start(command=["-c", SLOW])
    process.shake_hands()
    process.start_turn("[[wireproof:fail/crash-text#a]]")
    assert _said(process.receive_until(lambda _: False)) == "Last words"
    assert process.end() == 101


def test_the_end_of_input_ends_the_process(process: Process) -> None:
    process.start_turn("[[wireproof:text/hang#a]]")
    process.close_input()
    assert process.end() == 0
    assert process.process.stderr is not None
    assert process.process.stderr.read() == b""


@pytest.mark.parametrize("version", ["0.89.0", NEWEST.number])
def test_a_turn_that_asks_for_approval_outlives_the_input_of_an_old_version(
    start: Callable[..., Process], version: str
) -> None:
    process = start("--codex-version", version)
    process.shake_hands()
    process.start_turn("[[wireproof:act/command#a]]", approvalPolicy="untrusted")
    process.receive_until(_ends("item/commandExecution/requestApproval"))
    process.write(b'{"id": "last", "method": "thread/loaded/list", "params": {}}')
    process.close_input()
    process.receive_until(lambda message: message.get("id") == "last")
    if version == "0.89.0":
        before = process.ticks()
        with pytest.raises(subprocess.TimeoutExpired):
            process.process.wait(0.3)  # that nothing comes can only be seen by waiting
        assert process.ticks() - before < 15, "it sleeps"
        process.process.terminate()
    assert process.end() == (-signal.SIGTERM if version == "0.89.0" else 0)


def test_a_last_line_without_an_end_is_answered(process: Process) -> None:
    process.write(b'{"id":"last","method":"thread/loaded/list","params":{}}')
    process.close_input()
    assert process.receive_until(lambda message: message.get("id") == "last")[-1] is not None
    assert process.end() == 0


@pytest.mark.parametrize(
    ("version", "signum", "status"),
    [
        ("0.154.0", signal.SIGTERM, -signal.SIGTERM),
        ("0.155.0", signal.SIGTERM, 0),
        ("0.155.0", signal.SIGINT, -signal.SIGINT),
    ],
)
def test_a_signal_ends_the_process_as_the_version_has_it(
    start: Callable[..., Process], version: str, signum: signal.Signals, status: int
) -> None:
    process = start("--codex-version", version)
    process.shake_hands()
    process.start_turn("[[wireproof:text/hang#a]]")
    process.process.send_signal(signum)
    assert process.end() == status


DEAF = """
import signal, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
from wireproof_codex.__main__ import main
sys.exit(main(["app-server"]))
"""


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_interrupts_nothing_ends_the_process(
    start: Callable[..., Process], signum: signal.Signals
) -> None:
    process = start(command=["-c", DEAF])
    process.shake_hands()
    process.process.send_signal(signum)
    assert process.end() == (0 if signum == signal.SIGTERM else -signum)


def test_bytes_that_are_no_utf8_end_the_process_and_are_mentioned(process: Process) -> None:
    process.write(b'{"id":1,"method":"\xff\xfe"}\n')
    assert process.end() == 0
    assert process.process.stderr is not None
    assert b"did not contain valid UTF-8" in process.process.stderr.read()


def test_5000_requests_in_one_write_are_answered_in_order(process: Process) -> None:
    process.write(b"".join(b'{"id":%d,"method":"thread/loaded/list","params":{}}\n' % number for number in range(5000)))
    received = process.receive_until(lambda message: message.get("id") == 4999)
    assert [message["id"] for message in received if "id" in message] == list(range(5000))


def test_40_turns_run_at_once_and_all_end(process: Process) -> None:
    running = {process.start_turn("[[wireproof:text/gate#many]]")[0] for _ in range(40)}
    process.start_turn("[[wireproof:open/gate#many]]")
    ended: dict[str, str] = {}
    while not running <= ended.keys():
        params = process.receive_until(_ends("turn/completed"))[-1]["params"]
        ended[params["threadId"]] = params["turn"]["status"]
    assert {ended[thread] for thread in running} == {"completed"}


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell a process's memory there")
def test_100000_deltas_of_a_turn_all_come_and_cost_no_memory(start: Callable[..., Process], tmp_path: Path) -> None:
    scripts = tmp_path / "s.json"
    scripts.write_text(json.dumps([{"name": "flood", "parts": [[{"say": {"pieces": ["word"], "times": 100_000}}]]}]))
    process = start("--scripts", str(scripts))
    process.shake_hands()
    process.start_turn("[[wireproof:flood#a]]")
    before = _memory(process)
    assert _said(process.receive_until(_ends("turn/completed"))) == "word" * 100_000
    assert _memory(process) - before < 20_000


def test_a_line_of_many_pieces_and_one_of_a_mebibyte(process: Process) -> None:
    for byte in b'{"id":"slow","method":"thread/loaded/list","params":{}}\r\n':
        process.write(bytes([byte]))
    process.receive_until(lambda message: message.get("id") == "slow")
    text = "[[wireproof:reflect/received#a]]" + "é" * 1_000_000
    process.start_turn(text)
    reflected = json.loads(_said(process.receive_until(_ends("turn/completed"))))
    assert reflected["input"] == [{"type": "text", "text": text}]


def _memory(process: Process) -> int:
    """Resident kilobytes."""
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


@pytest.fixture
def flood(start: Callable[..., Process], tmp_path: Path) -> Process:
    """A process that was asked for a hundred million deltas."""
    scripts = tmp_path / "s.json"
    say = {"say": {"pieces": ["x" * 50], "times": 100_000_000}}
    scripts.write_text(json.dumps([{"name": "flood", "parts": [[say]]}]))
    process = start("--scripts", str(scripts))
    process.shake_hands()
    return process


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell a process's memory there")
def test_a_client_that_does_not_read_costs_no_memory_and_is_still_served(flood: Process) -> None:
    thread, turn = flood.start_turn("[[wireproof:flood#a]]")
    before = _memory(flood)
    flood.send({"id": "i", "method": "turn/interrupt", "params": {"threadId": thread, "turnId": turn}})
    ended = flood.receive_until(_ends("turn/completed"))[-1]
    assert ended["params"]["turn"]["status"] == "interrupted"
    assert _memory(flood) - before < 20_000


@pytest.mark.parametrize("end", ["close_input", "terminate"])
def test_a_client_that_does_not_read_cannot_keep_the_process(flood: Process, end: str) -> None:
    flood.start_turn("[[wireproof:flood#a]]")
    getattr(flood, end, flood.process.terminate)()
    assert flood.end() == 0


def test_requests_that_nobody_reads_the_answers_of_are_no_longer_taken(process: Process) -> None:
    request = b'{"id":1,"method":"thread/loaded/list","params":{}}\n' * 1000
    assert process.process.stdin is not None
    os.set_blocking(process.process.stdin.fileno(), False)
    taken = 0
    while select.select([], [process.process.stdin], [], 0.5)[1]:
        taken += os.write(process.process.stdin.fileno(), request)
        assert taken < 100_000_000
    process.close_input()
    assert process.end() == 0


def test_a_client_that_is_gone_ends_the_process(process: Process) -> None:
    assert process.process.stdout is not None
    process.process.stdout.close()
    process.send({"id": 1, "method": "thread/loaded/list", "params": {}})
    assert process.end() == 0


def test_the_journal_holds_both_directions(start: Callable[..., Process], tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    process = start("--journal", str(path))
    process.shake_hands()
    process.write(b"no json\n")
    process.start_turn("[[wireproof:text/hello#a]]")
    process.receive_until(_ends("turn/completed"))
    process.close_input()
    assert process.end() == 0
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert entries[0]["direction"] == "received"
    assert entries[0]["message"]["method"] == "initialize"
    assert [entry["raw"] for entry in entries if "raw" in entry] == ["no json"]
    assert entries[-1]["message"]["method"] == "turn/completed"
    assert entries == sorted(entries, key=lambda entry: entry["at"])


def test_input_that_is_a_file_is_played_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_text(json.dumps(HELLO) + "\n")
    with path.open() as file:
        done = subprocess.run(
            [sys.executable, "-m", "wireproof_codex", "app-server"], stdin=file, capture_output=True, check=True
        )
    assert done.stdout.startswith(b'{"id":0,"result":{"userAgent":"x/%b' % NEWEST.number.encode())


def _begin_conversation(process: Process) -> str:
    """A v1 conversation that this client listens to, begun as its first requests."""
    process.send(HELLO)
    process.send({"id": 1, "method": "newConversation", "params": {}})
    conversation = process.receive_until(lambda message: message.get("id") == 1)[-1]["result"]["conversationId"]
    process.send({"id": 2, "method": "addConversationListener", "params": {"conversationId": conversation}})
    assert "subscriptionId" in process.receive_until(lambda message: message.get("id") == 2)[-1]["result"]
    return str(conversation)


def test_a_client_that_begins_with_v1_is_played_v1_although_no_version_was_named(start: Any) -> None:
    process = start(WIREPROOF_CODEX_VERSION="")
    conversation = _begin_conversation(process)
    item = {"type": "text", "data": {"text": "[[wireproof:reflect/backend#a]]"}}
    process.send({"id": 3, "method": "sendUserMessage", "params": {"conversationId": conversation, "items": [item]}})
    said = process.receive_until(lambda message: message.get("method") == "codex/event/agent_message")[-1]
    report = json.loads(said["params"]["msg"]["message"])
    assert report == {"codex": "0.107.0", "protocol": "v1", "nonce": "a"}


def test_a_version_that_was_named_has_no_methods_but_its_own(start: Any) -> None:
    process = start(WIREPROOF_CODEX_VERSION=NEWEST.number)
    process.send(HELLO)
    process.send({"id": 1, "method": "newConversation", "params": {}})
    error = process.receive_until(lambda message: message.get("id") == 1)[-1]["error"]
    assert error["message"].startswith("Invalid request: unknown variant `newConversation`")


def test_a_client_that_begins_with_v2_is_played_the_newest(start: Any) -> None:
    process = start(WIREPROOF_CODEX_VERSION="")
    process.shake_hands()
    process.start_turn("[[wireproof:reflect/backend#a]]")
    said = process.receive_until(lambda message: message.get("method") == "item/agentMessage/delta")[-1]
    assert json.loads(said["params"]["delta"]) == {"codex": NEWEST.number, "protocol": "v2", "nonce": "a"}
