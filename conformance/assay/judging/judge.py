"""From transcripts to findings: what is found of each requirement of a scenario. What that comes to, `outcomes` says.

One cause, one violation. Within an exchange the judge goes in stages, and a stage that finds something ends it: what
comes after has not been understood, and is reported as not observed, hidden behind what was found.

1. form: the wire grammar, schemas, headers (a few faults of form leave the content readable, see `HARMLESS`);
2. content: what was said, against the script;
3. sense: what the content means (what the backend received, how turns ended), and the stored answer;
4. parity of stream and whole answer, where neither showed anything else.

An exchange that continues a conversation is not looked at once an earlier one of it was wrong. Where the response is
no answer at all, the scenario's subject (the first requirement that it exercises in that mode) takes the blame, and
hides the rest. What nothing could show (an error that never came, a call that never came) is not observed either.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from assay.judging.checks import CONTENT, ERRORS, FORM, INVARIANT, SENSE, TOGETHER, response_parity
from assay.judging.checks.chat_stream import parity
from assay.judging.outcomes import Run, not_judged, outcome
from assay.judging.stored_answers import difference as answer_difference
from assay.model.catalogue import Catalogue, load
from assay.model.dialect import Dialect
from assay.model.scenario import Form, Mode
from assay.model.transcript import End
from assay.model.verdict import Finding, Outcome
from assay.reading.applicable import NO_ANSWER, applicable, speaks_of
from assay.reading.expected import Failure
from assay.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from assay.judging.checks import Check
    from assay.model.target import Target
    from assay.reading.exchange import Exchange

DONE_LAST = "chat.stream.done-last"
HARMLESS = frozenset({
    "chat.stream.headers",
    "chat.stream.stable-id",
    "chat.stream.stable-created",
    "chat.stream.stable-model",
    "chat.stream.usage",
    "chat.stream.keepalive-is-comment",
    DONE_LAST,
    "responses.stream.headers",
    "responses.stream.event-name",
    "responses.stream.sequence",
})  # fmt: skip
"""Violations of form behind which the content can still be understood (where the body did not break off)."""

OF_A_FAILURE = frozenset({"chat.stream.error-before-output", "chat.whole.backend-error", "responses.stream.terminal"})
"""What is asked of an answer where there should have been an HTTP error."""
PARITY = "chat.stream.parity"
PARITIES: Mapping[str, Callable[[Exchange, Exchange], Iterable[Violation]]] = {
    PARITY: parity,
    response_parity.PARITY: response_parity.parity,
}
"""Requirement → how a stream is compared with the whole answer."""
BROKEN_OFF = frozenset({End.CUT, End.TIMEOUT})
EVERYTHING = tuple(row.id for row in load().requirements)
"""All requirements."""
BAD_REQUEST = 400
"""The lowest status that says that a request failed."""


def judge_all(runs: Sequence[Run], target: Target, catalogue: Catalogue) -> tuple[Outcome, ...]:
    """The outcomes of all runs; what is broken everywhere is not blamed on the subjects of single scenarios."""
    first = {run.scenario.name: judge(run, target, catalogue, broken=EVERYTHING) for run in runs}
    broken = frozenset(
        outcome.requirement
        for run in runs
        for outcome in first[run.scenario.name]
        if outcome.findings and run.scenario.attribute_to in {None, outcome.requirement}
    )
    again = {
        run.scenario.name: judge(run, target, catalogue, broken=broken)
        for run in runs
        if run.scenario.attribute_to and any(outcome.findings for outcome in first[run.scenario.name])
    }
    return tuple(outcome for run in runs for outcome in {**first, **again}[run.scenario.name])


def judge(
    run: Run, target: Target, catalogue: Catalogue, *, broken: Container[str] = frozenset()
) -> tuple[Outcome, ...]:
    """One outcome for each requirement of the scenario, and for each other one that was found broken in it.

    `broken` are the requirements that other scenarios have shown to be broken: they take the blame themselves.
    """
    rows = applicable(run.scenario, catalogue, target.dialects)
    if run.error:
        return tuple(not_judged(run, row) for row in rows)
    seen = _Seen(wanted=frozenset(row.id for row in rows), broken=broken)
    for exchanges in run.exchanges.values():
        _conversation(exchanges, seen)
        _together(exchanges, seen)
    _parity(run, seen)
    others = {finding.violation.requirement for finding in seen.findings} - seen.wanted
    rows += tuple(row for row in catalogue.requirements if row.id in others)
    return tuple(outcome(run, row, target, found=seen.findings, hidden=seen.hidden) for row in rows)


@dataclass(kw_only=True)
class _Seen:
    """What the judge has found so far in a scenario; `hidden` maps a requirement to what hides it."""

    wanted: frozenset[str]
    broken: Container[str] = frozenset()
    findings: list[Finding] = field(default_factory=list)
    hidden: dict[str, str] = field(default_factory=dict)

    def find(self, exchange: Exchange, violations: Iterable[Violation]) -> list[Violation]:
        """Note violations of an exchange, and return them."""
        found = list(violations)
        self.findings += [Finding(form=exchange.form, exchange=exchange.number, violation=v) for v in found]
        return found

    def hide(self, exchange: Exchange, rows: Iterable[str], behind: Violation) -> None:
        """Note that requirements cannot be observed behind a violation."""
        for row in rows:
            if row in self.wanted and _fits(row, exchange):
                self.hidden.setdefault(row, behind.requirement)


def _conversation(exchanges: Sequence[Exchange], seen: _Seen) -> None:
    """Exchange by exchange; those that build on a wrong one are not judged."""
    cause: Violation | None = None
    for exchange in exchanges:
        if cause is not None and _builds_on(exchange, cause, seen):
            seen.hide(exchange, CONTENT.keys() | SENSE.keys(), cause)
            continue
        found = _exchange(exchange, seen)
        cause = cause or _breaking(found, exchange)
    if cause is not None and len(exchanges) < len(exchanges[-1].scenario.turns):
        seen.hide(exchanges[-1], CONTENT.keys() | SENSE.keys(), cause)


def _breaking(found: Iterable[Violation], exchange: Exchange) -> Violation | None:
    """The first violation behind which nothing more can be understood."""
    harmless = HARMLESS - {DONE_LAST} if exchange.transcript.end in BROKEN_OFF else HARMLESS
    return next((v for v in found if v.requirement not in harmless), None)


def _builds_on(exchange: Exchange, cause: Violation, seen: _Seen) -> bool:
    """Whether an exchange means nothing after a wrong one.

    Turns continue their conversation. A plain request that breaks several rules means nothing once one of them was
    seen not to be kept alone.
    """
    if exchange.turn is None:
        return cause.requirement not in seen.wanted
    return exchange.number > 0 and exchange.turn.script is None


def _together(exchanges: Sequence[Exchange], seen: _Seen) -> None:
    for row, check in TOGETHER.items():
        if row in seen.wanted:
            seen.find(exchanges[-1], check(exchanges))


def _exchange(exchange: Exchange, seen: _Seen) -> list[Violation]:
    """What one exchange shows."""
    errors = seen.find(exchange, _checks(ERRORS, seen.wanted, exchange))
    if exchange.transcript.end is End.LEFT and exchange.transcript.status is None:
        return errors
    if exchange.scenario.request is not None:
        return errors + seen.find(exchange, _checks(CONTENT, seen.wanted, exchange))
    if exchange.reading is None:
        missing = seen.find(exchange, _no_answer(exchange))
        for violation in missing:
            seen.hide(exchange, seen.wanted - ERRORS.keys(), violation)
        return errors + missing
    form = seen.find(exchange, [*exchange.reading.violations, *_checks(FORM, seen.wanted, exchange)])
    breaking = _breaking(form, exchange)
    if breaking:
        seen.hide(exchange, CONTENT.keys() | SENSE.keys(), breaking)
        return errors + form
    if exchange.transcript.end is End.LEFT:
        return errors + form
    return errors + form + _content(exchange, seen)


def _content(exchange: Exchange, seen: _Seen) -> list[Violation]:
    """Content and sense; a failure that was answered as a success is one violation, not many."""
    rows = seen.wanted if exchange.wanted else seen.wanted & INVARIANT
    if failed_first(exchange):
        rows &= OF_A_FAILURE
    found = seen.find(exchange, _blamed(exchange, seen, _checks(CONTENT, rows, exchange)))
    if found:
        subject = exchange.scenario.attribute_to
        seen.hide(exchange, {*CONTENT, *SENSE, subject} - {found[0].requirement} if subject else SENSE, found[0])
        return found
    found = seen.find(exchange, _blamed(exchange, seen, _checks(SENSE, rows, exchange)))
    clean = not any(finding.form == exchange.form for finding in seen.findings)
    return found or seen.find(
        exchange, _blamed(exchange, seen, answer_difference(exchange)) if clean and exchange.wanted else ()
    )


def _blamed(exchange: Exchange, seen: _Seen, violations: Iterable[Violation]) -> Iterable[Violation]:
    """In a scenario with a subject of its own, a violation of content is one of the subject.

    Not where other scenarios show the same violation: then it has nothing to do with the subject.
    """
    subject = exchange.scenario.attribute_to
    for found in violations:
        if subject is None or found.requirement in seen.broken:
            yield found
        else:
            yield replace(found, requirement=subject, seen=f"{found.seen} ({found.requirement})")


def failed_first(exchange: Exchange) -> bool:
    """Whether the backend failed before it said anything (or, in a whole answer, at all)."""
    return any(wanted.failure in {Failure.BEFORE_OUTPUT, Failure.SILENT} for wanted in exchange.wanted)


def _checks(table: Mapping[str, Check], rows: Iterable[str], exchange: Exchange) -> Iterable[Violation]:
    wanted = set(rows)
    return (v for row, check in table.items() if row in wanted and _fits(row, exchange) for v in check(exchange))


def _fits(row: str, exchange: Exchange) -> bool:
    """Whether a requirement speaks of answers of the form of an exchange."""
    return speaks_of(load().by_id[row], exchange.form)


def _no_answer(exchange: Exchange) -> Iterable[Violation]:
    """A response that is no success, where one was due."""
    transcript = exchange.transcript
    if transcript.status is None:
        seen = f"no response came: {transcript.end} after {transcript.seconds:.1f} s"
    elif transcript.status >= BAD_REQUEST and any(wanted.failure in NO_ANSWER for wanted in exchange.wanted):
        return
    else:
        seen = f"HTTP {transcript.status} instead of an answer: {transcript.body[:200].decode(errors='replace')}"
    fitting = (row for row in exchange.scenario.exercises if _fits(row, exchange))
    yield Violation(requirement=next(fitting, exchange.scenario.exercises[0]), seen=seen)


def _parity(run: Run, seen: _Seen) -> None:
    """Stream against whole, exchange by exchange, where nothing else was found in either; and response against chat."""
    for row, compare in PARITIES.items():
        if row in seen.wanted and seen.findings:
            seen.hidden.setdefault(row, seen.findings[0].violation.requirement)
        elif row in seen.wanted:
            spoken = [form for form in run.exchanges if form.mode is Mode.STREAM and speaks_of(load().by_id[row], form)]
            for form in spoken:
                _compare(run, seen, (form, Form(form.dialect, Mode.WHOLE)), compare)
    if response_parity.PARITY in seen.wanted and not seen.findings:
        forms = (Form(Dialect.RESPONSES, Mode.WHOLE), Form(Dialect.OPENAI_JSON, Mode.WHOLE))
        _compare(run, seen, forms, response_parity.across)


def _compare(
    run: Run, seen: _Seen, forms: tuple[Form, Form], compare: Callable[[Exchange, Exchange], Iterable[Violation]]
) -> None:
    """The exchanges of two forms, side by side."""
    ours, others = (run.exchanges.get(form, ()) for form in forms)
    for one, other in zip(ours, others, strict=False):
        if one.reading is not None and other.reading is not None and one.wanted:
            seen.find(one, compare(one, other))
