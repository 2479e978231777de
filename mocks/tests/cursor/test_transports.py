"""Both transports as clients see them: what is sent, in which family, and how it ends."""

from __future__ import annotations

import asyncio
import json
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest
from cursor_agents import (
    CONNECT,
    GRPC_WEB,
    TRANSPORTS,
    WAIT,
    Agent,
    Connection,
    Run,
    RunSSE,
    agent,
    framed,
    mcp_result,
    named,
    run_request,
    text_of,
    tool,
)
from h2.exceptions import ProtocolError

from wireproof_cursor.runs.context import RunConditions
from wireproof_cursor.service import AgentService
from wireproof_cursor.serving import CursorMock, _Listener, serving
from wireproof_cursor_protos import agent_pb2 as pb
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Say, Script

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_text_comes_in_its_pieces_and_the_stream_ends_well(mock: CursorMock, transport: str) -> None:
    with agent(transport, mock.url) as client:
        client.send(run_request("[[wireproof:probe#1]]"))
        messages = client.rest()
    assert text_of(messages) == "Wireproof: the scripted backend is here."
    assert [named(message) for message in messages][-2:] == ["turn_ended", "conversation_checkpoint_update"]
    assert client.ended() == ({"grpc-status": "0"} if transport == "grpc-web" else {})


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_call_is_requested_and_the_answer_goes_on_from_its_result(mock: CursorMock, transport: str) -> None:
    with agent(transport, mock.url) as client:
        client.send(run_request("Use the tool localSearch.", tools=[tool("localSearch")]))
        asked = client.until("exec_server_message")
        assert asked.exec_server_message.mcp_args.name == "own-localSearch"
        client.send(mcp_result(asked, "22 degrees"))
        assert text_of(client.rest()) == "The tool said: 22 degrees"


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_failure_is_in_the_end_of_the_stream(mock: CursorMock, transport: str) -> None:
    with agent(transport, mock.url) as client:
        client.send(run_request("[[wireproof:fail/rate#1]]"))
        assert client.rest() == []
    ended = client.ended()
    code = ended["grpc-status"] if transport == "grpc-web" else ended["error"]["code"]
    assert code == ("8" if transport == "grpc-web" else "resource_exhausted")


@pytest.mark.parametrize("content_type", [GRPC_WEB, CONNECT])
def test_a_stream_is_answered_in_the_family_of_its_request(mock: CursorMock, content_type: str) -> None:
    with RunSSE(mock.url, content_type) as client:
        client.send(run_request("[[wireproof:probe#1]]"))
        client.rest()
    assert client.content_type == content_type
    assert client.end is not None
    assert client.end[0] == (0x80 if content_type == GRPC_WEB else 0x02)


def test_run_is_answered_in_the_family_of_its_request_too(mock: CursorMock) -> None:
    with Connection(mock.url) as connection:
        run = Run(connection, GRPC_WEB)
        run.send(run_request("[[wireproof:probe#1]]"))
        run.rest()
    assert run.headers["content-type"] == GRPC_WEB
    assert run.ended() == {"grpc-status": "0"}


def test_a_stream_and_its_first_append_come_in_any_order(mock: CursorMock) -> None:
    client = RunSSE(mock.url)
    client.send(run_request("[[wireproof:probe#1]]"))
    with client:
        assert text_of(client.rest()) == "Wireproof: the scripted backend is here."


def test_the_head_of_a_stream_does_not_wait_for_ever_for_the_first_append(mock: CursorMock) -> None:
    with RunSSE(mock.url) as client:
        assert client.begun.wait(WAIT)
        assert client.status == 200
        client.send(run_request("[[wireproof:probe#1]]"))
        assert text_of(client.rest()) == "Wireproof: the scripted backend is here."


def test_appends_are_taken_in_the_order_of_their_numbers(mock: CursorMock) -> None:
    with RunSSE(mock.url) as client:
        client.keeps = False
        client.append(run_request("[[wireproof:reflect/received#1]]"), 0)
        # The answer about the blob of the user's message, sent only after one that follows it.
        first = client.until("kv_server_message").kv_server_message
        client.append(pb.AgentClientMessage(client_heartbeat=pb.ClientHeartbeat()), 2)
        client.append(pb.AgentClientMessage(kv_client_message=client.kept(first)), 1)
        client.keeps, client.number = True, 3
        assert json.loads(text_of(client.rest()))["faults"] == []


def test_an_append_may_hold_bytes(mock: CursorMock) -> None:
    with RunSSE(mock.url) as client:
        append = client.append_message(b"", 0)
        append.data_binary = run_request("[[wireproof:probe#1]]").SerializeToString()
        assert client.post(append).status_code == 200
        client.number = 1
        assert text_of(client.rest()) == "Wireproof: the scripted backend is here."


@pytest.mark.parametrize(
    ("content_type", "end"), [(GRPC_WEB, framed(b"grpc-status: 0\r\n", 0x80)), (CONNECT, framed(b"{}", 0x02))]
)
def test_an_append_is_acknowledged_in_the_family_of_its_request(
    mock: CursorMock, content_type: str, end: bytes
) -> None:
    with RunSSE(mock.url, content_type) as client:
        response = client.append(run_request("[[wireproof:probe#1]]"))
        assert (response.status_code, response.headers["content-type"]) == (200, content_type)
        assert response.content == framed(b"") + end


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_crash_closes_the_connection_without_an_end(mock: CursorMock, transport: str) -> None:
    with agent(transport, mock.url) as client:
        client.send(run_request("[[wireproof:fail/crash-text#1]]"))
        assert text_of(client.rest()) == "Last words"
        assert client.end is None


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_that_disconnects_interrupts_its_turn(mock: CursorMock, transport: str) -> None:
    with agent(transport, mock.url) as leaving:
        leaving.send(run_request("[[wireproof:leave/call#n]]", tools=[tool("localSearch")]))
        leaving.until("exec_server_message")
        leaving.leave()
        assert turns(mock.url, "n") == [{"script": "leave/call", "part": 0, "state": "interrupted", "faults": []}]


def turns(url: str, nonce: str) -> object:
    with RunSSE(url) as client:
        client.send(run_request(f"[[wireproof:reflect/turns#{nonce}]]"))
        return json.loads(text_of(client.rest()))["turns"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_turn_can_be_cancelled(mock: CursorMock, transport: str) -> None:
    with agent(transport, mock.url) as client:
        client.send(run_request("[[wireproof:leave/call#n]]", tools=[tool("localSearch")]))
        asked = client.until("exec_server_message").exec_server_message
        cancel = pb.ConversationAction(cancel_action=pb.CancelAction())
        client.send(pb.AgentClientMessage(conversation_action=cancel))
        (aborted,) = client.rest()
        assert aborted.exec_server_control_message.abort.id == asked.id
        ended = client.ended()
        assert (ended.get("grpc-status") or ended["error"]["code"]) in {"1", "canceled"}
        assert turns(mock.url, "n") == [{"script": "leave/call", "part": 0, "state": "interrupted", "faults": []}]


def test_a_client_may_close_its_half_and_read_on(mock: CursorMock) -> None:
    with Connection(mock.url) as connection:
        run = Run(connection)
        run.keeps = False
        run.send(run_request("[[wireproof:probe#1]]"))
        first = run.until("kv_server_message").kv_server_message
        run.send(pb.AgentClientMessage(kv_client_message=run.kept(first)))
        last = run.until("kv_server_message").kv_server_message
        run.send(pb.AgentClientMessage(kv_client_message=run.kept(last)))
        run.close_half()
        run.rest()
        assert run.ended() == {}


# Flow control

LONG = 3_000_000
"""More bytes of text than the buffers of two sockets and of a server hold."""
FLOOD = Script(name="flood", title="", parts=((Say(("x" * 1000,), times=LONG // 1000),),), when="flood")


def test_a_run_that_is_not_read_holds_up_no_other_on_its_connection() -> None:
    with serving({**LIBRARY, "flood": FLOOD}) as mock, Connection(mock.url) as connection:
        idle = Run(connection)
        idle.reads = False
        idle.send(run_request("flood"))
        idle.keeps = False
        answer_blob(idle)
        # Its window is full: nothing more can come before it is read.
        idle.full(65_535)
        for number in range(5):
            other = Run(connection)
            other.send(run_request(f"[[wireproof:probe#{number}]]"))
            assert text_of(other.rest()) == "Wireproof: the scripted backend is here."
        idle.read_on()
        idle.keeps = True
        assert len(text_of(idle.rest())) == LONG


def answer_blob(client: Agent) -> None:
    asked = client.until("kv_server_message").kv_server_message
    client.send(pb.AgentClientMessage(kv_client_message=client.kept(asked)))


def test_a_stream_that_is_not_read_holds_up_no_other() -> None:
    with serving({**LIBRARY, "flood": FLOOD}) as mock, RunSSE(mock.url) as idle:
        idle.reads.clear()
        idle.send(run_request("flood"))
        for transport in TRANSPORTS:
            with agent(transport, mock.url) as other:
                other.send(run_request("[[wireproof:probe#1]]"))
                assert text_of(other.rest()) == "Wireproof: the scripted backend is here."
        idle.reads.set()
        assert len(text_of(idle.rest())) == LONG


def test_a_server_that_stops_does_not_wait_for_clients_that_do_not_read() -> None:
    with serving({"flood": FLOOD}) as mock:
        idle = RunSSE(mock.url)
        idle.reads.clear()
        idle.__enter__()
        idle.send(run_request("flood"))
        assert idle.begun.wait(WAIT)
    idle.reads.set()
    idle.__exit__(None, None, None)
    assert idle.end is None


@pytest.mark.parametrize("error", [KeyError(1), ProtocolError(1), OSError("another")], ids=repr)
def test_a_connection_that_fails_while_the_server_stops_leaves_nothing_open(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    forever = asyncio.Event()
    connections: list[asyncio.Task[bool]] = []

    async def serve(*_: object, shutdown_trigger: Callable[[], Awaitable[object]], **__: object) -> None:
        connections.append(asyncio.get_running_loop().create_task(forever.wait()))
        await shutdown_trigger()
        # As hypercorn raises it when a client sends more on a stream of HTTP/2 that is over.
        raise ExceptionGroup("unhandled errors in a TaskGroup", [error])

    monkeypatch.setattr("wireproof_cursor.serving.serve", serve)
    service = AgentService(LIBRARY, conditions=RunConditions(), journal=None)
    with _Listener(0) as listener:
        mock = CursorMock(service, listener)
        mock.stop()
        with pytest.RaisesGroup(OSError) if isinstance(error, OSError) else nullcontext():
            mock.run()
    assert [connection.cancelled() for connection in connections] == [True]
