"""What the table of clients says of a server is what happens: real clients get the recorded answers of four strangers.

Each ordinary answer of a recording is played back to each client. One that works by the table reads all of them
rightly, one that breaks fails at some of them. What a client did otherwise stands in `readiness.toml`, with the reason;
a difference that stands nowhere, and one that is gone, fail the test.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playback import Played, Recorded, own, playing, recorded

from clients import Client, installed
from wireproof.model.catalogue import load
from wireproof.model.dialect import Surface
from wireproof.model.scenario import Mode
from wireproof.report.readiness import readiness
from wireproof.results import archive
from wireproof.results.document import Ready
from wireproof.results.judge_run import RunInfo, Terms, judge_run
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from collections.abc import Mapping

RECORDINGS = ("fakeai", "llmock", "stubllm", "transformers")
"""Strangers of four kinds: two that are much broken, one that is little, and a server of models."""
CORPUS = Path(__file__).parents[2] / "tests" / "corpus"
LISTED = Path(__file__).with_name("readiness.toml")
AS_NAMED: tuple[tuple[str, Client], ...] = (
    ("openai-python", Client(program="openai_python.py", way="whole", streamed=False)),
    ("openai-python", Client(program="openai_python.py", way="joined", streamed=True)),
    ("openai-python .stream", Client(program="openai_python.py", way="stream", streamed=True)),
    ("langchain-openai", Client(program="langchain_python.py", way="stream", streamed=True)),
    ("openai-node .stream", Client(program="openai_node.mjs", way="stream", streamed=True)),
    ("openai-node runTools", Client(program="openai_node.mjs", way="run-tools", streamed=True)),
    ("@ai-sdk/openai-compatible", Client(program="ai_sdk.mjs", way="stream", streamed=True)),
    ("@langchain/openai", Client(program="langchain_js.mjs", way="stream", streamed=True)),
)
"""The name of a client in the table, and its program here with the way that is asked; one may be asked in several."""


@dataclass(frozen=True, kw_only=True)
class Happened:
    """What came of the answers of a recording with one client."""

    wrong: Mapping[str, str]
    """The path of each answer that it did not read as it was meant → what it did."""
    played: int


def said_in(played: Mapping[str, Any]) -> tuple[str, list[tuple[str, Any]]]:
    first = played["turns"][0]
    return first["text"], [(call["name"], call["arguments"]) for call in first["calls"]]


def differs(answer: Recorded, played: Mapping[str, Any]) -> str:
    """What a client did with an answer, where it is not what was meant; "": it is."""
    if "error" in played:
        lines = played["error"].strip().splitlines()
        # Python says it in the last line, JavaScript in the first one.
        return f"error: {lines[-1] if lines[0].startswith('Traceback') else lines[0]}"
    (text, calls), (meant, due) = said_in(played), answer.meant
    if calls != due:
        return f"calls {calls}, meant were {due}"
    # A text beside calls is not kept in whole answers.
    return "" if text == meant or due else f"text {text!r}, meant was {meant!r}"


@pytest.fixture(scope="module")
def said() -> Mapping[str, Mapping[str, Ready]]:
    """What the table says of each client, by recording."""
    catalogue, found = load(), {}
    for name in RECORDINGS:
        there = archive.load(CORPUS / f"{name}.gz", (*SCENARIOS, *LIVE))
        certificate = judge_run(there.runs, there.target, catalogue, Terms(), RunInfo(began="", seconds=1.0))
        found[name] = {
            one.client: one.ready for one in readiness(certificate, catalogue) if one.surface is Surface.CHAT
        }
    return found


@pytest.fixture(scope="module")
def happened() -> Mapping[tuple[str, str], Happened]:
    """What came of every answer, by recording and client."""
    installed()
    every = [one for name in RECORDINGS for one in recorded(name)]
    found: dict[tuple[str, str], Happened] = {}
    own_of = {mode: own(streamed=mode is Mode.STREAM) for mode in Mode}
    played_back = {one.path: Played(first=one.exchange.transcript, then=own_of[one.exchange.mode]) for one in every}
    with playing(played_back) as address:
        for name, client in AS_NAMED:
            mode = "stream" if client.streamed else "whole"
            mine = [one for one in every if one.exchange.mode.value == mode]
            asked = [{**one.dialogue, "url": f"{address}/{one.path}/v1"} for one in mine]
            plays = client.play(asked, {"key": "any", "model": "m"})
            for recording in RECORDINGS:
                those = [(one, played) for one, played in zip(mine, plays, strict=True) if one.recording == recording]
                wrong = {one.path: seen for one, played in those if (seen := differs(one, played))}
                before = found.get((recording, name), Happened(wrong={}, played=0))
                found[recording, name] = Happened(wrong={**before.wrong, **wrong}, played=before.played + len(those))
    return found


def test_every_client_of_the_table_here_is_one_of_the_catalogue(said: Mapping[str, Mapping[str, Ready]]) -> None:
    assert all(one.keys() >= {name for name, _ in AS_NAMED} for one in said.values())


def test_what_the_table_says_is_what_happens(
    said: Mapping[str, Mapping[str, Ready]], happened: Mapping[tuple[str, str], Happened]
) -> None:
    differences = {}
    for (recording, client), one in happened.items():
        assert one.played > 0, (recording, client)
        ready = said[recording][client]
        if ready is Ready.WORKS and one.wrong:
            differences[f"{recording}, {client}"] = (
                f"works, and {len(one.wrong)} of {one.played} went wrong: {one.wrong}"
            )
        elif ready is Ready.BREAKS and not one.wrong:
            differences[f"{recording}, {client}"] = f"breaks, and all {one.played} went well"
    listed = tomllib.loads(LISTED.read_text(encoding="utf-8"))["differences"]
    assert differences.keys() == listed.keys(), differences
