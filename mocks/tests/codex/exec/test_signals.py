"""Signals end a run as they end the real one, and its input may stay open or be closed."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from exec_replay import recorded

if TYPE_CHECKING:
    from pathlib import Path

_BEGUN = """
scripts:
  - name: begun
    title: It says a word, then nothing.
    when: go
    parts:
      - - say: { pieces: Begun., whole: true }
        - hang
"""
_EXEC = ("exec", "--skip-git-repo-check")


def _started(folder: Path, *arguments: str, given: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "wireproof_codex", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=given, stdout=pipe, stderr=pipe, env={"CODEX_HOME": str(folder)})


@pytest.mark.sampled(4)
@pytest.mark.parametrize("version", ["0.89.0", "0.125.0", "0.169.0"])
@pytest.mark.parametrize("scenario", ["sigint", "sigterm", "human_sigint"])
def test_a_signal_ends_the_run(version: str, scenario: str, tmp_path: Path) -> None:
    meta, theirs = recorded(version, scenario)
    scripts = tmp_path / "scripts.yaml"
    scripts.write_text(_BEGUN)
    options = ["--json"] if "--json" in meta["arguments"] else []
    ours = ("--scripts", str(scripts), "--codex-version", version)
    process = _started(tmp_path, *ours, *_EXEC, *options, "go", given=subprocess.DEVNULL)
    shown = process.stdout if options else process.stderr
    assert shown is not None
    for line in shown:  # the model has begun, and says no more
        if b"Begun." in line:
            break
    process.send_signal(getattr(signal, meta["signal"]))
    _, rest = process.communicate(timeout=30)
    assert process.returncode == theirs.status
    assert (b"turn interrupted" in rest) is ("turn interrupted" in theirs.err)


def test_a_prompt_beside_open_input_waits_for_its_end(tmp_path: Path) -> None:
    process = _started(tmp_path, *_EXEC, "--json", "hello")
    assert process.stderr is not None
    assert process.stderr.readline() == b"Reading additional input from stdin...\n"
    out, _ = process.communicate(b"and more", timeout=30)
    assert b"<stdin>\\nand more\\n</stdin>" in out


def test_closed_input_is_empty(tmp_path: Path) -> None:
    command = ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "wireproof_codex", *_EXEC]
    done = subprocess.run(command, env={"CODEX_HOME": str(tmp_path)}, capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"Reading prompt from stdin...\nNo prompt provided via stdin.\n"


def test_a_reader_that_is_gone_ends_the_run_as_a_panic_does(tmp_path: Path) -> None:
    process = _started(tmp_path, *_EXEC, "--json", "hello")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(b"", timeout=30)
    assert process.returncode == 101
    assert err.endswith(b"failed printing to stdout: Broken pipe (os error 32)\n")
