"""Recorded answers of strangers' servers, played back to clients byte for byte.

A base URL names a recording and one of its exchanges: `/RECORDING/SCENARIO/FORM/v1`. The first request of a client gets
the recorded head and body; whatever it asks then, with the result of a tool, gets a short right answer.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wireproof.model.dialect import Dialect, Surface
from wireproof.model.scenario import Act, ConversationScenario, Mode
from wireproof.reading.expected import ExpectedFailure
from wireproof.results import archive
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof.model.transcript import Transcript
    from wireproof.reading.exchange import Exchange

CORPUS = Path(__file__).parents[2] / "tests" / "corpus"
OUTPUT = "function_call_output"
ORDINARY = {
    Surface.CHAT: Dialect.OPENAI_JSON,
    Surface.RESPONSES: Dialect.RESPONSES,
    Surface.MESSAGES: Dialect.MESSAGES,
}
"""The dialect that clients speak, by the surfaces that recorded servers have."""
PASSED_ON = "openai-forward", {Mode.STREAM: "usage-asked", Mode.WHOLE: "text-hello"}
AFTERWARDS = {
    Surface.CHAT: PASSED_ON,
    Surface.RESPONSES: PASSED_ON,
    Surface.MESSAGES: ("aimock-messages", dict.fromkeys(Mode, "live-say")),
}
"""Where a right answer to what clients ask next is taken from: a gateway that passes on bytes, or the one recording of
Messages, and the scenarios by their modes."""
BROKEN = frozenset({"call-broken"})
"""Scenarios whose backend itself calls with arguments that are no JSON: no client reads them."""
FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})
"""Headers of a recorded head that are written again: the body is sent in one piece."""
MOST = 20
"""Requests of a path; what goes well takes two."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """An exchange of a recording that a client can be given."""

    recording: str
    exchange: Exchange

    @property
    def path(self) -> str:
        """The first parts of its URL's path."""
        form = f"{self.exchange.dialect.value}-{self.exchange.mode.value}"
        return f"{self.recording}/{self.exchange.scenario.name}/{form}"

    @property
    def dialogue(self) -> dict[str, Any]:
        """What the client is to ask, with the tools of the scenario."""
        return dialogue_of(self.exchange.conversation)

    @property
    def meant(self) -> tuple[str, list[tuple[str, Any]]] | None:
        """The text and the calls of the answer, as its bytes have them; None: its form is not that asked for."""
        if self.exchange.reading is None or not self.exchange.answer.choices:
            return None
        choice = self.exchange.choice()
        return choice.text or "", [(call.name, json.loads(call.arguments or "{}")) for call in choice.calls]


def dialogue_of(scenario: ConversationScenario) -> dict[str, Any]:
    """What a client is to ask, with the tools of a scenario."""
    tools = [
        {
            "name": tool["function"]["name"],
            "description": tool["function"].get("description", ""),
            "parameters": tool["function"].get("parameters", {"type": "object", "properties": {}}),
            "result": "done",
        }
        for tool in scenario.tools
    ]
    return {"prompt": "Go on.", "tools": tools, "parallel": None, "schema": None}


def recorded(name: str, surface: Surface) -> list[Recorded]:
    """The first answers of a recording's ordinary conversations on a surface."""
    return [Recorded(recording=name, exchange=one) for one in _first(name, surface) if _is_ordinary(one)]


def afterwards(surface: Surface, mode: Mode) -> Transcript:
    """A short right answer."""
    name, scenarios = AFTERWARDS[surface]
    every = (one for one in _first(name, surface) if one.mode is mode)
    return next(one.transcript for one in every if one.scenario.name == scenarios[mode])


@cache
def _first(name: str, surface: Surface) -> list[Exchange]:
    there = archive.load(CORPUS / f"{name}.gz", (*SCENARIOS, *LIVE))
    return [
        those[0]
        for run in there.runs
        for form, those in run.exchanges.items()
        if form.dialect is ORDINARY[surface] and those
    ]


def _is_ordinary(exchange: Exchange) -> bool:
    """Whether a client that asks for one thing could have got it: one choice, nothing that was to go wrong."""
    scenario, turn = exchange.scenario, exchange.turn
    if not isinstance(scenario, ConversationScenario) or turn is None or scenario.name in BROKEN:
        return False
    fails = any(one.failure is not ExpectedFailure.NONE for one in exchange.wanted)
    plain = scenario.choices == 1 and turn.act is Act.READ and not turn.images and not fails and exchange.transcript.ok
    # The programs here ask for a usage, which not every scenario of chat does.
    counted = exchange.mode is Mode.WHOLE or scenario.usage or exchange.dialect is not Dialect.OPENAI_JSON
    return plain and counted and (exchange.reading is None or exchange.answer.error is None)


@dataclass(frozen=True, kw_only=True)
class Played:
    """What is answered at a path."""

    first: Transcript
    then: Transcript
    """To a request that goes on from the first answer."""
    whole: tuple[Transcript, Transcript] | None = None
    """The same two for a client that asks for a stream, and then for a whole answer; None: as for a stream."""


@contextmanager
def playing(answers: Mapping[str, Played], asked: Counter[str] | None = None) -> Iterator[str]:
    """The address of a server that plays answers back, each at its path.

    `asked` counts the requests of each path. Whoever asks without end is refused from the request `MOST` on.
    """
    counted: Counter[str] = Counter() if asked is None else asked

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            path = "/".join(self.path.split("/")[1:4])
            counted[path] += 1
            if counted[path] >= MOST:
                self.send_error(HTTPStatus.BAD_REQUEST)
                return
            found = answers[path]
            pair = (found.first, found.then) if body.get("stream") or not found.whole else found.whole
            transcript = pair[_goes_on(body)]
            self.send_response(transcript.status or HTTPStatus.OK)
            for name, value in transcript.headers:
                if name.lower() not in FRAMING:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(transcript.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name that it has there)
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def _goes_on(body: Mapping[str, Any]) -> bool:
    """Whether a request is a later one of its conversation, on any surface."""
    said = body.get("messages") or body.get("input")
    items = said if isinstance(said, list) else []
    later = (one.get("role") in {"assistant", "tool"} or one.get("type") in {"function_call", OUTPUT} for one in items)
    return "previous_response_id" in body or any(later)
