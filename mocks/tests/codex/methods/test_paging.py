from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from mocks.tests.codex.conftest import Client

NOWHERE = "00000000-0000-7000-8000-999999999999"
HELLO = "[[wireproof:text/hello#a]]"
VERSIONS = ["0.134.0", NEWEST.number]


def _begin(client: Client, turns: int = 3) -> tuple[str, list[str]]:
    thread = client.start_thread(ephemeral=False)
    return thread, [client.start_turn(thread, "[[wireproof:text/thinking#a]]")[0] for _ in range(turns)]


def _ids(page: Any) -> list[str]:
    return [turn["id"] for turn in page["data"]]


@pytest.mark.parametrize("version", VERSIONS)
def test_turns_are_listed_in_pages_the_newest_first(make_client: Callable[..., Any], version: str) -> None:
    client = make_client(version=version)
    thread, turns = _begin(client)
    first, _ = client.ask("thread/turns/list", {"threadId": thread, "limit": 2})
    assert _ids(first) == [turns[2], turns[1]]
    rest, _ = client.ask("thread/turns/list", {"threadId": thread, "cursor": first["nextCursor"]})
    assert (_ids(rest), rest["nextCursor"]) == ([turns[0]], None)
    back = {"threadId": thread, "cursor": rest["backwardsCursor"], "sortDirection": "asc"}
    assert _ids(client.ask("thread/turns/list", back)[0]) == turns
    assert _ids(client.ask("thread/turns/list", {"threadId": thread, "limit": 0})[0]) == [turns[2]]


@pytest.mark.parametrize(
    ("view", "items"),
    [
        ("full", ["userMessage", "reasoning", "agentMessage"]),
        ("summary", ["userMessage", "agentMessage"]),
        ("notLoaded", []),
    ],
)
def test_turns_are_listed_with_as_many_items_as_are_wanted(client: Client, view: str, items: list[str]) -> None:
    thread, _ = _begin(client, 1)
    [turn] = client.ask("thread/turns/list", {"threadId": thread, "itemsView": view})[0]["data"]
    assert ([item["type"] for item in turn["items"]], turn["itemsView"]) == (items, view)


def test_a_page_of_turns_can_come_with_a_resumed_thread(client: Client) -> None:
    thread, turns = _begin(client)
    params = {"threadId": thread, "excludeTurns": True, "initialTurnsPage": {"limit": 1}}
    resumed, _ = client.ask("thread/resume", params)
    assert _ids(resumed["initialTurnsPage"]) == [turns[2]]


def test_items_are_listed_in_pages_the_oldest_first(client: Client) -> None:
    thread, turns = _begin(client, 2)
    page, _ = client.ask("thread/items/list", {"threadId": thread, "limit": 2})
    assert [(it["turnId"], it["item"]["type"]) for it in page["data"]] == [
        (turns[0], "userMessage"),
        (turns[0], "reasoning"),
    ]
    rest, _ = client.ask("thread/items/list", {"threadId": thread, "cursor": page["nextCursor"]})
    assert (len(rest["data"]), rest["nextCursor"]) == (4, None)
    last, _ = client.ask("thread/items/list", {"threadId": thread, "turnId": turns[1], "sortDirection": "desc"})
    assert [it["item"]["type"] for it in last["data"]] == ["agentMessage", "reasoning", "userMessage"]


@pytest.mark.parametrize("method", ["thread/turns/list", "thread/items/list"])
@pytest.mark.parametrize("cursor", ["nonsense", "[]", "{}"])
def test_a_cursor_must_be_one(client: Client, method: str, cursor: str) -> None:
    thread, _ = _begin(client, 1)
    error, _ = client.ask(method, {"threadId": thread, "cursor": cursor})
    assert error == {"code": -32600, "message": f"invalid cursor: {cursor}"}


def test_there_must_be_turns_to_list(client: Client) -> None:
    def refused(method: str, thread: str) -> Any:
        return client.ask(method, {"threadId": thread})[0]

    unbegun, ephemeral = client.start_thread(ephemeral=False), client.start_thread()
    turns = [refused("thread/turns/list", thread)["message"] for thread in (NOWHERE, unbegun, ephemeral)]
    assert turns == [
        f"thread not loaded: {NOWHERE}",
        f"thread {unbegun} is not materialized yet; thread/turns/list is unavailable before first user message",
        "ephemeral threads do not support thread/turns/list",
    ]
    items = [refused("thread/items/list", thread) for thread in (NOWHERE, unbegun, ephemeral)]
    assert items == [{"code": -32601, "message": "thread/items/list is not supported yet"}] * 3


def test_a_thread_goes_back_to_where_it_was_before_a_turn(client: Client) -> None:
    thread, turns = _begin(client)
    result, received = client.ask("thread/revert", {"threadId": thread, "beforeTurnId": turns[1]})
    assert received.methods == [
        "thread/status/changed", "thread/status/changed", "response", "thread/reverted",
    ]  # fmt: skip
    assert (result["thread"]["turns"], result["turnsBackwardsCursor"] is None) == ([], False)
    assert _ids(client.ask("thread/turns/list", {"threadId": thread})[0]) == turns[:1]
    reflected = json.loads(client.start_turn(thread, "[[wireproof:reflect/received#b]]")[1].text_deltas[0])
    assert len([item for item in reflected["history"] if item.get("role") == "user"]) == 1
    error, _ = client.ask("thread/revert", {"threadId": thread, "beforeTurnId": turns[1]})
    assert error["message"] == f"turn not found: {turns[1]}"


def test_what_was_spent_on_turns_that_are_gone_is_not_counted(client: Client) -> None:
    thread = client.start_thread(ephemeral=False)
    usage = "[[wireproof:text/usage#a]]"
    turns = [client.start_turn(thread, usage) for _ in range(2)]
    first = turns[0][1].params_of("thread/tokenUsage/updated")[-1]["tokenUsage"]["total"]
    client.ask("thread/revert", {"threadId": thread, "beforeTurnId": turns[0][0]})
    _, received = client.start_turn(thread, usage)
    assert received.params_of("thread/tokenUsage/updated")[-1]["tokenUsage"]["total"] == first


def test_older_versions_have_no_pages_to_go_back_in(make_client: Callable[..., Any]) -> None:
    client = make_client(version="0.150.0")
    thread, turns = _begin(client, 1)
    error, _ = client.ask("thread/revert", {"threadId": thread, "beforeTurnId": turns[0]})
    assert error["message"] == "thread/revert only supports paginated threads"
