"""A client at Wireproof's own endpoint: each scenario played to it, and what it did as a run that can be judged.

Each run of a scenario has an endpoint of its own, on a port of its own, so several run side by side. The first two are
run alone and first: they show which surface the client asks, which tools it declares, and whether it runs them.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from wireproof.clients.journal import transcripts_of
from wireproof.clients.stages import BASE
from wireproof.clients.tool_use import tool_use
from wireproof.judging.client_judge import judge_client
from wireproof.judging.outcomes import ScenarioRun
from wireproof.model.catalogue import load
from wireproof.model.client_scenario import ClientNeed, ClientScenario
from wireproof.model.dialect import DEFAULT
from wireproof.model.scenario import Form, Mode
from wireproof.model.side import Side
from wireproof.model.target import Backend, SurfaceReport, SurfaceState, Target, root_of
from wireproof.reading import recorded
from wireproof.reading.client_record import record_of
from wireproof.reading.client_requests import Speaker, form_of
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wireproof.clients.journal import FirstRequests
    from wireproof.clients.stages import Played, Stage
    from wireproof.clients.tool_use import ToolUse
    from wireproof.model.transcript import Transcript
    from wireproof.reading.client_record import ClientRecord

_STYLE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
SHOWN = 300
"""Characters of what a client printed that a message shows."""
MODEL = "gpt-5"
PROBES = CLIENT_SCENARIOS[:2]
"""The scenarios that show what a client can do: a text, and a call."""
SETTLING = 1.0
"""Seconds that the endpoint has to notice that a client has gone."""
NO_TOOLS = "the client declares no tools"
RUNS_NONE = "the client runs no tools: it sent no result of a call"
_NO_FORM = Form(DEFAULT, Mode.STREAM)
"""Under which the reason is kept for which a scenario was not played, where no form is known."""


@dataclass(frozen=True, kw_only=True)
class ClientEnding:
    """How a client ended."""

    ended: str = ""
    """What Wireproof had to do, as a clause; "": it ended by itself."""
    left: float | None = None
    """When the person left, on the clock of the journal; None: they stayed."""
    said: str = ""
    """The end of what it printed."""


class JudgedClient(Protocol):
    """Something that asks an endpoint: a program, or a function in this process."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def ask(self, played: Played, scenario: ClientScenario) -> ClientEnding:
        """Do what the scenario asks, to the end."""


class SilentClientError(Exception):
    """The client sent no request; the message is one line."""


def target_of(runs: Sequence[ScenarioRun], model: str, client: str = "a client") -> Target:
    """Wireproof's endpoint as a target, of the dialects that a client asked for."""
    dialects = tuple(dict.fromkeys(form.dialect for run in runs for form in run.exchanges))
    surfaces = {one.spec.surface: SurfaceReport(state=SurfaceState.JUDGED) for one in dialects}
    return Target(
        base_url=BASE,
        model=model,
        backend=Backend.ENDPOINT,
        side=Side.CLIENT,
        client=client,
        dialects=dialects,
        surfaces=surfaces,
    )


def run_of(scenario: ClientScenario, transcripts: Sequence[Transcript], *, ended: str = "") -> ScenarioRun:
    """A scenario as a client was seen to play it; its form is that of the first request for an answer."""
    form = next(filter(None, map(form_of, transcripts)), None)
    if form is None:
        return ScenarioRun(scenario=scenario, not_driven={_NO_FORM: "the client asked for no answer"}, ended=ended)
    target = Target(base_url=BASE, model="", backend=Backend.ENDPOINT, side=Side.CLIENT, dialects=(form.dialect,))
    exchanges = [recorded.of_request(scenario, number, form, target, one) for number, one in enumerate(transcripts)]
    return ScenarioRun(scenario=scenario, exchanges={form: exchanges}, ended=ended)


@dataclass(frozen=True, kw_only=True)
class ClientPlayer:
    """Plays scenarios to a client."""

    client: JudgedClient
    model: str
    """The model that the client is to ask for."""
    stage: Stage
    """Where the endpoint of a scenario is."""
    progress: Callable[[ScenarioRun], object]
    """Called after each scenario."""

    def play_all(self, scenarios: Sequence[ClientScenario], tool: ToolUse | None, jobs: int) -> list[ScenarioRun]:
        """Play these, as many at the same time.

        `tool`: the tool that is called; None: one that the client declares.

        Raises:
            SilentClientError: it sent no request for an answer in the first scenario.
        """
        text, call = PROBES
        first, said = self._play(text, tool)
        self.progress(first)
        record = _record(first)
        if not record.asked:
            raise SilentClientError(_silence(first, said))
        tool = tool or tool_use(record)
        done = {text.name: first}
        why = NO_TOOLS if tool is None else ""
        if tool is not None and any(one.need is ClientNeed.TOOLS for one in scenarios):
            second, _ = self._play(call, tool)
            self.progress(second)
            done[call.name] = second
            sent = (message for one in _record(second).asked for message in one.messages or ())
            why = "" if any(message.speaker is Speaker.RESULT for message in sent) else RUNS_NONE
        form = next(iter(first.exchanges), _NO_FORM)
        left_out = [one for one in scenarios if one.name not in done and one.need is ClientNeed.TOOLS and why]
        done |= {one.name: ScenarioRun(scenario=one, not_driven={form: why}) for one in left_out}
        rest = [one for one in scenarios if one.name not in done]
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            for run, _ in pool.map(lambda one: self._play(one, tool), rest):
                self.progress(run)
                done[run.scenario.name] = run
        runs = [done[one.name] for one in scenarios]
        late = _late(runs, target_of(runs, self.model, self.client.name))
        return [
            replace(self._play(one, tool)[0], repeated=1) if one.name in late else done[one.name] for one in scenarios
        ]

    def _play(self, scenario: ClientScenario, tool: ToolUse | None) -> tuple[ScenarioRun, str]:
        """A scenario, played; and the end of what the client printed."""
        with self.stage(scenario, tool, self.model) as played:
            ending = self.client.ask(played, scenario)
            _settle(played.journal)
        found = transcripts_of(played.journal.first, left=ending.left)
        return run_of(scenario, [played.renamed(one) for one in found], ended=ending.ended), ending.said


def _late(runs: Sequence[ScenarioRun], target: Target) -> set[str]:
    """The scenarios in which a row is broken that rests on time: they are played again, alone, and count as then."""
    rows = load().by_id
    outcomes = judge_client(runs, target, load())
    return {one.scenario for one in outcomes if one.findings and rows[one.requirement].on_time}


def _settle(journal: FirstRequests) -> None:
    """Wait until the endpoint has noticed which of its clients have gone."""
    until = time.monotonic() + SETTLING
    while not journal.idle and time.monotonic() < until:
        time.sleep(0.01)


def _record(run: ScenarioRun) -> ClientRecord:
    return record_of((one.transcript for those in run.exchanges.values() for one in those), root_of(BASE))


def _silence(run: ScenarioRun, said: str) -> str:
    """Why nothing is known of a client, in a line."""
    ended = f", and {run.ended}" if run.ended else ""
    # Colours are for terminals, and hide what they colour where they are escaped.
    printed = f"; it printed: {visible(_STYLE.sub('', said))[-SHOWN:]}" if said else "; it printed nothing"
    return (
        f"the client sent no request for an answer{ended}; it must take its base URL from OPENAI_BASE_URL, or from a"
        f" place {{base_url}} in its command{printed}"
    )
