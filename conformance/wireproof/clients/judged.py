"""The result of a client: run, judged, and held in a certificate as that of a proxy is."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wireproof.clients.function_client import TIMEOUT, Asked, FunctionClient
from wireproof.clients.running import MODEL, ClientPlayer, target_of
from wireproof.clients.stages import in_process, on_sockets
from wireproof.model.catalogue import load
from wireproof.results.judge_run import RunInfo, Terms, judge_run
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wireproof.clients.running import JudgedClient
    from wireproof.clients.stages import Stage
    from wireproof.clients.tool_use import ToolUse
    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.client_scenario import ClientScenario
    from wireproof.results.certificate import Certificate

__all__ = ["Asked", "certify_client", "judge_client_function"]


def certify_client(
    client: JudgedClient,
    *,
    scenarios: Sequence[ClientScenario] = CLIENT_SCENARIOS,
    terms: Terms | None = None,
    tool: ToolUse | None = None,
    model: str = MODEL,
    stage: Stage = on_sockets,
    progress: Callable[[ScenarioRun], object] = lambda _: None,
) -> Certificate:
    """Play the scenarios to a client, and judge what it sent.

    Raises:
        SilentClientError: it sent no request for an answer.
    """
    began, since = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    terms = terms or Terms(jobs=4)
    player = ClientPlayer(client=client, model=model, stage=stage, progress=progress)
    runs = player.play_all(scenarios, tool, terms.jobs)
    target = target_of(runs, model, client.name)
    return judge_run(runs, target, load(), terms, RunInfo(began=began, seconds=time.monotonic() - since))


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
    return certify_client(
        FunctionClient(function=function, timeout=timeout), scenarios=there, stage=in_process, terms=Terms(jobs=8)
    )
