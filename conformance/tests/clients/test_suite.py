"""The suite of clients under pytest: items, verdicts, and what happens when nothing is asked for."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.sampled(1)

CLIENT = f"{shlex.quote(sys.executable)} -m wireproof_mocks.clients --stream"
TOOLLESS = """
import os, sys
import httpx
httpx.post(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json={"model": "m", "messages": [{"role": "user", "content": sys.argv[1]}]},
    headers={"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
)
"""
ONLY = "client-text or client-cut-after-call or client-call"


def pytest_run(*words: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "wireproof.suites.client", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.nightly
def test_a_faultless_client_passes_and_a_fault_is_one_failed_item() -> None:
    status, said = pytest_run("-q", "-k", ONLY, "--wireproof-client", CLIENT)
    assert status == 0, said
    assert " passed" in said
    assert "failed" not in said
    status, said = pytest_run("-q", "-k", ONLY, "--wireproof-client", f"{CLIENT} --fault half-answers-kept")
    assert status == 1
    assert "1 failed" in said
    assert "FAIL client.cut-is-no-answer  MUST" in said
    assert "to do: Take an answer only when its finish_reason" in said


def test_what_was_skipped_in_all_its_items_does_not_read_as_green(tmp_path: Path) -> None:
    program = tmp_path / "toolless.py"
    program.write_text(TOOLLESS, encoding="utf-8")
    client = f"{shlex.join([sys.executable, str(program)])} {{prompt}}"
    words = ("-q", "-k", "client-call or every_must", "--wireproof-client", client)
    status, said = pytest_run(*words)
    assert (status, "1 failed" in said) == (1, True), said
    assert "client.result-for-every-call: the client declares no tools" in said
    status, said = pytest_run(*words, "--wireproof-allow-partial")
    assert status == 0, said


def test_nothing_is_collected_without_a_client_and_one_that_never_asks_ends_the_session() -> None:
    status, said = pytest_run("-q")
    assert status == 5, said
    status, said = pytest_run("-q", "-k", "client-text", "--wireproof-client", "true")
    assert status == 4, said
    assert "wireproof: the client sent no request for an answer" in said
