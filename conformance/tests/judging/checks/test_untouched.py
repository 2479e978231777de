"""What became of the texts and tools of a request on their way to the backend."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.judging.checks.untouched import CODEX_KEEPS
from wireproof.model.dialect import Dialect
from wireproof.model.target import Backend
from wireproof.scenarios import CONVERSATIONS

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange

Json = dict[str, Any]
Make = Callable[..., "Exchange"]
Seen = Callable[..., list[str]]
ROW = "turn.input-untouched"
NAMED = {scenario.name: scenario for scenario in CONVERSATIONS}


def sent(name: str, nonce: str = "n") -> Json:
    """What a backend reports that has received all of a scenario."""
    scenario = NAMED[name]
    history: list[Json] = []
    for one in scenario.history:
        if one["role"] == "tool":
            history.append({"type": "function_call_output", "call_id": one["tool_call_id"], "output": one["content"]})
        elif one["content"]:
            history.append({"type": "message", "role": one["role"], "content": [{"text": one["content"]}]})
        history += [{"type": "function_call", "call_id": call["id"]} for call in one.get("tool_calls", ())]
    functions = [dict(tool["function"]) for tool in scenario.tools]
    tools = [{"inputSchema": one.pop("parameters"), **one} for one in functions]
    text = f"[[wireproof:reflect/received#{nonce}]] {scenario.turns[0].say}"
    return {"developer": None, "history": history, "input": [{"type": "text", "text": text}], "tools": tools}


@pytest.fixture
def seen(whole: Make) -> Seen:
    """What the check says of an exchange in which the backend reports that it has received this."""

    def check(name: str, received: Json, backend: Backend = Backend.MOCK) -> list[str]:
        exchange = whole(name, json.dumps(received, ensure_ascii=False), dialect=Dialect.OPENAI_JSON)
        transcript = replace(exchange.transcript, request_body=b"[[wireproof:reflect/received#n]]")
        exchange = replace(exchange, target=replace(exchange.target, backend=backend), transcript=transcript)
        return [violation.seen for violation in CHECKS.look(ROW, exchange)]

    return check


SCENES = [name for name in NAMED if ROW in NAMED[name].exercises]


@pytest.mark.parametrize("name", SCENES)
def test_what_arrived_as_it_was_sent_is_right(seen: Seen, name: str) -> None:
    assert seen(name, sent(name)) == []


@pytest.mark.parametrize("name", SCENES)
def test_what_arrived_inside_of_other_text_is_right(seen: Seen, name: str) -> None:
    received = sent(name)
    parts = [part["text"] for item in received["history"] for part in item.get("content", ())]
    outputs = [f"[tool:x] {item['output']}" for item in received["history"] if "output" in item]
    flat = "\n".join([*parts, *outputs, received["input"][0]["text"]])
    developer = json.dumps(received["tools"])
    assert seen(name, {"developer": developer, "input": [{"type": "text", "text": flat}], "tools": []}) == []


CHANGES: list[tuple[Callable[[str], str], str]] = [
    (str.strip, "the first difference"),
    (lambda text: text.replace("\r\n", "\n"), "the first difference"),
    (lambda text: text[:100], "characters are missing"),
    (lambda text: text[50:], "the first difference"),
    (lambda text: text * 2, "was sent once and reached the backend 2 times"),
    (lambda _: "", "is nowhere in it"),
]


@pytest.mark.parametrize(("change", "wanted"), CHANGES)
def test_a_text_that_was_changed(seen: Seen, change: Callable[[str], str], wanted: str) -> None:
    received = sent("untouched-text")
    part = received["history"][0]["content"][0]
    part["text"] = change(part["text"])
    (said,) = seen("untouched-text", received)
    assert said.startswith("a text of the user")
    assert wanted in said


def test_what_was_said_twice_must_arrive_twice(seen: Seen) -> None:
    received = sent("untouched-repeats")
    del received["history"][2]
    (said,) = seen("untouched-repeats", received)
    assert "was sent 2 times and reached the backend once" in said


def test_a_result_that_was_cut(seen: Seen) -> None:
    received = sent("untouched-results")
    received["history"][-1]["output"] = received["history"][-1]["output"][:CODEX_KEEPS]
    (said,) = seen("untouched-results", received)
    assert said.startswith("the result of a tool reached the backend changed: ")
    # Codex itself does that.
    assert seen("untouched-results", received, Backend.CODEX) == []


def test_a_text_of_another_request(seen: Seen) -> None:
    received = sent("untouched-large")
    strange = "[[wireproof:reflect/received#other]] Something else."
    received["input"].append({"type": "text", "text": strange})
    assert seen("untouched-large", received) == [f'the backend also received a text of another request: "{strange}"']


TOOLS: list[tuple[Callable[[list[Json]], list[Json]], str]] = [
    (lambda tools: tools[:4], "tool 5 of 6, readNote, did not reach the backend"),
    (lambda tools: [{**tool, "description": ""} for tool in tools], "the description of localSearch reached"),
    (lambda tools: [{**tool, "inputSchema": {}} for tool in tools], "the schema of localSearch reached"),
    (lambda tools: [{"name": tool["name"], "description": tool["description"]} for tool in tools], "the schema of"),
]


@pytest.mark.parametrize(("change", "wanted"), TOOLS)
def test_tools_that_were_changed(seen: Seen, change: Callable[[list[Json]], list[Json]], wanted: str) -> None:
    received = sent("untouched-tools")
    received["tools"] = change(received["tools"])
    (said,) = seen("untouched-tools", received)
    assert said.startswith(wanted)


# Settings

SETTINGS: Json = {"temperature": 0.25, "stop": ["."], "max_tokens": 9}


@pytest.fixture
def unset(whole: Make) -> Callable[..., list[tuple[str, bool]]]:
    """What the check says of a request with these members, before a backend that reports these settings."""

    def check(asked: Json, report: Json) -> list[tuple[str, bool]]:
        exchange = whole("settings-passed-on", json.dumps(report), dialect=Dialect.OPENAI_JSON)
        transcript = replace(exchange.transcript, request_body=json.dumps(asked).encode())
        found = CHECKS.look("turn.settings-reach-backend", replace(exchange, transcript=transcript))
        return [(violation.seen, violation.strict_only) for violation in found]

    return check


@pytest.mark.parametrize(
    "asked",
    [
        SETTINGS,
        {"temperature": 0.25, "stop": ".", "max_completion_tokens": 9, "top_p": 1},
        {"stop_sequences": ["."], "max_tokens": 9},
    ],
)
def test_settings_reach_a_backend_under_whatever_name(unset: Callable[..., list[object]], asked: Json) -> None:
    assert unset(asked, {"settings": SETTINGS}) == []
    # Nothing is known of one that reports none, and what it does not have cannot reach it.
    assert unset(asked, {}) == []
    assert unset(asked, {"settings": {"temperature": 0.25, "max_tokens": 9}}) == []


def test_settings_that_did_not_reach_it_are_named(unset: Callable[..., list[object]]) -> None:
    came: Json = {"settings": {"temperature": None, "stop": [], "max_tokens": 1024}}
    assert unset({**SETTINGS, "stop": "."}, came) == [
        ("`temperature` is 0.25 in the request; the backend received null", True),
        ('`stop` is ["."] in the request; the backend received []', False),
        ("`max_tokens` is 9 in the request; the backend received 1024", False),
    ]
