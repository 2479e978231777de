"""The certificate of the reference proxy in front of the mock of Cursor's agent service.

Nothing fails. One SHOULD is not met, since the service takes no images; and what its protocol has no form for cannot be
shown. The main scenarios are played here, over each of the service's two forms; all of them with `--whole`, as the
nightly run does.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from wireproof.model.catalogue import load
from wireproof.model.target import Agent, Backend
from wireproof.model.verdict import Outcome, Verdict
from wireproof.results.certificate import ExitStatus
from wireproof.results.certify import certify
from wireproof.scenarios import SCENARIOS
from wireproof.targets.launch import executable
from wireproof.targets.options import TargetOptions
from wireproof.targets.reach import reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.model.scenario import Scenario
    from wireproof.results.certificate import Certificate

WRONG = {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}
NO_IMAGES = "warn images:turn.images"
UNOBSERVED = {
    # How Codex and others spell calls: the service has one form of them.
    "shapes.a", "shapes.b", "shapes.c", "shapes.d", "shapes.f", "shapes.late-id", "shapes.no-id",
    "shapes.repeated-fragment", "shapes.double-telling",
    # An answer of the service is one choice.
    "chat.stream.isolation",
}  # fmt: skip
"""The MUSTs that nothing behind this service shows."""
MAIN = {
    "text-utf8", "usage-asked", "call-one", "calls-burst", "many-steps", "tool-results", "history", "fail-after-text",
    "fail-first", "silent-backend", "disconnect", "crash-in-text", "agent-names", "agent-arguments",
    "agent-all-emitted", "agent-fresh-session", "agent-trap", "agent-without-tools", "agent-scratch-only",
}  # fmt: skip
"""What above all is to be shown: text, counts, calls, history, failures, silence, a client that leaves."""
OVER_SSE = TargetOptions(
    agent=Agent.CURSOR,
    # As any proxy in front of Cursor is named: by a command, which says where it finds the service.
    command=f"env PROXY_BACKEND=cursor CURSOR_BASE_URL={{backend_url}}/ CURSOR_TRANSPORT=run-sse"
    f" PROXY_KEEPALIVE_MS=300 PROXY_IDLE_TIMEOUT_MS=4500 PROXY_COMMIT_MS=800"
    f" {shlex.quote(executable('wireproof-proxy'))}",
    model="cursor",
    idle_timeout=4.5,
)


def wrong(found: Certificate) -> list[str]:
    return [_line(one) for one in found.outcomes if one.verdict in WRONG]


def _line(outcome: Outcome) -> str:
    line = f"{outcome.verdict} {outcome.scenario}:{outcome.requirement}"
    seen = [finding.violation.seen for finding in outcome.findings]
    return line if line == NO_IMAGES else f"{line} {seen or outcome.reason}"


def played(pytestconfig: pytest.Config) -> Sequence[Scenario]:
    """All scenarios with `--whole`, else the main ones."""
    everything = pytestconfig.getoption("--whole")
    chosen = [one for one in SCENARIOS if everything or one.name in {*MAIN, "images"}]
    assert everything or {one.name for one in chosen} == {*MAIN, "images"}
    return chosen


@pytest.mark.nightly
def test_the_reference_proxy_is_certified_but_for_what_the_service_cannot_show(pytestconfig: pytest.Config) -> None:
    with reach(TargetOptions(agent=Agent.CURSOR)) as target:
        assert target.backend is Backend.CURSOR
        found = certify(target, played(pytestconfig), load(), known={})
    assert wrong(found) == [NO_IMAGES]
    if pytestconfig.getoption("--whole"):
        assert set(found.unobserved) == UNOBSERVED
        assert found.exit is ExitStatus.PARTIAL
    assert {one.scenario for one in found.outcomes if one.verdict is Verdict.PASS} >= MAIN


@pytest.mark.nightly
def test_so_it_is_over_appends(pytestconfig: pytest.Config) -> None:
    with reach(OVER_SSE) as target:
        found = certify(target, played(pytestconfig), load(), known={})
    assert wrong(found) == [NO_IMAGES]
    assert {one.scenario for one in found.outcomes if one.verdict is Verdict.PASS} >= MAIN
