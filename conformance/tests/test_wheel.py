"""What the wheel carries besides the packages, what an installation needs, and what it does from the wheel alone."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from importlib import resources
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
METADATA = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = METADATA["project"]
EXTRAS = PROJECT["optional-dependencies"]
WHEEL = METADATA["tool"]["hatch"]["build"]["targets"]["wheel"]
LIMIT = 2.5e6
"""The most bytes of the wheel."""
REQUIRED = 13
"""The most packages that an installation without an extra asks for by itself."""
USAGE = 2
"""The exit status of what cannot be done as it is asked for."""
CURSOR = ("h2", "hypercorn", "google", "google.protobuf")
"""What the extra `cursor` brings, as it is imported."""
WITHOUT = {
    "wireproof-cursor": (CURSOR, "wireproof-cursor: it needs python -m pip install 'wireproof[cursor]' ("),
    "wireproof certify --backend cursor": (CURSOR, "wireproof: --backend cursor needs python -m pip install "),
    "PROXY_BACKEND=cursor wireproof-proxy": (CURSOR, "wireproof-proxy: PROXY_BACKEND: cursor needs python -m pip "),
}
"""A command that needs an extra → the modules that are missing without it, and how its one line begins."""
SCRIPT = """
import sys
command, *sys.argv[1:] = sys.argv[1:]
for name in sys.argv.pop().split(","):
    sys.modules[name] = None
from importlib.metadata import entry_points
sys.exit(next(iter(entry_points(group="console_scripts", name=command))).load()())
"""
"""Runs a command in a Python that cannot import some modules."""
INSTALLED = Path(str(resources.files("wireproof"))) / "_data"


def test_the_wheel_gets_the_schemas_and_the_stored_answers_and_no_other_data() -> None:
    assert set(WHEEL["force-include"]) == {"schemas", "snapshots/answers"}
    assert all((ROOT / name).is_dir() for name in WHEEL["force-include"])


def test_no_package_of_the_wheel_lies_among_tests() -> None:
    assert all("tests" not in Path(name).parts for name in WHEEL["packages"])
    assert all((ROOT / name / "__init__.py").is_file() for name in WHEEL["packages"])


def test_an_installation_has_what_was_included_and_nothing_else() -> None:
    # An editable installation has no data of its own: it reads the repository's.
    files = [path.relative_to(INSTALLED) for path in INSTALLED.rglob("*") if path.is_file()]
    found = {"/".join(path.parts[:2]) for path in files}
    expected = {"schemas/wireproof", "schemas/codex", "schemas/openai", "schemas/messages", "snapshots/answers"}
    assert found in (set(), expected)


def test_what_is_needed_is_little() -> None:
    assert len(PROJECT["dependencies"]) <= REQUIRED


def test_one_plugin_is_loaded_by_every_pytest() -> None:
    assert list(PROJECT["entry-points"]["pytest11"]) == ["wireproof"]


def test_the_oldest_that_is_tested_is_the_oldest_that_is_allowed() -> None:
    tox = ConfigParser(interpolation=None)
    tox.read_string((ROOT / "tox.ini").read_text(encoding="utf-8"))
    pinned: dict[str, str] = dict(re.findall(r"([\w-]+)==([\d.]+)", tox["testenv:lowest{,-whole}"]["commands_pre"]))
    declared = " ".join([*PROJECT["dependencies"], *(one for name in EXTRAS if name != "all" for one in EXTRAS[name])])
    bounds: dict[str, str] = dict(re.findall(r"([\w-]+)>=([\d.]+)", declared))
    assert pinned.keys() == bounds.keys()
    # With zeros or a star behind: `3.1.0` and `3.1.*` are the oldest of `>=3.1`.
    assert [name for name, bound in bounds.items() if not f"{pinned[name]}.".startswith(f"{bound}.")] == []


def test_all_extras_are_in_all() -> None:
    assert EXTRAS["all"] == [f"wireproof[{','.join(sorted(EXTRAS.keys() - {'all'}))}]"]


@pytest.mark.parametrize("command", WITHOUT)
def test_what_needs_an_extra_says_in_one_line_which(command: str) -> None:
    missing, line = WITHOUT[command]
    _, _, words = command.rpartition("PROXY_BACKEND=cursor ")
    env = {**os.environ, "PROXY_BACKEND": "cursor"} if command != words else None
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, *shlex.split(words), ",".join(missing)],
        env=env, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == USAGE
    assert ended.stderr.startswith(line)
    assert ended.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an installation of the wheel alone, in an environment of its own."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", folder / "venv")
    pip = (folder / "venv" / "bin" / "python", "-m", "pip")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    assert wheel.stat().st_size < LIMIT
    run(*pip, "install", wheel)
    return folder / "venv" / "bin"


def run(*words: str | Path, status: int = 0) -> str:
    """What a command prints; it runs outside the repository."""
    ended = subprocess.run(list(map(str, words)), cwd="/", capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == status, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.nightly
def test_the_wheel_alone_certifies_and_helps(installed: Path) -> None:
    for command in PROJECT["scripts"]:
        assert "usage" in run(installed / command, "--help").lower()
    assert "certified at level strict" in run(installed / "wireproof", "certify")


@pytest.mark.nightly
def test_the_wheel_alone_serves(installed: Path) -> None:
    serve = [str(installed / "wireproof"), "serve", "--port", "0", "--json"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            there = json.loads(served.stdout.readline())
            body = {"model": "any", "messages": [{"role": "user", "content": "Hello!"}]}
            answer = httpx.post(f"{there['base_url']}/chat/completions", json=body, trust_env=False)
            assert "Hello!" in answer.json()["choices"][0]["message"]["content"]
        finally:
            served.terminate()


@pytest.mark.nightly
def test_the_wheel_with_pytest_has_the_suite_and_the_fixture(installed: Path, tmp_path: Path) -> None:
    run(installed / "python", "-m", "pip", "install", *EXTRAS["pytest"])
    (tmp_path / "test_mine.py").write_text("def test_it(wireproof_endpoint): assert wireproof_endpoint.url")
    pytest_of_it = (installed / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert "1 passed" in run(*pytest_of_it, tmp_path)
    suite = ("--pyargs", "wireproof.suites", "--wireproof-bundled", "--wireproof-only", "text-hello")
    assert " passed" in run(*pytest_of_it, *suite, "--wireproof-allow-partial")
