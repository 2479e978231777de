"""A real `codex exec` does its turns on `/v1/responses` of the reference proxy, with a scripted model behind it.

Codex declares its own tools and runs what the script calls. Here stand the scripts' words, and what they make Codex say
and run; its word for it is `--json`, one event a line. It may speak to nobody else.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from binaries import NEWEST, binary

from wireproof.targets.launch import executable, launch

HERE = Path(__file__).parents[1]
KEY = "a key of the tests"
BACKENDS = {
    "native": {"WIREPROOF_CODEX_VERSION": NEWEST, "WIREPROOF_SCRIPTS": str(HERE / "scripts.yaml")},
    "text-only": {"WIREPROOF_CODEX_VERSION": "0.89.0", "WIREPROOF_SCRIPTS": str(HERE / "scripts_text_only.yaml")},
}
DEADLINE = 60.0
CONFIG = """\
model = "codex"
model_provider = "wireproof"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
analytics.enabled = false
features.apps = false
features.plugins = false
features.unbounded_connection_retries = false

[model_providers.wireproof]
name = "the reference proxy"
base_url = "{url}"
wire_api = "responses"
env_key = "WIREPROOF_KEY"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
"""
NO_METADATA = "Model metadata for `codex` not found."
"""What Codex says of every model that is none of OpenAI's."""

TOOLS = {"exec_command", "write_stdin"}
"""Of the tools that Codex declares, those of its shell."""
ROLES = ("[user]", "[assistant]")
"""What stands before a text in a history that is written as text."""

Json = dict[str, Any]
Printed = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Run:
    """How a `codex exec` ended, and the events that it printed."""

    status: int
    events: Sequence[Json]

    @property
    def items(self) -> list[Printed]:
        """The texts, and the commands each with its output and status, in order."""
        printed = [event["item"] for event in self.events if event["type"] == "item.completed"]
        return [_printed(item) for item in printed if not item.get("message", "").startswith(NO_METADATA)]

    @property
    def usage(self) -> tuple[int, int, int, int]:
        """The tokens of the turn: input, cached, output, reasoning."""
        (counts,) = (event["usage"] for event in self.events if event["type"] == "turn.completed")
        names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
        return counts[names[0]], counts[names[1]], counts[names[2]], counts[names[3]]

    @property
    def failure(self) -> str:
        """What Codex says of the turn that failed."""
        (message,) = (event["error"]["message"] for event in self.events if event["type"] == "turn.failed")
        return str(message)


def _printed(item: Json) -> Printed:
    if item["type"] == "command_execution":
        return ("command", item["aggregated_output"], item["exit_code"])
    return (item["type"], item.get("text") or item.get("message"))


Codex = Callable[..., Run]


@dataclass(frozen=True, kw_only=True)
class Backend:
    """A scripted backend: whether it takes tools, the base URL of the proxy in front of it, and its journal."""

    native: bool
    url: str
    journal: Path


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    journal = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    settings = {"PROXY_API_KEY": KEY, "WIREPROOF_JOURNAL": str(journal), **BACKENDS[request.param]}
    with launch([executable("wireproof-proxy")], env=settings) as proxy:
        yield Backend(native=request.param == "native", url=proxy.base_url, journal=journal)


@pytest.fixture(scope="module")
def outside() -> Iterator[socket.socket]:
    """Where every request goes that is not for the proxy; in the end nobody has come."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server
        server.setblocking(False)  # noqa: FBT003 - the name of the method says it
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.fixture
def codex(backend: Backend, outside: socket.socket, tmp_path: Path) -> Codex:
    """Runs `codex exec` with a prompt that asks for a script, in a home and a working folder of its own."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (home / "config.toml").write_text(CONFIG.replace("{url}", backend.url))
    elsewhere = f"http://127.0.0.1:{outside.getsockname()[1]}"
    env = {
        **{name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ},
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), elsewhere),
        "NO_PROXY": "127.0.0.1",
        "HOME": str(home),
        "CODEX_HOME": str(home),
        "WIREPROOF_KEY": KEY,
    }

    def run(script: str, *arguments: str) -> Run:
        prompt = f"Please: [[wireproof:{script}#{tmp_path.name}]]"
        done = subprocess.run(
            [binary(NEWEST), "exec", *arguments, "--json", "--skip-git-repo-check", prompt],
            env=env,
            cwd=work,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            capture_output=True,
            timeout=DEADLINE,
            check=False,
        )
        assert done.stdout, done.stderr
        return Run(status=done.returncode, events=[json.loads(line) for line in done.stdout.splitlines()])

    return run


def test_a_text(codex: Codex) -> None:
    run = codex("codex/text")
    assert run.items == [("agent_message", "Grüße from the backend 😀.")]
    assert run.usage == (1234, 1000, 56, 7)
    assert run.status == 0


def test_a_command(codex: Codex) -> None:
    run = codex("codex/tool")
    assert run.items == [
        ("agent_message", "Let me ask the shell.\n"),
        ("command", "Grüße from the shell\n", 0),
        ("agent_message", "The shell has answered."),
    ]
    assert run.usage == (22, 0, 14, 0)
    assert run.status == 0


def test_two_steps(codex: Codex, tmp_path: Path) -> None:
    run = codex("codex/steps")
    assert run.items == [("command", "", 0), ("command", "zwei\n", 0), ("agent_message", "Both steps done.")]
    assert (tmp_path / "work" / "note.txt").read_text() == "eins\nzwei\n"
    assert run.usage == (33, 0, 21, 0)
    assert run.status == 0


def test_two_commands_at_once(codex: Codex) -> None:
    *commands, text = codex("codex/two").items
    assert sorted(commands) == [("command", "one\n", 0), ("command", "other\n", 0)]
    assert text == ("agent_message", "Both were run.")


CALL = r'[assistant called exec_command:call_echo] {"cmd": "echo \"Grüße from the shell\""}'


def test_what_codex_ran_reaches_the_backend(codex: Codex) -> None:
    run = codex("codex/results")
    received = _received(run)
    asked, call, result = _history(received)[-3:]
    assert "[[wireproof:codex/results#" in asked
    assert call == CALL
    assert result.startswith("[tool:call_echo] ")
    assert result.endswith("\nGrüße from the shell\n")
    assert "Codex CLI" in received["developer"]


def test_the_tools_of_codex_reach_the_backend(codex: Codex, backend: Backend) -> None:
    received = _received(codex("codex/results"))
    declared = {tool["name"] for tool in received["tools"]}
    named = {name for name in TOOLS if f'"name":"{name}"' in received["developer"]}
    assert (declared & TOOLS, named) == ((TOOLS, set()) if backend.native else (set(), TOOLS))


def test_codex_runs_a_function_that_it_declares_in_a_namespace(codex: Codex, backend: Backend) -> None:
    received = _received(codex("codex/namespace"))
    *_, call, result = _history(received)
    assert call == '[assistant called multi_agent_v1__wait_agent:call_wait] {"targets": ["nobody"]}'
    assert result.startswith("[tool:call_wait] invalid agent id nobody")
    tools = received["tools"] if backend.native else [json.loads(line) for line in _declared(received["developer"])]
    (tool,) = (tool for tool in tools if tool["name"] == "multi_agent_v1__wait_agent")
    assert tool["description"].startswith("Tools for spawning and managing sub-agents.\n\n")


def test_a_session_goes_on(codex: Codex) -> None:
    codex("codex/tool")
    history = _history(_received(codex("codex/results", "resume", "--last")))
    *_, asked, said, call, _result, answered, now = [text for text in history if not text.startswith(ROLES)]
    assert "[[wireproof:codex/tool#" in asked
    assert (said, call, answered) == ("Let me ask the shell.\n", CALL, "The shell has answered.")
    assert "[[wireproof:codex/results#" in now


def test_a_schema_reaches_the_backend(codex: Codex, backend: Backend, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {tmp_path.name: {"type": "number"}}, "additionalProperties": False}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    codex("codex/text", "--output-schema", str(tmp_path / "schema.json"))
    lines = map(json.loads, backend.journal.read_text().splitlines())
    turns = [line["message"]["params"] for line in lines if line["message"].get("method") == "turn/start"]
    assert turns[-1]["outputSchema"] == schema


def test_a_failure_is_printed(codex: Codex) -> None:
    run = codex("codex/fails")
    assert run.items == []
    assert run.failure.startswith("unexpected status 502 Bad Gateway: The backend failed to answer.")
    assert run.status == 1


def test_a_failure_after_text_is_printed(codex: Codex) -> None:
    run = codex("codex/breaks")
    assert run.items == [("agent_message", "The beginning")]
    assert run.failure == "stream disconnected before completion: The backend failed to answer."
    assert run.status == 1


def _declared(developer: str) -> list[str]:
    """The lines that declare tools in a text."""
    return developer.rpartition("Declared tools:\n")[2].splitlines()


def _received(run: Run) -> Json:
    """What the backend says that it received."""
    received: Json = json.loads(run.items[-1][1])
    return received


def _history(received: Json) -> list[str]:
    """What came to the backend in the order in which it did: as items, or as texts; items are shown as those."""
    return [*map(_text, received["history"]), *map(_text, received["input"])]


def _text(item: Json) -> str:
    match item:
        case {"type": "function_call"}:
            return f"[assistant called {item['name']}:{item['call_id']}] {item['arguments']}"
        case {"type": "function_call_output"}:
            return f"[tool:{item['call_id']}] {item['output']}"
        case {"type": "message"}:
            return "".join(part["text"] for part in item["content"])
        case _:
            return str(item["text"])
