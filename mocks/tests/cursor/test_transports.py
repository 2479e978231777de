"""Both transports as clients see them: what is sent, in which family, and how it ends."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from cursor_agents import CONNECT, GRPC_WEB, Agent, Connection, Run, RunSSE, named, run_request, text_of

from assay_cursor_protos import agent_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay_cursor.serving import CursorMock

TRANSPORTS = ("grpc-web", "connect", "run")


@contextmanager
def agent(transport: str, url: str) -> Iterator[Agent]:
    if transport == "run":
        with Connection(url) as connection:
            yield Run(connection)
    else:
        with RunSSE(url, GRPC_WEB if transport == "grpc-web" else CONNECT) as client:
            yield client


def tool(name: str) -> pb.McpToolDefinition:
    return pb.McpToolDefinition(name=f"own-{name}", tool_name=name, provider_identifier="own")


def mcp_result(message: pb.AgentServerMessage, text: str) -> pb.AgentClientMessage:
    content = pb.McpToolResultContentItem(text=pb.McpTextContent(text=text))
    result = pb.McpResult(success=pb.McpSuccess(content=[content]))
    return pb.AgentClientMessage(
        exec_client_message=pb.ExecClientMessage(id=message.exec_server_message.id, mcp_result=result)
    )


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_text_comes_in_its_pieces_and_the_stream_ends_well(mock: CursorMock, transport: str) -> None:
    with agent(transport, mock.url) as client:
        client.send(run_request("[[assay:probe#1]]"))
        messages = client.rest()
    assert text_of(messages) == "Assay: the scripted backend is here."
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
        client.send(run_request("[[assay:fail/rate#1]]"))
        assert client.rest() == []
    ended = client.ended()
    assert (ended["grpc-status"] if transport == "grpc-web" else ended["error"]["code"]) in {"8", "resource_exhausted"}
