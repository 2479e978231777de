"""The items of the pytest plugin: `SCENARIO::SURFACE-DIALECT-MODE::REQUIREMENT`, and one per scenario for all else.

They are nodes of their own, not a parametrised function: so an id has no brackets, which shells expand, and can be
given after `--pyargs` as it is printed.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.verdict import Verdict
from wireproof.pytest_plugin.cases import ItemCase
from wireproof.pytest_plugin.stash import BROKEN, SESSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from wireproof.model.verdict import Outcome
    from wireproof.pytest_plugin.session import WireproofSession

NOT_SPOKEN = "the target does not speak a dialect that this requirement is about"
MODULE = "wireproof.suites.test_conformance"
"""How the ids of all items begin: the module that is named after `--pyargs`."""
OTHER_BACKEND = "this scenario is not for what is behind the target"


class Suite(pytest.File):
    """All cases of the session."""

    def collect(self) -> Iterator[pytest.Collector]:
        """The scenarios."""
        for scenario, cases in groupby(self.config.stash[SESSION].cases, key=lambda case: case.scenario):
            yield Group.from_parent(self, name=scenario, cases=tuple(cases))


class Group(pytest.Collector):
    """The cases of a scenario, or those of one of its forms."""

    def __init__(self, *, cases: Sequence[ItemCase], **of_pytest: Any) -> None:  # noqa: ANN401 (pytest's own)
        super().__init__(**of_pytest)
        self._cases = cases

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """The forms of a scenario, then the case of all else; or the cases of a form."""
        for form, cases in groupby(self._cases, key=lambda case: case.form):
            if form and form != self.name:
                yield Group.from_parent(self, name=form, cases=tuple(cases))
            else:
                yield from (RequirementItem.from_parent(self, name=case.requirement, case=case) for case in cases)


class RequirementItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: ItemCase, **of_pytest: Any) -> None:  # noqa: ANN401 (pytest's own)
        super().__init__(**of_pytest)
        self.case = case
        # `-k` takes what a file of known failures says, too.
        self.extra_keyword_matches.add(case.key)

    def reportinfo(self) -> tuple[Path, None, str]:
        """What pytest calls it where it shows a failure."""
        where = ", ".join(filter(None, (self.case.scenario, self.case.form)))
        return self.path, None, f"{self.case.requirement} in {where}"

    def runtest(self) -> None:
        """End as pytest would: the worst verdict decides, and all of that verdict are shown."""
        session = self.config.stash[SESSION]
        if session.why_not:
            # Each of thousands of items would fail for this one reason.
            session.end(self.session)
        found = session.said.get(self.case, ())
        if not found and _is_for_another_backend(session, self.case.scenario):
            # Items are collected before it is known what is behind the target.
            pytest.skip(f"{Verdict.NOT_APPLICABLE}: {OTHER_BACKEND}")
        if not found and self.case != ItemCase.rest(self.case.scenario):
            pytest.skip(f"{Verdict.NOT_APPLICABLE}: {NOT_SPOKEN}")
        _end(session, found)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:  # noqa: ANN401 (pytest's own)
        """A failure as pytest shows it, with the sentence of the requirement in the summary."""
        if not isinstance(excinfo.value, _BrokenError):
            return super().repr_failure(excinfo, style)
        self.user_properties += [(BROKEN, one) for one in excinfo.value.rows]
        shown = excinfo.getrepr(style="value")
        shown.reprcrash.message = excinfo.value.sentence
        return shown


class _BrokenError(Exception):
    """The case is broken; the text is all that is known of it."""

    def __init__(self, text: str, sentence: str, rows: tuple[str, ...]) -> None:
        super().__init__(text)
        self.sentence = sentence
        """What is broken, in a line."""
        self.rows = rows
        """Each broken requirement with its sentence; empty where the error is ours."""


def _is_for_another_backend(session: WireproofSession, scenario: str) -> bool:
    """Whether models were asked and this scenario has a script, or the other way round."""
    outcomes = session.certificate.outcomes
    if any(outcome.scenario == scenario for outcome in outcomes):
        return False
    asked = {one.name for one in session.plan.live}
    return (scenario in asked) is not any(outcome.scenario in asked for outcome in outcomes)


def _end(session: WireproofSession, found: Sequence[Outcome]) -> None:
    # An error of ours first: what it hides may be worse than what was seen. Then what is known before what is not: a
    # scenario that passes need not show a requirement in every exchange.
    for verdict in (Verdict.ERROR, Verdict.FAIL, Verdict.WARN, Verdict.NOT_OBSERVED, Verdict.NOT_APPLICABLE):
        those = [one for one in found if one.at(session.certificate.level) is verdict and not one.known]
        if those:
            _end_with(session, verdict, those)
    # After the loop: a declared failure does not excuse another one in the same item.
    known = [one.known for one in found if one.known]
    if known:
        pytest.xfail(f"known failing: {', '.join(known)}")


def _end_with(session: WireproofSession, verdict: Verdict, those: Sequence[Outcome]) -> None:
    text = "\n\n".join(_text(session, one) for one in those)
    rows = tuple(dict.fromkeys(session.plan.catalogue.find(one.requirement) for one in those))
    sentence = " ".join(f"{row.level}: {row.text}" for row in rows)
    match verdict:
        case Verdict.ERROR:
            raise _BrokenError(text, text.partition("\n")[0], ())
        case Verdict.FAIL:
            raise _BrokenError(text, sentence, tuple(f"{row.id}  {row.level}: {row.text}" for row in rows))
        case Verdict.WARN:
            # A broken SHOULD is to be seen without failing the session; pytest has no outcome "warned" for an item.
            pytest.xfail(f"{sentence}\n{text}")
        case _:
            pytest.skip(text)


def _text(session: WireproofSession, outcome: Outcome) -> str:
    from wireproof.report.phrases import broken_requirement  # noqa: PLC0415 (only where something is broken)

    if outcome.verdict not in {Verdict.FAIL, Verdict.WARN}:
        return f"{outcome.verdict}: {outcome.reason}"
    row = session.plan.catalogue.find(outcome.requirement)
    return "\n".join(line.plain for line in broken_requirement(session.certificate, row, outcome))
