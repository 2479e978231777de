from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from mocks.tests.codex.conftest import Client

NOWHERE = "00000000-0000-7000-8000-999999999999"


@pytest.fixture
def thread(client: Client) -> str:
    identity: str = client.start_thread(ephemeral=False)
    return identity


def test_a_goal_is_set_changed_and_cleared(client: Client, thread: str) -> None:
    assert client.ask("thread/goal/get", {"threadId": thread})[0] == {"goal": None}
    result, received = client.ask("thread/goal/set", {"threadId": thread, "objective": "Ship it"})
    assert received.methods == ["response", "thread/goal/updated"]
    assert (result["goal"]["objective"], result["goal"]["status"]) == ("Ship it", "active")
    client.wait(2.0)
    result, _ = client.ask("thread/goal/set", {"threadId": thread, "status": "paused", "tokenBudget": 9})
    assert (result["goal"]["status"], result["goal"]["tokenBudget"]) == ("paused", 9)
    assert result["goal"]["updatedAt"] - result["goal"]["createdAt"] == 2
    assert client.ask("thread/goal/get", {"threadId": thread})[0] == result
    _, received = client.ask("thread/goal/clear", {"threadId": thread})
    assert received.params_of("thread/goal/cleared") == [{"threadId": thread}]
    result, received = client.ask("thread/goal/clear", {"threadId": thread})
    assert (result, received.methods) == ({"cleared": False}, ["response"])


def test_who_resumes_a_thread_gets_its_goal(client: Client, thread: str) -> None:
    client.ask("thread/goal/set", {"threadId": thread, "objective": "Ship it"})
    resumed, received = client.ask("thread/resume", {"threadId": thread, "excludeTurns": True})
    assert resumed["thread"]["preview"] == "Ship it"
    assert received.params_of("thread/goal/updated")[0]["goal"]["objective"] == "Ship it"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"objective": " "}, "goal objective must not be empty"),
        ({}, "cannot update goal for thread {}: no goal exists"),
        ({"status": "paused"}, "cannot update goal for thread {}: no goal exists"),
    ],
)
def test_a_goal_needs_an_objective(client: Client, thread: str, params: dict[str, Any], message: str) -> None:
    error, _ = client.ask("thread/goal/set", {"threadId": thread, **params})
    assert error["message"] == message.format(thread)


def test_where_a_thread_stands_in_git_is_noted(client: Client, thread: str) -> None:
    for given in ({"branch": "b"}, {"sha": "abc"}, {"branch": None}):
        updated, _ = client.ask("thread/metadata/update", {"threadId": thread, "gitInfo": given})
    assert updated["thread"]["gitInfo"] == {"sha": "abc", "branch": None, "originUrl": None}
    assert updated["thread"]["canAcceptDirectInput"] is None
    read, _ = client.ask("thread/read", {"threadId": thread})
    assert read["thread"]["gitInfo"] == updated["thread"]["gitInfo"]


@pytest.mark.parametrize(
    ("version", "nothing"),
    [
        ("0.134.0", "gitInfo must include at least one field"),
        (NEWEST.number, "thread metadata update must include at least one field"),
    ],
)
def test_an_update_must_be_one(make_client: Callable[..., Any], version: str, nothing: str) -> None:
    client = make_client(version=version)
    thread = client.start_thread(ephemeral=False)
    assert client.ask("thread/metadata/update", {"threadId": thread})[0]["message"] == nothing
    error, _ = client.ask("thread/metadata/update", {"threadId": thread, "gitInfo": {}})
    assert error["message"] == "gitInfo must include at least one field"
    kept = client.start_thread()
    error, _ = client.ask("thread/metadata/update", {"threadId": kept, "gitInfo": {"sha": "a"}})
    assert error["message"] == f"ephemeral thread does not support metadata updates: {kept}"


def test_the_model_can_be_asked_without_a_turn(client: Client, thread: str) -> None:
    turn, _ = client.start_turn(thread, "[[wireproof:text/hello#a]]")
    params = {"threadId": thread, "expectedTurnId": turn, "prompt": "[[wireproof:text/usage#b]]"}
    sample, received = client.ask("thread/sample", params)
    assert received.methods == ["response"]
    assert sample["text"]
    assert (sample["sourceTurnId"], sample["inputTokens"] > 0) == (turn, True)
    calls = client.ask("thread/sample", {**params, "prompt": "[[wireproof:call/one#c]]"})[0]
    assert calls["text"] is None
    error, _ = client.ask("thread/sample", {**params, "expectedTurnId": "x"})
    assert error["message"] == "sample source turn must be the latest finished turn"


def test_a_sample_without_a_script_is_the_default_answer(client: Client, thread: str) -> None:
    turn, _ = client.start_turn(thread, "[[wireproof:text/hello#a]]")
    sample, _ = client.ask("thread/sample", {"threadId": thread, "expectedTurnId": turn, "prompt": "no script"})
    assert (sample["text"], sample["inputTokens"]) == ("Hello, world!", 0)


def test_a_turn_can_begin_with_the_output_of_a_tool(client: Client, thread: str) -> None:
    output = {"name": "n", "output": "o"}
    _, received = client.ask("turn/start", {"threadId": thread, "input": [], "toolOutput": output})
    [item] = [it["item"] for it in received.params_of("item/completed") if it["item"]["type"] == "functionCallOutput"]
    assert (item["name"], item["output"], item["namespace"]) == ("n", "o", None)
    text = {"type": "text", "text": "[[wireproof:text/hello#a]]"}
    error, _ = client.ask("turn/start", {"threadId": thread, "input": [text], "toolOutput": output})
    assert error["message"] == "`toolOutput` cannot be combined with nonempty `input`"


def test_older_versions_overlook_the_output_of_a_tool(make_client: Callable[..., Any]) -> None:
    client = make_client(version="0.150.0")
    text = {"type": "text", "text": "[[wireproof:text/hello#a]]"}
    params = {"threadId": client.start_thread(), "input": [text], "toolOutput": {"name": "n", "output": "o"}}
    _, received = client.ask("turn/start", params)
    assert received.text_deltas
