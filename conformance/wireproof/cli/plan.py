"""From options to a certificate, for the command line and the pytest plugin."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wireproof.driving.tries import unhurried
from wireproof.judging import known_failing
from wireproof.judging.known_failing import KnownFailingError
from wireproof.judging.unjudged import ours
from wireproof.model import editions
from wireproof.model.catalogue import Catalogue, load
from wireproof.model.editions import UnknownEditionError
from wireproof.model.target import Agent, Backend, Target
from wireproof.model.verdict import HarnessError, VerdictLevel
from wireproof.reading.applicable import UnknownScenarioError, keys, select
from wireproof.report.curl import shell_word
from wireproof.report.data import INTERRUPTED, not_driven, report_of
from wireproof.requests.cost import cost
from wireproof.results import folder
from wireproof.results.cells import of_all
from wireproof.results.certify import InterruptedRun, certify, no_progress
from wireproof.results.document import Configuration, Ended
from wireproof.results.folder import FolderError
from wireproof.results.masking import SHORTEST, masking
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE
from wireproof.targets.budget import REQUESTS, TOKENS, Budget, TargetClock, show_nothing
from wireproof.targets.kinds import OptionError
from wireproof.targets.options import BUNDLED_JOBS, JOBS
from wireproof.targets.reach import reach
from wireproof.targets.validity import check

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from wireproof.model.scenario import Scenario
    from wireproof.results.certificate import Certificate
    from wireproof.results.certify import Progress
    from wireproof.results.document import Report
    from wireproof.results.masking import Masking
    from wireproof.targets.budget import Show
    from wireproof.targets.options import RunOptions, TargetOptions

USAGE_ERRORS = (OptionError, UnknownScenarioError, UnknownEditionError, KnownFailingError, FolderError)
"""What a person can do wrong; each message says what would be right."""

_PLACE = "\0"
"""What is put where a key stood, until its variable is: no word of a command holds it."""


def _silent(_target: Target) -> AbstractContextManager[Progress]:
    return nullcontext(no_progress)


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """A run that a person asked for: checked, not begun."""

    target: TargetOptions
    run: RunOptions
    catalogue: Catalogue
    scenarios: Sequence[Scenario]
    """Those whose right answers are known: from scripts, or from the contract."""
    live: Sequence[Scenario]
    """Those for a model."""
    known: Mapping[str, str]
    """`<scenario>:<requirement>` → why its failure is accepted."""

    def certify(
        self,
        watch: Callable[[Target], AbstractContextManager[Progress]] = _silent,
        say: Callable[[str], None] = lambda _: None,
        show: Show = show_nothing,
    ) -> Certificate:
        """Reach the target, drive and judge; `watch` gives what is called while the target is driven.

        A run that is repeated gives the certificate of its worst run, with all of them in it.

        `say` is given what the run will cost, where a model's service is paid for it, and why it ended early; `show`
        each wait that the target asks for.

        Raises:
            HarnessError: the target cannot be reached or driven.
            OptionError: it would cost more than a person has accepted.
            InterruptedRun: the run was interrupted; it has the certificate of what had been driven.
        """
        # One for all that is sent, from the first request on.
        run = self.run
        budget = Budget(
            requests=run.max_requests, counts_refused=run.max_requests is not None, tokens=run.max_tokens,
            rate=run.rate, seconds=run.max_seconds, most_bytes=run.max_bytes,
            clock=TargetClock(max_wait=run.max_wait, show=show),
        )  # fmt: skip
        done = []
        try:
            with reach(self.target, hurried=any(one.alone for one in self.scenarios), budget=budget) as target:
                if target.backend is Backend.LIVE:
                    self._bound(budget, target, say)
                for _ in range(run.repeat):
                    budget.begin()
                    done.append(self._once(target, watch, budget))
                    if budget.clock.over:
                        say(f"the run ended early: {budget.clock.over}")
                        break
        # A folder for temporary files, a descriptor, a socket: what this machine does not give is no matter of the
        # target's.
        except OSError as error:
            raise HarnessError(f"this machine refuses what the run needs: {error}") from error
        return of_all(done)

    def _once(
        self, target: Target, watch: Callable[[Target], AbstractContextManager[Progress]], budget: Budget
    ) -> Certificate:
        """One run of those that `--repeat` asks for."""
        scenarios = self.scenarios_for(target)
        driven = unhurried(target, scenarios) if target.backend is Backend.LIVE else target
        with watch(driven) as progress:
            return certify(
                driven, scenarios, self.catalogue,
                known=self.known, jobs=self.jobs, progress=progress, selection=self.run.only,
                level=self.run.level, budget=budget,
            )  # fmt: skip

    def write(self, certificate: Certificate) -> Report:
        """The result as data, written to the folder of `--output` if one was named.

        Raises:
            FolderError: it cannot be written there.
        """
        report = self.report(certificate)
        if self.run.output is None:
            return report
        runs = [(self.report(one), one) for one in certificate.every]
        return folder.write(self.run.output, report, certificate, runs=runs)

    def report(self, certificate: Certificate) -> Report:
        """The result as data; one without a verdict where Wireproof fails at it."""
        try:
            return report_of(certificate, self.catalogue, self._configuration(), folder.versions())
        except Exception as error:  # noqa: BLE001 (whatever it is, what was driven is not to be lost by it)
            return self._without_verdict(Ended.FAILED, ours("report the result", error))

    def write_not_driven(self, ended: Ended, reason: str) -> None:
        """Write that nothing was driven, and why, if a folder was named.

        Raises:
            FolderError: it cannot be written there.
        """
        if self.run.output is not None:
            folder.write(self.run.output, self._without_verdict(ended, reason))

    def _without_verdict(self, ended: Ended, reason: str) -> Report:
        return not_driven(
            ended, self.masked(reason),
            began=datetime.now(UTC).isoformat(timespec="seconds"),
            catalogue=self.catalogue, configuration=self._configuration(), versions=folder.versions(),
        )  # fmt: skip

    def write_interrupted(self, interrupt: KeyboardInterrupt) -> bool:
        """Write what an interrupted run had driven, if a folder was named; returns whether there is any of it.

        To be called when the target has been stopped: to judge what was driven takes a while.

        Raises:
            FolderError: it cannot be written there.
        """
        if self.run.output is None:
            return False
        if not isinstance(interrupt, InterruptedRun):
            self.write_not_driven(Ended.INTERRUPTED, INTERRUPTED)
            return False
        self.write(interrupt.certificate())
        return True

    def _configuration(self) -> Configuration:
        return Configuration(
            command=self._command(),
            jobs=self.jobs,
            at_a_time=0,
            selection=self.run.only,
            level=self.run.level or VerdictLevel.STRICT,
            allow_partial=self.run.allow_partial,
            known=dict(self.known),
        )

    def _command(self) -> str:
        """The command that certifies the same target again; a key in it is its variable, other secrets are masked.

        Word by word: a key that is a usual word, as "wireproof" is, must not replace the name of the command.
        """
        mask, key, variable = self._masking(), self.target.api_key() or "", self.target.api_key_env or ""
        names = {f"--{name}" for option in self.target.options() for name in option.names} | {variable}
        words = ["wireproof", "certify"]
        for word in self.target.words():
            value = word.replace(key, _PLACE) if len(key) >= SHORTEST else word
            shown = word if word in names else mask.text(value)
            words.append(shell_word(shown, key=_PLACE, variable=variable))
        return " ".join(words)

    def _masking(self) -> Masking:
        """What replaces the secrets that the options name, in texts that were not made of a masked run."""
        carried = self.target.carried()
        return masking(
            Target(
                base_url=self.target.url or "", model="", api_key=self.target.api_key(),
                headers=carried["headers"], query=carried["query"],
            )
        )  # fmt: skip

    def masked(self, text: str) -> str:
        """A text without the secrets that were given for the target, its address's password among them."""
        return self._masking().text(text)

    def scenarios_for(self, target: Target) -> Sequence[Scenario]:
        """The scenarios that this target is driven with."""
        # A scripted one that is asked for by name is driven against a model, too: some of what it shows holds anyway.
        return self.live or self.scenarios if target.backend is Backend.LIVE else self.scenarios

    @property
    def jobs(self) -> int:
        """How many exchanges run at the same time."""
        # A model behind the proxy, or a program of others, would answer late where ours only wait more often.
        ours = self.target.bundled and self.target.codex is None and self.target.agent is not Agent.CURSOR
        return self.run.jobs or (BUNDLED_JOBS if ours else JOBS)

    @property
    def possible(self) -> Sequence[Scenario]:
        """The scenarios that a target may be driven with, before it is known what is behind it."""
        # What Wireproof starts, it starts with a backend that plays scripts.
        known = self.target.bundled or self.target.command is not None or self.target.gateway is not None
        return self.scenarios if known else (*self.scenarios, *self.live)

    def only(self, names: Collection[str]) -> RunPlan:
        """The same run of some of its scenarios, as if they had been selected by name."""
        return replace(
            self,
            run=replace(self.run, only=tuple(one.name for one in self.possible if one.name in names)),
            scenarios=tuple(one for one in self.scenarios if one.name in names),
            live=tuple(one for one in self.live if one.name in names),
        )

    def _bound(self, budget: Budget, target: Target, say: Callable[[str], None]) -> None:
        """Bound what a model's service is sent, and say what that can cost.

        Raises:
            OptionError: it would cost more than a person has accepted.
        """
        run, times = self.run, self.run.repeat
        budget.requests, budget.tokens = run.max_requests or REQUESTS * times, run.max_tokens or TOKENS * times
        most = f"{budget.requests:,} requests and {budget.tokens:,} tokens"
        if max((run.max_requests or 0) - REQUESTS, (run.max_tokens or 0) - TOKENS) > 0 and not run.yes:
            raise OptionError(
                f"a model answers at {target.base_url}, and the run may cost up to {most}; --yes accepts more than"
                f" {REQUESTS:,} and {TOKENS:,}"
            )
        least = cost(self.scenarios_for(target), target)
        runs = "the run sends" if times == 1 else f"each of {times} runs sends"
        say(
            f"a model answers at {target.base_url}: {runs} {least.requests} requests, which with their answers"
            f" have at most {least.tokens:,} tokens; and where the model needs more tries, up to {most} in all"
        )


def plan(target: TargetOptions, run: RunOptions) -> RunPlan:
    """All that can be checked before anything is started.

    Raises:
        OptionError: an option has a value that it cannot have.
        UnknownScenarioError: a selected name is neither a scenario's nor a requirement's.
        UnknownEditionError: no edition has that date.
        KnownFailingError: the file of known failures cannot be used.
        FolderError: no result can be written to the folder of `--output`.
    """
    check(target)
    # Only to be checked: a secret is not kept in a plan.
    target.api_key()
    target.carried()
    if run.output:
        folder.check(run.output)
    catalogue = editions.at(run.edition) if run.edition else load()
    known: dict[str, str] = {}
    if run.known_failing or run.known:
        # Against all scenarios, also in a run of some: a line for one that is not selected is no mistake.
        there = keys((*SCENARIOS, *LIVE), catalogue)
        known = known_failing.load(run.known_failing, there) if run.known_failing else {}
        known |= known_failing.named({one.name: one.why for one in run.known}, there)
    # What is behind the target is not known yet, so both are chosen from.
    chosen = select((*SCENARIOS, *LIVE), catalogue, run.only)
    return RunPlan(
        target=target,
        run=run,
        catalogue=catalogue,
        scenarios=tuple(scenario for scenario in chosen if scenario in SCENARIOS),
        live=tuple(scenario for scenario in chosen if scenario in LIVE),
        known=known,
    )
