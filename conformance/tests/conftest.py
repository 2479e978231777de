"""A tiny HTTP server whose answers a test writes byte by byte, `wireproof serve`, waiting, and samples of scenarios."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import socketserver
import subprocess
import threading
import time
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.catalogue import load
from wireproof.reading.applicable import applicable
from wireproof.targets.launch import executable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wireproof.model.dialect import Dialect
    from wireproof.model.scenario import Form, Scenario
    from wireproof.model.verdict import Finding
    from wireproof.results.certificate import Certificate

    Judgement = tuple[str, Form]
    """The id of a requirement, and the form of the answers that it judges."""
    Sample = Callable[[Iterable[Scenario], Sequence[Dialect], str], Sequence[Scenario]]
    Serving = Callable[..., contextlib.AbstractContextManager["Served"]]
    Until = Callable[..., None]

DEADLINE = 60.0
CONTROLS = 3
"""One in so many of the scenarios that show that a miniature breaks nothing else is played beside it."""
STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
    b"X-Accel-Buffering: no\r\nConnection: keep-alive\r\n\r\n"
)
DONE = b"data: [DONE]\n\n"


class TinyExchange:
    """One request as the server got it, and the connection to answer it on."""

    def __init__(self, handler: socketserver.StreamRequestHandler) -> None:
        self._handler = handler
        self.method, self.path = handler.rfile.readline().decode().split()[:2]
        self.headers: dict[str, str] = {}
        while line := handler.rfile.readline().decode().strip():
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value.strip()
        self.body = handler.rfile.read(int(self.headers.get("content-length", 0)))

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def marker(self) -> str:
        """The script that the first user text asks for."""
        said = self.json["messages" if "messages" in self.json else "input"]
        text = next(m["content"] for m in said if m["role"] == "user")
        return str(text).removeprefix("[[wireproof:").partition("#")[0]

    @property
    def streamed(self) -> bool:
        return self.json.get("stream") is True

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._handler.wfile.write(piece)

    def chunk(self, delta: Any, finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        envelope = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        self.send(b"data: " + json.dumps({**envelope, "choices": [choice]}).encode() + b"\n\n")

    def whole(self, data: Any, status: str = "200 OK", kind: str = "application/json") -> None:
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.send(head.encode(), body)

    def completion(self, text: str | None, calls: Any = None) -> None:
        """A whole answer."""
        said = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
        choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if calls else "stop"}
        envelope = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
        self.whole({**envelope, "choices": [choice]})

    def answer(self, text: str) -> None:
        """A right answer of text, in the mode that was asked for."""
        if not self.streamed:
            self.completion(text)
            return
        self.send(STREAM)
        self.chunk({"role": "assistant", "content": ""})
        self.chunk({"content": text})
        self.chunk({}, "stop")
        self.send(DONE)

    def begin(self, text: str) -> None:
        """The beginning of a stream, up to its first text."""
        self.send(STREAM)
        self.chunk({"role": "assistant", "content": ""})
        self.chunk({"content": text})

    def hang(self, *pieces: bytes) -> None:
        """Send these, then nothing until the client has closed the connection."""
        self.send(*pieces)
        self.gone()

    def gone(self, timeout: float = DEADLINE) -> bool:
        """Whether the client closes the connection within this many seconds."""
        self._handler.connection.settimeout(timeout)
        try:
            return not self._handler.connection.recv(1)
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False


class _Threads(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64
    allow_reuse_address = True  # a server may come back at the address of another


class TinyServer:
    """Answers each request by calling `respond`, in a thread of its own; remembers every request."""

    def __init__(self, address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        self.respond: Callable[[TinyExchange], object] = lambda exchange: exchange.answer("Hello, world!")
        self.requests: list[TinyExchange] = []
        self.server = server = _Threads(address, self._handler())
        self.address = address[0], int(server.server_address[1])
        self.root = f"http://127.0.0.1:{self.address[1]}"
        self.base_url = f"{self.root}/v1"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def _handler(self) -> type[socketserver.StreamRequestHandler]:
        tiny = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(ConnectionError):
                    exchange = TinyExchange(self)
                    tiny.requests.append(exchange)
                    tiny.respond(exchange)

        return Handler

    def close(self) -> None:
        """Stop listening."""
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def tiny() -> Iterator[TinyServer]:
    server = TinyServer()
    try:
        yield server
    finally:
        server.close()


class Served:
    """A running `wireproof serve` and what it printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.said: dict[str, str] = {}
        for line in iter(process.stdout.readline, "\n"):
            word, _, rest = line.partition("  ")
            self.said[word.strip()] = rest.strip()
            if not line:
                raise AssertionError(f"wireproof serve ended: {process.communicate()[1]}")
        self.note = process.stdout.readline()
        self.introduction = process.stdout.readline()
        self.base_url, self.key, self.model, self.curl = (
            self.said[word] for word in ("base URL", "key", "model", "try")
        )


@contextlib.contextmanager
def _serving(*arguments: str) -> Iterator[Served]:
    command = [executable("wireproof"), "serve", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield Served(process)
        finally:
            process.terminate()
            process.communicate()


@pytest.fixture
def serving() -> Serving:
    """`with serving(*arguments) as served`: `wireproof serve` at a free port."""
    return _serving


@pytest.fixture(scope="session")
def served() -> Iterator[Served]:
    """`wireproof serve` as it is without arguments, for all tests."""
    with _serving() as one:
        yield one


@pytest.fixture
def until() -> Until:
    """Wait for a condition, with a generous deadline."""

    def wait(condition: Callable[[], object], what: str = "the condition") -> None:
        deadline = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain for {what}"
            time.sleep(0.005)

    return wait


# What Python shows of a value: names of constants, enumerations, dataclasses, quotes; and what a template leaves.
ODD = re.compile(r"\b(?:None|True|False)\b|<class|<[A-Z]\w*[.:]|\b\w+\(\w+=|\bEnum\b|[\[({]'|\{[a-z_]+\}")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*["…]')
"""A value in a sentence: it may hold anything."""


def _odd_words(certificate: Certificate) -> list[str]:
    said = [one.reason for one in certificate.outcomes]
    said += [text for one in certificate.outcomes for found in one.findings for text in _sentences(found)]
    return [text for text in said if ODD.search(QUOTED.sub('""', text)) or not text.isprintable()]


def _sentences(found: Finding) -> tuple[str, str]:
    # A request stands in it as it was sent, up to what is said of it.
    return found.violation.seen.rpartition(" was answered ")[2].partition("; sent was ")[0], found.violation.hint


@pytest.fixture
def odd_words() -> Callable[[Certificate], list[str]]:
    """The sentences of a certificate that show a value as Python does, or hold a template that was not filled."""
    return _odd_words


@pytest.fixture
def default_signals() -> Iterator[None]:
    """Signals act by default, here and in processes that are started; under nohup, for example, some are ignored."""
    defaults: dict[signal.Signals, signal._HANDLER] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in defaults.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def _judged(scenario: Scenario, dialects: Sequence[Dialect]) -> set[Judgement]:
    rows, forms = applicable(scenario, load(), dialects), scenario.forms(dialects)
    return {(row.id, form) for row in rows for form in forms if row.speaks_of(form)}


def _sample(scenarios: Iterable[Scenario], dialects: Sequence[Dialect], subject: str) -> Sequence[Scenario]:
    judged = {scenario: _judged(scenario, dialects) for scenario in scenarios}
    own = {scenario for scenario in judged if subject in scenario.exercises}
    chosen = set(own)
    every: set[Judgement] = set().union(*judged.values())
    left = every.difference(*(judged[scenario] for scenario in chosen))
    while left:
        # Greedy is within a scenario or two of the smallest sample; that the first of equals wins makes it repeatable.
        best = max(judged, key=lambda scenario: len(judged[scenario] & left))
        chosen.add(best)
        left -= judged[best]
    others = [scenario for scenario in judged if scenario in chosen - own]
    # By the subject, so that each is played beside some subject's faults in every run. A subject that no scenario is
    # about is seen in the others alone.
    left_out = {one for number, one in enumerate(others, zlib.crc32(subject.encode())) if own and number % CONTROLS}
    return [scenario for scenario in judged if scenario in chosen - left_out]


@pytest.fixture(scope="session")
def sample(request: pytest.FixtureRequest) -> Sample:
    """`sample(scenarios, dialects, subject)`: the scenarios that show whether a miniature breaks only `subject`.

    These are all that exercise the subject and, as a control, one in three of so few others that each requirement which
    the scenarios are judged by would be judged in each form. With `--whole` they are all the scenarios.
    """
    if request.config.getoption("whole"):
        return lambda scenarios, _dialects, _subject: list(scenarios)
    return _sample
