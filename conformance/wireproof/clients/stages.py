"""Where the endpoint of a scenario is: on ports of its own, for a program, or in this process, for a function.

Each run of a scenario has an endpoint of its own, so several run side by side, and nothing of one is in another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wireproof.clients.journal import FirstRequests
from wireproof.clients.scripts import scripts_of
from wireproof.model.target import root_of
from wireproof_endpoint import serving
from wireproof_endpoint.in_process import Transport
from wireproof_endpoint.settings import EndpointSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.clients.tool_use import ToolUse
    from wireproof.model.client_scenario import ClientScenario
    from wireproof.model.transcript import Transcript
    from wireproof_endpoint.endpoint import Endpoint

KEY = "sk-wireproof-client-0123456789"
"""The key that a client is given. It opens nothing, so it is not masked in records."""
BASE = "http://127.0.0.1:8787/v1"
"""The base URL in records, whichever port it was: that of `wireproof serve`, so that a request can be sent again."""
ELSEWHERE = "http://localhost:8788"
"""The host in records to which a redirect led."""
MOST = 100
"""Requests of a scenario after which a client is ended; client.no-storm counts them."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """The endpoint of one scenario, as a client needs it."""

    base_url: str
    model: str
    journal: FirstRequests
    transport: Transport | None = None
    """For clients of httpx or httpx2 in this process; None: the endpoint is on a port."""
    key: str = KEY
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Address, without a path → the one that records have: ports are others each time."""

    def renamed(self, transcript: Transcript) -> Transcript:
        """A transcript with the addresses that records have."""
        for real, shown in self.hosts.items():
            if transcript.url.startswith(real):
                host = shown.removeprefix("http://")
                headers = ((name, host if name == "host" else value) for name, value in transcript.request_headers)
                url = shown + transcript.url.removeprefix(real)
                return replace(transcript, url=url, request_headers=tuple(headers))
        return transcript


Stage = Callable[["ClientScenario", "ToolUse | None", str], AbstractContextManager[Played]]
"""Makes the endpoint of a scenario, of the tool that is called and the model that is asked for."""


@contextmanager
def on_sockets(scenario: ClientScenario, tool: ToolUse | None, model: str) -> Iterator[Played]:
    """An endpoint on a loopback port, and another one to which redirects lead."""
    journal = FirstRequests(MOST)
    with ExitStack() as stack:
        other = stack.enter_context(serving.running(_endpoint(scenario, tool, journal, "")))
        elsewhere = root_of(other).replace("127.0.0.1", "localhost")
        url = stack.enter_context(serving.running(_endpoint(scenario, tool, journal, elsewhere)))
        yield Played(
            base_url=url, model=model, journal=journal, hosts={root_of(url): root_of(BASE), elsewhere: ELSEWHERE}
        )


@contextmanager
def in_process(scenario: ClientScenario, tool: ToolUse | None, model: str) -> Iterator[Played]:
    """An endpoint without a socket, which answers at any address."""
    journal = FirstRequests(MOST)
    transport = Transport(_endpoint(scenario, tool, journal, ELSEWHERE))
    yield Played(base_url=BASE, model=model, journal=journal, transport=transport)


def _endpoint(scenario: ClientScenario, tool: ToolUse | None, journal: FirstRequests, elsewhere: str) -> Endpoint:
    scripts = {one.name: one for one in scripts_of(scenario.script, tool, elsewhere=elsewhere)}
    return serving.endpoint_of(EndpointSettings(), lambda: scripts, journal)
