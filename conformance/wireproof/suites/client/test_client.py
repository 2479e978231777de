"""One item per scenario and requirement that it is about; the client is started once for each scenario of the items.

A requirement that was not observed is a skipped item. Since skipped items look green, the last item fails where a MUST
was observed in none; `--wireproof-allow-partial` accepts that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wireproof.clients.judged import certify_client
from wireproof.clients.program import ClientCommand, ProgramClient, ProgramError, heed_interrupts, words_of
from wireproof.clients.running import SilentClientError
from wireproof.clients.tool_use import named_tool
from wireproof.model.catalogue import load
from wireproof.model.verdict import Outcome, Verdict
from wireproof.report.phrases import broken_requirement
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS

if TYPE_CHECKING:
    from wireproof.results.certificate import Certificate

CASES = [pytest.param(one.name, row, id=f"{one.name}-{row}") for one in CLIENT_SCENARIOS for row in one.exercises]


@pytest.fixture(scope="session")
def judged(request: pytest.FixtureRequest) -> Certificate:
    """The result of the client, in the scenarios that the selected items are about."""
    given: str = request.config.getoption("wireproof_client")
    tool: str | None = request.config.getoption("wireproof_client_tool")
    params = (getattr(item, "callspec", None) for item in request.session.items)
    names = {one.params["scenario"] for one in params if one is not None and "scenario" in one.params}
    scenarios = [one for one in CLIENT_SCENARIOS if one.name in names] or CLIENT_SCENARIOS
    whole = len(scenarios) == len(CLIENT_SCENARIOS)
    selection = () if whole else tuple(one.name for one in scenarios)
    heed_interrupts()
    try:
        client = ProgramClient(command=ClientCommand(words=words_of([given]), variables={}))
        return certify_client(client, scenarios=scenarios, selection=selection, tool=named_tool(tool or None))
    except (ProgramError, SilentClientError, ValueError) as error:
        pytest.exit(f"wireproof: {error}", returncode=pytest.ExitCode.USAGE_ERROR)


@pytest.mark.parametrize(("scenario", "requirement"), CASES)
def test_client(scenario: str, requirement: str, judged: Certificate) -> None:
    """The client keeps a requirement in a scenario."""
    found = (one for one in judged.outcomes if (one.scenario, one.requirement) == (scenario, requirement))
    outcome = next(found, None)
    if outcome is None or outcome.verdict is Verdict.NOT_OBSERVED:
        pytest.skip(outcome.reason if outcome else "it is not about the form of answers that this client asks for")
    if outcome.verdict is not Verdict.PASS:
        pytest.fail(_lines(judged, outcome), pytrace=False)


def test_every_must_was_observed(judged: Certificate, pytestconfig: pytest.Config) -> None:
    """Nothing that must be kept was skipped in all its items."""
    if judged.unobserved and not pytestconfig.getoption("wireproof_allow_partial"):
        lines = "".join(f"\n  {row}: {why}" for row, why in judged.unobserved.items())
        pytest.fail(f"not observed, which --wireproof-allow-partial accepts:{lines}", pytrace=False)


def _lines(certificate: Certificate, outcome: Outcome) -> str:
    row = load().by_id[outcome.requirement]
    return "\n  ".join(line.plain for line in broken_requirement(certificate, row, outcome))
