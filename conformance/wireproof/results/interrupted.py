"""A run that was ended before its end: what had been driven until then, and the interrupt that carries it on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from wireproof.judging.outcomes import ScenarioRun
from wireproof.requests.adapted import adapted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wireproof.model.scenario import Scenario
    from wireproof.model.target import Target
    from wireproof.results.certificate import Certificate

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
NOT_REACHED = "the run was interrupted before it"
"""Why a form of a scenario was not driven."""


class InterruptedRun(KeyboardInterrupt):
    """An interrupt of a run that was under way.

    It is still an interrupt to everything on its way up, which stops what was started.
    """

    def __init__(self, certificate: Callable[[], Certificate]) -> None:
        super().__init__()
        self.certificate = certificate
        """Judges what had been driven; to be called when the target has been stopped, since it takes a while."""


@dataclass(kw_only=True)
class Kept:
    """The forms of scenarios that have been driven so far."""

    scenarios: tuple[Scenario, ...]
    target: Target
    done: dict[str, list[ScenarioRun]] = field(default_factory=dict)
    """Scenario → what came of each of its forms, as a run of that form alone."""

    def take(self, run: ScenarioRun) -> None:
        """Keep a run of one form."""
        self.done.setdefault(run.scenario.name, []).append(run)

    def runs(self) -> list[ScenarioRun]:
        """A run of every scenario; what was not reached is not driven, and that is the reason."""
        return [self._run(adapted(scenario, self.target)) for scenario in self.scenarios]

    def _run(self, scenario: Scenario) -> ScenarioRun:
        done = self.done.get(scenario.name, [])
        error = next((run.error for run in done if run.error), "")
        if error:
            return ScenarioRun(scenario=scenario, error=error)
        reached = {form for run in done for form in (*run.exchanges, *run.not_driven)}
        left = (form for form in scenario.forms(self.target.dialects) if form not in reached)
        return ScenarioRun(
            scenario=scenario,
            exchanges=_merged(run.exchanges for run in done),
            not_driven={**_merged(run.not_driven for run in done), **dict.fromkeys(left, NOT_REACHED)},
            set_aside=_merged(run.set_aside for run in done),
        )


def _merged(mappings: Iterable[Mapping[_Key, _Value]]) -> dict[_Key, _Value]:
    """All entries of mappings with different keys."""
    return {key: value for mapping in mappings for key, value in mapping.items()}
