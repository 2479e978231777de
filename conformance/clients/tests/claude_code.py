"""Claude Code as npm installs it: its binary, run once in a folder, with a clean home and no network but loopback."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elsewhere import elsewhere, native

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BINARY = "@anthropic-ai/claude-code-{machine}/claude"
DEADLINE = 150.0
"""Seconds for one run; an idle machine needs three."""
MODEL = "claude-wireproof"
PAGE = Path(__file__).parents[3] / "docs" / "clients.md"
_SILENT = re.findall(r"\b(\w*DISABLE_\w+)=1", PAGE.read_text(encoding="utf-8"))
"""The page's own: with these it is to ask nothing elsewhere."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a run ended."""

    status: int
    events: tuple[dict[str, Any], ...]
    """What it printed, line by line: messages of the model and of its tools, then its result."""
    log: str
    elsewhere: list[str]
    """What it asked of any other host than this one."""

    @property
    def result(self) -> dict[str, Any]:
        """Its last word; {} if it had none."""
        return next((event for event in self.events if event["type"] == "result"), {})

    @property
    def said(self) -> str:
        """What it shows its user in the end."""
        return str(self.result.get("result", ""))

    @property
    def spoken(self) -> str:
        """All texts of the model that it shows its user."""
        return "".join(block["text"] for block in self._blocks("assistant") if block["type"] == "text")

    @property
    def calls(self) -> list[tuple[str, Any]]:
        """Name and input of each call that it took from the model, in order."""
        return [(block["name"], block["input"]) for block in self._blocks("assistant") if block["type"] == "tool_use"]

    @property
    def results(self) -> list[tuple[bool, str]]:
        """Whether each call failed, and what came of it, in the order of the calls."""
        asked = [block["id"] for block in self._blocks("assistant") if block["type"] == "tool_use"]
        found = [block for block in self._blocks("user") if block["type"] == "tool_result"]
        # What runs at once is printed as it ends, in any order.
        found.sort(key=lambda block: asked.index(block["tool_use_id"]))
        return [(bool(block.get("is_error")), json.dumps(block["content"])) for block in found]

    def _blocks(self, kind: str) -> list[dict[str, Any]]:
        said = [event["message"]["content"] for event in self.events if event["type"] == kind]
        return [block for content in said if isinstance(content, list) for block in content]


def run(  # noqa: PLR0913 (each but the first five has a default)
    prompt: str, *, folder: Path, home: Path, url: str, key: str, tools: Sequence[str] = (), bearer: bool = False,
    servers: Mapping[str, Any] | None = None, retries: int | None = None,
) -> Ended:  # fmt: skip
    """Let it work in a folder on what a prompt asks; `url` is the base URL, below which it adds `/v1`.

    Without `tools` it may run none but those that read; with `bearer` the key goes into `Authorization`. `servers` are
    its MCP servers, by name; `retries` how often it tries again, None: as often as it does by itself, for minutes.
    """
    command = [
        native(BINARY), "-p", prompt, "--model", MODEL, "--output-format", "stream-json", "--verbose",
        *(("--allowedTools", ",".join(tools)) if tools else ()),
        *(("--strict-mcp-config", "--mcp-config", json.dumps({"mcpServers": servers})) if servers else ()),
    ]  # fmt: skip
    with elsewhere() as (away, asked):
        account = {"ANTHROPIC_AUTH_TOKEN" if bearer else "ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": url}
        tries = {} if retries is None else {"CLAUDE_CODE_MAX_RETRIES": str(retries)}
        env = {"PATH": os.environ["PATH"], "HOME": str(home), **dict.fromkeys(_SILENT, "1"), **account, **tries, **away}
        done = subprocess.run(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            timeout=DEADLINE, check=False,
        )  # fmt: skip
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return Ended(status=done.returncode, events=tuple(events), log=f"{done.stdout}\n{done.stderr}", elsewhere=asked)
