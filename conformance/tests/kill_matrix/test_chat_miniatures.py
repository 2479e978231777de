"""Each fault of chats and responses is killed by its own requirement and by no other.

A fault that shows only in some dialects, or only where some scripts are asked for, is judged by these alone: elsewhere
it is the faultless proxy. Of the scenarios in which it may show, a sample is played: those of its requirement in all of
its dialects, and a few others, which show that it breaks nothing else, in one each. With `--whole`, as the nightly run
does, all of them are played in all.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from typing import TYPE_CHECKING

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import CHATS, Dialect
from wireproof.model.scenario import Need
from wireproof.model.target import Target
from wireproof.model.verdict import Verdict
from wireproof.results.certify import certify
from wireproof.scenarios import CONVERSATIONS, PLAIN
from wireproof.targets.bundled import IDLE_TIMEOUT, KEEPALIVE, SETTINGS
from wireproof.targets.launch import launch
from wireproof_mocks.miniatures import FAULTS, Fault
from wireproof_mocks.miniatures.agent_faults import AGENT_FAULTS
from wireproof_mocks.miniatures.stream_faults import SILENT
from wireproof_mocks.miniatures.target_faults import TARGET_FAULTS
from wireproof_mocks.miniatures.turn_faults import GATEWAY_FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wireproof.model.scenario import Scenario
    from wireproof.results.certificate import Certificate

    Sample = Callable[[Iterable[Scenario], Sequence[Dialect], str], Sequence[Scenario]]

KEY = "key-of-the-miniatures"
SILENCE = 6.0
"""Seconds: more than the longest gate of a script waits, and more than a busy machine takes to answer."""
COMMIT = "1000"
"""Milliseconds that the status line waits for the first output. A busy machine takes its time to report a failure: one
that comes after this would break a row that the fault has nothing to do with."""
JOBS = 24
"""Exchanges at a time: a fault that makes each of them wait makes the whole certificate wait little more than once."""
UNMEASURED = "env -u COVERAGE_PROCESS_CONFIG"
"""The miniatures' lines have tests of their own; counting them here again doubles what the certificates cost."""
BROKEN = {Verdict.FAIL, Verdict.WARN}
ROWS = load().by_id
OF_PLAIN = {row for one in PLAIN for row in one.exercises}
"""Rows that plain requests exercise: their faults are for `test_http_miniatures`."""


@pytest.fixture(scope="session")
def judge(sample: Sample, request: pytest.FixtureRequest) -> Iterator[Callable[[str], Certificate]]:
    """The certificate of the miniature of this name; all are served by one process."""
    env = {**SETTINGS, "PROXY_API_KEY": KEY, "PROXY_COMMIT_MS": COMMIT}
    command = f"{UNMEASURED} {sys.executable} -m wireproof_mocks.miniatures"
    with launch(command, env=env, url="http://127.0.0.1:{port}/none/v1") as launched:
        root = launched.base_url.removesuffix("/none/v1")

        def one(name: str) -> Certificate:
            target = Target(
                base_url=f"{root}/{name}/v1", model="codex", api_key=KEY, keepalive=KEEPALIVE, timeout=patience(name),
                idle_timeout=IDLE_TIMEOUT, dialects=dialects(name), default_mode=Dialect.OBSIDIAN_XML,
            )  # fmt: skip
            played = scenarios(name)
            if name in FAULTS and not FAULTS[name].scripts:  # a fault of some scripts has few scenarios anyway
                played = sample(played, target.dialects, FAULTS[name].breaks)
                if not request.config.getoption("whole"):
                    played = narrowed(played, target.dialects, FAULTS[name].breaks)
            return certify(target, played, load(), jobs=JOBS)

        yield one


def narrowed(played: Sequence[Scenario], spoken: Sequence[Dialect], subject: str) -> Sequence[Scenario]:
    """The scenarios, each that does not exercise the subject in one of the dialects alone, taken by turns."""
    turns = itertools.cycle(spoken)
    return [
        one if subject in one.exercises else dataclasses.replace(one, dialects=(_next_of(one, turns),))
        for one in played
        if set(one.dialects) & set(spoken)
    ]


def _next_of(scenario: Scenario, turns: Iterator[Dialect]) -> Dialect:
    return next(dialect for dialect in turns if dialect in scenario.dialects)


def dialects(name: str) -> tuple[Dialect, ...]:
    """The dialects in which a miniature is looked at: those in which it differs from the faultless one."""
    if name not in FAULTS:
        return tuple(Dialect)
    alike = (Dialect.OPENAI_JSON,) if ROWS[FAULTS[name].breaks].alike else CHATS
    return tuple(map(Dialect, FAULTS[name].dialects)) or alike


def scenarios(name: str) -> Sequence[Scenario]:
    """The scenarios in which a miniature may differ from the faultless one."""
    scripts = set(FAULTS[name].scripts) if name in FAULTS else set()
    deaths = name not in FAULTS or ROWS[FAULTS[name].breaks].at_crash
    looked_at = [
        one
        for one in CONVERSATIONS
        if (deaths or not one.alone) and (Need.IDLE_TIMEOUT not in one.needs or silent(name))
    ]
    return [one for one in looked_at if not scripts or scripts & {one.script, *(turn.script for turn in one.turns)}]


def silent(name: str) -> bool:
    """Whether a backend must be silent for seconds until the fault shows."""
    return name not in FAULTS or FAULTS[name].scripts == SILENT


def patience(name: str) -> float:
    """For how many seconds an exchange may be silent."""
    return IDLE_TIMEOUT + SILENCE if silent(name) else SILENCE


def broken(certificate: Certificate) -> dict[str, str]:
    """Requirement → where it was first found broken, and what was seen."""
    return {
        outcome.requirement: f"{outcome.scenario}: {outcome.findings[0].form}: {outcome.findings[0].violation.seen}"
        for outcome in reversed(certificate.outcomes)
        if outcome.verdict in BROKEN
    }


def dialects_of(certificate: Certificate) -> set[Dialect]:
    """The dialects in which anything was found."""
    broken_ = [one for one in certificate.outcomes if one.verdict in BROKEN]
    return {finding.form.dialect for one in broken_ for finding in one.findings}


OF_CHATS = {
    name: fault
    for name, fault in FAULTS.items()
    if fault.breaks not in OF_PLAIN and fault not in {*TARGET_FAULTS, *AGENT_FAULTS, *GATEWAY_FAULTS}
}
"""Faults of whole targets are for `test_target_miniatures`, those in front of Cursor for `test_agent_miniatures`,
those of gateways for `test_gateway_miniatures`."""


@pytest.mark.parametrize("fault", OF_CHATS.values(), ids=OF_CHATS.keys())
def test_a_miniature_is_killed_by_its_own_requirement_and_no_other(
    fault: Fault, judge: Callable[[str], Certificate], odd_words: Callable[[Certificate], list[str]]
) -> None:
    certificate = judge(fault.name)
    found = broken(certificate)
    # As text: of a table pytest shows only the beginning and the end of what it says.
    assert set(found) == {fault.breaks}, "\n".join(map(": ".join, found.items()))
    # Beside chat's answers, those of another surface could be right without anything to show it.
    assert Dialect.MESSAGES not in dialects(fault.name) or Dialect.MESSAGES in dialects_of(certificate)
    assert odd_words(certificate) == []
    assert {outcome.reason for outcome in certificate.outcomes if outcome.verdict is Verdict.ERROR} == set()


def test_the_faultless_one_passes_with_nothing_unobserved(judge: Callable[[str], Certificate]) -> None:
    certificate = judge("none")
    assert broken(certificate) == {}
    assert [
        (one.scenario, one.requirement, one.reason)
        for one in certificate.outcomes
        if one.verdict not in {Verdict.PASS, Verdict.NOT_APPLICABLE}
    ] == []
    assert certificate.unobserved.keys() - OF_PLAIN == set()
