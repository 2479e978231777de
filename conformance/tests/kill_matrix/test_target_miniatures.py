"""One cause, one finding: targets that fail everywhere in one way, each driven through scenarios of many subjects."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Target
from wireproof.model.verdict import Verdict
from wireproof.results.certify import certify
from wireproof.scenarios import SCENARIOS
from wireproof.targets.bundled import KEEPALIVE, SETTINGS
from wireproof.targets.launch import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wireproof.model.scenario import Scenario
    from wireproof.results.certificate import Certificate

KEY = "key-of-the-targets"
NAMES = (
    "text-hello", "text-utf8", "usage-asked", "call-one", "calls-burst", "fail-first", "fail-after-text", "xml-values",
    "shape-a", "shape-b", "choices-text", "sentinel-plain", "responses-xml", "history", "tool-registry", "tool-loop",
    "many-steps", "images", "tool-choice-none", "route-unknown", "auth-missing", "body-not-json", "models", "param-n",
    "param-unknown-ignored", "client-curl", "client-opencode", "input-items", "responses-http", "previous-response",
)  # fmt: skip
PLAYED = [one for one in SCENARIOS if one.name in NAMES]
WAITED_FOR = (
    "text-hello", "call-one", "choices-text", "responses-xml", "tool-loop", "route-unknown", "body-not-json", "models",
)  # fmt: skip
"""The few of them that are played where each exchange without an answer costs a wait."""
INAPPLICABLE = {"chat.stream.arguments-cumulative", "chat.stream.arguments-incremental"}
"""The rows of which one is about the other way of streaming than the target's, in each dialect."""
PATIENCE = 1.5
"""Seconds that a miniature which never answers is waited for. The others are served by a busy machine."""
BROKEN = {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}


@pytest.fixture(scope="module")
def judge() -> Iterator[Callable[..., Certificate]]:
    """The certificate of the miniature of this name; all are served by one process."""
    command, env = [sys.executable, "-m", "wireproof_mocks.miniatures"], {**SETTINGS, "PROXY_API_KEY": KEY}
    with launch(command, env=env, url="http://127.0.0.1:{port}/none/v1") as launched:
        root = launched.base_url.removesuffix("/none/v1")
        yield lambda name, **how: certificate(f"{root}/{name}/v1", **how)


def certificate(
    base_url: str,
    *,
    timeout: float = 6.0,
    played: Sequence[Scenario] = PLAYED,
    dialects: Sequence[Dialect] = tuple(Dialect),
    jobs: int = 8,
) -> Certificate:
    target = Target(
        base_url=base_url, model="codex", api_key=KEY, timeout=timeout, keepalive=KEEPALIVE, dialects=tuple(dialects),
        default_mode=Dialect.OBSIDIAN_XML,
    )  # fmt: skip
    return certify(target, played, load(), jobs=jobs)


def broken(certificate: Certificate) -> dict[str, Verdict]:
    return {one.key: one.verdict for one in certificate.outcomes if one.verdict in BROKEN}


NOTHING_ANSWERED = {
    "every-request-crashes": ("target.answers", Verdict.FAIL),
    "slots-never-free": ("target.capacity", Verdict.WARN),
}
"""Fault → what is found of it."""


@pytest.mark.parametrize("name", NOTHING_ANSWERED)
def test_where_nothing_is_answered_there_is_one_finding_and_nothing_else_is_observed(
    judge: Callable[..., Certificate], name: str
) -> None:
    found, verdict = NOTHING_ANSWERED[name]
    certificate = judge(name, timeout=PATIENCE, played=[one for one in PLAYED if one.name in WAITED_FOR])
    assert broken(certificate) == {f"text-hello:{found}": verdict}
    (cause,) = certificate.causes
    # A fresh instance is asked for the others, until it is full as well.
    undriven = {one.scenario.name for one in certificate.runs if one.not_driven}
    assert (cause.requirement, cause.shape) == (found, "every request")
    assert set(cause.scenarios) | undriven == set(WAITED_FOR)
    assert len(cause.scenarios) > len(undriven)
    assert certificate.observed <= {found} | INAPPLICABLE


@pytest.mark.parametrize("name", ["streams-hang"])
def test_where_streams_hang_there_is_one_finding_and_whole_answers_are_judged(
    judge: Callable[..., Certificate], name: str
) -> None:
    certificate = judge(name, timeout=PATIENCE, played=[one for one in PLAYED if one.name in WAITED_FOR])
    assert broken(certificate) == {"text-hello:target.answers": Verdict.FAIL}
    (cause,) = certificate.causes
    assert (str(cause.symptom), cause.shape) == ("silence instead of an answer", "every stream")
    assert all(b'"stream": true' in exchange.transcript.request_body for exchange in cause.exchanges)
    assert {row for row in certificate.observed if row.startswith("chat.stream.")} <= INAPPLICABLE
    assert {"chat.whole.text", "chat.whole.calls-all-in-order", "responses.whole.message"} <= certificate.observed


OF_FORM = {
    "vendor-fields-everywhere": ("provider_specific_fields is not among the published fields", Verdict.PASS),
    "model-left-out": ("model is missing", Verdict.NOT_OBSERVED),
}
"""Fault → its symptom, and the verdict of the other rows that it shows in."""


@pytest.mark.parametrize("name", OF_FORM)
def test_a_fault_of_form_that_is_everywhere_is_one_finding_and_hides_no_content(
    judge: Callable[..., Certificate], name: str
) -> None:
    symptom, others = OF_FORM[name]
    certificate = judge(name)
    assert broken(certificate) == {"text-hello:chat.stream.schema": Verdict.FAIL}
    (cause,) = certificate.causes
    assert (str(cause.symptom), cause.hidden) == (symptom, ())
    assert len(cause.exchanges) > len(cause.scenarios) > len(NAMES) / 2
    # What breaks the letter alone leaves a row kept but for this; of one that harms clients nothing was seen kept.
    rows = {"chat.whole.envelope", "chat.stream.schema", "responses.whole.envelope", "responses.stream.schema"}
    explained = [one for one in certificate.outcomes if one.requirement in rows and one.reason]
    assert {one.requirement for one in explained} == rows
    assert {one.verdict for one in explained if symptom in one.reason} == {others}
    unseen = {one.requirement for one in certificate.outcomes if one.verdict is Verdict.NOT_OBSERVED}
    parity = {"chat.stream.parity", "responses.parity"}
    assert unseen - rows <= parity, "two answers that lack a member are not compared"


@pytest.mark.parametrize("name", ["tools-never-offered"])
def test_where_no_call_ever_comes_back_there_is_one_finding_and_text_is_judged(
    judge: Callable[..., Certificate], name: str
) -> None:
    certificate = judge(name)
    assert broken(certificate) == {"call-one:chat.whole.calls-all-in-order": Verdict.FAIL}
    (cause,) = certificate.causes
    assert str(cause.symptom) == "no tool call ever came back"
    assert {"call-one", "calls-burst", "tool-loop", "many-steps", "tool-registry"} <= set(cause.scenarios)
    assert {"chat.whole.text", "chat.stream.text", "responses.stream.sums", "turn.images"} <= certificate.observed
    # The fault is of `tools`: calls of `functions` come.
    seen = [
        one.reason.partition(";")[0]
        for one in certificate.outcomes
        if one.requirement in {"chat.stream.call-opening", "turn.tool-registry-order"} and one.verdict is Verdict.PASS
    ]
    assert {reason.rpartition(" of ")[2] for reason in seen} <= {"function-call"}


@pytest.mark.parametrize("name", ["dies-at-third-request"])
def test_a_proxy_that_dies_is_one_finding_with_its_exit_status_and_its_last_words(name: str) -> None:
    command = [sys.executable, "-m", "wireproof_mocks.miniatures", name]
    # One request at a time, and few of them: each third one costs a start.
    played = [one for one in PLAYED if one.name in {"text-hello", "history", "models"}]
    with launch(command, env={**SETTINGS, "PROXY_API_KEY": KEY}, url="http://127.0.0.1:{port}/v1") as launched:
        found = certificate(launched.base_url, played=played, dialects=(Dialect.OPENAI_JSON,), jobs=1)
    ((key, verdict),) = broken(found).items()
    assert (key.partition(":")[2], verdict) == ("target.alive", Verdict.FAIL)
    (cause,) = found.causes
    seen = "the proxy's process ended with exit status 7: panic: slice index 4 is out of range"
    assert cause.finding.violation.seen.startswith(seen)
    hidden = [one for one in found.outcomes if one.verdict is Verdict.NOT_OBSERVED]
    assert hidden
    assert all(
        one.reason.startswith(("hidden behind target.alive: ", "counted once, in ", "the target ")) for one in hidden
    )


def test_without_a_fault_there_is_no_cause(judge: Callable[..., Certificate]) -> None:
    certificate = judge("none")
    assert (broken(certificate), certificate.causes) == ({}, ())
