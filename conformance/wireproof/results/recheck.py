"""Findings that may be due to a busy machine are run again, with nothing beside them, before they are reported.

An exchange rests on time if it ended in silence, in a connection that was refused, broken or left open, or in an error
that blames the backend where that was not to fail: it may have waited too long for it, or another run may have killed
it. So does a finding whose requirement says so (`on_time`). Such a form of a scenario is driven again with nothing
beside it. If it is clean then, its new exchanges stand and the first are set aside; if not, the first stand.

What went well alone is not forgotten: `wireproof.judging.among_exchanges` counts the failures that were set aside. An
answer that belongs to another request is no matter of time, and a form that has one keeps its first exchanges.

A target that hangs must not make the run long. So of a symptom that more than `FEW` forms share a `SAMPLE` is driven
again first. A symptom that has come back `ENOUGH` times is believed of all forms that have it; others are driven again
`TRIES` times at most.

A death is no matter of time: it is reported in any case, and only who caused it is looked for. If the target dies again
with some of those that were under way, the others are cleared; if with none, all keep it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from wireproof.judging.among_exchanges import mixed
from wireproof.model.reasons import HURRIED
from wireproof.model.transcript import End
from wireproof.reading.expected import ExpectedFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wireproof.judging.judge import Judgement
    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.scenario import Form
    from wireproof.model.verdict import Outcome
    from wireproof.reading.exchange import Exchange

    DrivenForm = tuple[str, Form]
    """A scenario's name and one of its forms."""
    Again = Callable[[Mapping[str, Sequence[Form]]], Sequence[ScenarioRun]]
    """Drives forms of scenarios again, one after the other."""
    Judge = Callable[[Sequence[ScenarioRun]], Judgement]

_Value = TypeVar("_Value")
FEW = 5
"""Forms that share a symptom and are all driven again at once."""
SAMPLE = 3
"""How many are driven again first of more than that."""
ENOUGH = 3
"""How often a symptom must come back to be believed of all forms that have it."""
TRIES = 2
"""How often one form is driven again."""
BACKEND = frozenset({408, 500, 502, 503, 504})
"""Statuses of a server that failed, waited too long for something, or could not get it: perhaps for what ran beside."""
TOO_MANY = 429
BROKEN = frozenset({End.TIMEOUT, End.OPEN, End.CUT, End.REFUSED})
DEATH = "death"
ERROR = "an error in an answer"


def recheck_timing(
    runs: Sequence[ScenarioRun], *, judge: Judge, again: Again, catalogue: Catalogue
) -> tuple[Sequence[ScenarioRun], Judgement]:
    """The runs after what rests on time was tried again, and what they come to.

    `judge` says what runs come to, `again` drives forms of scenarios again, and the catalogue says what rests on time.
    """
    first = judge(runs)
    found = _grouped((symptom, form) for form, symptom in symptoms(runs, first.outcomes, catalogue).items())
    trials = {symptom: _Trial(symptom=symptom, forms=forms) for symptom, forms in found.items()}
    if not trials:
        return runs, first  # judged once more they would come to the same, and judging takes seconds
    clean: dict[DrivenForm, ScenarioRun] = {}
    tried: Counter[DrivenForm] = Counter()
    while forms := [form for trial in trials.values() for form in trial.next()]:
        fresh = again(_grouped(forms))
        tried.update(forms)
        clean |= _cleared(trials.values(), fresh, symptoms(fresh, judge(fresh).outcomes, catalogue))
    standing = _standing(runs, trials)
    new = {form: run for form, run in clean.items() if form not in standing}
    after = [_with(run, new, tried) for run in runs]
    return after, judge(after)


def _cleared(
    trials: Iterable[_Trial], fresh: Sequence[ScenarioRun], found: Mapping[DrivenForm, str]
) -> dict[DrivenForm, ScenarioRun]:
    """The forms that were clean when they were driven again, with their new runs."""
    driven = {(run.scenario.name, form): run for run in fresh for form in run.exchanges}
    cleared: dict[DrivenForm, ScenarioRun] = {}
    for trial in trials:
        # A form that could not be driven now shows nothing: its first exchanges stand. A death that comes where there
        # was none before explains more than what was first seen.
        stands = [form for form in driven if form not in found or (found[form] == DEATH and trial.symptom != DEATH)]
        cleared |= {form: driven[form] for form in trial.take(stands, back=found)}
    return cleared


def _standing(runs: Sequence[ScenarioRun], trials: Mapping[str, _Trial]) -> set[DrivenForm]:
    """The forms that keep their first exchanges, however clean the second ones are.

    Those are the forms that have another one's answer, and those that died, if none of them has died again.
    """
    every = [exchange for run in runs for those in run.exchanges.values() for exchange in those]
    death = trials.get(DEATH)
    died = death.forms if death is not None and not death.back else []
    return {*died, *((one.scenario.name, one.form) for one in mixed(every))}


@dataclass(kw_only=True)
class _Trial:
    """The forms that share a symptom, and what trying them again has shown."""

    symptom: str
    forms: list[DrivenForm]
    """In the order in which they were driven."""
    tried: Counter[DrivenForm] = field(default_factory=Counter)
    cleared: set[DrivenForm] = field(default_factory=set)
    back: int = 0
    """How often the symptom, or another one, came back."""

    def next(self) -> list[DrivenForm]:
        """What is to be driven again next; empty when nothing is."""
        left = [one for one in self.forms if one not in self.cleared and self.tried[one] < TRIES]
        if self.back >= ENOUGH:
            left = []
        elif len(self.forms) > FEW and not self.tried:
            left = left[:: len(left) // SAMPLE][:SAMPLE]  # from all over the run
        # Those that were tried less often first; the sort keeps their order otherwise.
        chosen = sorted(left, key=lambda one: self.tried[one])[:FEW]
        self.tried.update(chosen)
        return chosen

    def take(self, clean: Iterable[DrivenForm], *, back: Iterable[DrivenForm]) -> list[DrivenForm]:
        """Note which forms were clean now and in which a symptom came back; returns its own among the first."""
        mine = [form for form in clean if form in self.forms]
        self.cleared.update(mine)
        self.back += sum(form in self.forms for form in back)
        return mine


def _grouped(pairs: Iterable[tuple[str, _Value]]) -> dict[str, list[_Value]]:
    """Values by what they are named after."""
    found: defaultdict[str, list[_Value]] = defaultdict(list)
    for name, value in pairs:
        found[name].append(value)
    return found


def _with(run: ScenarioRun, clean: Mapping[DrivenForm, ScenarioRun], tried: Mapping[DrivenForm, int]) -> ScenarioRun:
    """A run with the new exchanges of the forms that were clean when they were tried again."""
    forms = [form for name, form in clean if name == run.scenario.name]
    new = {form: clean[run.scenario.name, form].exchanges[form] for form in forms}
    order = [*run.exchanges, *(form for form in forms if form not in run.exchanges)]
    return replace(
        run,
        exchanges={form: new.get(form) or run.exchanges[form] for form in order},
        not_driven={form: reason for form, reason in run.not_driven.items() if form not in new},
        repeated=sum(times for (name, _), times in tried.items() if name == run.scenario.name),
        set_aside={**run.set_aside} | {form: run.exchanges[form] for form in forms if form in run.exchanges},
    )


def symptoms(runs: Iterable[ScenarioRun], outcomes: Iterable[Outcome], catalogue: Catalogue) -> dict[DrivenForm, str]:
    """Which forms of scenarios show something that may rest on time, and what: one symptom each, the gravest."""
    found: dict[DrivenForm, str] = {}
    for run in runs:
        for form, exchanges in run.exchanges.items():
            seen = sorted(filter(None, map(_symptom, exchanges)), key=lambda one: one != DEATH)
            if seen:
                found[run.scenario.name, form] = seen[0]
        for form, why in run.not_driven.items():
            if why in HURRIED:
                found[run.scenario.name, form] = why
    for outcome in outcomes:
        for finding in outcome.findings:
            row = catalogue.by_id.get(finding.found_by or finding.violation.requirement)
            if row is not None and row.on_time:
                found.setdefault((outcome.scenario, finding.form), row.id)
    return found


def _symptom(exchange: Exchange) -> str | None:
    """How an exchange ended that may have been late; None where it shows nothing of the kind."""
    transcript = exchange.transcript
    if transcript.death is not None:
        return DEATH
    if transcript.stuck:
        return None
    # Where the backend is to fail, a broken connection and an error may be what is due; silence is not.
    if transcript.end in BROKEN and not (transcript.end is End.CUT and _fails(exchange)):
        return transcript.end.value
    request = exchange.request
    # Where the answer to a plain request is to be an error, its scenario judges which one comes.
    if _fails(exchange) or (request is not None and request.expect in BACKEND):
        return None
    # There was no room for a request, however long it waited: alone there may be.
    taken = request is not None and (request.full or request.unready or request.expect == TOO_MANY)
    if transcript.status in BACKEND or (transcript.status == TOO_MANY and not taken):
        return f"HTTP {transcript.status}"
    return ERROR if exchange.reading is not None and exchange.answer.error is not None else None


def _fails(exchange: Exchange) -> bool:
    """Whether the backend is to fail."""
    return any(wanted.failure is not ExpectedFailure.NONE for wanted in exchange.wanted)
