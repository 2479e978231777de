"""Runs on one backend at the same time, in short; `test_load` has more of it."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Mode
from wireproof.model.target import Target
from wireproof.model.verdict import Verdict
from wireproof.results.certificate import ExitStatus
from wireproof.results.certify import certify
from wireproof.scenarios import CONVERSATIONS, SCENARIOS
from wireproof.targets.preflight import preflight

if TYPE_CHECKING:
    from conformance.tests.conftest import Served, TinyExchange, TinyServer

    from wireproof.results.certificate import Certificate

NAMES = ("concurrent", "crash-first", "disconnect", "flush", "fresh-session", "previous-response", "tool-loop")


@pytest.mark.nightly
def test_two_runs_on_one_backend_have_the_same_verdict(served: Served) -> None:
    target = preflight(Target(base_url=served.base_url, model=served.model, api_key=served.key))
    scenarios = [one for one in SCENARIOS if one.name in NAMES]

    def run(jobs: int) -> Certificate:
        return certify(target, scenarios, load(), jobs=jobs, selection=NAMES)

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(run, (1, 16))
    assert {key.partition(":")[0] for key in (outcome.key for outcome in one.outcomes)} == set(NAMES)
    assert [(outcome.key, outcome.verdict) for outcome in one.outcomes] == [
        (outcome.key, outcome.verdict) for outcome in two.outcomes
    ]
    assert (one.exit, two.exit) == (ExitStatus.CERTIFIED, ExitStatus.CERTIFIED)


@pytest.mark.parametrize("beside", [True, False])
def test_what_fails_beside_other_requests_alone_is_reported_once_with_how_many_ran(
    tiny: TinyServer, *, beside: bool
) -> None:
    together, came = threading.Barrier(2), itertools.count()

    def respond(exchange: TinyExchange) -> None:
        if beside and next(came) < together.parties:
            together.wait(10)
            exchange.whole({"error": {"message": "The pool is empty."}}, status="500 Internal Server Error")
            return
        exchange.answer("Hello, world!")

    tiny.respond = respond
    scenarios = [
        dataclasses.replace(one, modes=(Mode.WHOLE,))
        for one in CONVERSATIONS
        if one.name in {"text-hello", "text-utf8"}
    ]
    target = Target(base_url=tiny.base_url, model="m", dialects=(Dialect.OPENAI_JSON,))
    certificate = certify(target, scenarios, load(), jobs=2)
    found = {one.key: one for one in certificate.outcomes if one.requirement.startswith("target.") and one.findings}
    assert list(found) == (["text-hello:target.capacity"] if beside else [])
    for one in found.values():
        assert one.verdict is Verdict.WARN
        said = "2 exchanges, of as many as 2 at the same time, failed and went well alone: HTTP 500 (2)"
        assert one.findings[0].violation.seen.startswith(said)
    assert [run.repeated for run in certificate.runs] == ([1, 1] if beside else [0, 0])


def test_a_silence_without_a_declared_interval_is_driven_again_as_it_was(tiny: TinyServer) -> None:
    asked: list[str] = []

    def respond(exchange: TinyExchange) -> None:
        asked.append(exchange.marker)
        # As a backend that was busy: what it says is tried again, alone.
        exchange.whole({"error": {"message": "Busy.", "type": "server_error"}}, status="500 Internal Server Error")

    tiny.respond = respond
    target = Target(base_url=tiny.base_url, model="m", timeout=6.0, dialects=(Dialect.OPENAI_JSON,))
    certificate = certify(target, [one for one in CONVERSATIONS if one.name == "silence-long"], load())
    assert {one.verdict for one in certificate.outcomes} & {Verdict.FAIL, Verdict.WARN}
    assert set(asked) == {"text/silent-long-brief"}
    assert len(asked) > len(certificate.runs[0].exchanges)
