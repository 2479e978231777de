"""From transcripts to findings: what is found of each requirement of a scenario. `outcomes` turns that into verdicts.

One cause, one violation. Within an exchange the judge goes in stages (`Stage` of a row), and a stage that finds
something ends it: what comes after has not been understood. It is reported as not observed, hidden behind what was
found.

0. target: whether there is an answer at all (below);
1. error: an answer that is an error has the right form and gives nothing away;
2. form: the wire grammar, schemas, headers (`harmless` rows leave the content readable);
3. content: what was said, against the script;
4. sense: what the content means (what the backend received, how turns ended), and then the stored answer;
5. parity of two answers to the same turn, if the scenario showed nothing else that could make them differ.

What is wrong beside the content (a member too many, a header) hides nothing, nor does a fault of form that every
client copes with: both are reported, and the stages go on.

An exchange that continues a conversation is not judged once an earlier one of it was wrong. What nothing could show (an
error that never came, a call that never came) is not observed either.

A response that is no answer has a symptom, and shows nothing else. Those of all runs are looked at together: what
shows the same symptom is one cause with one finding, which hides the rest (`causes` says what is a cause, and what is
a scenario's own matter, whose violation is one of its subject: the first requirement that it exercises in that mode).

Some scenarios differ from others in one thing only, and name it as the requirement to attribute faults to
(`attribute_to`). Whatever is wrong with their content is a violation of that requirement, unless scenarios without such
a subject show the same violation: then it has nothing to do with the subject. So runs are examined first, each once and
under the names that the checks give; which findings are attributed to a subject is decided by a pass over what all runs
have shown.

To judge a requirement of one's own, add its row and its check; both are values, and nothing else has to know them:

    mine = Checks()

    @mine("my.greeting")
    def greeting(exchange):
        if "Hello" not in (exchange.choice().text or ""):
            yield Seen("the answer does not greet", exchange.body_place)

    row = Requirement(id="my.greeting", level=Level.SHOULD, text="An answer greets.", hint="Greet.",
                      source=(Citation(seed="my-contract", line=1, quote="be polite"),), judged=Judged.ALWAYS)
    catalogue = load().extended(row)  # or .extended(*read(Path("my-requirements")).requirements)
    judge_all(runs, target, catalogue, checks=Checks(CHECKS, mine))
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from assay.judging.cases import case_of, may_be_expected
from assay.judging.causes import CAUSED, Evidence, Fault, find_causes
from assay.judging.checks import CHECKS, GRAMMAR, live, live_ids, live_parity
from assay.judging.checks.answered import answered
from assay.judging.declared import without_absent
from assay.judging.outcomes import Hidden, not_judged, outcome
from assay.judging.stored_answers import difference as answer_difference
from assay.judging.symptoms import ANSWERED, NotServed
from assay.model.dialect import Dialect
from assay.model.requirement import Harmless, Stage
from assay.model.scenario import Form, Mode
from assay.model.transcript import End
from assay.model.verdict import Finding, HarnessError
from assay.reading.applicable import applicable
from assay.reading.capabilities import absences
from assay.reading.expected import Failure
from assay.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from assay.judging.cases import Case
    from assay.judging.causes import Cause
    from assay.judging.outcomes import Run
    from assay.judging.registry import Checks
    from assay.model.catalogue import Catalogue
    from assay.model.requirement import Requirement
    from assay.model.target import Target
    from assay.model.verdict import Outcome
    from assay.reading.exchange import Exchange

BROKEN_OFF = frozenset({End.CUT, End.TIMEOUT, End.ENDLESS})
_CONTENT = frozenset({Stage.CONTENT, Stage.ANSWER})
_MEANING = _CONTENT | {Stage.SENSE, Stage.SUBJECT}
"""What cannot be judged behind a violation of form. A subject is judged by the content of its scenarios."""
_OF_ANY_ANSWER = frozenset({Stage.TARGET, Stage.ERROR})
"""What is judged of every exchange, whatever came."""
_WITHOUT_CHECK = frozenset({Stage.ANSWER, Stage.SUBJECT})
"""Rows of these stages are judged by what their scenarios say."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What runs come to."""

    outcomes: tuple[Outcome, ...]
    """In the order of the runs."""
    causes: tuple[Cause, ...]
    """What made exchanges fail alike, in the order in which it first shows."""


def judge_runs(
    runs: Sequence[Run], target: Target, catalogue: Catalogue, *, checks: Checks = CHECKS, broken: Iterable[str] = ()
) -> Judgement:
    """The outcomes of all runs, and the causes that several exchanges share.

    `broken` are the requirements that other scenarios have shown to be broken: they are not attributed to a subject.

    Raises:
        HarnessError: nothing can find out whether a row of the catalogue is broken.
    """
    _refuse_rows_without_check(catalogue, checks)
    runs = without_absent(runs, target.absent)
    examined = [_examine(run, target, catalogue, checks) for run in runs]
    _shared_ids(examined)
    causes = find_causes(
        Evidence(
            cases=[case for one in examined for case in one.cases],
            expected=[case for one in examined for case in one.expected],
            served=[exchange for one in examined for exchange in one.served],
            faults=[fault for one in examined for fault in one.faults],
            aside=[exchange for run in runs for those in run.set_aside.values() for exchange in those],
            absences=absences(runs),
        )
    )
    settled = [_settle(one, causes) for one in examined]
    shown = frozenset(broken).union(*(one.vouched for one in settled))
    outcomes = (outcome for one in settled for outcome in _outcomes(one, target, shown))
    return Judgement(outcomes=tuple(outcomes), causes=causes)


def judge_all(
    runs: Sequence[Run], target: Target, catalogue: Catalogue, *, checks: Checks = CHECKS
) -> tuple[Outcome, ...]:
    """The outcomes of all runs, in their order.

    Raises:
        HarnessError: nothing can find out whether a row of the catalogue is broken.
    """
    return judge_runs(runs, target, catalogue, checks=checks).outcomes


def judge(
    run: Run, target: Target, catalogue: Catalogue, *, checks: Checks = CHECKS, broken: Iterable[str] = ()
) -> tuple[Outcome, ...]:
    """One outcome for each requirement of the scenario, and for each other one that was found broken in it.

    `broken` are the requirements that other scenarios have shown to be broken: they are not attributed to the subject.

    Raises:
        HarnessError: nothing can find out whether a row of the catalogue is broken.
    """
    return judge_runs([run], target, catalogue, checks=checks, broken=broken).outcomes


def _refuse_rows_without_check(catalogue: Catalogue, checks: Checks) -> None:
    """A row that nothing can find broken would pass wherever it is judged."""
    for row in catalogue.requirements:
        if row.stage not in _WITHOUT_CHECK and row.id not in {*checks, *GRAMMAR, *CAUSED, *live.check}:
            raise HarnessError(
                f"{row.id} has no check, so it would always pass; register one, or give the row the stage "
                f"{Stage.ANSWER.value!r} or {Stage.SUBJECT.value!r} if scenarios say what is right"
            )


_Place = tuple[Form, int]
"""An exchange of a run: its form, and its number."""


@dataclass(frozen=True, kw_only=True)
class _Found:
    """A finding under the name that its check gives, and whether it may be attributed to the scenario's subject."""

    finding: Finding
    attributable: bool

    @property
    def place(self) -> _Place:
        """The exchange of the run in which it was made."""
        return self.finding.form, self.finding.exchange

    @property
    def requirement(self) -> str:
        return self.finding.violation.requirement


@dataclass(kw_only=True)
class _Examined:
    """What a run has shown so far."""

    run: Run
    catalogue: Catalogue
    checks: Checks
    rows: tuple[Requirement, ...]
    """The rows that the scenario is judged by, in the catalogue's order."""
    findings: list[_Found] = field(default_factory=list)
    hidden: dict[str, _Found] = field(default_factory=dict)
    """Requirement → the first finding behind which it could not be observed."""
    cases: list[Case] = field(default_factory=list)
    """The exchanges without an answer, where one was due."""
    expected: list[Case] = field(default_factory=list)
    """Those without an answer where an error may have been due."""
    served: list[Exchange] = field(default_factory=list)
    """Those of conversations with an answer."""
    causes: tuple[Cause, ...] = ()
    """The causes whose first exchange is one of this run's; known when all runs have been examined."""
    lost: Mapping[_Place, Cause] = field(default_factory=dict)
    """The exchanges that show nothing but what a cause says, which then says it for all of them; known as late."""
    moved: Mapping[int, Cause] = field(default_factory=dict)
    """Identity of a finding → the cause that counts it; known as late."""
    counted: Mapping[str, Cause] = field(default_factory=dict)
    """Requirement → the cause that counts a fault which this requirement finds broken as well; known as late."""
    spoilt: Mapping[str, Cause] = field(default_factory=dict)
    """Those of them of whose answers each has such a fault, and one that harms clients; known as late."""

    @property
    def vouched(self) -> frozenset[str]:
        """The requirements that are broken whatever the scenario's subject is."""
        subject = self.run.scenario.attribute_to
        return frozenset(found.requirement for found in self.findings if subject in {None, found.requirement})

    @property
    def faults(self) -> Iterator[Fault]:
        """What was found of its answers, with the exchanges."""
        exchanges = dict(_places(self.run))
        return (Fault(exchange=exchanges[found.place], finding=found.finding) for found in self.findings)

    def find(self, exchange: Exchange, violations: Iterable[Violation], *, attributable: bool = False) -> list[_Found]:
        """Note violations of an exchange, and return them."""
        found = [
            _Found(
                finding=Finding(form=exchange.form, exchange=exchange.number, violation=violation),
                attributable=attributable,
            )
            for violation in violations
        ]
        self.findings += found
        return found

    def hide(self, exchange: Exchange, rows: Iterable[Requirement], behind: _Found) -> None:
        """Note that requirements about answers of this form cannot be observed behind a finding."""
        for row in rows:
            if row.speaks_of(exchange.form):
                self.hidden.setdefault(row.id, behind)

    def hide_meaning(self, exchange: Exchange, behind: _Found) -> None:
        """Note that content and sense cannot be observed behind a finding."""
        self.hide(exchange, (row for row in self.rows if row.stage in _MEANING), behind)

    def of(self, *stages: Stage) -> Iterator[Requirement]:
        """The rows of these stages."""
        return (row for row in self.rows if row.stage in stages)

    def look(self, rows: Iterable[Requirement], exchange: Exchange) -> Iterator[Violation]:
        """What the checks of those rows find that are about answers of this form."""
        for row in rows:
            if row.speaks_of(exchange.form) and row.stage is Stage.ANSWER:
                yield from answered(row.id, exchange, self.checks)
            elif row.speaks_of(exchange.form):
                yield from self._checked(row, exchange)

    def _checked(self, row: Requirement, exchange: Exchange) -> Iterator[Violation]:
        if exchange.asks is None:
            yield from self.checks.look(row.id, exchange)
            return
        # A model does not report what it received, as a script can.
        found = [] if row.stage is Stage.SENSE else list(self.checks.look(row.id, exchange))
        yield from found
        # What is missing beside the content leaves it to be judged, and its counts.
        if all(one.harmless for one in found):
            yield from live.check.look(row.id, exchange)

    def breaking(self, found: Iterable[_Found], exchange: Exchange) -> _Found | None:
        """The first finding behind which nothing more can be understood."""
        return next((one for one in found if not self._harmless(one, exchange)), None)

    def beside(self, found: _Found) -> bool:
        """Whether a finding is about the form beside the content: nothing of what two answers share differs for it."""
        return found.finding.violation.harmless and found.finding.violation.strict_only

    def hides_parity(self, found: _Found) -> bool:
        """Whether two answers to one turn may differ for what was found.

        Chat answers are compared by what they say, and a fault that clients cope with changes none of it; of two
        responses every member is compared.
        """
        row = self.catalogue.by_id.get(found.requirement)
        read_on = found.finding.violation.strict_only and row is not None and row.stage is Stage.FORM
        said = read_on and found.finding.form.dialect is not Dialect.RESPONSES
        return not (self.beside(found) or said)

    def _harmless(self, found: _Found, exchange: Exchange) -> bool:
        row = self.catalogue.by_id.get(found.requirement)
        violation = found.finding.violation
        if violation.harmless or (violation.strict_only and row is not None and row.stage is Stage.FORM):
            return True
        # Of a requirement that this catalogue does not have nothing is known, so it hides what comes after.
        match row.harmless if row else Harmless.NEVER:
            case Harmless.ALWAYS:
                return True
            case Harmless.COMPLETE:
                return exchange.transcript.end not in BROKEN_OFF
            case Harmless.NEVER:
                return False


def _examine(run: Run, target: Target, catalogue: Catalogue, checks: Checks) -> _Examined:
    """Everything that a run shows."""
    rows = applicable(run.scenario, catalogue, target.dialects)
    examined = _Examined(run=run, catalogue=catalogue, checks=checks, rows=rows)
    if run.error:
        return examined
    for exchanges in run.exchanges.values():
        _conversation(exchanges, examined)
        _together(exchanges, examined)
    _damage(examined)
    _parity(examined)
    return examined


def _settle(examined: _Examined, causes: Iterable[Cause]) -> _Examined:
    """What a run has shown, without what the causes of all runs say better."""
    mine = {id(exchange): place for place, exchange in _places(examined.run)}
    hidden = ((id(exchange), cause) for cause in causes for exchange in cause.hidden)
    lost = {mine[known]: cause for known, cause in hidden if known in mine}
    others = {id(finding): cause for cause in causes for finding in cause.others}
    elsewhere = [found for found in examined.findings if id(found.finding) in others]
    counted = {found.requirement: others[id(found.finding)] for found in elsewhere}
    return replace(
        examined,
        findings=[found for found in examined.findings if found.place not in lost and id(found.finding) not in others],
        moved=others,
        counted=counted,
        spoilt={row: cause for row, cause in counted.items() if _all_have(row, elsewhere, examined, lost)},
        causes=tuple(cause for cause in causes if cause.scenario == examined.run.scenario.name),
        lost=lost,
    )


def _all_have(row: str, faults: Iterable[_Found], examined: _Examined, lost: Container[_Place]) -> bool:
    """Whether each answer that a row speaks of has one of these faults of it, and one that harms clients.

    What breaks the letter alone leaves something that was seen to be kept.
    """
    known = examined.catalogue.by_id.get(row)
    broken = {one.place for one in faults if one.requirement == row and not one.finding.violation.strict_only}
    mine = {place for place, _ in _places(examined.run) if known is not None and known.speaks_of(place[0])}
    return {place for place in mine if place not in lost} <= broken


def _places(run: Run) -> Iterator[tuple[_Place, Exchange]]:
    return (((form, exchange.number), exchange) for form, those in run.exchanges.items() for exchange in those)


def _outcomes(examined: _Examined, target: Target, broken: Container[str]) -> tuple[Outcome, ...]:
    """What a run comes to, given the requirements that other scenarios have shown to be broken."""
    run, rows = examined.run, examined.rows
    if run.error:
        return tuple(not_judged(run, row) for row in rows)
    findings = [_attributed(found, run.scenario.attribute_to, broken) for found in examined.findings]
    findings += [cause.finding for cause in examined.causes if cause.finding not in findings]
    # Found broken in passing: reported, although the scenario is not judged by them.
    others = {finding.violation.requirement for finding in findings} - {row.id for row in rows}
    rows += tuple(row for row in examined.catalogue.requirements if row.id in others)
    hidden = _hidden(examined, broken)
    counted = {row: f"but for this, counted in {cause.scenario}: {cause}" for row, cause in examined.counted.items()}
    return tuple(outcome(run, row, target, found=findings, hidden=hidden, counted=counted) for row in rows)


def _hidden(examined: _Examined, broken: Container[str]) -> dict[str, Hidden]:
    """Requirement → why it could not be observed behind something that was found."""
    reasons = {row: Hidden(reason=_counted_once(cause)) for row, cause in examined.spoilt.items()}
    for row_id, behind in examined.hidden.items():
        found = _attributed(behind, examined.run.scenario.attribute_to, broken).violation.requirement
        same = f"hidden behind {found}, which is broken in the same exchange"
        cause = examined.lost.get(behind.place) or examined.moved.get(id(behind.finding))
        reasons.setdefault(row_id, _behind(row_id, cause) if cause else Hidden(reason=same))
    for (form, _), cause in examined.lost.items():
        for row in examined.rows:
            if row.speaks_of(form) and not (row.stage is Stage.TARGET and isinstance(cause.symptom, ANSWERED)):
                reasons.setdefault(row.id, _behind(row.id, cause))
    return reasons


def _behind(row: str, cause: Cause) -> Hidden:
    """Why a requirement could not be observed in an exchange of a cause."""
    if isinstance(cause.symptom, NotServed):
        return Hidden(reason=str(cause.symptom), absent=True)
    if row == cause.requirement:
        return Hidden(reason=_counted_once(cause))
    return Hidden(reason=f"hidden behind {cause.requirement}: {cause}")


def _counted_once(cause: Cause) -> str:
    return f"counted once, in {cause.scenario}: {cause}"


def _attributed(found: _Found, subject: str | None, broken: Container[str]) -> Finding:
    """The finding, as one of the scenario's subject if it has one and nothing else explains the violation."""
    violation = found.finding.violation
    if subject is None or not found.attributable or violation.requirement in broken:
        return found.finding
    seen = f"{violation.seen} ({violation.requirement})"
    attributed = replace(violation, requirement=subject, seen=seen)
    return replace(found.finding, violation=attributed, found_by=violation.requirement)


def _conversation(exchanges: Sequence[Exchange], examined: _Examined) -> None:
    """Exchange by exchange; those that build on a wrong one are not judged."""
    cause: _Found | None = None
    for exchange in exchanges:
        if cause is not None and _builds_on(exchange):
            examined.hide_meaning(exchange, cause)
            continue
        found = _exchange(exchange, examined)
        if exchange.turn is None:
            # What the scenario is judged by, such as the form of the error, says nothing of the rule in question.
            found = [one for one in found if one.requirement not in {row.id for row in examined.rows}]
        # Only the first: what breaks later in the conversation may follow from it.
        cause = cause or examined.breaking(found, exchange)
    # A conversation that could not be continued: the turns that were never sent are hidden, too.
    if cause is not None and len(exchanges) < len(exchanges[-1].scenario.turns):
        examined.hide_meaning(exchanges[-1], cause)


def _builds_on(exchange: Exchange) -> bool:
    """Whether an exchange means nothing after a wrong one.

    Turns continue their conversation, unless they play a script of their own. A plain request that breaks several
    rules shows nothing of their order once one of them was seen not to be kept alone.
    """
    return exchange.turn is None or (exchange.number > 0 and exchange.turn.script is None)


def _together(exchanges: Sequence[Exchange], examined: _Examined) -> None:
    for row in examined.of(Stage.TOGETHER):
        if row.speaks_of(exchanges[-1].form):
            examined.find(exchanges[-1], examined.checks.look(row.id, *exchanges))


def _exchange(exchange: Exchange, examined: _Examined) -> list[_Found]:
    """What one exchange shows."""
    errors = examined.find(exchange, examined.look(examined.of(Stage.TARGET, Stage.ERROR), exchange))
    case = case_of(exchange, examined.catalogue)
    if case is not None and not may_be_expected(case):
        examined.cases.append(case)
        if case.hides:
            return errors + _nothing_else(case, examined)
    elif case is not None:
        examined.expected.append(case)
    # A plain request: its scenario says what must come, so there is no grammar to read the answer by.
    if exchange.scenario.request is not None:
        return errors + examined.find(exchange, examined.look(examined.of(*_CONTENT), exchange))
    # The error that was due, whose form the first stage has judged; or the client left before anything came, as its
    # scenario asks.
    if exchange.reading is None:
        return errors
    examined.served.append(exchange)
    violations = [*exchange.reading.violations, *examined.look(examined.of(Stage.FORM), exchange)]
    form = examined.find(exchange, violations)
    breaking = examined.breaking(form, exchange)
    if breaking:
        examined.hide_meaning(exchange, breaking)
        return errors + form
    # Of an answer that the client did not wait for only the form is known.
    if exchange.transcript.end is End.LEFT:
        return errors + form
    return errors + form + _meaning(exchange, examined)


def _nothing_else(case: Case, examined: _Examined) -> list[_Found]:
    """The violation of an exchange without an answer, which hides all else. A cause may say it better (`_settle`)."""
    violation = Violation(requirement=case.subject, seen=case.seen, strict_only=case.strict_only)
    missing = examined.find(case.exchange, [violation])
    examined.hide(case.exchange, (row for row in examined.rows if row.stage not in _OF_ANY_ANSWER), missing[0])
    return missing


def _meaning(exchange: Exchange, examined: _Examined) -> list[_Found]:
    """Content, then sense, then the stored answer; the first of them that finds something ends it."""
    rows = [row for row in examined.rows if _can_be_asked(row, exchange)]
    content = (row for row in rows if row.stage in _CONTENT)
    beside = examined.find(exchange, examined.look(content, exchange), attributable=True)
    found = [one for one in beside if not one.finding.violation.harmless]
    if found and exchange.scenario.attribute_to:
        examined.hide_meaning(exchange, found[0])
    elif found:
        examined.hide(exchange, examined.of(Stage.SENSE, Stage.SUBJECT), found[0])
    if found:
        return beside
    # Rows of subjects have a check for answers of models alone.
    sense = (row for row in rows if row.stage in {Stage.SENSE, Stage.SUBJECT})
    found = beside + examined.find(exchange, examined.look(sense, exchange), attributable=True)
    # Harmless findings count, too, but for those beside the content: the stored answer would show the same fault under
    # another name.
    clean = all(one.finding.form != exchange.form or examined.beside(one) for one in examined.findings)
    if found or not clean or not exchange.wanted:
        return found
    return examined.find(exchange, answer_difference(exchange, examined.catalogue), attributable=True)


def _can_be_asked(row: Requirement, exchange: Exchange) -> bool:
    """Whether an answer can be judged by a row of content or sense.

    Without a script only by what holds of any answer. A failure that was answered as a success is one violation: all
    else that is wrong with the answer follows from it.
    """
    if row.needs_script and not exchange.wanted and not (exchange.asks is not None and row.id in live.check):
        return False
    return row.on_failure or not failed_first(exchange)


def failed_first(exchange: Exchange) -> bool:
    """Whether the backend failed before any output (or, in a whole answer, at all)."""
    hushed = {Failure.BEFORE_OUTPUT, Failure.SILENT, Failure.UNMET}
    return any(wanted.failure in hushed for wanted in exchange.wanted)


def _damage(examined: _Examined) -> None:
    """What one form lost of a model's answer, where another form of the same turn has all of it."""
    found = {(one.finding.form, one.finding.exchange) for one in examined.findings}
    for number in range(len(examined.run.scenario.turns)):
        same = [those[number] for those in examined.run.exchanges.values() if number < len(those)]
        # Not where something is wrong anyway: one cause, one violation.
        for exchange, violation in live_parity.damaged([one for one in same if (one.form, number) not in found]):
            examined.find(exchange, [violation])


def _shared_ids(all_examined: Sequence[_Examined]) -> None:
    """Ids that several answers of a model have."""
    owners = {id(exchange): one for one in all_examined for exchange in one.served if exchange.asks is not None}
    asked = [exchange for one in all_examined for exchange in one.served if id(exchange) in owners]
    for exchange, violation in live_ids.shared_ids(asked):
        owners[id(exchange)].find(exchange, [violation])


def _parity(examined: _Examined) -> None:
    """Two answers to the same turn, where nothing else was found in the scenario."""
    for row in examined.of(Stage.PARITY):
        hiding = next(filter(examined.hides_parity, examined.findings), None)
        if hiding:
            examined.hidden.setdefault(row.id, hiding)
        # Where a stream differs from the whole answer, a difference from chat would be the same one again.
        for pairs in (_streams_and_wholes(row, examined.run), _responses_and_chats(row)):
            if not any(map(examined.hides_parity, examined.findings)):
                for ours, others in list(pairs):
                    _compare(examined, row, ours, others)


def _streams_and_wholes(row: Requirement, run: Run) -> Iterator[tuple[Form, Form]]:
    """The stream and the whole answer of each dialect that the row is about."""
    for form in run.exchanges:
        if form.mode is Mode.STREAM and row.speaks_of(form):
            yield form, Form(form.dialect, Mode.WHOLE)


def _responses_and_chats(row: Requirement) -> Iterator[tuple[Form, Form]]:
    """The whole response and the whole chat answer, if the row is about Responses."""
    response = Form(Dialect.RESPONSES, Mode.WHOLE)
    if row.speaks_of(response):
        yield response, Form(Dialect.OPENAI_JSON, Mode.WHOLE)


def _compare(examined: _Examined, row: Requirement, ours: Form, others: Form) -> None:
    """The exchanges of two forms, side by side; one may have fewer, where a conversation could not be continued."""
    exchanges = (examined.run.exchanges.get(form, ()) for form in (ours, others))
    for one, other in zip(*exchanges, strict=False):
        # Two answers of a live model, whose right answer is not known, may differ in all but their form.
        if one.asks is not None and one.reading is not None and other.reading is not None:
            examined.find(one, live_parity.check.look(row.id, one, other))
        elif one.reading is not None and other.reading is not None and one.wanted:
            examined.find(one, examined.checks.look(row.id, one, other))
