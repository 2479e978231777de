"""The result of a client: run, judged, and held in a certificate as that of a proxy is."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from wireproof.clients.running import MODEL, ClientEnding, ClientPlayer, target_of
from wireproof.clients.stages import in_process, on_sockets
from wireproof.model.catalogue import load
from wireproof.results.judge_run import judge_run
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wireproof.clients.running import JudgedClient
    from wireproof.clients.stages import Played, Stage
    from wireproof.clients.tool_use import ToolUse
    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.client_scenario import ClientScenario
    from wireproof.results.certificate import Certificate
    from wireproof_endpoint.in_process import Transport

TIMEOUT = 30.0
"""Seconds of a scenario for a function."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a client in this process is asked to do."""

    prompts: tuple[str, ...]
    """What the person says, turn by turn, in one conversation."""
    transport: Transport
    """For `httpx.Client` and its like, of httpx or httpx2, sync or async."""
    base_url: str
    key: str
    model: str


@dataclass(frozen=True, kw_only=True)
class FunctionClient:
    """Calls a function once for each scenario. Whatever it raises ends that scenario, and is no fault by itself."""

    function: Callable[[Asked], object]
    timeout: float = TIMEOUT
    """Seconds that it may take; after that it is left alone, and its later requests are not judged."""

    @property
    def name(self) -> str:
        """The function's name, with its module."""
        return f"{self.function.__module__}.{getattr(self.function, '__qualname__', 'client')}"

    def ask(self, played: Played, scenario: ClientScenario) -> ClientEnding:
        """Call the function, in a thread that may be left behind."""
        if played.transport is None:
            raise TypeError("a function is asked in this process")
        asked = Asked(
            prompts=scenario.prompts,
            transport=played.transport,
            base_url=played.base_url,
            key=played.key,
            model=played.model,
        )
        raised: list[str] = []

        def run() -> None:
            try:
                self.function(asked)
            except Exception as error:  # noqa: BLE001 (a client may fail as it likes; what it sent is judged)
                raised.append(f"{type(error).__name__}: {error}")

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(self.timeout)
        ended = f"it was left alone after {self.timeout:g} s" if thread.is_alive() else ""
        return ClientEnding(ended=ended, said=raised[0] if raised else "")


def certify_client(
    client: JudgedClient,
    *,
    scenarios: Sequence[ClientScenario] = CLIENT_SCENARIOS,
    jobs: int = 4,
    tool: ToolUse | None = None,
    model: str = MODEL,
    stage: Stage = on_sockets,
    progress: Callable[[ScenarioRun], object] = lambda _: None,
    **asked: Any,  # noqa: ANN401 (as `judge_run` takes them)
) -> Certificate:
    """Play the scenarios to a client, as many at the same time, and judge what it sent as was asked for.

    Raises:
        SilentClientError: it sent no request for an answer.
    """
    began, since = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    player = ClientPlayer(client=client, model=model, stage=stage, progress=progress)
    runs = player.play_all(scenarios, tool, jobs)
    target = target_of(runs, model, client.name)
    return judge_run(runs, target, load(), jobs=jobs, began=began, seconds=time.monotonic() - since, **asked)


def judge_client_function(
    function: Callable[[Asked], object],
    *,
    scenarios: Sequence[ClientScenario] = CLIENT_SCENARIOS,
    timeout: float = TIMEOUT,
) -> Certificate:
    """Judge a client in this process: `function` is called once for each scenario, with a transport to ask over.

        def ask(asked):
            client = MyClient(base_url=asked.base_url, api_key=asked.key, transport=asked.transport)
            for prompt in asked.prompts:
                client.ask(prompt)

        certificate = judge_client_function(ask)
        assert not certificate.broken_at(certificate.level)

    The person leaves no stream here, so client.closes is not observed. `timeout`: seconds that a scenario may take.

    Raises:
        SilentClientError: it sent no request for an answer.
    """
    there = [one for one in scenarios if not one.leaves]
    return certify_client(FunctionClient(function=function, timeout=timeout), scenarios=there, stage=in_process, jobs=8)
