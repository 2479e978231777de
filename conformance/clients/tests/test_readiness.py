"""What the table of clients says of a server is what happens: real clients get the recorded answers of strangers.

On chat completions and on Responses each ordinary answer of four recordings, and on Messages of one, is played back to
each client that was measured there, but for the agents. One that works by the table reads all of them rightly, one that
breaks fails at some of them. What a client did otherwise stands in `readiness.toml`, with the reason; a difference that
stands nowhere, and one that is gone, fail the test.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from coding_agents import AGENTS
from measuring import ACCOUNT, MEASURED
from playback import CORPUS, Played, Recorded, afterwards, playing, recorded

from clients import Client, installed
from wireproof.model.catalogue import load
from wireproof.model.dialect import Surface
from wireproof.model.scenario import Mode
from wireproof.report.readiness import readiness
from wireproof.results import archive
from wireproof.results.document import Ready
from wireproof.results.judge_run import judge_run
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from collections.abc import Mapping

RECORDINGS = {
    Surface.CHAT: ("fakeai", "llmock", "stubllm", "transformers"),
    Surface.RESPONSES: ("aimock", "llmock", "openai-forward", "transformers"),
    Surface.MESSAGES: ("aimock-messages",),
}
"""Strangers of several kinds: mocks that are broken much or little, a server of models, a gateway that passes bytes."""
LISTED = Path(__file__).with_name("readiness.toml")
COUNTLESS = "the loop of OpenAI's function-calling guide"
"""A client that asks for no usage, which the streams that are played have."""
PROGRAMS = tuple(one for one in MEASURED if one.program not in AGENTS and one.name != COUNTLESS)
Case = tuple[str, Surface, str]
"""A recording, a surface, and the name of a client in the table."""


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
    text, calls = said_in(played)
    if answer.meant is None:
        return "" if text or calls else "nothing came of an answer in another form than was asked for"
    meant, due = answer.meant
    if calls != due:
        return f"calls {calls}, meant were {due}"
    # A text beside calls is not kept in whole answers.
    return "" if text == meant or due else f"text {text!r}, meant was {meant!r}"


@pytest.fixture(scope="module")
def said() -> Mapping[Case, Ready]:
    """What the table says."""
    catalogue, found = load(), dict[Case, Ready]()
    for name in sorted({name for names in RECORDINGS.values() for name in names}):
        there = archive.load(CORPUS / f"{name}.gz", (*SCENARIOS, *LIVE))
        certificate = judge_run(there.runs, there.target, catalogue, seconds=1.0)
        found |= {(name, one.surface, one.client): one.ready for one in readiness(certificate, catalogue)}
    return found


@pytest.fixture(scope="module")
def happened() -> Mapping[Case, Happened]:
    """What came of every answer."""
    installed()
    every = {
        surface: [one for name in names for one in recorded(name, surface)] for surface, names in RECORDINGS.items()
    }
    played_back = {
        one.path: Played(first=one.exchange.transcript, then=afterwards(surface, one.exchange.mode))
        for surface, those in every.items()
        for one in those
    }
    found: dict[Case, Happened] = {}
    for client, shape in ((one, shape) for one in PROGRAMS for shape in one.ways):
        surface, mode = Surface(shape.split()[0]), Mode(shape.split()[1])
        mine = [one for one in every.get(surface, ()) if one.exchange.mode is mode]
        player = Client(program=client.program, way=client.ways[shape], streamed=mode is Mode.STREAM)
        # A server for each: it refuses whoever asks too often.
        with playing(played_back) as address:
            asked = [{**one.dialogue, "url": f"{address}/{one.path}/v1"} for one in mine]
            plays = player.play(asked, ACCOUNT) if asked else []
        for one, played in zip(mine, plays, strict=True):
            case = one.recording, surface, client.name
            before = found.get(case, Happened(wrong={}, played=0))
            wrong = {one.path: seen} if (seen := differs(one, played)) else {}
            found[case] = Happened(wrong={**before.wrong, **wrong}, played=before.played + 1)
    return found


def test_every_client_that_was_played_is_one_of_the_table(
    said: Mapping[Case, Ready], happened: Mapping[Case, Happened]
) -> None:
    assert happened.keys() <= said.keys()
    assert {case[:2] for case in happened} == {(name, on) for on, names in RECORDINGS.items() for name in names}


def test_what_the_table_says_is_what_happens(said: Mapping[Case, Ready], happened: Mapping[Case, Happened]) -> None:
    differences = {}
    for (recording, surface, client), one in happened.items():
        ready, key = said[recording, surface, client], f"{recording}, {surface.value}, {client}"
        if ready is Ready.WORKS and one.wrong:
            differences[key] = f"works, and {len(one.wrong)} of {one.played} went wrong: {one.wrong}"
        elif ready is Ready.BREAKS and not one.wrong:
            differences[key] = f"breaks, and all {one.played} went well"
    listed = tomllib.loads(LISTED.read_text(encoding="utf-8"))["differences"]
    assert differences.keys() == listed.keys(), differences
