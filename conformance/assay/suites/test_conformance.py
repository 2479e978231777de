"""One item per scenario and requirement, and one per scenario for what else was found broken in it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from assay.faces.plugin import AssaySession, asked
from assay.model.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.results.certificate import Certificate

REST = "*"
"""Stands for the requirements that a scenario has no item for."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The items; none when no target is named."""
    metafunc.parametrize("key", _keys() if asked(metafunc.config) else ())


@cache
def _keys() -> tuple[str, ...]:
    from assay.model.catalogue import load  # noqa: PLC0415 (only when this suite is asked for)
    from assay.model.dialect import Dialect  # noqa: PLC0415
    from assay.reading.applicable import applicable  # noqa: PLC0415
    from assay.scenarios import SCENARIOS  # noqa: PLC0415

    catalogue = load()
    return tuple(
        f"{s.name}:{row}" for s in SCENARIOS for row in (*(row.id for row in applicable(s, catalogue, Dialect)), REST)
    )


def test_requirement(key: str, assay_session: AssaySession) -> None:
    """The proxy keeps the requirement in the scenario."""
    certificate = assay_session.certificate
    scenario, _, requirement = key.partition(":")
    if requirement == REST:
        known = set(_keys())
        _report(certificate, [o for o in certificate.outcomes if o.scenario == scenario and o.key not in known])
    else:
        outcomes = [outcome for outcome in certificate.outcomes if outcome.key == key]
        if not outcomes:
            pytest.skip(f"{Verdict.NOT_APPLICABLE}: the target does not speak a dialect in which this is asked")
        _report(certificate, outcomes)


def _report(certificate: Certificate, outcomes: Sequence[Outcome]) -> None:
    """Outcomes as pytest says it: the worst of them decides, and all that are like it are told."""
    for verdict in (Verdict.ERROR, Verdict.FAIL, Verdict.WARN, Verdict.NOT_OBSERVED, Verdict.NOT_APPLICABLE):
        those = [outcome for outcome in outcomes if outcome.verdict is verdict and not outcome.known]
        if those:
            _end(verdict, "\n\n".join(_told(certificate, outcome) for outcome in those))
    known = [outcome.known for outcome in outcomes if outcome.known]
    if known:
        pytest.xfail(f"known failing: {', '.join(known)}")


def _end(verdict: Verdict, text: str) -> None:
    match verdict:
        case Verdict.ERROR | Verdict.FAIL:
            pytest.fail(text, pytrace=False)
        case Verdict.WARN:
            pytest.xfail(text)
        case _:
            pytest.skip(text)


def _told(certificate: Certificate, outcome: Outcome) -> str:
    from assay.model.catalogue import load  # noqa: PLC0415 (only when this suite is asked for)
    from assay.report.phrases import told  # noqa: PLC0415

    if outcome.verdict not in {Verdict.FAIL, Verdict.WARN}:
        return f"{outcome.verdict}: {outcome.reason}"
    return "\n".join(line.plain for line in told(certificate, load().find(outcome.requirement), outcome))
