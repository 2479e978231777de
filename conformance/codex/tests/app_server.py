"""Talks to an app-server, real or mock, over its pipes: sends what a client says, keeps all that it hears."""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

DEADLINE = 20.0
"""Seconds within which an awaited message must come."""

Message = dict[str, Any]
Wanted = Callable[[Message], bool]


class Talk:
    """A conversation with a server: `received` is what it sent, in order, and `sent` what was sent to it.

    `started` is the method of the notification by which a thread is known to have started.
    """

    def __init__(self, pipe: IO[bytes], lines: queue.SimpleQueue[bytes], started: str) -> None:
        self.received: list[Message] = []
        self.sent: list[Message] = []
        self._pipe = pipe
        self._lines = lines
        self._started = started
        self._numbers = itertools.count(1)
        self._new: list[Message] = []

    def send(self, message: Message) -> None:
        """Say something."""
        self.sent.append(message)
        self._pipe.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self._pipe.flush()

    def receive(self, wanted: Wanted) -> Message:
        """The first message that is wanted, of those that were not given yet."""
        found = next(filter(wanted, self._new), None)
        while found is None:
            message: Message = json.loads(self._line())
            self.received.append(message)
            self._new.append(message)
            found = message if wanted(message) else None
        self._new.remove(found)
        return found

    def forget(self) -> None:
        """Give nothing any more that has come so far."""
        self._new.clear()

    def _line(self) -> bytes:
        try:
            line = self._lines.get(timeout=DEADLINE)
        except queue.Empty:
            line = b""
        assert line, f"the server sends no more; it sent {self.received[-3:]}"
        return line

    def ask(self, method: str, **params: object) -> Any:
        """Send a request; its result, or its error."""
        number = next(self._numbers)
        self.send({"id": number, "method": method, "params": params})
        answer = self.receive(lambda message: message.get("id") == number and "method" not in message)
        return answer.get("result", answer.get("error"))

    def notified(self, method: str, times: int = 1) -> Any:
        """The parameters of the next notification of this method, or of the one so many on."""
        for _ in range(times):
            message = self.receive(lambda message: message.get("method") == method)
        return message["params"]

    # What every conversation is made of

    def begin(self) -> None:
        """Shake hands."""
        self.ask("initialize", clientInfo={"name": "wireproof", "version": "1"}, capabilities={"experimentalApi": True})
        self.send({"method": "initialized"})

    def thread(self, *tools: str, **params: object) -> str:
        """Start a thread in which these tools are declared."""
        if tools:
            params["dynamicTools"] = [{"name": tool, "description": "", "inputSchema": {}} for tool in tools]
        result = self.ask("thread/start", **params)
        self.notified(self._started)
        return str(result["thread"]["id"])

    def turn(self, thread: str, text: str | None, **params: object) -> str:
        """Start a turn; its id."""
        given = [] if text is None else [{"type": "text", "text": text}]
        result = self.ask("turn/start", threadId=thread, input=given, **params)
        return str(result["turn"]["id"])

    def whole_turn(self, thread: str, text: str | None, **params: object) -> None:
        """Start a turn, and wait for its end."""
        self.turn(thread, text, **params)
        self.over()

    def called(self) -> Message:
        """The next request to run a tool."""
        return self.receive(lambda message: message.get("method") == "item/tool/call")

    def answer(self, call: Message, **result: object) -> None:
        """Answer a call, and wait until it is over."""
        self.send({"id": call["id"], "result": result})
        self.receive(lambda message: message.get("method") == "item/completed" and _is_of(call, message))

    def interrupt(self, thread: str, turn: str) -> None:
        """End the turn, and wait for its end."""
        self.ask("turn/interrupt", threadId=thread, turnId=turn)
        self.over()

    def over(self) -> Message:
        """The end of the turn."""
        ended: Message = self.notified("turn/completed")["turn"]
        return ended


def _is_of(call: Message, message: Message) -> bool:
    return bool(message["params"]["item"]["id"] == call["params"]["callId"])


@contextmanager
def talking(
    command: Sequence[str | Path], *, env: Mapping[str, str], cwd: Path, started: str = "thread/started"
) -> Iterator[Talk]:
    """A server and the conversation with it, for the length of a `with` block; then its input ends, and it."""
    with (cwd / "stderr").open("wb") as errors:
        server = subprocess.Popen(
            command, env=dict(env), cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
    assert server.stdin is not None
    assert server.stdout is not None
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(server.stdout, lines), daemon=True)
    reader.start()
    try:
        yield Talk(server.stdin, lines, started)
        server.stdin.close()
        server.wait(DEADLINE)
    finally:
        server.kill()
        server.wait()
        reader.join()
        server.stdout.close()


def _read(pipe: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    for line in pipe:
        lines.put(line)
    lines.put(b"")
