"""A real OpenCode completes read, write, text against the reference proxy, with its tools on every request."""

from __future__ import annotations

import json
import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import opencode
import pytest

from wireproof.targets.launch import executable, launch
from wireproof_cursor.serving import serving
from wireproof_scripts.files.read import load_scripts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Path(__file__).parents[1]
KEY = "a key of the tests"
SETTINGS = {"PROXY_OUTPUT_MODE": "openai-json", "PROXY_API_KEY": KEY}
TOOLS = {"edit", "glob", "grep", "read", "write"}
"""Of its tools, those that the text opencode-cursor is about."""


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """The folder in which it works, and the proxy that it works with."""

    folder: Path
    home: Path
    url: str

    @property
    def readme(self) -> Path:
        """The file that it is asked to change."""
        return self.folder / "README.md"

    def run(self, script: str) -> opencode.Ended:
        """Let it work on what a script answers."""
        prompt = f"Read README.md and add a line to it. [[wireproof:{script}#{secrets.token_hex(8)}]]"
        return opencode.run(prompt, folder=self.folder, home=self.home, url=self.url, key=KEY)


@contextmanager
def codex(scripts: Path) -> Iterator[Mapping[str, str]]:
    """The variables of a proxy with the mock of Codex behind it, which plays these scripts."""
    yield {"WIREPROOF_SCRIPTS": str(scripts)}


@contextmanager
def cursor(scripts: Path) -> Iterator[Mapping[str, str]]:
    """The same of Cursor's agent service."""
    with serving(load_scripts(scripts)) as service:
        yield {
            "PROXY_BACKEND": "cursor",
            "PROXY_MODELS": "codex",
            "CURSOR_BASE_URL": service.url,
            "CURSOR_TOKEN": "any",
        }


@pytest.fixture(params=[codex, cursor], ids=["codex", "cursor"])
def workspace(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Workspace]:
    """A folder with a file, and the reference proxy in front of a model that knows where it is."""
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (folder / "README.md").write_text("# Readme\n", encoding="utf-8")
    scripts = tmp_path / "scripts.yaml"
    text = (HERE / "scripts_opencode.yaml").read_text(encoding="utf-8").replace("{folder}", str(folder))
    scripts.write_text(text, encoding="utf-8")
    with (
        request.param(scripts) as backend,
        launch([executable("wireproof-proxy")], env={**SETTINGS, **backend}) as proxy,
    ):
        yield Workspace(folder=folder, home=home, url=proxy.base_url)


def test_it_reads_writes_and_says_so(workspace: Workspace) -> None:
    ended = workspace.run("opencode/steps")
    assert ended.status == 0, ended.log
    assert ended.said == "I have added a line."
    assert workspace.readme.read_text(encoding="utf-8") == "# Readme\n\nOne line more — ✓\n"
    # One package of its own, which it does without; nothing else.
    assert len(set(ended.elsewhere)) <= 1, ended.elsewhere


def test_its_tools_and_what_came_of_a_call_reach_the_backend(workspace: Workspace) -> None:
    ended = workspace.run("opencode/received")
    assert ended.status == 0, ended.log
    received = json.loads(ended.said)
    # On the request after the result, too: what is stripped there could not be called any more.
    assert {tool["name"] for tool in received["tools"]} >= TOOLS
    # By its text: each backend reports results in its own form.
    assert "1: # Readme" in json.dumps(received["history"])
