"""Agents as clients that are measured: each dialogue is a run of the real program, in a home that nobody has used.

An agent declares tools of its own besides; those of the dialogue it gets from an MCP server, under longer names, and it
is that server which tells what ran.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import claude_code
import codex_exec
import opencode
from playback import Played

from clients import HERE, Play
from wireproof.model.transcript import Piece, Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SERVER = "wireproof"
"""The name of the MCP server."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One run."""

    url: str
    """With `/v1`."""
    key: str
    prompt: str
    folder: Path
    """In which it works."""
    home: Path
    tools: tuple[str, ...]
    """The names of the tools that it is to be given."""
    server: list[str]
    """The command of the MCP server that has them."""


@dataclass(frozen=True, kw_only=True)
class Agent:
    """How an agent is run, and how it names a tool of the MCP server."""

    run: Callable[[Task], str | None]
    """What it said, all texts joined; None: it failed."""
    names: str
    """The name in an answer as JSON, where the tool is `{}`."""

    def named(self, played: Played) -> Played:
        """Answers that call tools as the agent names them."""
        whole = played.whole and (self._named(played.whole[0]), self._named(played.whole[1]))
        return Played(first=self._named(played.first), then=self._named(played.then), whole=whole)

    def _named(self, answer: Transcript) -> Transcript:
        renamed = re.sub(rb'"name": ?"(localSearch|readNote)"', self._name, answer.body)
        return replace(answer, pieces=(Piece(at=0.0, data=renamed),))

    def _name(self, found: re.Match[bytes]) -> bytes:
        return self.names.format(found[1].decode()).encode()

    def play(self, asked: Sequence[Mapping[str, Any]], account: Mapping[str, str]) -> list[Play]:
        """What became of the dialogues."""
        return [self._played(one, account["key"]) for one in asked]

    def _played(self, dialogue: Mapping[str, Any], key: str) -> Play:
        with tempfile.TemporaryDirectory(prefix="wireproof-agent-", ignore_cleanup_errors=True) as given:
            place = Path(given)
            for name in ("work", "home"):
                (place / name).mkdir()
            tools, ran = place / "tools.json", place / "ran.jsonl"
            tools.write_text(json.dumps(dialogue["tools"]), encoding="utf-8")
            task = Task(
                url=dialogue["url"], key=key, prompt=dialogue["prompt"], folder=place / "work", home=place / "home",
                tools=tuple(one["name"] for one in dialogue["tools"]),
                server=[sys.executable, str(HERE / "tool_server.py"), str(tools), str(ran)],
            )  # fmt: skip
            try:
                said = self.run(task)
            except subprocess.TimeoutExpired as error:
                return {"error": f"it did not end within {error.timeout:g} s", "late": True}
            lines = ran.read_text(encoding="utf-8").splitlines() if ran.exists() else []
        if said is None:
            return {"error": "it failed"}
        turn: dict[str, Any] = {"text": said, "calls": [], "finish": None, "usage": None}
        return {"turns": [turn], "ran": [json.loads(line) for line in lines], "pieces": [], "parsed": []}


def _claude_code(task: Task) -> str | None:
    server = {"type": "stdio", "command": task.server[0], "args": task.server[1:]}
    ended = claude_code.run(
        task.prompt, folder=task.folder, home=task.home, url=task.url.removesuffix("/v1"), key=task.key,
        tools=[f"mcp__{SERVER}__{name}" for name in task.tools], servers={SERVER: server},
        retries=1,
    )  # fmt: skip
    return None if ended.status or ended.result.get("is_error", True) else ended.spoken


def _opencode(package: str) -> Callable[[Task], str | None]:
    def run(task: Task) -> str | None:
        server = {"type": "local", "command": task.server, "enabled": True}
        ended = opencode.run(
            task.prompt, folder=task.folder, home=task.home, url=task.url, key=task.key, package=package,
            servers={SERVER: server},
        )  # fmt: skip
        return None if ended.status else ended.said

    return run


def _codex(task: Task) -> str | None:
    server = {"command": task.server[0], "args": task.server[1:]}
    return codex_exec.run(
        task.prompt, folder=task.folder, home=task.home, url=task.url, key=task.key, servers={SERVER: server}
    )


AGENTS: Mapping[str, Agent] = {
    "claude_code": Agent(run=_claude_code, names=f'"name":"mcp__{SERVER}__{{}}"'),
    "opencode": Agent(run=_opencode("@ai-sdk/openai-compatible"), names=f'"name":"{SERVER}_{{}}"'),
    "opencode-responses": Agent(run=_opencode("@ai-sdk/openai"), names=f'"name":"{SERVER}_{{}}"'),
    "codex_exec": Agent(run=_codex, names=f'"name":"{{}}","namespace":"mcp__{SERVER}"'),
}
"""By the name of their program in `measuring.py`."""
