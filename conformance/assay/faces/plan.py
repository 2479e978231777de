"""What both faces do, the command line and the pytest plugin: from options to a certificate."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.driving.drive import no_progress
from assay.judging import known_failing
from assay.judging.known_failing import KnownFailingError
from assay.model.catalogue import Catalogue, load
from assay.reading.selection import UnknownScenarioError, keys, select
from assay.results.certify import certify
from assay.scenarios import SCENARIOS
from assay.targets.options import OptionError, RunOptions, TargetOptions
from assay.targets.reach import reach

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from assay.driving.drive import Progress
    from assay.model.scenario import Scenario
    from assay.model.target import Target
    from assay.results.certificate import Certificate

USAGE_ERRORS = (OptionError, UnknownScenarioError, KnownFailingError)
"""What a person can do wrong; each message says what would be right."""


def _silent(_target: Target) -> AbstractContextManager[Progress]:
    return nullcontext(no_progress)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run that a person asked for: checked, not begun."""

    target: TargetOptions
    run: RunOptions
    catalogue: Catalogue
    scenarios: Sequence[Scenario]
    known: Mapping[str, str]
    """`<scenario>:<requirement>` → why its failure is accepted."""

    def certify(self, watch: Callable[[Target], AbstractContextManager[Progress]] = _silent) -> Certificate:
        """Reach the target, drive and judge; `watch` gives what is called while the target is driven.

        Raises:
            HarnessError: the target cannot be reached or driven.
        """
        with reach(self.target) as target, watch(target) as progress:
            return certify(
                target, self.scenarios, self.catalogue,
                known=self.known, jobs=self.run.jobs, progress=progress, selection=self.run.only,
                level=self.run.level,
            )  # fmt: skip


def plan(target: TargetOptions, run: RunOptions) -> Plan:
    """All that can be checked before anything is started.

    Raises:
        OptionError: an option has a value that it cannot have.
        UnknownScenarioError: a selected name is neither a scenario's nor a requirement's.
        KnownFailingError: the file of known failures cannot be used.
    """
    target.check()
    # Only to be checked: a secret is not kept in a plan.
    target.api_key()
    target.carried()
    catalogue = load()
    # Against all scenarios, also in a run of some: a line for one that is not selected is no mistake.
    known = known_failing.load(run.known_failing, keys(SCENARIOS, catalogue)) if run.known_failing else {}
    return Plan(
        target=target, run=run, catalogue=catalogue, scenarios=select(SCENARIOS, catalogue, run.only), known=known
    )
