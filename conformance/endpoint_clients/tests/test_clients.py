"""Clients of strangers at `wireproof serve`: text, stream, a tool's loop, structured output, an error, a retry."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parents[1]
INSTALLED = Path(sys.prefix) / HERE.name
CLIENTS = {one["program"]: one for one in tomllib.loads((HERE / "clients.toml").read_text())["client"]}
SERVED = HERE / "served.json"
PINNED = json.loads(SERVED.read_text()) if SERVED.exists() else {}
WAYS = ("text", "stream", "tool", "structured", "error", "retry")
SAYS = {"text": "Hi there.", "stream": "Hi there.", "tool": "It is sunny.", "retry": "Now it works."}
REFUSED = "This cannot be answered."
TIME = 300

_VERSION = "from importlib.metadata import version; print(version({!r}))"


@contextmanager
def served(scripts: Path) -> Iterator[str]:
    """The base URL of an endpoint that nobody has asked yet."""
    words = [sys.executable, "-m", "wireproof", "serve", "--port", "0", "--json", "--scripts", str(scripts)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["base_url"]
        finally:
            process.terminate()


def run(program: str, folder: Path, scripts: Path = HERE / "scripts.yaml") -> dict[str, Any]:
    """What came of each way of a client."""
    command = shutil.which("node") or "node" if program.endswith(".mjs") else python_of(program)
    # A module of Node.js looks for packages from where it stands.
    for file in (HERE / "programs").iterdir():
        if file.suffix in {".py", ".mjs"}:
            shutil.copy(file, folder)
    (folder / "node_modules").symlink_to(INSTALLED / "node_modules")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_PROXY": "127.0.0.1"}
    with served(scripts) as url:
        job = json.dumps({"url": url, "key": "key-of-tests", "model": "gpt-5-mini"})
        done = subprocess.run(
            [command, program],
            cwd=folder, env=environment, input=job, capture_output=True, text=True, timeout=TIME, check=False,
        )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"')]
    assert lines, done.stdout + done.stderr
    return dict(json.loads(lines[-1]))


def python_of(program: str) -> str:
    """The Python that has the client's package."""
    return str(INSTALLED / CLIENTS[program].get("venv", "python") / "bin" / "python")


def version(client: dict[str, Any]) -> str:
    """The version that is installed."""
    if client["program"].endswith(".mjs"):
        file = INSTALLED / "node_modules" / client["package"] / "package.json"
        return str(json.loads(file.read_text())["version"])
    words = [python_of(client["program"]), "-c", _VERSION.format(client["package"])]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def verdict(way: str, found: Any, ran: Any, says: dict[str, str]) -> str:
    """`yes`, or what came instead in a few words."""
    raised = isinstance(found, dict) and "raised" in found
    if way == "error":
        told = raised and REFUSED in found["said"]
        return "yes" if told else f"{found['raised']}, without the words" if raised else f"no exception: {found!r}"
    if raised:
        return f"{found['raised']}: {found['said'][:80]}"
    if way == "tool" and ran != ["Bern"]:
        return f"ran with {ran!r}"
    right = set(found) == {"name", "day", "people"} if way == "structured" else "".join(found).strip() == says[way]
    return ("in one piece" if way == "stream" and len(found) == 1 else "yes") if right else f"{found!r}"[:80]


def judged(program: str, results: dict[str, Any]) -> dict[str, str]:
    says = {**SAYS, **CLIENTS[program].get("says", {})}
    return {way: verdict(way, results[way], results.get("ran"), says) for way in WAYS if way in results}


@pytest.mark.parametrize("program", CLIENTS)
def test_a_client_is_served(program: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    found = {"version": version(CLIENTS[program]), **judged(program, run(program, tmp_path))}
    if request.config.getoption("--write"):
        known = json.loads(SERVED.read_text()) if SERVED.exists() else {}
        kept = {name: known[name] for name in CLIENTS if name in known}
        SERVED.write_text(json.dumps({**kept, program: found}, indent=1, sort_keys=True) + "\n")
    else:
        assert found == PINNED[program]


def test_a_client_that_is_told_something_else_is_not(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts.yaml"
    text = (HERE / "scripts.yaml").read_text()
    for said, instead in (("there.", "you."), ("sunny.", "raining."), ("works.", "fails."), ("400", "402")):
        text = text.replace(said, instead)
    scripts.write_text(text.replace("cannot be answered", "is refused").replace("city: Bern", "city: Basel"))
    folder = tmp_path / "programs"
    folder.mkdir()
    found = judged("openai_chat.py", run("openai_chat.py", folder, scripts))
    assert [way for way, said in found.items() if said == "yes"] == ["structured"]
