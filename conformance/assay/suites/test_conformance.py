"""One item per scenario and requirement, and one per scenario for what else was found broken in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.faces.plugin import REST, AssaySession, session_of
from assay.model.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The items; none when no target is named."""
    run = session_of(metafunc.config)
    # Parametrised by the text alone: each item looks its outcomes up in the one certificate, so no scenario is driven
    # twice.
    metafunc.parametrize("key", run.keys if run else ())


def test_requirement(key: str, assay_session: AssaySession) -> None:
    """The proxy keeps the requirement in the scenario."""
    certificate = assay_session.certificate
    scenario, _, requirement = key.partition(":")
    # Items are collected before it is known what is behind the target.
    if _is_for_another_backend(assay_session, scenario):
        pytest.skip(f"{Verdict.NOT_APPLICABLE}: this scenario is not for what is behind the target")
    if requirement == REST:
        # Any exchange is judged by rows that its scenario does not exercise; a violation of these must show in some
        # item.
        others = set(assay_session.keys)
        _report(assay_session, [o for o in certificate.outcomes if o.scenario == scenario and o.key not in others])
    else:
        outcomes = [outcome for outcome in certificate.outcomes if outcome.key == key]
        if not outcomes:
            pytest.skip(f"{Verdict.NOT_APPLICABLE}: the target does not speak a dialect that this requirement is about")
        _report(assay_session, outcomes)


def _is_for_another_backend(session: AssaySession, scenario: str) -> bool:
    """Whether models were asked and this scenario has a script, or the other way round."""
    outcomes = session.certificate.outcomes
    if any(outcome.scenario == scenario for outcome in outcomes):
        return False
    asked = {one.name for one in session.plan.live}
    return (scenario in asked) is not any(outcome.scenario in asked for outcome in outcomes)


def _report(session: AssaySession, outcomes: Sequence[Outcome]) -> None:
    """End the item as pytest would: the worst verdict decides, and every outcome with that verdict is printed."""
    # An error of ours first: what it hides may be worse than what was seen.
    for verdict in (Verdict.ERROR, Verdict.FAIL, Verdict.WARN, Verdict.NOT_OBSERVED, Verdict.NOT_APPLICABLE):
        those = [one for one in outcomes if one.at(session.certificate.level) is verdict and not one.known]
        if those:
            _end(verdict, "\n\n".join(_text(session, outcome) for outcome in those))
    # After the loop: a declared failure does not excuse another one in the same item.
    known = [outcome.known for outcome in outcomes if outcome.known]
    if known:
        pytest.xfail(f"known failing: {', '.join(known)}")


def _end(verdict: Verdict, text: str) -> None:
    match verdict:
        case Verdict.ERROR | Verdict.FAIL:
            pytest.fail(text, pytrace=False)  # a traceback would show Assay's code, not the proxy's
        case Verdict.WARN:
            # A broken SHOULD is to be seen without failing the session; pytest has no outcome "warned" for an item.
            pytest.xfail(text)
        case _:
            pytest.skip(text)


def _text(session: AssaySession, outcome: Outcome) -> str:
    from assay.report.phrases import broken_requirement  # noqa: PLC0415 (only when this suite is asked for)

    if outcome.verdict not in {Verdict.FAIL, Verdict.WARN}:
        return f"{outcome.verdict}: {outcome.reason}"
    row = session.plan.catalogue.find(outcome.requirement)
    return "\n".join(line.plain for line in broken_requirement(session.certificate, row, outcome))
