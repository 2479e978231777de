from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from mocks.tests.codex.conftest import Client

HELLO = "[[wireproof:text/hello#a]]"


def _begin(client: Client, number: int) -> list[str]:
    """So many threads, one a second, the first of which is talked in again at the end."""
    threads = []
    for _ in range(number):
        client.wait(1.0)
        threads.append(client.start_thread(ephemeral=False))
        client.start_turn(threads[-1], HELLO)
    client.wait(1.0)
    client.start_turn(threads[0], HELLO)
    return threads


def _ids(page: Any) -> list[str]:
    return [thread["id"] for thread in page["data"]]


@pytest.mark.parametrize("version", ["0.89.0", "0.99.0", "0.125.0", NEWEST.number])
def test_threads_are_listed_in_pages_the_newest_first(make_client: Callable[..., Any], version: str) -> None:
    client = make_client(version=version)
    threads = _begin(client, 3)
    page, _ = client.ask("thread/list", {"limit": 2})
    assert _ids(page) == [threads[2], threads[1]]
    rest, _ = client.ask("thread/list", {"limit": 2, "cursor": page["nextCursor"]})
    assert (_ids(rest), rest["nextCursor"]) == ([threads[0]], None)
    assert _ids(client.ask("thread/list", {"limit": 0})[0]) == [threads[2]]


def test_threads_can_be_listed_the_oldest_first(client: Client) -> None:
    threads = _begin(client, 3)
    page, _ = client.ask("thread/list", {"limit": 2, "sortDirection": "asc"})
    rest, _ = client.ask("thread/list", {"sortDirection": "asc", "cursor": page["nextCursor"]})
    assert _ids(page) + _ids(rest) == threads


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"modelProviders": ["none"]}, 0),
        ({"modelProviders": ["mock"]}, 2),
        ({"modelProviders": []}, 2),
        ({"sourceKinds": ["cli"]}, 0),
        ({"sourceKinds": ["vscode"]}, 2),
        ({"cwd": "/y"}, 1),
        ({"searchTerm": "HELLO"}, 2),
        ({"searchTerm": "my name"}, 1),
    ],
)
def test_threads_are_found(client: Client, params: dict[str, Any], found: int) -> None:
    for cwd in ("/x", "/y"):
        thread = client.start_thread(ephemeral=False, cwd=cwd)
        client.start_turn(thread, HELLO)
    client.ask("thread/name/set", {"threadId": thread, "name": "My name"})
    assert len(client.ask("thread/list", params)[0]["data"]) == found


def test_the_oldest_versions_overlook_where_a_thread_is(older: Client) -> None:
    older.start_turn(older.start_thread(), HELLO)
    assert len(older.ask("thread/list", {"cwd": "/nowhere", "sortDirection": "asc"})[0]["data"]) == 1


def test_threads_can_be_listed_by_their_last_turn(client: Client) -> None:
    threads = _begin(client, 2)
    for key in ("updated_at", "recency_at"):
        listed, _ = client.ask("thread/list", {"sortKey": key})
        assert (_ids(listed), listed["backwardsCursor"]) == (threads, "2027-01-15T08:00:03.000Z")
    error, _ = client.ask("thread/list", {"sortKey": "age"})
    assert error["message"].startswith("Invalid request: unknown variant `age`, expected one of `created_at`, ")


def test_older_versions_know_two_orders(older: Client) -> None:
    error, _ = older.ask("thread/list", {"sortKey": "age"})
    message = "Invalid request: unknown variant `age`, expected `created_at` or `updated_at`"
    assert error["message"] == message


def test_a_thread_in_which_nothing_was_said_is_not_listed(client: Client) -> None:
    client.start_thread(ephemeral=False)
    client.start_turn(client.start_thread(), HELLO)
    assert client.ask("thread/list", {})[0]["data"] == []


def test_what_is_unread_is_listed(client: Client) -> None:
    thread = client.start_thread(ephemeral=False)
    turn, _ = client.start_turn(thread, HELLO)
    fork = client.ask("thread/fork", {"threadId": thread})[0]["thread"]["id"]
    states = client.ask("thread/list", {})[0]["readStates"]
    assert states[thread]["firstUnread"] == {"type": "turn", "turnId": turn}
    assert states[fork] == {"firstUnread": None, "revision": f"initial:{fork}"}


@pytest.mark.parametrize("method", ["thread/list", "thread/loaded/list"])
def test_a_cursor_must_be_one(client: Client, method: str) -> None:
    error, _ = client.ask(method, {"cursor": "nonsense"})
    assert error == {"code": -32600, "message": "invalid cursor: nonsense"}


def test_loaded_threads_are_listed_in_pages(client: Client) -> None:
    threads = sorted(client.start_thread() for _ in range(3))
    page, _ = client.ask("thread/loaded/list", {"limit": 2})
    assert page == {"data": threads[:2], "nextCursor": threads[1]}
    rest, _ = client.ask("thread/loaded/list", {"cursor": page["nextCursor"]})
    assert rest == {"data": threads[2:], "nextCursor": None}
