"""The helper for tests in JavaScript: an address, or at once the reason why there is none; it holds nothing up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HELPER = Path(__file__).parents[3] / "examples" / "serve" / "wireproof.mjs"
NODE = shutil.which("node") or "node"
WIREPROOF = Path(sys.executable).with_name("wireproof")
SOON = 60
"""Seconds after which a test is one that hangs."""


def node(code: str, *, command: Path | str = WIREPROOF) -> subprocess.CompletedProcess[str]:
    script = f"import {{ serve }} from {str(HELPER)!r};\n{code}"
    environment = {"PATH": os.environ["PATH"], "WIREPROOF": str(command)}
    words = [NODE, "--input-type=module", "-e", script]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=SOON, check=False)


def test_an_endpoint_answers_and_is_stopped() -> None:
    done = node(
        "const { base_url, stop } = await serve();\n"
        "console.log((await fetch(`${base_url}/models`)).status);\n"
        "console.log(await stop());\n"
        "await fetch(`${base_url}/models`).catch(() => console.log('gone'));"
    )
    assert (done.returncode, done.stdout.split()) == (0, ["200", "0", "gone"]), done.stderr


def test_whoever_forgets_to_stop_it_ends_all_the_same() -> None:
    done = node("const { base_url } = await serve();\nconsole.log(base_url);")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("text", "said"),
    [("- name: a\n  when: {txt: b}\n  parts: [[{say: c}]]\n", "did you mean text?"), (None, "cannot be read")],
)
def test_a_mistake_in_a_script_is_said_at_once(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "scripts.yaml"
    if text is not None:
        file.write_text(text)
    done = node(f"await serve('--scripts', {str(file)!r}).catch((error) => console.log(error.message));")
    assert done.returncode == 0
    assert "ended with status 2" in done.stdout
    assert said in done.stdout


def test_a_command_that_is_missing_is_said_at_once(tmp_path: Path) -> None:
    code = "await serve().catch((error) => console.log(error.message));"
    done = node(code, command=tmp_path / "wireproof")
    assert done.returncode == 0
    assert "cannot be started" in done.stdout
    assert "python -m pip install wireproof" in done.stdout


def test_the_page_shows_the_helper_as_it_is() -> None:
    page = (HELPER.parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
    assert HELPER.read_text(encoding="utf-8") in page
