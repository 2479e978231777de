"""What a report says of a proxy with several faults at once: each once, in the order of what they do to clients."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.requirement import Harm
from wireproof.model.target import Target
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.report.data import report_of
from wireproof.report.terminal import report
from wireproof.results.certify import certify
from wireproof.results.document import Configuration, MadeWith
from wireproof.scenarios import SCENARIOS
from wireproof.targets.bundled import KEEPALIVE, SETTINGS
from wireproof.targets.launch import launch
from wireproof_mocks.miniatures import FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wireproof.results.certificate import Certificate

KEY = "key-of-the-findings"
# Not in the order of their harm, and each in scenarios of its own, or on top of what is otherwise right.
FAULTY = ("created-per-chunk", "usage-lost", "body-left-open", "last-text-lost", "third-call-counted-as-second")
PLAYED = [
    one for one in SCENARIOS if one.name in {"text-hello", "text-repeats", "calls-three", "usage-asked", "silence"}
]


@pytest.fixture(scope="module")
def certificate() -> Iterator[Certificate]:
    """Of a proxy with all of the faults."""
    command, env = [sys.executable, "-m", "wireproof_mocks.miniatures"], {**SETTINGS, "PROXY_API_KEY": KEY}
    with launch(command, env=env, url="http://127.0.0.1:{port}/" + "+".join(FAULTY) + "/v1") as launched:
        target = Target(
            base_url=launched.base_url, model="codex", api_key=KEY, timeout=6.0, keepalive=KEEPALIVE,
            dialects=(Dialect.OPENAI_JSON,),
        )  # fmt: skip
        yield certify(target, PLAYED, load())


@pytest.fixture(scope="module")
def printed(certificate: Certificate) -> str:
    """The report on it."""
    asked = Configuration(
        command="wireproof certify", jobs=1, at_a_time=0, selection=(), level=VerdictLevel.STRICT, allow_partial=False,
        known={},
    )  # fmt: skip
    result = report_of(certificate, load(), asked, MadeWith(wireproof="0", python="3", system=""))
    out = io.StringIO()
    report(Console(file=out, width=200), result, certificate, load())
    return out.getvalue()


def test_what_harms_clients_most_comes_first(printed: str) -> None:
    shown = [line.split()[1] for line in printed.splitlines() if line.startswith(("FAIL ", "WARN "))]
    assert set(shown) == {FAULTS[name].breaks for name in FAULTY}
    assert [load().find(row).harm for row in shown] == [Harm.CALLS, Harm.TEXT, Harm.HANG, Harm.ERROR, Harm.FORM]


def test_each_finding_shows_its_request_and_what_to_do(printed: str) -> None:
    blocks = [f"F{block}" for block in printed.split("\nF")[1:]]
    assert len(blocks) == len(FAULTY)
    for block in blocks:
        for line in ("\n  seen in ", "\n  request: curl -sN http", "\n  to do: ", "\n  in: ", "\n  again: "):
            assert line in block


def test_sentences_are_about_json(certificate: Certificate, odd_words: Callable[[Certificate], list[str]]) -> None:
    assert any(one.verdict is Verdict.FAIL for one in certificate.outcomes)
    assert odd_words(certificate) == []
