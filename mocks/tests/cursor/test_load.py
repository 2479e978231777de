"""A thousand turns on one service leave nothing behind; with `--whole`, for time, and a hundred without it."""

from __future__ import annotations

import gc
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from cursor_agents import (
    TRANSPORTS,
    WAIT,
    Connection,
    Run,
    RunSSE,
    agent,
    closed,
    mcp_result,
    run_request,
    text_of,
    tool,
)

from wireproof_cursor.runs.link import RunLink
from wireproof_cursor.runs.run import Run as MockRun
from wireproof_cursor.runs.turn import RunTurn
from wireproof_cursor.serving import serving
from wireproof_scripts.steps import Say, Script

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_cursor.serving import CursorMock


def alive() -> int:
    """How many objects of runs there are."""
    gc.collect()
    return sum(isinstance(one, MockRun | RunLink | RunTurn) for one in gc.get_objects())


def until(done: Callable[[], bool]) -> None:
    """Wait for what the service does by itself when a client has left."""
    deadline = time.monotonic() + WAIT
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def turn(client: RunSSE | Run, number: int) -> None:
    client.send(run_request(f"Use the tool localSearch, {number}.", tools=[tool("localSearch")]))
    asked = client.until("exec_server_message")
    client.send(mcp_result(asked, str(number)))
    client.send(closed(asked))
    assert text_of(client.rest()) == f"The tool said: {number}"


@pytest.mark.nightly
def test_many_runs_leave_nothing_behind(mock: CursorMock, turns: int) -> None:
    before = alive()
    with Connection(mock.url) as connection:
        for number in range(turns):
            run = Run(connection)
            turn(run, number)
            del connection.runs[run.stream]
    until(lambda: mock.service.runs == [])
    assert alive() == before


@pytest.mark.nightly
def test_many_streams_with_appends_leave_nothing_behind(mock: CursorMock, turns: int) -> None:
    before = alive()

    def some(first: int) -> None:
        for number in range(first, first + turns // 10):
            with RunSSE(mock.url) as client:
                turn(client, number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(some, range(0, turns, turns // 10)))
    until(lambda: mock.service.runs == [])
    assert alive() == before


@pytest.mark.nightly
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_clients_that_leave_in_the_middle_leave_nothing_behind(mock: CursorMock, transport: str) -> None:
    before = alive()
    for number in range(20):
        with agent(transport, mock.url) as client:
            client.send(run_request(f"[[wireproof:leave/call#{number}]]", tools=[tool("localSearch")]))
            client.until("exec_server_message")
    until(lambda: mock.service.runs == [])
    assert alive() == before


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("piece", ["x", ""], ids=["text", "empty"])
def test_a_client_that_leaves_an_answer_without_pauses_is_heard(transport: str, piece: str) -> None:
    endless = Script(name="endless", title="", parts=((Say(("x",)), Say((piece,), times=10**9)),), when="on")
    with serving({"endless": endless}) as mock:
        with agent(transport, mock.url) as client:
            client.send(run_request("Go on."))
            client.until("text_delta")
        until(lambda: mock.service.runs == [])


def test_appends_without_a_stream_are_forgotten(mock: CursorMock) -> None:
    for _ in range(300):
        lone = RunSSE(mock.url)
        lone.send(run_request("[[wireproof:probe#1]]"))
        lone.http.close()
    assert len(mock.service.runs) == 256
