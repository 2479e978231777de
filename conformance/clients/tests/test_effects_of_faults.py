"""What a report says that a fault does to real clients is what it does to them: faults of Messages, drawn at random.

A report names the clients that break on what it saw in the bytes (`wireproof.report.effects`). The same clients are run
on the same faulty answers, and must show something wrong; those that it does not name must not.
"""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

import pytest
from coding_agents import AGENTS
from dialogues import DIALOGUES, Answer, Dialogue
from measuring import MEASURED, OF_NUMBERS, Measured, difference

from clients import HERE, Client, installed
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import Target
from wireproof.report.effects import breaking, seen_effects
from wireproof.results.certify import certify
from wireproof.scenarios import CONVERSATIONS
from wireproof.targets.launch import launch
from wireproof_mocks.miniatures import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wireproof.results.certificate import Certificate

NUMBER, SEED = 20, 26
KEY = "a key of the measurements"
SETTINGS = {"PROXY_API_KEY": KEY, "WIREPROOF_SCRIPTS": str(HERE / "scripts.yaml"), "PROXY_KEEPALIVE_MS": "100"}
OF_MESSAGES = sorted(name for name, fault in FAULTS.items() if fault.breaks.startswith("messages."))
DRAWN = random.Random(SEED).sample(OF_MESSAGES, NUMBER)  # noqa: S311 (a draw, no secret)
CLIENTS = [one for one in MEASURED if "messages stream" in one.ways and one.program not in AGENTS][:3]
ASKED = {
    "text": Dialogue(script="text/hello", answers=(Answer(text="Hello, world!"),), tools=()),
    "thoughts": DIALOGUES["a silence"],
    "call": DIALOGUES["a call in fragments"],
    "calls": DIALOGUES["two equal calls at once"],
    "limit": Dialogue(script="text/length", answers=(), tools=()),
    "failure": Dialogue(script="fail/after-text", answers=(), tools=()),
}
"""The dialogues, by what of an answer they show."""
REFUSED = "BadRequestError"
"""What both SDKs make of a request that is refused as the conversation goes on."""
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
    with launch([sys.executable, "-m", "wireproof_mocks.miniatures"], env=SETTINGS) as served:
        yield served.base_url.removesuffix("/v1")


@pytest.fixture(scope="module")
def measured(root: str) -> Mapping[str, Mapping[str, list[str]]]:
    """Client → fault → what of it reaches the client's user."""
    account = {"key": KEY, "model": "codex"}
    return {client.name: effects(client, DRAWN, root, account) for client in CLIENTS}


@pytest.mark.parametrize("name", DRAWN)
def test_the_clients_that_a_report_names_are_those_that_break(
    name: str, root: str, measured: Mapping[str, Mapping[str, list[str]]]
) -> None:
    target = Target(base_url=f"{root}/{name}/v1", model="codex", api_key=KEY, dialects=(Dialect.MESSAGES,))
    scripts = FAULTS[name].scripts
    played = [one for one in CONVERSATIONS if one.script in scripts] if scripts else PLAYED
    said = named(certify(target, played, load()))
    came = {client: {*column[name]} - OF_NUMBERS for client, column in measured.items()}
    # The proxy refuses what it has said itself when it comes back: what the client did with it is not seen.
    unseen = {client for client, those in came.items() if those == {REFUSED}}
    seen = {client for client, those in came.items() if those}
    assert {client.name for client in CLIENTS if client.name in said} - unseen == seen - unseen, (said, came)


def effects(client: Measured, faults: Iterable[str], root: str, account: Mapping[str, str]) -> dict[str, list[str]]:
    """Fault → what of it reaches the client's user, empty where nothing does; miniatures are served below `root`."""
    names = ["none", *faults]
    plan = [(name, kind) for name in names for kind in ASKED]
    found: dict[str, list[str]] = {name: [] for name in names[1:]}
    for mode in ("stream", "whole"):
        way = Client(program=client.program, way=client.ways[f"messages {mode}"], streamed=mode == "stream")
        asked = [ASKED[kind].asked(f"{root}/{name}/v1") for name, kind in plan]
        plays = dict(zip(plan, way.play(asked, account), strict=True))
        for name, kind in plan[len(ASKED) :]:
            refused = REFUSED in plays[name, kind].get("error", "")
            effect = REFUSED if refused else difference(plays["none", kind], plays[name, kind])
            if effect is not None and effect not in found[name]:
                found[name].append(effect)
    return found


def named(certificate: Certificate) -> dict[str, str]:
    """The clients that a report says break, each with what it says."""
    rows = load()
    lines = (line for row in rows.requirements for line in seen_effects(row, breaking(row, certificate)))
    return {client: line for line in lines for client in line.partition(":")[0].split(", ")}
