"""The client programs, the ways in which each uses its client, and the endpoint that some of them ask."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from dialogues import Answer, Dialogue

HERE = Path(__file__).parents[1]
INSTALLED = Path(sys.prefix) / "clients"
PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL")
"""Of this environment, all that clients get: nothing that would send them through a proxy, or report on them."""
# Only a client that hangs reaches it: one that is slow to import took more than a minute on a busy machine.
DEADLINE = 300.0
"""Seconds for a client's whole program."""

Play = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Client:
    """A client program and a way to use the client; `streamed`: its answers come as streams.

    `in_parts`: it speaks Responses or Messages, where a text before a call stays, streamed or not. `one_wanted`: it
    speaks Messages, where a request for one call at most holds for whole answers, too. `ends`: its words for how an
    answer ended, without calls and with; None where it does not tell.
    """

    program: str
    way: str
    streamed: bool
    in_parts: bool = False
    one_wanted: bool = False
    ends: tuple[str | None, str | None] = ("stop", "tool_calls")

    @property
    def name(self) -> str:
        """As it stands in the names of tests."""
        return f"{Path(self.program).stem}-{self.way}"

    @property
    def keeps_text(self) -> bool:
        """Whether it is told the text before a call."""
        return self.streamed or self.in_parts

    def answers(self, dialogue: Dialogue) -> tuple[Answer, ...]:
        """What the model answers it, in order."""
        return ((self.streamed or self.one_wanted) and dialogue.streamed) or dialogue.answers

    def turns(self, dialogue: Dialogue) -> list[dict[str, Any]]:
        """What the client is to be told, in order."""
        answers = self.answers(dialogue)
        if not self.keeps_text:
            answers = tuple(replace(answer, text="") if answer.calls else answer for answer in answers)
        return [self._told(answer) for answer in answers]

    def _told(self, answer: Answer) -> dict[str, Any]:
        calls = [{"id": call.id, "name": call.name, "arguments": json.loads(call.raw)} for call in answer.calls]
        finish = self.ends[bool(calls)]
        return {"text": answer.text, "finish": finish, "usage": list(answer.usage), "calls": calls}

    def play(self, asked: Sequence[Mapping[str, Any]], account: Mapping[str, str]) -> list[Play]:
        """What became of the dialogues that it was asked to play."""
        return list(_said_by(self.program, self.way, given={**account, "dialogues": asked}))


def _said_by(program: str, *words: str, given: object) -> Any:
    """What a client program says, as JSON."""
    runner, folder = ("node", INSTALLED) if program.endswith(".mjs") else (sys.executable, HERE)
    done = subprocess.run(
        [runner, folder / program, *words],
        input=json.dumps(given),
        env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
        encoding="utf-8",
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _chat(program: str, whole: Sequence[str] = ("whole",), stream: Sequence[str] = ("stream",)) -> list[Client]:
    ways = [*((way, False) for way in whole), *((way, True) for way in stream)]
    return [Client(program=program, way=way, streamed=streamed) for way, streamed in ways]


def _in_parts(
    program: str,
    whole: Sequence[str] = ("whole",),
    stream: Sequence[str] = ("stream",),
    ends: tuple[str | None, str | None] = ("completed", "completed"),
) -> list[Client]:
    return [replace(client, in_parts=True, ends=ends) for client in _chat(program, whole, stream)]


def _messages(
    program: str,
    whole: Sequence[str] = ("whole",),
    stream: Sequence[str] = ("stream",),
    ends: tuple[str | None, str | None] = ("end_turn", "tool_use"),
) -> list[Client]:
    return [replace(client, one_wanted=True) for client in _in_parts(program, whole, stream, ends)]


RUNNERS = ("runner-whole", "runner-unthreaded-whole"), ("runner", "runner-unthreaded")
CLIENTS = (
    *_chat("openai_python.py"),
    *_chat("langchain_python.py"),
    *_chat("openai_node.mjs", ("whole", "run-tools-whole"), ("stream", "run-tools")),
    *_chat("ai_sdk.mjs"),
    *_chat("langchain_js.mjs"),
    *_in_parts("openai_python_responses.py", ("whole", "parse", "stored"), ("stream", "helper", "stored-stream")),
    *_in_parts("openai_node_responses.mjs", ("whole", "parse", "stored"), ("stream", "helper", "stored-helper")),
    *_in_parts("openai_agents_python.py", ends=(None, None)),
    *_in_parts(
        "ai_sdk.mjs",
        ("responses-whole", "responses-unstored-whole"),
        ("responses-stream", "responses-unstored-stream"),
        ("stop", "tool_calls"),
    ),
    *_in_parts("langchain_python.py", ("responses-whole",), ("responses-stream",)),
    *_in_parts("langchain_js.mjs", ("responses-whole",), ("responses-stream",)),
    *_messages("anthropic_python.py", ("whole", *RUNNERS[0]), ("stream", *RUNNERS[1])),
    *_messages("anthropic_node.mjs", ("whole", *RUNNERS[0]), ("stream", *RUNNERS[1])),
    *_messages("ai_sdk.mjs", ("messages-whole",), ("messages-stream",), ("stop", "tool_calls")),
    *_messages("langchain_python.py", ("messages-whole",), ("messages-stream",)),
)


def installed() -> None:
    """Bring the JavaScript programs beside their clients: they find them only there.

    Raises:
        FileNotFoundError: the clients are not installed.
    """
    if not (INSTALLED / "node_modules").is_dir():
        raise FileNotFoundError(f"the JavaScript clients are not installed: run {HERE / 'install.py'}")
    for program in HERE.glob("*.mjs"):
        shutil.copy(program, INSTALLED)


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """The base URL of `wireproof serve`."""
    command = [str(Path(sys.executable).with_name("wireproof")), "serve", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().removeprefix("base URL").strip()
        finally:
            process.terminate()


def gone(program: str, url: str) -> Mapping[str, Any]:
    """What came of each way of a program that says so of each (`structured.py`)."""
    if program.endswith(".mjs"):
        installed()
    results: Mapping[str, Any] = _said_by(program, given={"url": url, "key": "any", "model": "gpt-4o"})
    return results


@contextmanager
def passing_on(
    url: str,
    *,
    refuses: Callable[[Mapping[str, Any]], bool] = lambda _: False,
    change: Callable[[bytes], bytes] = bytes,
) -> Iterator[str]:
    """The base URL of a gateway to `url` with a fault: it refuses some requests, or changes the bodies of answers."""
    error = {"message": "not supported here", "type": "invalid_request_error", "param": None, "code": None}

    class Gateway(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name that http.server looks for
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if refuses(json.loads(body)):
                self._answer(400, "application/json", json.dumps({"error": error}).encode())
                return
            done = httpx.post(url + self.path, content=body, headers={"Content-Type": "application/json"})
            self._answer(done.status_code, done.headers["Content-Type"], change(done.content))

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
