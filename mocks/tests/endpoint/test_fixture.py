"""The fixture as a user has it: their own tests, in a pytest of their own."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

TEST = """
import httpx
import pytest
from openai import OpenAI

GREETING = {"name": "greeting", "when": "hello", "parts": [[{"say": ["Hi ", "there."]}]]}

def ask(client):
    answer = client.chat.completions.create(model="any", messages=[{"role": "user", "content": "Hello!"}])
    return answer.choices[0].message.content

@pytest.mark.parametrize("number", range(4))
def test_on_a_socket(wireproof_endpoint, number):
    assert not wireproof_endpoint.requests
    wireproof_endpoint.play(GREETING)
    with OpenAI(base_url=wireproof_endpoint.url, api_key=wireproof_endpoint.key) as client:
        assert ask(client) == "Hi there."
    assert [entry.script for entry in wireproof_endpoint.requests] == ["greeting"]

def test_any_key_does_until_one_is_required(wireproof_endpoint):
    def status(**headers):
        body = {"model": "any", "messages": [{"role": "user", "content": "Hello!"}]}
        return httpx.post(f"{wireproof_endpoint.url}/chat/completions", json=body, headers=headers).status_code
    assert status() == status(Authorization="Bearer whatever") == 200
    wireproof_endpoint.require_key("sk-mine")
    assert (status(), status(Authorization="Bearer whatever")) == (401, 401)
    assert status(Authorization=f"Bearer {wireproof_endpoint.key}") == 200

def test_without_a_socket(wireproof_endpoint):
    http = httpx.Client(transport=wireproof_endpoint.transport)
    with OpenAI(api_key=wireproof_endpoint.key, http_client=http) as client:
        assert ask(client) == "You said: Hello!"
        wireproof_endpoint.play(GREETING)
        assert ask(client) == "Hi there."
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_mine.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.nightly
def test_each_test_has_an_endpoint_of_its_own_also_under_xdist(tmp_path: Path) -> None:
    done = run(tmp_path, "-n", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout


def test_a_session_that_does_not_use_it_imports_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import sys\ndef pytest_sessionfinish():\n"
        "    heads = ('wireproof_endpoint', 'wireproof_surfaces', 'wireproof_proxy')\n"
        "    print('loaded', sorted(name for name in sys.modules if name.startswith(heads)))"
    )
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass")
    done = run(tmp_path, "-s", "test_nothing.py")
    assert "loaded []\n" in done.stdout
