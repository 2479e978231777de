"""What clients do wrong: it is in the journal and in what scripts reflect, and it holds up the turn or does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cursor_agents import (
    TRANSPORTS,
    Connection,
    Run,
    RunSSE,
    agent,
    closed,
    framed,
    mcp_result,
    named,
    result_of,
    run_request,
    text_of,
    tool,
)

from wireproof_cursor.runs.context import RunConditions
from wireproof_cursor.serving import serving
from wireproof_cursor_protos import agent_pb2 as pb
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Call, Crash, Fail, Reflect, Script, cursor

CALL = Call(id="call_1", name="localSearch", arguments="{}")
REFLECTED = Script(name="reflected", title="", parts=((CALL,), (Reflect("received"),)), when="reflected")
SHELL = Script(
    name="shell",
    title="",
    parts=((cursor.Shell(id="call_1", command="ls", stream=True),), (Reflect("received"),)),
    when="shell",
)
KEPT = Script(
    name="kept", title="", parts=((cursor.SetBlob("a"), cursor.GetBlob("a"), Reflect("received")),), when="kept"
)
SCRIPTS = {**LIBRARY, **{script.name: script for script in (REFLECTED, SHELL, KEPT)}}
QUICK = RunConditions(beat=0.1, patience=0.1)


def faults(messages: list[pb.AgentServerMessage]) -> Any:
    return json.loads(text_of(messages))["faults"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_that_keeps_to_the_protocol_has_no_faults(transport: str) -> None:
    with serving(SCRIPTS) as mock, agent(transport, mock.url) as client:
        client.send(run_request("reflected", tools=[tool("localSearch")]))
        asked = client.until("exec_server_message")
        client.send(mcp_result(asked, "found"))
        client.send(closed(asked))
        assert faults(client.rest()) == []


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    ("answers", "wrong"),
    [
        ([pb.ExecClientMessage(id=9)], ["exec_client_message 9: no request has that id"]),
        ([pb.ExecClientMessage(id=1)], ["exec_client_message 1 holds no result"]),
        (
            [pb.ExecClientMessage(id=1, exec_id="exec-7", mcp_result=pb.McpResult(error=pb.McpError(error="no")))],
            ["exec_client_message 1 has the exec_id 'exec-7' of another request"],
        ),
        (
            [pb.ExecClientMessage(id=1, read_result=pb.ReadResult(error=pb.PathError(error="no")))],
            ["exec_client_message 1 answers mcp_args with read_result"],
        ),
        (
            [pb.ExecClientMessage(id=1, mcp_result=pb.McpResult())],
            ["exec_client_message 1: the mcp_result says nothing"],
        ),
    ],
)
def test_results_are_for_a_request_and_say_something(
    transport: str, answers: list[pb.ExecClientMessage], wrong: list[str]
) -> None:
    with serving(SCRIPTS) as mock, agent(transport, mock.url) as client:
        client.send(run_request("reflected", tools=[tool("localSearch")]))
        asked = client.until("exec_server_message")
        for answer in answers:
            client.send(pb.AgentClientMessage(exec_client_message=answer))
        done = faults_after(client, asked, wrong)
        assert done[: len(wrong)] == wrong


def faults_after(client: Any, asked: pb.AgentServerMessage, wrong: list[str]) -> Any:
    """The faults at the end of the turn, which is answered if the wrong answer did not."""
    if "no request" in wrong[0] or "holds no" in wrong[0] or "says nothing" in wrong[0]:
        client.send(mcp_result(asked, "found"))
    return faults(client.rest())


def test_a_result_that_comes_twice_and_a_close_that_comes_first_are_faults() -> None:
    with serving(SCRIPTS) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request("shell"))
        asked = client.until("exec_server_message")
        stream = pb.ShellStream(stdout=pb.ShellStreamStdout(data="a.txt\n"))
        ended = pb.ShellStream(exit=pb.ShellStreamExit(code=0))
        data = [result_of(asked, shell_stream=event) for event in (stream, ended, ended)] + [
            closed(asked),
            closed(asked),
        ]
        client.send_bytes(b"".join(framed(message.SerializeToString()) for message in data))
        found = json.loads(text_of(client.rest()))
        assert found["history"][-1]["output"] == "a.txt\n"
        assert found["faults"] == [
            "exec_client_message 1: the request was answered already",
            "stream_close 1: the request was closed already",
        ]


def test_a_close_without_a_result_ends_the_request() -> None:
    with serving(SCRIPTS) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request("shell"))
        client.send(closed(client.until("exec_server_message")))
        found = json.loads(text_of(client.rest()))
        assert found["faults"] == ["stream_close 1 comes before the result"]
        assert found["history"][-1]["output"] == "Error: the client closed the request without a result"


def test_a_client_that_cannot_run_something_says_so() -> None:
    with serving(SCRIPTS) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request("shell"))
        asked = client.until("exec_server_message")
        thrown = pb.ExecClientThrow(id=asked.exec_server_message.id, error="no shell here")
        control = pb.ExecClientControlMessage(throw=thrown)
        client.send(pb.AgentClientMessage(exec_client_control_message=control))
        found = json.loads(text_of(client.rest()))
        assert (found["faults"], found["history"][-1]["output"]) == ([], "Error: no shell here")


def test_a_shell_may_answer_a_stream_at_its_end() -> None:
    with serving(SCRIPTS) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request("shell"))
        success = pb.ShellSuccess(command="ls", stdout="a.txt\n")
        client.send(result_of(client.until("exec_server_message"), shell_result=pb.ShellResult(success=success)))
        found = json.loads(text_of(client.rest()))
        assert (found["faults"], found["history"][-1]["output"]) == ([], "a.txt\n")


def test_what_a_client_may_leave_out_is_a_remark_and_no_fault() -> None:
    entries: list[dict[str, Any]] = []
    parts = ((CALL,), (cursor.Query("x", wait=0.0), cursor.Shell(id="call_2", command="ls")))
    script = Script(name="open", title="", parts=parts, when="open")
    with serving({"open": script}, journal=entries.append) as mock, RunSSE(mock.url) as client:
        client.send(run_request("open", tools=[tool("localSearch")]))
        client.send(mcp_result(client.until("exec_server_message"), "found"))
        client.until("exec_server_message")
    assert [entry for entry in entries if "fault" in entry] == []
    assert [entry["remark"] for entry in entries if "remark" in entry] == [
        "exec_server_message 2 was not answered",
        "exec_server_message 1 was not closed with stream_close",
        "interaction_query 1 was not answered",
    ]


@pytest.mark.parametrize(("step", "end"), [(Crash(), "crash"), (Fail("cut"), "cut"), (cursor.EndStream(), {})])
def test_the_journal_says_how_a_stream_ended(step: Crash | Fail | cursor.EndStream, end: object) -> None:
    entries: list[dict[str, Any]] = []
    script = Script(name="ends", title="", parts=((step,),), when="end")
    with serving({"ends": script}, journal=entries.append) as mock, RunSSE(mock.url) as client:
        client.send(run_request("end"))
        client.rest()
    assert [entry["end"] for entry in entries if "end" in entry] == [end]


# Blobs


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (pb.KvClientMessage(id=7, set_blob_result=pb.SetBlobResult()), "no message of the service has that id"),
        (pb.KvClientMessage(id=0, get_blob_result=pb.GetBlobResult()), "answers set_blob_args with get_blob_result"),
        (pb.KvClientMessage(id=0), "answers set_blob_args with nothing"),
    ],
)
def test_a_wrong_answer_about_a_blob_stalls_the_turn(answer: pb.KvClientMessage, wrong: str) -> None:
    with serving(SCRIPTS, conditions=QUICK) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.keeps = False
        client.send(run_request("[[wireproof:reflect/received#1]]"))
        asked = client.until("kv_server_message").kv_server_message
        client.send(pb.AgentClientMessage(kv_client_message=answer))
        # Heartbeats, and nothing else.
        assert [named(message) for message in (client.message(), client.message()) if message] == 2 * ["heartbeat"]
        client.keeps = True
        client.send(pb.AgentClientMessage(kv_client_message=client.kept(asked)))
        assert faults(client.rest()) == [f"kv_client_message {answer.id}: {wrong}".replace(": answers", " answers")]


@pytest.mark.parametrize(
    ("blob", "wrong"),
    [
        (None, "the client was sent this blob, and has not kept it"),
        (b"b", "the blob is not the one asked for, by its SHA-256"),
    ],
)
def test_a_blob_that_was_not_kept_is_a_fault(blob: bytes | None, wrong: str) -> None:
    with serving(SCRIPTS) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.keeps = False
        client.send(run_request("kept"))
        for _ in range(2):
            asked = client.until("kv_server_message").kv_server_message
            client.send(pb.AgentClientMessage(kv_client_message=client.kept(asked)))
        asked = client.until("kv_server_message").kv_server_message
        client.keeps = True
        answer = pb.KvClientMessage(id=asked.id, get_blob_result=pb.GetBlobResult(blob_data=blob))
        client.send(pb.AgentClientMessage(kv_client_message=answer))
        assert faults(client.rest()) == [f"kv_client_message 2: {wrong}"]


def test_a_client_that_does_not_keep_a_blob_says_so() -> None:
    with serving(SCRIPTS) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.keeps = False
        client.send(run_request("[[wireproof:reflect/received#1]]"))
        client.until("kv_server_message")
        client.keeps = True
        failed = pb.SetBlobResult(error=pb.KvError(message="disk full"))
        client.send(pb.AgentClientMessage(kv_client_message=pb.KvClientMessage(id=0, set_blob_result=failed)))
        assert faults(client.rest()) == ["kv_client_message 0: the blob was not kept: disk full"]


# Numbers and ids


def test_a_number_that_was_used_is_acknowledged_and_ignored() -> None:
    with serving(SCRIPTS, conditions=QUICK) as mock, RunSSE(mock.url) as client:
        client.send(run_request("reflected", tools=[tool("localSearch")]))
        asked = client.until("exec_server_message")
        assert client.append(mcp_result(asked, "lost"), 0).status_code == 200
        assert client.append(mcp_result(asked, "lost"), 1).status_code == 200
        client.until("heartbeat")
        client.send(mcp_result(asked, "found"))
        found = json.loads(text_of(client.rest()))
    assert found["history"][-1]["output"] == "found"
    assert found["faults"] == ["append_seqno 0 comes a second time", "append_seqno 1 comes a second time"]


def test_a_lenient_service_takes_it() -> None:
    with serving(SCRIPTS, conditions=RunConditions(lenient=True)) as mock, RunSSE(mock.url) as client:
        client.send(run_request("reflected", tools=[tool("localSearch")]))
        asked = client.until("exec_server_message")
        client.append(mcp_result(asked, "found"), 0)
        found = json.loads(text_of(client.rest()))
    assert found["history"][-1]["output"] == "found"
    assert found["faults"] == ["append_seqno 0 comes a second time"]


def test_a_number_that_is_left_out_is_waited_for() -> None:
    entries: list[dict[str, Any]] = []
    with serving(SCRIPTS, conditions=QUICK, journal=entries.append) as mock:
        with RunSSE(mock.url) as client:
            client.send(run_request("reflected", tools=[tool("localSearch")]))
            client.append(mcp_result(client.until("exec_server_message"), "late"), 3)
            client.until("heartbeat")
        with RunSSE(mock.url) as client:
            refused = client.append(run_request("reflected"), -1)
            assert (refused.status_code, refused.json()["code"]) == (400, "invalid_argument")
    assert [entry["fault"] for entry in entries if "fault" in entry] == [
        "append_seqno 2 never came, and later ones waited for it",
        "append_seqno is -1; appends are numbered from 0",
    ]


def test_the_id_in_the_header_is_that_of_the_body() -> None:
    with serving(SCRIPTS) as mock:
        client = RunSSE(mock.url)
        client.http.headers["x-request-id"] = "another"
        with client:
            client.send(run_request("[[wireproof:reflect/received#1]]"))
            found = faults(client.rest())
    assert f"/agent.v1.AgentService/RunSSE has the x-request-id another, and {client.request_id} in its body" in found
    del client.http


# The order of messages


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_run_request_comes_first_and_once(transport: str) -> None:
    with serving(SCRIPTS) as mock, agent(transport, mock.url) as client:
        client.send(pb.AgentClientMessage(client_heartbeat=pb.ClientHeartbeat()))
        client.send(run_request("reflected", tools=[tool("localSearch")]))
        asked = client.until("exec_server_message")
        client.send(run_request("again"))
        client.send(pb.AgentClientMessage())
        summarize = pb.ConversationAction(summarize_action=pb.SummarizeAction())
        client.send(pb.AgentClientMessage(conversation_action=summarize))
        client.send(mcp_result(asked, "found"))
        assert faults(client.rest()) == [
            "client_heartbeat comes before run_request",
            "run_request comes a second time",
            "a message holds nothing",
            "conversation_action summarize_action comes within a run",
        ]


def test_a_run_needs_a_state_and_something_to_do() -> None:
    with serving(SCRIPTS) as mock, Connection(mock.url) as connection:
        without = pb.AgentRunRequest()
        without.action.user_message_action.user_message.text = "hi"
        run = Run(connection)
        run.send(pb.AgentClientMessage(run_request=without))
        run.rest()
        assert run.ended()["error"] == {
            "code": "invalid_argument", "message": "conversation_state is missing from run_request", "details": [],
        }  # fmt: skip
        idle = Run(connection)
        idle.send(pb.AgentClientMessage(run_request=pb.AgentRunRequest(conversation_state={})))
        idle.rest()
        assert idle.ended()["error"]["message"] == "run_request has no action that begins a turn"


@pytest.mark.parametrize("data", [framed(b"\xff\xff"), framed(b"", 0x01), framed(b"", 0x80)])
def test_a_stream_that_cannot_be_read_ends_the_run(data: bytes) -> None:
    entries: list[dict[str, Any]] = []
    with serving(SCRIPTS, journal=entries.append) as mock, Connection(mock.url) as connection:
        run = Run(connection)
        run.send_bytes(data)
        run.rest()
        assert run.ended()["error"]["code"] == "invalid_argument"
    (fault,) = [entry["fault"] for entry in entries if "fault" in entry]
    assert fault.startswith("the stream of the client cannot be read: ")
