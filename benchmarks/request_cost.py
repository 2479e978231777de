"""What a request costs the endpoint of the processor, without a socket.

A connection is given the bytes of requests, and what it writes goes nowhere.

    python benchmarks/request_cost.py [NAME …] [--profile NAME]

Time of the processor, not of the clock, and the least of many short runs: other work on the machine shows less, so two
versions can be compared on a busy one. What the system takes for the socket comes on top (`endpoints.py` has both).
Printed are the microseconds of each kind of request, and, with `--profile`, which functions they are spent in.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import json
import pstats
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from endpoints import SCRIPTS
from measured import KEY, post

from wireproof_endpoint.http.application import EndpointApplication
from wireproof_endpoint.scripts import scripts_of
from wireproof_endpoint.serving import endpoint_of
from wireproof_endpoint.settings import EndpointSettings
from wireproof_surfaces.http.client_connection import ClientConnection
from wireproof_surfaces.http.edge_limits import EdgeLimits

if TYPE_CHECKING:
    from collections.abc import Mapping

# This file is a script, in no package.
# ruff: noqa: INP001

RUNS, TOGETHER = 40, 200
"""How often, and how many requests at a time; the first run only warms up."""
CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


def _chat(text: str, **more: object) -> dict[str, object]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **more}


def _agent(rounds: int) -> dict[str, object]:
    """A conversation with an agent, which has called a tool in each round."""
    said: list[dict[str, object]] = [{"role": "system", "content": "You are an agent."}]
    for number in range(rounds):
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        said += [
            {"role": "user", "content": f"Look at {number}."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": "It is there."},
            {"role": "assistant", "content": "I have seen it."},
        ]
    asked = {"role": "user", "content": "short please"}
    return {"model": "gpt-4o", "temperature": 0.2, "tools": [TOOL] * 1, "messages": [*said, asked]}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of request, and the endpoint that it goes to."""

    body: Mapping[str, object]
    path: str = CHAT
    journal: int = 200
    files: int = 1
    """How many files of scripts there are."""
    count: int = 1
    """How many things of a request are counted: events, for a stream."""
    together: int = field(default=TOGETHER)


KINDS: Mapping[str, Kind] = {
    "whole": Kind(body=_chat("short please")),
    "whole, no journal": Kind(body=_chat("short please"), journal=0),
    "whole, no file": Kind(body=_chat("short please"), files=0),
    "whole, 100 files": Kind(body=_chat("short please"), files=100),
    "agent, 20 rounds": Kind(body=_agent(20)),
    "stream, to its end": Kind(body=_chat("short please", stream=True)),
    "chunk of 1,000": Kind(body=_chat("long please", stream=True), count=1000, together=4),
    "response": Kind(body={"model": "gpt-4o", "input": "short please"}, path=RESPONSES),
    "its chunk of 1,000": Kind(
        body={"model": "gpt-4o", "input": "long please", "stream": True}, path=RESPONSES, count=1000, together=4
    ),
    "refused": Kind(body={"model": "gpt-4o", "messages": []}),
}


class _Nowhere(asyncio.Transport):
    """Keeps the last of what is written."""

    last = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.last = bytes(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        del high, low

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def close(self) -> None:
        pass


async def _asked(kind: Kind, application: EndpointApplication, times: int) -> None:
    nowhere, request = _Nowhere(), post(kind.body, kind.path)
    connection = ClientConnection(application, EdgeLimits(), {}, lambda: b"Mon, 23 Nov 2026 18:00:00 GMT")
    connection.connection_made(nowhere)
    end = b"0\r\n\r\n" if kind.body.get("stream") else b"}"
    for _ in range(times):
        nowhere.last = b""
        connection.data_received(request)
        while not nowhere.last.endswith(end):  # noqa: ASYNC110 - round by round
            await asyncio.sleep(0)
    connection.connection_lost(None)


def _application(kind: Kind, folder: Path) -> EndpointApplication:
    paths = []
    if kind.files:
        paths = [folder]
        (folder / "scripts.yaml").write_text(SCRIPTS)
        for number in range(1, kind.files):
            script = {"name": f"file-{number}", "when": f"the words of file {number}", "parts": [[{"say": ["Yes."]}]]}
            (folder / f"{number}.json").write_text(json.dumps([script]))
    return EndpointApplication(endpoint_of(EndpointSettings(api_key=KEY, journal=kind.journal), scripts_of(*paths)))


def cost(kind: Kind, *, profile: bool = False) -> float:
    """Microseconds of the processor."""
    with tempfile.TemporaryDirectory() as folder:
        application = _application(kind, Path(folder))
        run = partial(_asked, kind, application, kind.together)
        asyncio.run(run())
        gc.collect()
        gc.freeze()
        best = float("inf")
        for _ in range(RUNS):
            began = time.process_time()
            asyncio.run(run())
            best = min(best, time.process_time() - began)
        if profile:
            profiler = cProfile.Profile()
            profiler.runcall(asyncio.run, _asked(kind, application, 10 * kind.together))
            pstats.Stats(profiler).sort_stats("tottime").print_stats(40)
        return best / kind.together / kind.count * 1e6


def main() -> None:
    """Print the costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(KINDS), metavar="NAME")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    # As the server has it: an answer leaves no garbage that only a search would find.
    gc.set_threshold(25_000)
    for name in given.names:
        print(f"{name:20} {cost(KINDS[name], profile=given.profile):8.1f} µs", flush=True)  # noqa: T201 - the result


if __name__ == "__main__":
    main()
