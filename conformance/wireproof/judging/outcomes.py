"""From findings to outcomes: a scenario as it was driven, and the verdict on each of its requirements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof.judging.checks import live
from wireproof.judging.checks.written_calls import called_in_text
from wireproof.model.asks import AskCalls
from wireproof.model.client_scenario import ClientScenario
from wireproof.model.requirement import JudgedOn, Level, Requirement, Stage
from wireproof.model.scenario import ConversationScenario, Form, PlainScenario, Scenario, Turn
from wireproof.model.target import ASKS_FOR_NO_KEY, Backend, Target
from wireproof.model.verdict import Finding, Outcome, Verdict
from wireproof.wire.facet import Facet
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wireproof.model.dialect import Dialect
    from wireproof.reading.exchange import Exchange


_NO_SPELLING = (
    "the backend sends the arguments of calls as data: they mean what they should, and have no spelling to keep"
)


@dataclass(frozen=True, kw_only=True)
class ScenarioRun:
    """A scenario as it was driven."""

    scenario: Scenario
    exchanges: Mapping[Form, Sequence[Exchange]] = field(default_factory=dict)
    """The exchanges of each form in which it was driven."""
    not_driven: Mapping[Form, str] = field(default_factory=dict)
    """Why it was not driven in a form."""
    error: str = ""
    """Why the harness failed; '' if it did not. Nothing is judged then."""
    repeated: int = 0
    """How many times forms of it were driven again, alone, because what they showed rests on time."""
    set_aside: Mapping[Form, Sequence[Exchange]] = field(default_factory=dict)
    """Exchanges by which nothing is judged: the first ones of forms that were clean when they were driven again, and
    those that plainly refuse what the scenario is about."""
    absent: Mapping[Form, str] = field(default_factory=dict)
    """The forms in which the target does not answer, as it was found or is declared → why they are absent."""
    ended: str = ""
    """How a client's program ended that did not end by itself, as a clause; "": it did, or there is none."""

    def forms(self, dialects: Iterable[Dialect]) -> tuple[Form, ...]:
        """The forms that it speaks of, where these dialects are spoken; a client has chosen one of its own."""
        if isinstance(self.scenario, ClientScenario):
            return tuple(self.exchanges)
        return self.scenario.forms(dialects)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hidden:
    """Why a requirement could not be observed behind something that was found."""

    reason: str
    behind: str = ""
    """The requirement that is broken in the same exchange; "": it is hidden by no other one."""
    absent: bool = False
    """The target plainly refuses what the scenario asks for: the requirement is not about this target."""
    forms: frozenset[Form] = frozenset()
    """The forms in which it could not. Without any: in none."""


def outcome(
    run: ScenarioRun,
    row: Requirement,
    target: Target,
    *,
    found: Iterable[Finding],
    hidden: Mapping[str, Hidden],
    counted: Mapping[str, str],
) -> Outcome:
    """The outcome of a requirement.

    Args:
        run: The scenario as it was driven.
        row: The requirement.
        target: The proxy.
        found: All that was found.
        hidden: Requirement → why it could not be observed.
        counted: Requirement → which fault of it is counted elsewhere.
    """
    # What was found weighs more than any reason for which nothing could be.
    mine = tuple(finding for finding in found if finding.violation.requirement == row.id)
    if mine:
        return outcome_of(run, row, Verdict.FAIL if row.level is Level.MUST else Verdict.WARN, findings=mine)
    forms = [form for form in run.scenario.forms(target.dialects) if row.speaks_of(form)]
    elsewhere = run.scenario.about_another(target) or _about_keys(run, target)
    if why := elsewhere or _about_other_arguments(forms, row, target) or _declared_absent(forms, run):
        return outcome_of(run, row, Verdict.NOT_APPLICABLE, reason=why)
    behind = hidden.get(row.id)
    seen = _seen_elsewhere(run, row, behind) if behind is not None else []
    if behind is not None and not seen:
        verdict = Verdict.NOT_APPLICABLE if behind.absent else Verdict.NOT_OBSERVED
        return outcome_of(run, row, verdict, reason=behind.reason, behind=behind.behind)
    unseen = _why_not_observed(run, row, target, forms)
    verdict = Verdict.NOT_OBSERVED if unseen else Verdict.PASS
    partly = f"seen in {_named(seen)}; elsewhere {behind.reason}" if behind is not None else ""
    return outcome_of(run, row, verdict, reason=unseen or partly or counted.get(row.id, ""))


def _named(forms: Iterable[Form]) -> str:
    """Forms in a sentence, dialect by dialect: "stream and whole of openai-json; whole of responses"."""
    modes: dict[str, list[str]] = {}
    for form in forms:
        modes.setdefault(form.dialect.value, []).append(form.mode.value)
    return "; ".join(f"{' and '.join(those)} of {dialect}" for dialect, those in modes.items())


def _seen_elsewhere(run: ScenarioRun, row: Requirement, behind: Hidden) -> list[Form]:
    """The forms in which a requirement was judged that is hidden in others: forms do not hide each other."""
    if behind.absent or not behind.forms:
        return []
    return [form for form in run.exchanges if row.speaks_of(form) and form not in behind.forms]


def _about_keys(run: ScenarioRun, target: Target) -> str:
    """Why a scenario that was not driven is not about a target that asks for no key; "" if it is."""
    about = isinstance(run.scenario, PlainScenario) and run.scenario.is_about_keys
    return ASKS_FOR_NO_KEY if about and target.api_key is None and not run.exchanges else ""


def _about_other_arguments(forms: Sequence[Form], row: Requirement, target: Target) -> str:
    """Why a requirement is not about the way in which the target streams arguments in these forms; "" if it is."""
    other = row.arguments is not None and all(target.argument_mode(form.dialect) is not row.arguments for form in forms)
    return "the target streams arguments in the other way" if other else ""


def _declared_absent(forms: Sequence[Form], run: ScenarioRun) -> str:
    """Which declared absence leaves nothing to be seen in these forms; '' if something is left."""
    return run.absent[forms[0]] if forms and all(form in run.absent for form in forms) else ""


def _why_not_observed(run: ScenarioRun, row: Requirement, target: Target, forms: Sequence[Form]) -> str:
    """'' if the requirement was really looked at, in each of these forms."""
    for form in forms:
        # One form that was not driven is enough: a pass speaks of all of them.
        if form not in run.absent and not run.exchanges.get(form):
            return run.not_driven.get(form, "the scenario was not driven")
    # A plain request's scenario says what is right, so it is known whatever the backend is.
    needs_script = row.needs_script and isinstance(run.scenario, ConversationScenario)
    # Or by what a model was asked to do.
    asks = live.judges(row) and any(turn.asks is not None for turn in _turns(run))
    if target.backend is Backend.LIVE and (needs_script or asks):
        return _not_done(run, row) or _not_shown(run, row)
    return _not_shown(run, row)


def _turns(run: ScenarioRun) -> tuple[Turn, ...]:
    return run.scenario.turns if isinstance(run.scenario, ConversationScenario) else ()


def _not_done(run: ScenarioRun, row: Requirement) -> str:
    """'' if a model did what shows the requirement."""
    if any(turn.asks is None for turn in _turns(run)):
        return "the right answer is not known: a live model is behind the target"
    exchanges = [one for form, those in run.exchanges.items() if row.speaks_of(form) for one in those]
    missed = [one for one in exchanges if not one.wanted and not live.shown_by(row, one)]
    if not missed:
        return ""
    tries = max(len(one.earlier) for one in missed) + 1
    reason = f"the model did not do what was asked in {tries} {'try' if tries == 1 else 'tries'}"
    # Most servers of models have a parser that was not turned on: whoever reads this is to know.
    asked = (one for one in missed if isinstance(one.asks, AskCalls) and one.reading is not None)
    written = next(filter(None, map(called_in_text, asked)), "")
    return f"{reason}; it called a tool in its text: {quoted(written)}" if written else reason


def _not_shown(run: ScenarioRun, row: Requirement) -> str:
    """'' unless the requirement is about something that never came."""
    exchanges = [exchange for form, those in run.exchanges.items() if row.speaks_of(form) for exchange in those]
    # A row that speaks of more has more to be seen.
    spelling = row.facets == (Facet.ARGUMENTS,)
    if spelling and any(call.meant for one in exchanges for wanted in one.wanted for call in wanted.calls):
        return _NO_SPELLING
    # A check that had nothing to look at finds nothing, and that is no pass.
    # Scripts see to it themselves that they are not alone.
    alone = bool(exchanges) and all(one.asks is not None and not one.transcript.beside for one in exchanges)
    if Facet.OWNER in row.facets and alone:
        return "no other request was on its way at the same time"
    if row.stage is Stage.ERROR and not any(map(_has_error, exchanges)):
        return "no error came in which it could be seen"
    if row.stage is Stage.ANSWER and any(map(_broke_off, run.exchanges.values())):
        return "no answer brought the response that the next request continues"
    if row.judged is JudgedOn.CALLS and not any(one.carries_calls for one in exchanges if one.reading):
        return "no tool call came in which it could be seen"
    return ""


def _broke_off(exchanges: Sequence[Exchange]) -> bool:
    """Whether plain requests were left that could not be sent, since they name a response that never came."""
    scenario = exchanges[0].scenario if exchanges else None
    return isinstance(scenario, PlainScenario) and any(one.continues for one in scenario.requests[len(exchanges) :])


def _has_error(exchange: Exchange) -> bool:
    if exchange.reading is not None:
        return exchange.answer.error is not None
    return exchange.transcript.status is not None and not exchange.transcript.ok


def outcome_of(
    run: ScenarioRun,
    row: Requirement,
    verdict: Verdict,
    *,
    findings: tuple[Finding, ...] = (),
    reason: str = "",
    behind: str = "",
) -> Outcome:
    """An outcome of a requirement in a run."""
    return Outcome(
        scenario=run.scenario.name,
        requirement=row.id,
        verdict=verdict,
        findings=findings,
        reason=reason,
        hidden_behind=behind,
        compat=row.compat,
    )
