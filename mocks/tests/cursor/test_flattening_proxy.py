"""A launched proxy that flattens the history, with ids of its own, in front of the service: loops of tools end."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from flattening_proxy import SPELLINGS

from wireproof_cursor.serving import serving
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Call, Say, Script, Template, cursor
from wireproof_scripts.steps.when import When, Words

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
PROXY = Path(__file__).parent / "clients" / "flattening_proxy.py"
MOST_ROUNDS = 8
"""Requests after which a loop counts as endless."""

READING = Script(
    name="reading",
    title="",
    when="the readme",
    parts=(
        (cursor.Read(id="script_1", path="README.md"),),
        (Call(id="script_2", name="grep", arguments='{"pattern": "TODO"}'),),
        (cursor.Read(id="script_3", path="README.md"),),
        (Template("It ends with: {tool_result}"),),
    ),
)
BY_RESULT = Script(
    name="by-result", title="", when=When(result=Words("contains", "result 1")), parts=((Say(("Seen.",)),),)
)


@contextmanager
def proxied(spelling: str, *scripts: Script) -> Iterator[str]:
    """The base URL of the proxy, in front of a service with these scripts besides those of the suite."""
    with serving({**LIBRARY, **{script.name: script for script in scripts}}) as mock:
        command = [sys.executable, str(PROXY), mock.url, spelling]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                yield process.stdout.readline().strip()
            finally:
                process.terminate()


def function(name: str) -> Json:
    return {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}


TOOLS = [function("read"), function("grep")]


def loop(url: str, say: str, *, follow_up_tools: bool = True) -> tuple[list[str], str]:
    """The names of the calls that a client ran until it had text, and the text."""
    messages: list[Json] = [{"role": "user", "content": say}]
    called: list[str] = []
    for number in range(MOST_ROUNDS):
        tools = {"tools": TOOLS} if number == 0 or follow_up_tools else {}
        answer = httpx.post(
            f"{url}/chat/completions", json={"model": "auto", "messages": messages, **tools}, timeout=20
        )
        message = answer.json()["choices"][0]["message"]
        calls = message.get("tool_calls", ())
        if not calls:
            return called, message["content"]
        messages.append(message)
        for call in calls:
            called.append(call["function"]["name"])
            output = f"result {len(called)}\n\nof {call['function']['name']}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})
    pytest.fail(f"the client still runs {called} after {MOST_ROUNDS} requests")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("follow_up", ["with tools", "without tools"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_default_answer_ends_in_text(spelling: str, follow_up: str) -> None:
    tools = follow_up == "with tools"
    with proxied(spelling) as url:
        assert loop(url, "Use the tool read.", follow_up_tools=tools) == (
            ["read"],
            "The tool said: result 1\n\nof read",
        )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_script_that_a_condition_has_chosen_is_played_to_its_end(spelling: str) -> None:
    with proxied(spelling, READING) as url:
        called, text = loop(url, "What does the readme say?")
    assert (called, text) == (["read", "grep", "read"], "It ends with: result 3\n\nof read")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_script_that_a_marker_has_chosen_is_played_to_its_end(spelling: str) -> None:
    with proxied(spelling, READING) as url:
        called, text = loop(url, "[[wireproof:reading#n]] Go.")
        assert loop(url, "[[wireproof:agent/fresh#m]] Read.") == (["read"], "A fresh session.")
    assert (called, text) == (["read", "grep", "read"], "It ends with: result 3\n\nof read")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_script_may_wait_for_a_result(spelling: str) -> None:
    with proxied(spelling, BY_RESULT) as url:
        assert loop(url, "Use the tool grep.") == (["grep"], "Seen.")


def test_an_answer_comes_as_a_stream_too() -> None:
    body = {
        "model": "auto",
        "messages": [{"role": "user", "content": "Use the tool read."}],
        "tools": TOOLS,
        "stream": True,
    }
    with proxied("headings") as url:
        chunks = httpx.post(f"{url}/chat/completions", json=body, timeout=20).text.split("\n\n")
    calls = [json.loads(chunk[6:])["choices"][0]["delta"].get("tool_calls") for chunk in chunks if "{" in chunk]
    assert [call[0]["function"]["name"] for call in calls if call] == ["read"]
