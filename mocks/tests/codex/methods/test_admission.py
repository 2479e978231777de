from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client, MakeClient

DRAINING = "Server is draining; retry after reconnecting"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("thread/start", {}),
        ("thread/resume", {}),
        ("turn/start", {"input": []}),
        ("turn/steer", {"input": [], "expectedTurnId": "x"}),
    ],
)
def test_nothing_begins_in_a_process_that_is_to_end(client: Client, method: str, params: dict[str, Any]) -> None:
    thread = client.start_thread()
    client.server.drain()
    refused, _ = client.ask(method, {"threadId": thread, **params})
    assert refused == {"code": -32600, "data": {"reason": "serverShuttingDown"}, "message": DRAINING}
    assert client.ask("thread/loaded/list", {})[0]["data"] == [thread]


def test_wrong_parameters_are_reported_first(client: Client) -> None:
    client.server.drain()
    assert client.ask("turn/start", {})[0]["message"] == "Invalid request: missing field `threadId`"


def test_older_versions_refuse_without_a_reason_or_not_at_all(make_client: MakeClient) -> None:
    old, older = make_client(version="0.160.0"), make_client(version="0.150.0")
    old.server.drain()
    older.server.drain()
    assert old.ask("thread/start", {})[0] == {"code": -32600, "message": DRAINING}
    assert older.start_thread()


def test_a_process_that_is_to_end_may_do_so_when_its_turns_have_ended(client: Client) -> None:
    thread = client.start_thread()
    turn, _ = client.start_turn(thread, "[[wireproof:text/gate#1]]")
    assert not client.server.drained
    client.server.drain()
    assert not client.server.drained
    client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert client.server.drained
