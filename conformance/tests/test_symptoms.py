"""One cause, one finding: targets that fail everywhere in one way, each driven through scenarios of many subjects."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from assay.model.catalogue import load
from assay.model.dialect import Dialect
from assay.model.target import Target
from assay.model.verdict import Verdict
from assay.results.certify import certify
from assay.scenarios import SCENARIOS
from assay.targets.bundled import KEEPALIVE, SETTINGS
from assay.targets.launch import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.results.certificate import Certificate

KEY = "key-of-the-symptoms"
NAMES = (
    "text-hello", "text-utf8", "usage-asked", "call-one", "calls-burst", "fail-first", "fail-after-text", "xml-values",
    "shape-a", "shape-b", "choices-text", "sentinel-plain", "responses-xml", "history", "tool-registry", "tool-loop",
    "many-steps", "images", "tool-choice-none", "route-unknown", "auth-missing", "body-not-json", "models", "param-n",
    "param-unknown-ignored", "client-curl", "client-opencode", "input-items", "responses-http", "previous-response",
)  # fmt: skip
PLAYED = [one for one in SCENARIOS if one.name in NAMES]
INAPPLICABLE = {"chat.stream.arguments-cumulative", "chat.stream.arguments-incremental"}
"""The rows of which one is about the other way of streaming than the target's, in each dialect."""
BROKEN = {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}


@pytest.fixture(scope="module")
def judge() -> Iterator[Callable[..., Certificate]]:
    """The certificate of the miniature of this name; all are served by one process."""
    command, env = f"{sys.executable} -m assay_mocks.miniatures", {**SETTINGS, "PROXY_API_KEY": KEY}
    with launch(command, env=env, url="http://127.0.0.1:{port}/none/v1") as launched:
        root = launched.base_url.removesuffix("/none/v1")
        yield lambda name, **how: certificate(f"{root}/{name}/v1", **how)


def certificate(base_url: str, *, timeout: float = 6.0) -> Certificate:
    target = Target(
        base_url=base_url, model="codex", api_key=KEY, timeout=timeout, keepalive=KEEPALIVE, dialects=tuple(Dialect),
        default_mode=Dialect.OBSIDIAN_XML,
    )  # fmt: skip
    return certify(target, PLAYED, load())


def broken(certificate: Certificate) -> dict[str, Verdict]:
    return {one.key: one.verdict for one in certificate.outcomes if one.verdict in BROKEN}


@pytest.mark.parametrize(
    ("name", "found", "verdict", "shape"),
    [
        ("every-request-crashes", "target.answers", Verdict.FAIL, "every request"),
        ("slots-never-free", "target.capacity", Verdict.WARN, "every request"),
    ],
)
def test_where_nothing_is_answered_there_is_one_finding_and_nothing_else_is_observed(
    judge: Callable[..., Certificate], name: str, found: str, verdict: Verdict, shape: str
) -> None:
    certificate = judge(name)
    assert broken(certificate) == {f"text-hello:{found}": verdict}
    (cause,) = certificate.causes
    assert (cause.requirement, cause.shape, set(cause.scenarios)) == (found, shape, set(NAMES))
    assert certificate.observed <= {found} | INAPPLICABLE


def test_where_streams_hang_there_is_one_finding_and_whole_answers_are_judged(
    judge: Callable[..., Certificate],
) -> None:
    certificate = judge("streams-hang", timeout=1.5)
    assert broken(certificate) == {"text-hello:target.answers": Verdict.FAIL}
    (cause,) = certificate.causes
    assert (str(cause.symptom), cause.shape) == ("silence instead of an answer", "every stream")
    assert all(b'"stream": true' in exchange.transcript.request_body for exchange in cause.exchanges)
    assert {row for row in certificate.observed if row.startswith("chat.stream.")} <= INAPPLICABLE
    assert {"chat.whole.text", "chat.whole.calls-all-in-order", "responses.whole.message"} <= certificate.observed
