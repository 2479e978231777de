"""The same conversations with a real app-server and with the mock: what either says is the same.

The model's service behind the real one plays the scripts that the mock plays itself. What is compared, and what need
not be the same, `wireproof_fidelity` says; `differential.toml` there has every conversation and its result.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
from app_server import Message, talking
from binaries import NEWEST, VERSIONS, binary, furnish, surroundings
from conversations import CONVERSATIONS, SCRIPTS, Conversation
from wireproof_fidelity.comparable import comparable
from wireproof_fidelity.table import Compared, load_differential

from wireproof_mocks.upstream.serving import serving
from wireproof_scripts.files.json_form import script_to_json
from wireproof_scripts.files.players import foreign

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

TABLE = {(row.script, row.version): row for row in load_differential()}
EVERY = [(name, version) for name, it in CONVERSATIONS.items() for version in VERSIONS if version in it.versions]
IDS = [f"{'newest' if version == NEWEST else version}-{name}" for name, version in EVERY]
STARTED = {"0.89.0": "codex/event/mcp_startup_complete", NEWEST: "thread/started"}
"""How it says that a thread has started, and that nothing more is to be said of that."""
UNSENT = {
    "configWarning",
    "warning",
    # 0.89.0 says that a thread which is put away has ended, or says nothing, by chance.
    "codex/event/shutdown_complete",
}
"""Notifications that are not compared."""
OWN = {"codexHome", "path", "rolloutPath", "serverName", "installationId", "revision", "userAgent"}
CLOCK = re.compile(r"(?<=try again at )[^\".]*[AP]M")
MOCK_URL = "http://127.0.0.1:9/v1"
"""Where the mock says that its model's service is."""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts that the mock plays, as a file for it: those of another agent it refuses."""
    path = tmp_path_factory.mktemp("scripts") / "scripts.json"
    played = (script for script in SCRIPTS.values() if not list(foreign(script, script.name, "codex")))
    path.write_text(json.dumps([script_to_json(script) for script in played]))
    return path


def _real(conversation: Conversation, version: str, folder: Path) -> list[Message]:
    """What the real server says."""
    with serving(SCRIPTS) as upstream:
        furnish(folder / "home", version, upstream.url, idle_ms=conversation.idle_ms)
        received = _had(conversation, version, [binary(version)], folder)
        return [_replaced(message, {upstream.url: MOCK_URL}) for message in received]


def _mock(conversation: Conversation, version: str, folder: Path, scripts: Path) -> list[Message]:
    """What the mock says."""
    mock: list[str | Path] = [
        sys.executable,
        "-m",
        "wireproof_codex",
        "--codex-version",
        version,
        "--scripts",
        scripts,
    ]
    return _had(conversation, version, mock, folder)


def _had(conversation: Conversation, version: str, codex: Sequence[str | Path], folder: Path) -> list[Message]:
    env, work = surroundings(folder / "home"), folder / "work"
    with talking([*codex, "app-server"], env=env, cwd=work, started=STARTED[version]) as talk:
        talk.begin()
        conversation.have(talk)
        received = sorted(talk.received, key=_thread) if conversation.crossing else talk.received
        return [_replaced(message, {str(work): "<work>"}) for message in received]


def _thread(message: Message) -> str:
    """Of which thread it is; their ids tell which began first."""
    return str(message.get("params", {}).get("threadId", ""))


def _replaced(value: Any, words: Mapping[str, str]) -> Any:
    """A message, in its texts these words instead of those."""
    match value:
        case dict():
            return {key: _replaced(inner, words) for key, inner in value.items()}
        case list():
            return [_replaced(inner, words) for inner in value]
        case str():
            for word, other in words.items():
                value = value.replace(word, other)
    return value


def _differences(theirs: Sequence[Message], ours: Sequence[Message], without: AbstractSet[str] = frozenset()) -> str:
    """What differs, as a patch; '' when nothing does."""
    real, mock = _lines(theirs, without), _lines(ours, without)
    return "\n".join(difflib.unified_diff(real, mock, "real", "mock", lineterm="", n=0))


def _lines(messages: Sequence[Message], without: AbstractSet[str]) -> list[str]:
    left = [_left(message, without) for message in messages]
    return [CLOCK.sub("<time>", line) for line in comparable(left, unsent=UNSENT, own=OWN)]


def _left(value: Any, without: AbstractSet[str]) -> Any:
    """A message without these members."""
    match value:
        case dict():
            return {key: _left(inner, without) for key, inner in value.items() if key not in without}
        case list():
            return [_left(inner, without) for inner in value]
    return value


@pytest.mark.parametrize(("name", "version"), EVERY, ids=IDS)
def test_the_mock_says_what_the_real_server_says(name: str, version: str, tmp_path: Path, scripts: Path) -> None:
    (tmp_path / "work").mkdir()
    conversation, row = CONVERSATIONS[name], TABLE.get((name, version)) or _equal(name, version)
    theirs = _real(conversation, version, tmp_path)
    ours = _mock(conversation, version, tmp_path, scripts)
    assert _differences(theirs, ours, row.without) == ""
    assert bool(_differences(theirs, ours)) is (row.result == "accepted difference")


def _equal(name: str, version: str) -> Compared:
    """What is expected of a conversation that the table does not have."""
    return Compared(script=name, version=version, result="equal")


def test_the_table_has_every_conversation_and_no_other() -> None:
    compared = {key for key, row in TABLE.items() if row.result != "not compared"}
    assert compared == set(EVERY)
