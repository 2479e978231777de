"""What a run shows: its exchanges, stage by stage, then its answers beside one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.cases import SymptomCase, case_of, may_be_expected
from wireproof.judging.checks import live, live_parity
from wireproof.judging.checks.answered import lost_report, order
from wireproof.judging.checks.diff import is_object
from wireproof.judging.findings import CONTENT, RunFindings
from wireproof.judging.spoiling import ExchangeFinding, Spoilt, spoilt_by
from wireproof.judging.stored_answers import difference as answer_difference
from wireproof.model.dialect import DEFAULT, ONE_OF_EACH
from wireproof.model.requirement import Requirement, Stage
from wireproof.model.scenario import Form, Mode, PlainScenario
from wireproof.model.transcript import End
from wireproof.reading.applicable import applicable
from wireproof.reading.expected import ExpectedFailure
from wireproof.wire.facet import Facet
from wireproof.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.judging.registry import Checks
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.target import Target
    from wireproof.reading.exchange import Exchange

_REFUSALS = frozenset({400, 422})
"""The statuses of a request that a server cannot read."""
ORDERS = "http.precedence."
"""How rows begin whose scenarios break one rule, and then another one with it."""
_OF_ANY_ANSWER = frozenset({Stage.TARGET, Stage.ERROR})
"""What is judged of every exchange, whatever came."""


def findings_of(run: ScenarioRun, target: Target, catalogue: Catalogue, checks: Checks) -> RunFindings:
    """Everything that a run shows."""
    rows = applicable(run.scenario, catalogue, target.dialects)
    shown = RunFindings(run=run, catalogue=catalogue, checks=checks, rows=rows)
    if run.error:
        return shown
    for exchanges in run.exchanges.values():
        if isinstance(run.scenario, PlainScenario):
            _requests(exchanges, shown)
        else:
            _conversation(exchanges, shown)
        _together(exchanges, shown)
    _damage(shown)
    _parity(shown)
    return shown


def _requests(exchanges: Sequence[Exchange], shown: RunFindings) -> None:
    """Plain requests, in turn.

    One that breaks several rules may show nothing of their order once one of them was seen not to be kept alone.
    """
    cause: ExchangeFinding | None = None
    # What the scenario is judged by, such as the form of the error, says nothing of the rule in question.
    judged = {row.id for row in shown.rows}
    for exchange in exchanges:
        if cause is not None:
            seen = order(exchanges[0], exchange) if _is_of_two_rules(exchange) else None
            if seen is None:
                shown.hide_meaning(exchange, cause)
            else:
                shown.find(exchange, (one.of(exchange.scenario.exercises[0]) for one in seen))
            continue
        found, case = _answer(exchange, shown)
        if not (case and case.hides):
            lost = shown.find(exchange, lost_report(exchange))
            for one in lost:
                shown.hide_meaning(exchange, one)
            found += lost or shown.find(exchange, shown.look(shown.of(*CONTENT), exchange))
        spoilt = Spoilt(shown.catalogue, {})
        spoilt.add(one for one in found if one.requirement not in judged)
        cause = spoilt.first


def _is_of_two_rules(exchange: Exchange) -> bool:
    """Whether a request breaks the rule that the one before it has broken, and another one."""
    scenario = exchange.scenario
    if not isinstance(scenario, PlainScenario) or not scenario.exercises[0].startswith(ORDERS):
        return False
    alone, *others = scenario.requests
    return [alone.expect] == [one.expect for one in others if not one.judged]


def _conversation(exchanges: Sequence[Exchange], shown: RunFindings) -> None:
    """Exchange by exchange; what a client sends back of a spoilt answer spoils those that continue it."""
    earlier: Mapping[Facet, ExchangeFinding] = {}
    for exchange in exchanges:
        # A turn that plays a script of its own continues nothing.
        continues = exchange.number > 0 and exchange.turn is not None and exchange.turn.script is None
        earlier = _exchange(exchange, shown, earlier if continues else {})
    # A conversation that could not be continued: the turns that were never sent are hidden, too.
    cause = next(iter(earlier.values()), None)
    if cause is not None and len(exchanges) < len(exchanges[-1].conversation.turns):
        shown.hide_meaning(exchanges[-1], cause)


def _together(exchanges: Sequence[Exchange], shown: RunFindings) -> None:
    """What several exchanges show together, each at the first that shows it: its bytes are the evidence."""
    for row in shown.of(Stage.TOGETHER):
        known: set[Violation] = set()
        for count, last in enumerate(exchanges, 1):
            if row.speaks_of(last.form):
                found = shown.guarded(row, shown.checks.look(row.id, *exchanges[:count]), last.form)
                known.update(
                    one.finding.violation for one in shown.find(last, (one for one in found if one not in known))
                )


def _answer(exchange: Exchange, shown: RunFindings) -> tuple[list[ExchangeFinding], SymptomCase | None]:
    """What is found of any answer whatever came, and its case if it has a symptom."""
    errors = shown.find(exchange, shown.look(shown.of(Stage.TARGET, Stage.ERROR), exchange))
    case = case_of(exchange, shown.catalogue)
    if case is not None and may_be_expected(case):
        shown.expected.append(case)
        return errors, None
    if case is not None:
        shown.cases.append(case)
        errors += _nothing_else(case, shown) if case.hides else []
    return errors, case


def _refused_for_ids(
    exchange: Exchange, shown: RunFindings, earlier: Mapping[Facet, ExchangeFinding]
) -> ExchangeFinding | None:
    """The finding about ids of calls for which a turn that sends them back may have been refused; None: it was not."""
    back = earlier.get(Facet.HISTORY)
    if back is None or exchange.transcript.status not in _REFUSALS:
        return None
    spoils = spoilt_by(back, shown.catalogue.by_id.get(back.requirement))
    return back if Facet.CALL_ID in spoils else None


def _exchange(
    exchange: Exchange, shown: RunFindings, earlier: Mapping[Facet, ExchangeFinding]
) -> Mapping[Facet, ExchangeFinding]:
    """Look at one exchange of a conversation; what is spoilt in the one that continues it."""
    lost = earlier.get(Facet.CALL) or _refused_for_ids(exchange, shown, earlier)
    # What the client was to send is not what it sent, so nothing but the form of an answer means anything.
    if lost is not None and exchange.reading is None:
        shown.hide_meaning(exchange, lost)
        shown.alone[exchange] = lost
        return earlier
    found, case = _answer(exchange, shown) if lost is None else ([], None)
    if case and case.hides:
        shown.alone[exchange] = found[-1]
        return dict.fromkeys(Facet, found[-1])
    # The error that was due, whose form the first stage has judged; or the client left before anything came, as its
    # scenario asks.
    if exchange.reading is None:
        return earlier
    shown.served.append(exchange)
    spoilt = Spoilt(shown.catalogue, earlier)
    if earlier:
        shown.alone[exchange] = next(iter(earlier.values()))
    read = (one for one in exchange.reading.violations if one.requirement not in shown.catalogue.later)
    spoilt.add(shown.find(exchange, [*read, *shown.look(shown.of(Stage.FORM), exchange)]))
    # Of an answer that the client did not wait for only the form is known.
    if exchange.transcript.end is not End.LEFT:
        _meaning(exchange, shown, spoilt)
    return spoilt.for_later


def _nothing_else(case: SymptomCase, shown: RunFindings) -> list[ExchangeFinding]:
    """The violation of an exchange without an answer, which hides all else. A cause may say it better (`causes`)."""
    violation = Violation(requirement=case.subject, seen=case.seen, strict_only=case.strict_only)
    missing = shown.find(case.exchange, [violation])
    shown.hide(case.exchange, (row for row in shown.rows if row.stage not in _OF_ANY_ANSWER), missing[0])
    return missing


def _meaning(exchange: Exchange, shown: RunFindings, spoilt: Spoilt) -> None:
    """Content, then sense, then the stored answer: each as far as what it needs is not spoilt."""
    rows = [row for row in shown.rows if _can_be_asked(row, exchange)]
    found = _judged(exchange, shown, spoilt, [row for row in rows if row.stage in CONTENT])
    if exchange.scenario.attribute_to:
        # What is attributed to the subject says nothing of the rows that found it.
        for one in found:
            shown.hide(exchange, (row for row in shown.rows if row.id == one.requirement), one)
    reports = [choice.text or "" for wanted, choice in exchange.choices() if wanted.text is None]
    if reports:
        spoilt.lose_report(is_report=all(map(is_object, reports)))
    # Rows of subjects have a check for answers of models alone.
    _judged(exchange, shown, spoilt, [row for row in rows if row.stage in {Stage.SENSE, Stage.SUBJECT}])
    if exchange.wanted and Facet.HISTORY not in spoilt:
        explained = shown.explained(exchange).keys()
        shown.find(exchange, answer_difference(exchange, shown.catalogue, explained), attributable=True)


def _judged(
    exchange: Exchange, shown: RunFindings, spoilt: Spoilt, rows: Sequence[Requirement]
) -> list[ExchangeFinding]:
    """What is found by the rows whose parts are not spoilt; the others are hidden."""
    clear: list[Requirement] = []
    for row in rows:
        behind = spoilt.behind(row)
        if behind is None:
            clear.append(row)
            # A beginning can break a row; that all of the answer keeps it, it does not show.
            behind = spoilt.unended(row)
        if behind is not None:
            shown.hide(exchange, [row], behind)
    violations = [one for one in shown.look(clear, exchange) if one.part not in spoilt]
    found = shown.find(exchange, violations, attributable=True)
    spoilt.add(found)
    return found


def _can_be_asked(row: Requirement, exchange: Exchange) -> bool:
    """Whether an answer can be judged by a row of content or sense.

    Without a script only by what holds of any answer. A failure that was answered as a success is one violation: all
    else that is wrong with the answer follows from it.
    """
    if row.needs_script and not exchange.wanted and not (exchange.asks is not None and live.judges(row)):
        return False
    return row.on_failure or not failed_first(exchange)


def failed_first(exchange: Exchange) -> bool:
    """Whether the backend failed before any output (or, in a whole answer, at all)."""
    hushed = {ExpectedFailure.BEFORE_OUTPUT, ExpectedFailure.SILENT, ExpectedFailure.UNMET}
    return any(wanted.failure in hushed for wanted in exchange.wanted)


def _damage(shown: RunFindings) -> None:
    """What one form lost of a model's answer, where another form of the same turn has all of it."""
    if isinstance(shown.run.scenario, PlainScenario):
        return
    found = {one.exchange for one in shown.findings}
    for number in range(len(shown.run.scenario.turns)):
        same = [those[number] for those in shown.run.exchanges.values() if number < len(those)]
        # Not where something is wrong anyway: one cause, one violation.
        for exchange, violation in live_parity.damaged([one for one in same if one not in found]):
            shown.find(exchange, [violation])


def _parity(shown: RunFindings) -> None:
    """Two answers to the same turn: what of them is not explained by what was found in either."""
    wholes = [Form(dialect, Mode.WHOLE) for dialect in ONE_OF_EACH if dialect is not DEFAULT]
    for row in shown.of(Stage.PARITY):
        streams = [form for form in shown.run.exchanges if form.mode is Mode.STREAM and row.speaks_of(form)]
        found = [_compare(shown, row, form, Form(form.dialect, Mode.WHOLE)) for form in streams]
        # Where a stream differs from the whole answer, a difference from chat would be the same one again.
        for form in wholes if not any(found) else ():
            if row.speaks_of(form):
                _compare(shown, row, form, Form(DEFAULT, Mode.WHOLE))


def _compare(shown: RunFindings, row: Requirement, ours: Form, others: Form) -> bool:
    """The exchanges of two forms, side by side; one may have fewer, where a conversation could not be continued.

    Returns:
        Whether anything was found.
    """
    exchanges = (shown.run.exchanges.get(form, ()) for form in (ours, others))
    found: list[ExchangeFinding] = []
    for one, other in zip(*exchanges, strict=False):
        missing = shown.alone.get(one) or shown.alone.get(other)
        if missing is not None:
            shown.hidden.setdefault(row.id, missing)
        if missing is not None or one.reading is None or other.reading is None:
            continue
        # Two answers of a live model, whose right answer is not known, may differ in all but their form.
        if one.asks is not None:
            violations = shown.guarded(row, live_parity.check.look(row.id, one, other), ours)
        elif one.wanted:
            violations = shown.guarded(row, shown.checks.look(row.id, one, other), ours)
        else:
            continue
        explained = {**shown.explained(other), **shown.explained(one)}
        new = []
        for violation in violations:
            if violation.part in explained:
                shown.hidden.setdefault(row.id, explained[violation.part])
            else:
                new.append(violation)
        found += shown.find(one, new[:1])
    return bool(found)
