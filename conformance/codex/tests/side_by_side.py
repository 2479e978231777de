"""Has a conversation with a real app-server and with the mock, and makes what either says comparable.

The model's service behind the real one plays the scripts that the mock plays itself.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app_server import Message, talking
from binaries import furnish, surroundings
from exec_runs import written
from wireproof_fidelity.comparable import comparable, without_members
from wireproof_fidelity.scripts import SCRIPTS, of_the_model

from wireproof_codex.versions.marks import minor
from wireproof_mocks.upstream.serving import serving
from wireproof_scripts.files.json_form import script_to_json
from wireproof_scripts.files.players import foreign

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from conversations import Conversation

UNSENT = {
    "configWarning",
    "warning",
    "codex/event/warning",
    "codex/event/skills_update_available",
    # The mock starts no servers.
    "mcpServer/startupStatus/updated",
    "codex/event/mcp_startup_update",
    # 0.89.0 says that a thread which is put away has ended, or says nothing, by chance.
    "codex/event/shutdown_complete",
}
"""Notifications that are not compared."""
OWN = {
    "codexHome",
    "installationId",
    "path",
    "processId",
    "ready",  # the MCP servers that have started
    "revision",
    "rolloutPath",
    "serverName",
    "userAgent",
}
MOCK_URL = "http://127.0.0.1:9/v1"
"""Where the mock says that its model's service is."""
COUNTED_AT_THE_END = 131  # from 0.131.0 on the counts come after the calls
_RUNS_BY_EXEC = 90  # 0.89.0 declares shell_command; the newest, exec_command
_TYPED_ALONE = 115  # 0.115.0 has the typed family of notifications alone


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a server said in a conversation, and by their ids, as JSON, the methods of the client's requests."""

    messages: Sequence[Message]
    asked: Mapping[str, str]
    counts_race: bool = False
    """What an answer cost is sent while its calls are, in any order."""

    def lines(self, without: AbstractSet[str] = frozenset()) -> list[str]:
        """One line a message, without these members of objects."""
        left = [without_members(message, without) for message in self.messages]
        return comparable(left, unsent=UNSENT, own=OWN, counts_race=self.counts_race)


def said_by_real(conversation: Conversation, version: str, command: Sequence[str | Path], folder: Path) -> Said:
    """What the real server says whose command line this is, with a home below `folder`."""
    shell = "shell_command" if minor(version) < _RUNS_BY_EXEC else "exec_command"
    with serving({name: of_the_model(script, shell) for name, script in SCRIPTS.items()}) as upstream:
        furnish(folder / "home", version, upstream.url, idle_ms=conversation.idle_ms, served=conversation.served)
        return _had(conversation, version, command, folder, {upstream.url: MOCK_URL})


def said_by_mock(conversation: Conversation, version: str, scripts: Path, folder: Path) -> Said:
    """What the mock of a version says, with the scripts of this file."""
    mock: list[str | Path] = [sys.executable, "-m", "wireproof_codex", "--codex-version", version, "--scripts", scripts]
    if conversation.runs:  # they say with which settings they run
        furnish(folder / "home", version, MOCK_URL)
    return _had(conversation, version, mock, folder, {})


def write_scripts(path: Path) -> Path:
    """The scripts that the mock plays, as a file for it: those of another agent it refuses."""
    played = (script for script in SCRIPTS.values() if not list(foreign(script, script.name, "codex")))
    path.write_text(json.dumps([script_to_json(script) for script in played]))
    return path


def _had(
    conversation: Conversation,
    version: str,
    codex: Sequence[str | Path],
    folder: Path,
    words: Mapping[str, str],
) -> Said:
    env, work = surroundings(folder / "home"), folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    work = work.resolve()
    if conversation.runs:
        return Said(
            messages=_replaced(written(conversation.runs, codex, env, work), {**words, str(work): "<work>"}), asked={}
        )
    # What says that a thread has started: nothing more is compared of it.
    started = "thread/started" if minor(version) >= _TYPED_ALONE else "codex/event/mcp_startup_complete"
    with talking([*codex, "app-server"], env=env, cwd=work, started=started) as talk:
        talk.begin()
        conversation.have(talk)
    received = sorted(talk.received, key=_thread) if conversation.crossing else talk.received
    replaced: Mapping[str, str] = {**words, str(work): "<work>"}
    asked = {
        json.dumps(message["id"]): message["method"] for message in talk.sent if "method" in message and "id" in message
    }
    race = minor(version) < COUNTED_AT_THE_END
    return Said(messages=[_replaced(message, replaced) for message in received], asked=asked, counts_race=race)


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
