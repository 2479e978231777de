"""Real clients complete their loops against the reference proxy: text, calls, results, and the text in the end.

Each client is a program of its own (`../*.mjs`, `../*.py`) that plays all dialogues in one way and says what became of
them: on chat completions, responses and messages, in front of a backend with native tools and of one that has none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any
from unittest.mock import ANY

import pytest
from dialogues import DIALOGUES, FOUND, LOOK, NOTE, PLACE, READ, RESULTS, SEARCH

from clients import CLIENTS, HERE, Client, Play, installed
from wireproof.targets.launch import executable, launch

KEY = "a key of the tests"
SETTINGS = {
    "PROXY_OUTPUT_MODE": "openai-json",
    "PROXY_API_KEY": KEY,
    "PROXY_KEEPALIVE_MS": "100",
}
BACKENDS = {
    "native": {"WIREPROOF_CODEX_VERSION": "0.169.0", "WIREPROOF_SCRIPTS": str(HERE / "scripts.yaml")},
    "text-only": {"WIREPROOF_CODEX_VERSION": "0.89.0", "WIREPROOF_SCRIPTS": str(HERE / "scripts_text_only.yaml")},
}
DESCRIPTIONS = {tool.name: tool.description for tool in (SEARCH, READ)}
PLAYED = {**DIALOGUES, "results": RESULTS, "place": PLACE}

AT_ONCE = 4
"""So many client programs run side by side."""

Played = Callable[[Client], Mapping[tuple[str, str], Play]]

each_backend = pytest.mark.parametrize("backend", BACKENDS)
each_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)


@pytest.fixture(scope="module")
def urls() -> Iterator[Mapping[str, str]]:
    """The base URL of the reference proxy in front of each backend."""
    with ExitStack() as stack:
        proxies = {
            name: stack.enter_context(launch([executable("wireproof-proxy")], env={**SETTINGS, **backend}))
            for name, backend in BACKENDS.items()
        }
        yield {name: proxy.base_url for name, proxy in proxies.items()}


@pytest.fixture(scope="module")
def played(urls: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[Played]:
    """What became of all dialogues by backend and name, for a client; each plays them once, several side by side."""
    installed()
    plan = [(backend, name) for backend in urls for name in PLAYED]

    def play(client: Client) -> Mapping[tuple[str, str], Play]:
        asked = [PLAYED[name].asked(urls[backend]) for backend, name in plan]
        return dict(zip(plan, client.play(asked, {"key": KEY, "model": "codex"}), strict=True))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        playing = {client: pool.submit(play, client) for client in _clients(request.session.items)}
        yield lambda client: playing[client].result()
        pool.shutdown(cancel_futures=True)


def _clients(items: Iterable[pytest.Item]) -> Iterable[Client]:
    """The clients of these tests, in order."""
    # A test without parameters, in another file of the folder, has no `callspec`.
    cases = (item.callspec.params for item in items if isinstance(item, pytest.Function) and hasattr(item, "callspec"))
    clients = (case.get("client") for case in cases)
    return dict.fromkeys(client for client in clients if isinstance(client, Client))


def _less_spelling(turn: dict[str, Any]) -> dict[str, Any]:
    return {**turn, "calls": [{key: call[key] for key in call if key != "raw"} for call in turn["calls"]]}


def _turns(play: Play) -> list[dict[str, Any]]:
    assert "error" not in play, play["error"]
    return list(play["turns"])


@each_backend
@pytest.mark.parametrize("name", DIALOGUES)
@each_client
def test_a_client_completes(client: Client, name: str, backend: str, played: Played) -> None:
    play = played(client)[backend, name]
    turns, told = _turns(play), client.turns(DIALOGUES[name])
    assert [_less_spelling(turn) for turn in turns] == told
    calls = [call for answer in client.answers(DIALOGUES[name]) for call in answer.calls]
    kept = [call["raw"] for turn in turns for call in turn["calls"]]
    assert all(raw in {None, call.raw} for raw, call in zip(kept, calls, strict=True))
    assert play["ran"] == [{"name": call.name, "arguments": json.loads(call.raw)} for call in calls]
    if client.streamed:
        assert "".join(play["pieces"]) == "".join(turn["text"] for turn in told)
        assert len(play["pieces"]) > 1


@each_client
def test_a_text_and_calls_and_their_results_reach_a_native_backend(client: Client, played: Played) -> None:
    received = _received(played(client)["native", "results"])
    history = received["history"]
    said = [part["text"] for item in history if item.get("role") == "assistant" for part in item["content"]]
    assert said == ([LOOK] if client.keeps_text else [])
    made = [(item["call_id"], item["name"], json.loads(item["arguments"])) for item in history if "name" in item]
    assert made == [(call.id, call.name, json.loads(call.raw)) for call in (FOUND, NOTE)]
    results = [(item["call_id"], item["output"]) for item in history if item["type"] == "function_call_output"]
    assert results == [("call_search", SEARCH.result), ("call_read", READ.result)]
    assert {tool["name"]: tool["description"] for tool in received["tools"]} == DESCRIPTIONS


@each_client
def test_a_text_and_calls_and_their_results_are_told_to_a_text_only_backend(client: Client, played: Played) -> None:
    received = _received(played(client)["text-only", "results"])
    assert received["tools"] == []
    told = [(item["role"], part["text"]) for item in received["history"] for part in item["content"]]
    told += [("user", part["text"]) for part in received["input"]]
    assert [text for role, text in told if role == "assistant"] == ([LOOK] if client.keeps_text else [])
    asked, *texts = [text for role, text in told if role == "user"]
    assert "[[wireproof:clients/results#" in asked
    made = [text.partition("] ") for text in texts[:2]]
    assert [(head, json.loads(arguments)) for head, _, arguments in made] == [
        (f"[assistant called {call.name}:{call.id}", json.loads(call.raw)) for call in (FOUND, NOTE)
    ]
    assert texts[2:] == [f"[tool:call_search] {SEARCH.result}", f"[tool:call_read] {READ.result}"]
    assert all(json.dumps(word) in received["developer"] for tool in DESCRIPTIONS.items() for word in tool)


def _received(play: Play) -> dict[str, Any]:
    *asking, last = _turns(play)
    assert [turn["calls"] for turn in asking] == [[ANY, ANY]]
    received: dict[str, Any] = json.loads(last["text"])
    return received


@each_backend
@each_client
def test_text_that_matches_a_schema_is_parsed(client: Client, backend: str, played: Played) -> None:
    play = played(client)[backend, "place"]
    assert [turn["text"] for turn in _turns(play)] == [PLACE.answers[0].text]
    assert play["parsed"] == ([json.loads(PLACE.answers[0].text)] if client.way == "parse" else [])
