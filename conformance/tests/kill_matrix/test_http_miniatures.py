"""Each fault of HTTP and of parameters is found, under its own requirement and no other; without a fault nothing is.

A fault is looked for in a sample of the plain requests; in all of them with `--whole`, as the nightly run does.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import KeyStyle, Target
from wireproof.model.verdict import Verdict
from wireproof.results.certify import certify
from wireproof.scenarios import PLAIN
from wireproof.targets.bundled import BODY_LIMIT, KEEPALIVE, SETTINGS, SLOTS, UNREADY_SETTINGS
from wireproof.targets.launch import launch
from wireproof.targets.unready_instance import unready_instance
from wireproof_mocks.miniatures import FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wireproof.model.scenario import Scenario
    from wireproof.results.certificate import Certificate

    Sample = Callable[[Iterable[Scenario], Sequence[Dialect], str], Sequence[Scenario]]

KEY = "k3y-of-the-test"
COMMAND = [sys.executable, "-m", "wireproof_mocks.miniatures"]
URL = "http://127.0.0.1:{port}/none/v1"
OF_THE_UNREADY = {row for one in PLAIN for row in one.exercises if any(request.unready for request in one.requests)}
OF_PLAIN = {row for one in PLAIN for row in one.exercises}
HERE = [name for name, fault in FAULTS.items() if fault.breaks in OF_PLAIN]
BROKEN = {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}


@pytest.fixture(scope="module")
def miniature_server() -> Iterator[Target]:
    """All miniatures and their twins, as the target of the one without a fault."""
    env = {**SETTINGS, "PROXY_API_KEY": KEY}
    with (
        launch(COMMAND, env=env, url=URL) as launched,
        unready_instance(COMMAND, env={**env, **UNREADY_SETTINGS}, url=URL) as other,
    ):
        yield Target(
            base_url=launched.base_url, model="codex", api_key=KEY, timeout=6.0, keepalive=KEEPALIVE, unready_url=other,
            slots=SLOTS, body_limit=BODY_LIMIT, dialects=(Dialect.OPENAI_JSON, Dialect.RESPONSES, Dialect.MESSAGES),
            default_mode=Dialect.OBSIDIAN_XML,
        )  # fmt: skip


ON_MESSAGES_TOO = [name for name in HERE if set(FAULTS[name].dialects) > {Dialect.MESSAGES}]
"""Faults that show on chat's route and on that of Messages: beside chat's they would be found there alone."""
ON_RESPONSES_TOO = [name for name in HERE if set(FAULTS[name].dialects) > {Dialect.RESPONSES}]
"""The same of the route of Responses."""


def target_of(miniature_server: Target, name: str) -> Target:
    """The target of a miniature; its twin is looked at only where it matters, since twins take their time."""
    assert miniature_server.unready_url is not None
    matters = name not in FAULTS or FAULTS[name].breaks in OF_THE_UNREADY
    # What takes the key in one header alone leaves nothing to see where it always comes in the other.
    apart = name == "bearer-not-looked-at"
    return dataclasses.replace(
        miniature_server,
        key_style=KeyStyle.X_API_KEY if apart else miniature_server.key_style,
        dialects=(Dialect.MESSAGES,) if apart else miniature_server.dialects,
        base_url=miniature_server.base_url.replace("/none/", f"/{name}/"),
        unready_url=miniature_server.unready_url.replace("/none/", f"/{name}/") if matters else None,
    )


def broken(certificate: Certificate) -> set[str]:
    return {one.requirement for one in certificate.outcomes if one.verdict in BROKEN}


def test_without_a_fault_nothing_is_found(miniature_server: Target) -> None:
    certificate = certify(target_of(miniature_server, "none"), PLAIN, load())
    assert {(one.key, one.reason) for one in certificate.outcomes if one.verdict is not Verdict.PASS} == set()


@pytest.mark.parametrize("name", HERE)
def test_a_fault_is_found_under_its_own_requirement(
    miniature_server: Target, name: str, sample: Sample, odd_words: Callable[[Certificate], list[str]]
) -> None:
    target = target_of(miniature_server, name)
    certificate = certify(target, sample(PLAIN, target.dialects, FAULTS[name].breaks), load())
    assert broken(certificate) == {FAULTS[name].breaks}
    assert odd_words(certificate) == []


@pytest.mark.parametrize("name", ON_MESSAGES_TOO)
def test_a_fault_is_found_where_messages_alone_is_served(
    miniature_server: Target, name: str, sample: Sample, odd_words: Callable[[Certificate], list[str]]
) -> None:
    certificate = certificate_of(miniature_server, name, Dialect.MESSAGES, sample)
    assert broken(certificate) == {FAULTS[name].breaks}
    assert odd_words(certificate) == []


@pytest.mark.parametrize("name", ON_RESPONSES_TOO)
def test_a_fault_is_found_where_responses_alone_are_served(
    miniature_server: Target, name: str, sample: Sample, odd_words: Callable[[Certificate], list[str]]
) -> None:
    certificate = certificate_of(miniature_server, name, Dialect.RESPONSES, sample)
    assert broken(certificate) == {FAULTS[name].breaks}
    assert odd_words(certificate) == []


def certificate_of(miniature_server: Target, name: str, dialect: Dialect, sample: Sample) -> Certificate:
    """That of a miniature of which one dialect is judged."""
    target = dataclasses.replace(target_of(miniature_server, name), dialects=(dialect,), default_mode=None)
    return certify(target, sample(PLAIN, target.dialects, FAULTS[name].breaks), load())


def test_every_row_that_has_a_scenario_is_killed() -> None:
    assert {FAULTS[name].breaks for name in HERE} == OF_PLAIN
