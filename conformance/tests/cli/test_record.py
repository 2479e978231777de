"""`wireproof record` and `wireproof serve` as a shell starts them: recorded, stopped by Ctrl-C, played again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner

from wireproof.cli.root import root
from wireproof.targets.launch import executable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCRIPTS = "- {name: weather, when: weather, parts: [[{say: [It is, ' sunny.']}]]}"


@contextmanager
def started(*arguments: object) -> Iterator[tuple[str, list[Any]]]:
    """The first line that a command prints; behind it Ctrl-C ends it, and its status and what it says then follow."""
    command = [executable("wireproof"), *map(str, arguments)]
    ended: list[Any] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline(), ended
        finally:
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=20)
            ended += [process.returncode, said]


def ask(url: str) -> str:
    body = {"model": "m", "messages": [{"role": "user", "content": "The weather?"}]}
    headers = {"Authorization": "Bearer sk-0123456789abcdef"}
    answer = httpx.post(f"{url}/chat/completions", json=body, headers=headers, trust_env=False, timeout=20)
    return str(answer.json()["choices"][0]["message"]["content"])


def test_a_recording_is_stopped_by_ctrl_c_and_played_again(tmp_path: Path) -> None:
    scripts, recorded, journal = (tmp_path / name for name in ("live.yaml", "recorded.yaml", "journal.jsonl"))
    scripts.write_text(SCRIPTS)
    with started("serve", "--port", 0, "--scripts", scripts, "--json", "--journal", journal) as (line, _):
        live = json.loads(line)["base_url"]
        with started("record", "--upstream", live, "-o", recorded, "--port", 0) as (first, ended):
            assert ask(first.split()[2]) == "It is sunny."
        assert ended[0] == 0
        assert f"1 answer recorded in {recorded}; to play: wireproof serve --scripts {recorded}" in ended[1]
    [entry] = [json.loads(text) for text in journal.read_text().splitlines()]
    assert (entry["script"], entry["ended"]) == ("weather", "completed")
    for file in (recorded, journal):
        assert "sk-0123456789abcdef" not in file.read_text()
    with started("serve", "--port", 0, "--scripts", recorded, "--json") as (line, _):
        said = json.loads(line)
        assert ask(said["base_url"]) == "It is sunny."
        shown = httpx.get(f"{said['requests']}requests", trust_env=False, timeout=20).json()
        assert [entry["script"] for entry in shown["requests"]] == ["the-weather"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--upstream", "live:80"],
            "--upstream: 'live:80' is no base URL: it should begin with http:// or https://; one",
        ),
        (
            ["--upstream", "http://[::1"],
            "--upstream: 'http://[::1' is no base URL: Invalid IPv6 URL; one is https://api.",
        ),
        (
            ["--upstream", "https://"],
            "--upstream: 'https://' is no base URL: it names no host; one is https://api.openai",
        ),
        (["--upstream", "http://x/v1?a=b"], "is no base URL: it should end before the query and the fragment; one is"),
        (["--upstream", "http://x/v1", "--api-key-env", "NO_SUCH"], "the environment variable NO_SUCH, which should"),
        (["--upstream", "http://x/v1", "-o", "there.yaml"], "there.yaml exists; --overwrite replaces it"),
        (
            ["--upstream", "http://x/v1", "-o", "no/such.yaml"],
            "no/such.yaml cannot be written: there is no folder no",
        ),
        pytest.param(
            ["--upstream", "http://x/v1", "-o", "/proc/x.yaml"],
            "/proc/x.yaml cannot be written: no such file",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="/proc is a folder that nobody can write to"),
        ),
    ],
)
def test_what_cannot_be_recorded_is_said_at_once(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_SUCH", raising=False)
    (tmp_path / "there.yaml").write_text("")
    done = CliRunner().invoke(root, ["record", "-o", "recorded.yaml", "--port", "0", *arguments])
    assert done.exit_code == 2
    assert said in done.output
    assert not (tmp_path / "recorded.yaml").exists()


def test_a_journal_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    done = CliRunner().invoke(root, ["serve", "--port", "0", "--journal", str(tmp_path / "no" / "journal")])
    assert done.exit_code == 2
    assert "journal cannot be written: no such file or directory" in done.output
