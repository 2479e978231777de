"""The client programs, one for each SDK, and what each of them tells of a turn."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wireproof_codex.versions import version as versions

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).parents[1]
INSTALLED = Path(sys.prefix) / "codex_clients"
PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL")
"""Of this environment, all that clients get."""
DEADLINE = 120.0
NEWEST, OLDEST = versions.NEWEST.number, next(iter(versions.VERSIONS))

Printed = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Play:
    """What a client is asked to play: a text of the user's; whether it declares a tool, leaves in the middle, and wants
    an answer that matches a schema.
    """

    prompt: str
    tool: bool = False
    interrupt: bool = False
    structured: bool = False


PLAYS: Mapping[str, Play] = {
    "text": Play(prompt="Please: [[wireproof:sdk/text#1]]"),
    "tool": Play(prompt="Please: [[wireproof:sdk/tool#1]]", tool=True),
    "interrupt": Play(prompt="Please: [[wireproof:sdk/hang#1]]", interrupt=True),
    "failure": Play(prompt="Please: [[wireproof:sdk/failure#1]]"),
    "mistake": Play(prompt="Please: [[wireproof:sdk/txt#1]]"),
    "command": Play(prompt="Please: [[wireproof:sdk/command#1]]"),
    # Without a script the mock makes an example of the schema, so that it is seen to arrive.
    "structured": Play(prompt="Which city?", structured=True),
}


@dataclass(frozen=True, kw_only=True)
class Sdk:
    """An SDK, by its program. `versions`: an old one of codex where it takes one, the one of its time, the newest.

    `plays`: what it can play of `PLAYS`.

    `counts`, `reasons`: it tells the tokens of a turn, and why a turn failed. `streams`: text comes in its pieces;
    `codex exec` has whole messages alone. `shows_commands`: its user sees what codex runs.
    """

    program: str
    versions: tuple[str, ...] = (NEWEST, OLDEST)
    plays: tuple[str, ...] = ("text", "tool", "interrupt", "failure", "mistake")
    counts: bool = True
    reasons: bool = True
    streams: bool = True
    shows_commands: bool = True

    @property
    def name(self) -> str:
        """As it stands in the names of tests."""
        return Path(self.program).stem

    def play(self, codex: Path) -> dict[str, Printed]:
        """What became of all that it can play with this executable."""
        command = ("node", INSTALLED) if self.program.endswith(".mjs") else (sys.executable, HERE)
        asked = {name: {"codex": str(codex), **asdict(PLAYS[name])} for name in self.plays}
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        done = subprocess.run(
            [command[0], command[1] / self.program],
            input=json.dumps(asked),
            env=environment,
            encoding="utf-8",
            capture_output=True,
            timeout=DEADLINE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed: dict[str, Printed] = json.loads(done.stdout)
        return printed


WITHOUT_TOOLS = ("text", "interrupt", "failure", "mistake")
_OF_EXEC = ("text", "failure", "mistake", "command", "structured")
SDKS = (
    # It asks for `--listen stdio://`, which came with 0.100.0. Its model of an error takes no word as `codexErrorInfo`:
    # such failures it drops, the real server's as well.
    Sdk(
        program="codex_app_server_client_python.py",
        versions=("0.104.0", NEWEST),
        plays=("text", "tool", "interrupt", "failure"),
    ),
    Sdk(program="codex_python_sdk_python.py", versions=(OLDEST, "0.114.0", NEWEST)),
    Sdk(program="codex_sdk_python.py", versions=(OLDEST, "0.117.0", NEWEST)),
    # Its models need fields that came after 0.89.0.
    Sdk(program="openai_codex_python.py", versions=("0.163.0", NEWEST)),
    # It refuses versions before 0.153.0. Neither of these two lets tools be declared, and the second one never hears
    # of a turn that ends in the same read as the answer to turn/start.
    Sdk(program="ai_sdk_provider_codex_cli.mjs", versions=("0.153.4", NEWEST), plays=WITHOUT_TOOLS),
    Sdk(
        program="ai_sdk_provider_codex_app_server.mjs",
        plays=("text", "interrupt", "failure"),
        counts=False,
        reasons=False,
    ),
    # These start `codex exec` for every turn.
    Sdk(program="codex_sdk_typescript.mjs", versions=(OLDEST, "0.163.0", NEWEST), plays=_OF_EXEC, streams=False),
    Sdk(program="codex_sdk_python_exec.py", versions=(OLDEST, "0.117.0", NEWEST), plays=_OF_EXEC, streams=False),
    Sdk(
        program="ai_sdk_provider_codex_exec.mjs",
        versions=("0.153.4", NEWEST),
        plays=("text", "command", "structured"),
        streams=False,
    ),
    # An agent of the Agent Client Protocol, which has no structured answers. It says in the text why a turn failed.
    Sdk(
        program="codex_acp.mjs",
        versions=("0.166.0", NEWEST),
        plays=("text", "interrupt", "command"),
    ),
    # OpenAI-compatible servers in front of `codex exec`; the second one passes no schema on.
    Sdk(
        program="agentbridge_cli.py",
        versions=("0.125.0", NEWEST),
        plays=("text", "command", "structured"),
        streams=False,
        shows_commands=False,
    ),
    Sdk(
        program="unified_cli_server.py",
        versions=("0.125.0", NEWEST),
        plays=("text", "command"),
        streams=False,
        shows_commands=False,
    ),
)


def installed() -> None:
    """Bring the JavaScript programs beside their clients: they find them only there.

    Raises:
        FileNotFoundError: the clients are not installed.
    """
    if not (INSTALLED / "node_modules").is_dir():
        raise FileNotFoundError(f"the JavaScript clients are not installed in {INSTALLED}: run install.py for {HERE}")
    for program in HERE.glob("*.mjs"):
        shutil.copy(program, INSTALLED)
