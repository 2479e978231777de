from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.cli.plan import plan
from wireproof.model.target import Agent
from wireproof.results.document import Ended
from wireproof.results.masking import SHORTEST
from wireproof.targets.options import BUNDLED_JOBS, JOBS, RunOptions, TargetOptions

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("target", "run", "jobs"),
    [
        ({}, {}, BUNDLED_JOBS),
        ({"url": URL}, {}, JOBS),
        ({"command": "serve --port {port}"}, {}, JOBS),
        # A program of others is behind the proxy.
        ({"codex": "codex"}, {}, JOBS),
        ({"agent": Agent.CURSOR}, {}, JOBS),
        ({}, {"jobs": 3}, 3),
        ({"url": URL}, {"jobs": 30}, 30),
    ],
)
def test_more_exchanges_run_at_once_where_only_ours_waits(
    target: dict[str, Any], run: dict[str, Any], jobs: int
) -> None:
    assert plan(TargetOptions(**target), RunOptions(**run)).jobs == jobs


def command_of(tmp_path: Path, **target: Any) -> str:
    asked = plan(TargetOptions(**target), RunOptions(output=tmp_path / "result"))
    asked.write_not_driven(Ended.UNREACHABLE, "nothing answers")
    command = json.loads((tmp_path / "result" / "report.json").read_text())["configuration"]["command"]
    assert isinstance(command, str)
    return command


@pytest.mark.parametrize("key", ["wireproof", "certify-", "api-key-env", "it's a key!", "k"])
def test_the_command_to_run_again_is_read_by_a_shell_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    # "wireproof" is the key that the endpoint takes where none is named, and the name of the command.
    monkeypatch.setenv("THEIRS", key)
    launch = f"/opt/wireproof/proxy --port {{port}} --key {shlex.quote(key)}"
    command = command_of(tmp_path, command=launch, api_key_env="THEIRS")
    script = f"""wireproof() {{ printf '%s\\0' "$@"; }}; {command}"""
    said = subprocess.run(["/bin/sh", "-c", script], env={"THEIRS": key}, capture_output=True, text=True, check=True)
    assert said.stdout.split("\0")[:-1] == ["certify", "--launch", launch, "--api-key-env", "THEIRS"]
    assert key not in command.replace("wireproof certify", "").replace("--api-key-env", "") or len(key) < SHORTEST
