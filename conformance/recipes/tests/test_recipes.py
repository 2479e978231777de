"""The recipes of docs/testing.md, run as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

REPOSITORY = Path(__file__).parents[3]
PAGE = (REPOSITORY / "docs" / "testing.md").read_text(encoding="utf-8")
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
HOMES = [Path(sys.prefix) / name / "node_modules" for name in ("recipes", "clients")]
"""Where packages are installed: by this folder's lock file, or, without vitest, by that of the clients."""
INSTALLED = next((home for home in HOMES if home.is_dir()), HOMES[0])
_BLOCK = re.compile(r"<!-- run: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
BLOCKS = _BLOCK.findall(PAGE)
DEADLINE = 120
MOST_LINES = 15


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {"PATH": path, "HOME": str(folder), "CI": "1", "NO_COLOR": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of the page, beside what is installed."""
    assert INSTALLED.is_dir(), "run conformance/clients/install.py conformance/recipes"
    for name, text in BLOCKS:
        if name != "pytest":
            (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(INSTALLED)
    return tmp_path


NODE = shutil.which("node") or "node"
RUNNERS: Mapping[str, tuple[tuple[str | Path, ...], str]] = {
    "node:test": ((NODE, "--test", "hello.test.mjs"), r"# pass 1\n"),
    "vitest": ((NODE, INSTALLED / "vitest" / "vitest.mjs", "run", "hello.spec.mjs"), r"Tests +1 passed"),
}


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_recipe_passes(runner: str, folder: Path) -> None:
    command, passed = RUNNERS[runner]
    done = run(folder, *command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(passed, done.stdout), done.stdout


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_recipe_fails_when_the_endpoint_says_something_else(runner: str, folder: Path) -> None:
    scripts = folder / "scripts.yaml"
    scripts.write_text(scripts.read_text().replace("there.", "you."))
    done = run(folder, *RUNNERS[runner][0])
    assert done.returncode == 1, done.stdout
    assert "Hi you." in done.stdout + done.stderr


PYTHON = [text for name, text in BLOCKS if name == "pytest"]
[IN_README] = [text for text in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "wireproof_endpoint" in text]


@pytest.mark.parametrize("code", [*PYTHON, IN_README], ids=["socket", "no-socket", "readme"])
def test_a_recipe_in_python_passes(code: str, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(code)
    done = run(tmp_path, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert len(code.splitlines()) <= MOST_LINES
