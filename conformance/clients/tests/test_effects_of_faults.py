"""What a report says that a fault does to real clients is what it does to them: faults of Messages, drawn at random.

A report names the clients that break on what it saw in the bytes (`wireproof.report.effects`). The same clients are run
on the same faulty answers, and must show something wrong; those that it does not name must not.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from measure import KEY, SETTINGS, drawn
from measuring import MEASURED, OF_NUMBERS, effects

from clients import installed
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Target
from wireproof.report.effects import breaking, seen_effects
from wireproof.results.certify import certify
from wireproof.scenarios import CONVERSATIONS
from wireproof.targets.launch import launch
from wireproof_mocks.miniatures import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof.results.certificate import Certificate

NUMBER, SEED = 20, 26
CLIENTS = MEASURED[:3]
PLAYED = [
    one
    for one in CONVERSATIONS
    if one.name in {"text-hello", "text-utf8", "call-one", "call-after-text", "calls-same-twice", "finish-length",
                    "fail-after-text", "usage-asked"}
]  # fmt: skip
"""Scenarios with what the clients' dialogues have: text, calls, a limit, counts, a failure in mid-text."""


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    """Below which all miniatures are served."""
    installed()
    with launch(f"{sys.executable} -m wireproof_mocks.miniatures", env=SETTINGS) as served:
        yield served.base_url.removesuffix("/v1")


@pytest.fixture(scope="module")
def measured(root: str) -> Mapping[str, Mapping[str, list[str]]]:
    """Client → fault → what of it reaches the client's user."""
    account = {"key": KEY, "model": "codex"}
    return {client.name: effects(client, drawn(NUMBER, SEED), root, account) for client in CLIENTS}


@pytest.mark.parametrize("name", drawn(NUMBER, SEED))
def test_the_clients_that_a_report_names_are_those_that_break(
    name: str, root: str, measured: Mapping[str, Mapping[str, list[str]]]
) -> None:
    target = Target(base_url=f"{root}/{name}/v1", model="codex", api_key=KEY, dialects=(Dialect.MESSAGES,))
    scripts = FAULTS[name].scripts
    played = [one for one in CONVERSATIONS if one.script in scripts] if scripts else PLAYED
    said = named(certify(target, played, load()))
    seen = {client for client, column in measured.items() if {*column[name]} - OF_NUMBERS}
    assert {client.name for client in CLIENTS if client.name in said} == seen, (said, measured)


def named(certificate: Certificate) -> dict[str, str]:
    """The clients that a report says break, each with what it says."""
    rows = load()
    lines = (line for row in rows.requirements for line in seen_effects(row, breaking(row, certificate)))
    return {client: line for line in lines for client in line.partition(":")[0].split(", ")}
