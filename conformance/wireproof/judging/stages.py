"""What a run shows: its exchanges, stage by stage, then its answers beside one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.cases import case_of, may_be_expected
from wireproof.judging.checks import live, live_parity
from wireproof.judging.findings import CONTENT, RunFindings
from wireproof.judging.stored_answers import difference as answer_difference
from wireproof.model.dialect import Dialect
from wireproof.model.requirement import Stage
from wireproof.model.scenario import Form, Mode, PlainScenario
from wireproof.model.transcript import End
from wireproof.reading.applicable import applicable
from wireproof.reading.expected import ExpectedFailure
from wireproof.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof.judging.cases import SymptomCase
    from wireproof.judging.exchange_finding import ExchangeFinding
    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.judging.registry import Checks
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.requirement import Requirement
    from wireproof.model.target import Target
    from wireproof.reading.exchange import Exchange

_OF_ANY_ANSWER = frozenset({Stage.TARGET, Stage.ERROR})
"""What is judged of every exchange, whatever came."""


def findings_of(run: ScenarioRun, target: Target, catalogue: Catalogue, checks: Checks) -> RunFindings:
    """Everything that a run shows."""
    rows = applicable(run.scenario, catalogue, target.dialects)
    shown = RunFindings(run=run, catalogue=catalogue, checks=checks, rows=rows)
    if run.error:
        return shown
    for exchanges in run.exchanges.values():
        _conversation(exchanges, shown)
        _together(exchanges, shown)
    _damage(shown)
    _parity(shown)
    return shown


def _conversation(exchanges: Sequence[Exchange], shown: RunFindings) -> None:
    """Exchange by exchange; those that build on a wrong one are not judged."""
    cause: ExchangeFinding | None = None
    for exchange in exchanges:
        if cause is not None and _builds_on(exchange):
            shown.hide_meaning(exchange, cause)
            continue
        found = _exchange(exchange, shown)
        if exchange.turn is None:
            # What the scenario is judged by, such as the form of the error, says nothing of the rule in question.
            found = [one for one in found if one.requirement not in {row.id for row in shown.rows}]
        # Only the first: what breaks later in the conversation may follow from it.
        cause = cause or shown.breaking(found, exchange)
    # A conversation that could not be continued: the turns that were never sent are hidden, too.
    if cause is not None and exchanges[-1].turn and len(exchanges) < len(exchanges[-1].conversation.turns):
        shown.hide_meaning(exchanges[-1], cause)


def _builds_on(exchange: Exchange) -> bool:
    """Whether an exchange means nothing after a wrong one.

    Turns continue their conversation, unless they play a script of their own. A plain request that breaks several
    rules shows nothing of their order once one of them was seen not to be kept alone.
    """
    return exchange.turn is None or (exchange.number > 0 and exchange.turn.script is None)


def _together(exchanges: Sequence[Exchange], shown: RunFindings) -> None:
    for row in shown.of(Stage.TOGETHER):
        if row.speaks_of(exchanges[-1].form):
            shown.find(exchanges[-1], shown.checks.look(row.id, *exchanges))


def _exchange(exchange: Exchange, shown: RunFindings) -> list[ExchangeFinding]:
    """What one exchange shows."""
    errors = shown.find(exchange, shown.look(shown.of(Stage.TARGET, Stage.ERROR), exchange))
    case = case_of(exchange, shown.catalogue)
    if case is not None and not may_be_expected(case):
        shown.cases.append(case)
        if case.hides:
            return errors + _nothing_else(case, shown)
    elif case is not None:
        shown.expected.append(case)
    # A plain request: its scenario says what must come, so there is no grammar to read the answer by.
    if exchange.request is not None:
        return errors + shown.find(exchange, shown.look(shown.of(*CONTENT), exchange))
    # The error that was due, whose form the first stage has judged; or the client left before anything came, as its
    # scenario asks.
    if exchange.reading is None:
        return errors
    shown.served.append(exchange)
    read = (one for one in exchange.reading.violations if one.requirement not in shown.catalogue.later)
    violations = [*read, *shown.look(shown.of(Stage.FORM), exchange)]
    form = shown.find(exchange, violations)
    breaking = shown.breaking(form, exchange)
    if breaking:
        shown.hide_meaning(exchange, breaking)
        return errors + form
    # Of an answer that the client did not wait for only the form is known.
    if exchange.transcript.end is End.LEFT:
        return errors + form
    return errors + form + _meaning(exchange, shown)


def _nothing_else(case: SymptomCase, shown: RunFindings) -> list[ExchangeFinding]:
    """The violation of an exchange without an answer, which hides all else. A cause may say it better (`_settle`)."""
    violation = Violation(requirement=case.subject, seen=case.seen, strict_only=case.strict_only)
    missing = shown.find(case.exchange, [violation])
    shown.hide(case.exchange, (row for row in shown.rows if row.stage not in _OF_ANY_ANSWER), missing[0])
    return missing


def _meaning(exchange: Exchange, shown: RunFindings) -> list[ExchangeFinding]:
    """Content, then sense, then the stored answer; the first of them that finds something ends it."""
    rows = [row for row in shown.rows if _can_be_asked(row, exchange)]
    content = (row for row in rows if row.stage in CONTENT)
    beside = shown.find(exchange, shown.look(content, exchange), attributable=True)
    found = [one for one in beside if not one.finding.violation.harmless]
    if found and exchange.scenario.attribute_to:
        shown.hide_meaning(exchange, found[0])
    elif found:
        shown.hide(exchange, shown.of(Stage.SENSE, Stage.SUBJECT), found[0])
    if found:
        return beside
    # Rows of subjects have a check for answers of models alone.
    sense = (row for row in rows if row.stage in {Stage.SENSE, Stage.SUBJECT})
    found = beside + shown.find(exchange, shown.look(sense, exchange), attributable=True)
    # Harmless findings count, too, but for those beside the content: the stored answer would show the same fault under
    # another name.
    clean = all(one.finding.form != exchange.form or shown.beside(one) for one in shown.findings)
    if found or not clean or not exchange.wanted:
        return found
    return shown.find(exchange, answer_difference(exchange, shown.catalogue), attributable=True)


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
    """Two answers to the same turn, where nothing else was found in the scenario."""
    for row in shown.of(Stage.PARITY):
        hiding = next(filter(shown.hides_parity, shown.findings), None)
        if hiding:
            shown.hidden.setdefault(row.id, hiding)
        # Where a stream differs from the whole answer, a difference from chat would be the same one again.
        for pairs in (_streams_and_wholes(row, shown.run), _responses_and_chats(row)):
            if not any(map(shown.hides_parity, shown.findings)):
                for ours, others in list(pairs):
                    _compare(shown, row, ours, others)


def _streams_and_wholes(row: Requirement, run: ScenarioRun) -> Iterator[tuple[Form, Form]]:
    """The stream and the whole answer of each dialect that the row is about."""
    for form in run.exchanges:
        if form.mode is Mode.STREAM and row.speaks_of(form):
            yield form, Form(form.dialect, Mode.WHOLE)


def _responses_and_chats(row: Requirement) -> Iterator[tuple[Form, Form]]:
    """The whole response and the whole chat answer, if the row is about Responses."""
    response = Form(Dialect.RESPONSES, Mode.WHOLE)
    if row.speaks_of(response):
        yield response, Form(Dialect.OPENAI_JSON, Mode.WHOLE)


def _compare(shown: RunFindings, row: Requirement, ours: Form, others: Form) -> None:
    """The exchanges of two forms, side by side; one may have fewer, where a conversation could not be continued."""
    exchanges = (shown.run.exchanges.get(form, ()) for form in (ours, others))
    for one, other in zip(*exchanges, strict=False):
        # Two answers of a live model, whose right answer is not known, may differ in all but their form.
        if one.asks is not None and one.reading is not None and other.reading is not None:
            shown.find(one, live_parity.check.look(row.id, one, other))
        elif one.reading is not None and other.reading is not None and one.wanted:
            shown.find(one, shown.checks.look(row.id, one, other))
