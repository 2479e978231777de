"""A real Claude Code works with the reference proxy and with the endpoint: text, edits of real files, calls at once."""

from __future__ import annotations

import json
import secrets
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import claude_code
import pytest

from clients import serving
from wireproof.targets.launch import executable, launch
from wireproof_cursor.serving import serving as cursor_serving
from wireproof_scripts.files.read import load_scripts

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parents[1]
KEY = "a-key-of-the-tests"
TOOLS = ("Read", "Edit")
SETTINGS = {"PROXY_API_KEY": KEY, "PROXY_MODELS": claude_code.MODEL}


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """The folder in which it works, and the model that it works with."""

    folder: Path
    home: Path
    url: str

    @property
    def readme(self) -> Path:
        """The file that it is asked to change."""
        return self.folder / "README.md"

    def run(self, script: str, *, bearer: bool = False) -> claude_code.Ended:
        """Let it work on what a script answers."""
        return self.ask(f"Please: [[wireproof:{script}#{secrets.token_hex(8)}]]", bearer=bearer)

    def ask(self, prompt: str, *, bearer: bool = False) -> claude_code.Ended:
        """Let it work on a prompt."""
        url = self.url.removesuffix("/v1")  # which it adds
        return claude_code.run(prompt, folder=self.folder, home=self.home, url=url, key=KEY, tools=TOOLS, bearer=bearer)


@contextmanager
def codex(scripts: Path) -> Iterator[str]:
    """The base URL of a proxy with the mock of Codex behind it, which plays these scripts."""
    with launch([executable("wireproof-proxy")], env={**SETTINGS, "WIREPROOF_SCRIPTS": str(scripts)}) as proxy:
        yield proxy.base_url


@contextmanager
def cursor(scripts: Path) -> Iterator[str]:
    """The same of Cursor's agent service."""
    with cursor_serving(load_scripts(scripts)) as service:
        backend = {"PROXY_BACKEND": "cursor", "CURSOR_BASE_URL": service.url, "CURSOR_TOKEN": "any"}
        with launch([executable("wireproof-proxy")], env={**SETTINGS, **backend}) as proxy:
            yield proxy.base_url


@contextmanager
def endpoint(scripts: Path) -> Iterator[str]:
    """The base URL of the endpoint, which notes beside the scripts what comes."""
    journal = str(scripts.with_suffix(".jsonl"))
    with serving("--scripts", str(scripts), "--api-key", KEY, "--journal", journal) as url:
        yield url


@pytest.fixture(scope="module", params=[endpoint, codex, cursor], ids=["endpoint", "codex", "cursor"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder that scripts name, and the base URL of what plays them."""
    folder = tmp_path_factory.mktemp("work")
    scripts = tmp_path_factory.mktemp("scripts") / "scripts.yaml"
    write_scripts(scripts, folder, whole=request.param is endpoint)
    with request.param(scripts) as url:
        yield folder, url


def write_scripts(scripts: Path, folder: Path, *, whole: bool) -> None:
    """Write what is said, to a Claude Code that works in a folder; `whole`: with what the endpoint alone can do."""
    text = (HERE / "scripts_claude_code.yaml").read_text(encoding="utf-8").replace("{folder}", str(folder))
    if whole:
        more = (HERE / "scripts_claude_code_endpoint.yaml").read_text(encoding="utf-8")
        text += more.partition("scripts:\n")[2]
    scripts.write_text(text, encoding="utf-8")


@pytest.fixture
def workspace(served: tuple[Path, str], tmp_path: Path) -> Workspace:
    """The folder with two files as they were, and a home that nothing was done in."""
    return workspace_in(*served, tmp_path)


def workspace_in(folder: Path, url: str, tmp_path: Path) -> Workspace:
    """A folder with two files, and a home that nothing was done in."""
    (folder / "README.md").write_text("# Readme\n", encoding="utf-8")
    (folder / "notes.md").write_text("- a note\n", encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    return Workspace(folder=folder, home=home, url=url)


def succeeded(ended: claude_code.Ended) -> str:
    """What it says in the end; a run that failed shows why."""
    assert ended.status == 0, ended.log
    assert not ended.result["is_error"], ended.log
    assert ended.elsewhere == []
    return ended.said


def test_it_says_a_text(workspace: Workspace) -> None:
    ended = workspace.run("claude-code/text")
    assert succeeded(ended) == "Hello, world!"
    assert ended.result["num_turns"] == 1


def test_a_key_may_be_a_bearer(workspace: Workspace) -> None:
    assert succeeded(workspace.run("claude-code/text", bearer=True)) == "Hello, world!"


def test_it_reads_edits_and_says_so(workspace: Workspace) -> None:
    ended = workspace.run("claude-code/edit")
    assert succeeded(ended) == "I have edited it."
    assert [name for name, _ in ended.calls] == ["Read", "Edit"]
    assert workspace.readme.read_text(encoding="utf-8") == "# Readme — ✓\n"


def test_two_calls_at_once_are_both_run(workspace: Workspace) -> None:
    ended = workspace.run("claude-code/two")
    assert succeeded(ended) == "Both were read."
    assert [arguments["file_path"].rpartition("/")[2] for _, arguments in ended.calls] == ["README.md", "notes.md"]
    assert [failed for failed, _ in ended.results] == [False, False]
    assert ["# Readme" in ended.results[0][1], "- a note" in ended.results[1][1]] == [True, True]


def test_a_tool_that_fails_does_not_end_the_turn(workspace: Workspace) -> None:
    ended = workspace.run("claude-code/missing")
    assert succeeded(ended) == "There is no such file."
    assert [failed for failed, _ in ended.results] == [True]


def test_thoughts_go_back_with_the_result_of_their_call(workspace: Workspace) -> None:
    ended = workspace.run("claude-code/thinking")
    assert succeeded(ended) == "It is a readme."
    assert [name for name, _ in ended.calls] == ["Read"]


def test_its_tools_and_what_came_of_a_call_reach_the_backend(workspace: Workspace) -> None:
    received = json.loads(succeeded(workspace.run("claude-code/received")))
    assert {tool["name"] for tool in received["tools"]} >= {"Read", "Edit", "Write", "Bash"}
    assert "# Readme" in json.dumps(received["history"])


def test_it_tries_again_where_there_were_too_many_requests(workspace: Workspace) -> None:
    assert succeeded(workspace.run("claude-code/rate")) == "Served in the end."


@pytest.mark.parametrize("served", [endpoint], indirect=True, ids=["endpoint"])
def test_it_tries_again_where_the_service_was_overloaded(workspace: Workspace) -> None:
    assert succeeded(workspace.run("claude-code/overloaded")) == "Served in the end."


def test_it_counts_the_tokens_of_its_context(workspace: Workspace) -> None:
    assert "**Tokens:**" in succeeded(workspace.ask("/context"))


def test_what_it_sends_breaks_no_row(tmp_path: Path) -> None:
    folder, scripts = tmp_path / "work", tmp_path / "scripts.yaml"
    folder.mkdir()
    write_scripts(scripts, folder, whole=True)
    with endpoint(scripts) as url:
        workspace = workspace_in(folder, url, tmp_path)
        for script in ("text", "edit", "two", "missing", "thinking", "rate"):
            succeeded(workspace.run(f"claude-code/{script}"))
        succeeded(workspace.ask("/context"))
    journal = scripts.with_suffix(".jsonl")
    entries = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    # An endpoint that counts no tokens is asked for answers of one token instead.
    counted = [one for one in entries if one["path"] == "/v1/messages/count_tokens"]
    assert counted
    assert [one["path"] for one in entries if one["script"] is None] == [one["path"] for one in counted]
    command = [executable("wireproof"), "client", "--journal", str(journal), "--allow-partial"]
    judged = subprocess.run(command, capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout
    assert "nothing broken" in judged.stdout
