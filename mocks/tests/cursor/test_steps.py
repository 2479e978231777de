"""The steps that only this service plays, each as a client sees it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cursor_agents import (
    TRANSPORTS,
    Agent,
    Connection,
    Run,
    RunSSE,
    agent,
    closed,
    mcp_result,
    named,
    result_of,
    run_request,
    text_of,
    tool,
)
from google.protobuf.json_format import MessageToDict

from wireproof_cursor.runs.context import RunConditions
from wireproof_cursor.serving import CursorMock, serving
from wireproof_cursor_protos import agent_pb2 as pb
from wireproof_scripts.files.json_form import step_from_json
from wireproof_scripts.kinds import MOST, MOST_FIELDS
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Call, Fail, Finish, Reflect, Say, Script, Step, Think, Usage, cursor

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

QUICK = RunConditions(beat=0.1, patience=0.1)
DONE = Say(("done",))


def playing(*parts: tuple[Step, ...], conditions: RunConditions = QUICK) -> AbstractContextManager[CursorMock]:
    """A service that answers `go` with these parts."""
    script = Script(name="own", title="", parts=parts, when="go")
    return serving({**LIBRARY, "own": script}, conditions=conditions)


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def asked_for(client: Agent) -> dict[str, Any]:
    """The next request to the client, as data."""
    message = client.until("exec_server_message").exec_server_message
    kind = str(message.WhichOneof("message"))
    args = MessageToDict(getattr(message, kind), preserving_proto_field_name=True)
    assert message.exec_id == f"exec-{message.id}"
    return {kind: args}


TOOLS: list[tuple[Step, dict[str, Any], str | None]] = [
    (
        cursor.Shell(id="c", command="ls", cwd="/w", timeout=5),
        {"shell_args": {"command": "ls", "working_directory": "/w", "timeout": 5}},
        "shell_tool_call",
    ),
    (cursor.Shell(id="c", command="ls", stream=True), {"shell_stream_args": {"command": "ls"}}, "shell_tool_call"),
    (cursor.Read(id="c", path="a"), {"read_args": {"path": "a"}}, "read_tool_call"),
    (
        cursor.Read(id="c", path="a", offset=0, limit=2),
        {"read_args": {"path": "a", "offset": 0, "limit": 2}},
        "read_tool_call",
    ),
    (
        cursor.Write(id="c", path="a", text="é"),
        {"write_args": {"path": "a", "file_text": "é", "return_file_content_after_write": True}},
        None,
    ),
    (
        cursor.Write(id="c", path="a", text="é", as_bytes=True),
        {"write_args": {"path": "a", "file_bytes": "w6k=", "return_file_content_after_write": True}},
        None,
    ),
    (cursor.Delete(id="c", path="a"), {"delete_args": {"path": "a"}}, "delete_tool_call"),
    (cursor.Ls(id="c", path="a", ignore=("b",)), {"ls_args": {"path": "a", "ignore": ["b"]}}, "ls_tool_call"),
    (
        cursor.Grep(id="c", pattern="x", ignore_case=True),
        {"grep_args": {"pattern": "x", "output_mode": "content", "case_insensitive": True}},
        "grep_tool_call",
    ),
    (
        cursor.Grep(id="c", pattern="x", path="p", glob="*.py", mode="count"),
        {"grep_args": {"pattern": "x", "path": "p", "glob": "*.py", "output_mode": "count"}},
        "grep_tool_call",
    ),
    (
        cursor.Glob(id="c", pattern="*.py", path="p"),
        {"grep_args": {"glob": "*.py", "path": "p", "output_mode": "files_with_matches"}},
        "glob_tool_call",
    ),
    (cursor.Fetch(id="c", url="http://localhost/"), {"fetch_args": {"url": "http://localhost/"}}, "fetch_tool_call"),
]


@pytest.mark.parametrize(("step", "request_", "announced"), TOOLS)
def test_a_tool_of_the_service_is_announced_and_requested(
    step: Step, request_: dict[str, Any], announced: str | None
) -> None:
    with playing((step,)) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request("go"))
        ((kind, args),) = asked_for(client).items()
        assert (kind, {**args, "tool_call_id": "c"}) == (kind, args)
        assert {kind: {name: value for name, value in args.items() if name != "tool_call_id"}} == request_
        updates = [message.interaction_update for message in client.seen if message.HasField("interaction_update")]
        calls = [str(update.WhichOneof("message")) for update in updates]
        assert calls == (["partial_tool_call", "tool_call_started"] if announced else [])
        assert {update.tool_call_started.tool_call.WhichOneof("tool") for update in updates[1:]} == (
            {announced} if announced else set()
        )


def test_every_tool_of_the_service_is_tested() -> None:
    assert {type(step) for step, _, _ in TOOLS} == set(cursor.Exec.__args__)


def test_results_are_announced_and_read_by_the_model(transport: str) -> None:
    parts = ((cursor.Read(id="r", path="a"), cursor.Shell(id="s", command="ls")), (Reflect("received"),))
    with playing(*parts) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        read, shell = client.until("exec_server_message"), client.until("exec_server_message")
        # In any order: they are matched by their numbers.
        client.send(result_of(shell, shell_result=pb.ShellResult(success=pb.ShellSuccess(stdout="a\n"))))
        client.send(closed(shell))
        success = pb.ReadSuccess(path="a", content="alpha", total_lines=1)
        client.send(result_of(read, read_result=pb.ReadResult(success=success)))
        client.send(closed(read))
        messages = client.rest()
    completed = [m.interaction_update.tool_call_completed for m in messages if named(m) == "tool_call_completed"]
    by_id = {one.call_id: one.tool_call for one in completed}
    assert by_id["r"].read_tool_call.result.success.content == "alpha"
    assert by_id["s"].shell_tool_call.result.success.stdout == "a\n"
    history = json.loads(text_of(messages))["history"]
    outputs = {item["call_id"]: item["output"] for item in history if item["type"] == "function_call_output"}
    assert outputs == {"r": "alpha", "s": "a\n"}


def test_a_call_has_its_arguments_as_values_and_its_pieces_as_text(transport: str) -> None:
    call = Call(id="c", name="f", arguments='{"a": [1, null], "b": "x"}', pieces=('{"a": [1, null]', ', "b": "x"}'))
    with playing((call,)) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go", tools=[tool("f")]))
        args = asked_for(client)["mcp_args"]
    assert args["args"] == {"a": [1.0, None], "b": "x"}
    assert (args["name"], args["tool_name"], args["provider_identifier"]) == ("own-f", "f", "own")
    texts = [
        m.interaction_update.partial_tool_call.args_text_delta for m in client.seen if named(m) == "partial_tool_call"
    ]
    assert texts == ['{"a": [1, null]', call.arguments]


def test_thoughts_come_in_pieces_and_have_an_end(transport: str) -> None:
    with playing((Think("ab", pieces=("a", "b")), DONE)) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        messages = client.rest()
    assert [m.interaction_update.thinking_delta.text for m in messages if named(m) == "thinking_delta"] == ["a", "b"]
    assert [named(m) for m in messages].index("thinking_completed") == 2


def test_counts_are_in_the_end_of_the_turn_and_in_the_checkpoints(transport: str) -> None:
    usage = Usage(input=10, output=5, cached=3, reasoning=2)
    with playing((usage, DONE)) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        messages = client.rest()
    (ended,) = [m.interaction_update.turn_ended for m in messages if named(m) == "turn_ended"]
    assert MessageToDict(ended) == {
        "inputTokens": "10", "outputTokens": "5", "cacheReadTokens": "3", "cacheWriteTokens": "0",
        "reasoningTokens": "2",
    }  # fmt: skip
    states = [m.conversation_checkpoint_update for m in messages if named(m) == "conversation_checkpoint_update"]
    assert [state.token_details.used_tokens for state in states] == [15, 15]
    # Every blob that a state names was kept by the client before.
    assert {name for state in states for name in state.root_prompt_messages_json} <= set(client.blobs)


def test_unknown_counts_are_not_sent() -> None:
    with playing((Usage(unknown=True), DONE)) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request("go"))
        (ended,) = [m.interaction_update.turn_ended for m in client.rest() if named(m) == "turn_ended"]
    assert MessageToDict(ended) == {}


def test_the_context_is_asked_for_if_the_request_has_none(transport: str) -> None:
    request = run_request("[[wireproof:reflect/received#1]]")
    request.run_request.action.user_message_action.ClearField("request_context")
    with playing() as mock, agent(transport, mock.url) as client:
        client.send(request)
        asked = client.until("exec_server_message")
        assert asked.exec_server_message.HasField("request_context_args")
        context = pb.RequestContext(tools=[tool("localSearch")], cloud_rule="Be brief.")
        success = pb.RequestContextSuccess(request_context=context)
        client.send(result_of(asked, request_context_result=pb.RequestContextResult(success=success)))
        received = json.loads(text_of(client.rest()))
    assert [one["name"] for one in received["tools"]] == ["localSearch"]
    assert (received["developer"], received["faults"]) == ("Be brief.", [])


def test_a_turn_goes_on_without_a_context(transport: str) -> None:
    with playing((cursor.RequestContext(), Reflect("received"))) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        assert asked_for(client) == {"request_context_args": {}}
        received = json.loads(text_of(client.rest()))
    assert received["faults"] == ["exec_server_message 1 (request_context) was not answered"]


def test_a_request_that_no_client_knows_can_be_thrown_back(transport: str) -> None:
    with (
        playing((cursor.UnknownExec(), Reflect("received")), conditions=RunConditions()) as mock,
        agent(transport, mock.url) as client,
    ):
        client.send(run_request("go"))
        asked = client.until("exec_server_message").exec_server_message
        assert asked.WhichOneof("message") is None
        thrown = pb.ExecClientThrow(id=asked.id, error="unknown")
        control = pb.ExecClientControlMessage(throw=thrown)
        client.send(pb.AgentClientMessage(exec_client_control_message=control))
        assert json.loads(text_of(client.rest()))["faults"] == []


def test_requests_can_be_taken_back(transport: str) -> None:
    with (
        playing((cursor.Shell(id="c", command="sleep"), cursor.Abort()), (DONE,)) as mock,
        agent(transport, mock.url) as client,
    ):
        client.send(run_request("go"))
        asked = client.until("exec_server_message").exec_server_message
        aborted = client.until("exec_server_control_message").exec_server_control_message
        assert aborted.abort.id == asked.id
        assert text_of(client.rest()) == "done"


def test_blobs_are_kept_and_given(transport: str) -> None:
    with (
        playing(
            (cursor.SetBlob("kept"), cursor.GetBlob("kept"), cursor.GetBlob("never sent"), Reflect("received"))
        ) as m,
        agent(transport, m.url) as client,
    ):
        client.send(run_request("go"))
        assert json.loads(text_of(client.rest()))["faults"] == []
    asked = [m.kv_server_message.WhichOneof("message") for m in client.seen if m.HasField("kv_server_message")]
    assert asked == ["set_blob_args", "set_blob_args", "get_blob_args", "get_blob_args", "set_blob_args"]


def test_a_checkpoint_is_no_end(transport: str) -> None:
    with (
        playing((cursor.Checkpoint(used=7, most=9, pending=("{}",)), DONE)) as mock,
        agent(transport, mock.url) as client,
    ):
        client.send(run_request("go"))
        state = client.until("conversation_checkpoint_update").conversation_checkpoint_update
        assert (state.token_details.used_tokens, state.token_details.max_tokens) == (7, 9)
        assert list(state.pending_tool_calls) == ["{}"]
        assert text_of(client.rest()) == "done"


def test_the_largest_numbers_that_a_script_may_have_are_sent() -> None:
    part = [
        {"usage": {"input": MOST, "output": MOST, "cached": MOST, "reasoning": MOST}},
        {"checkpoint": {"used": MOST, "most": MOST}},
        {"unknown-exec": {"number": MOST_FIELDS}},
        {"read": {"id": "r", "path": "a", "offset": MOST, "limit": MOST}},
        {"shell": {"id": "s", "command": "ls", "timeout": MOST}},
        "abort",
        {"say": "done"},
    ]
    with playing(tuple(map(step_from_json, part)), (DONE,)) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request("go"))
        messages = client.rest()
    states = [m.conversation_checkpoint_update for m in messages if named(m) == "conversation_checkpoint_update"]
    assert [states[0].token_details.used_tokens, states[-1].token_details.used_tokens] == [MOST, 2 * MOST]
    (shell,) = [m.exec_server_message.shell_args for m in messages if m.exec_server_message.HasField("shell_args")]
    assert shell.timeout == MOST


def test_heartbeats_come_as_often_as_they_are_scripted(transport: str) -> None:
    with (
        playing((cursor.Heartbeat(3, every=0.01), DONE), conditions=RunConditions()) as mock,
        agent(transport, mock.url) as client,
    ):
        client.send(run_request("go"))
        messages = client.rest()
    assert [named(message) for message in messages].count("heartbeat") == 3


QUERIES = {
    "web-search": "web_search_request_query",
    "ask-question": "ask_question_interaction_query",
    "switch-mode": "switch_mode_request_query",
    "exa-search": "exa_search_request_query",
    "exa-fetch": "exa_fetch_request_query",
}


@pytest.mark.parametrize("kind", QUERIES)
def test_a_query_can_be_rejected(kind: Any) -> None:
    rejected = pb.ReasonOnly(reason="nobody is here")
    with (
        playing((cursor.Query("x", kind=kind, wait=20.0), Reflect("received"))) as mock,
        Connection(mock.url) as connection,
    ):
        client = Run(connection)
        client.send(run_request("go"))
        query = client.until("interaction_query").interaction_query
        assert query.WhichOneof("query") == QUERIES[kind]
        response = pb.InteractionResponse(id=query.id)
        if kind == "ask-question":
            response.ask_question_interaction_response.result.rejected.CopyFrom(rejected)
        else:
            getattr(response, QUERIES[kind].replace("_query", "_response")).rejected.CopyFrom(rejected)
        client.send(pb.AgentClientMessage(interaction_response=pb.InteractionResponse(id=9)))
        client.send(pb.AgentClientMessage(interaction_response=response))
        found = json.loads(text_of(client.rest()))["faults"]
    assert found == ["interaction_response 9: no query has that id"]


def test_a_query_may_go_unanswered(transport: str) -> None:
    with playing((cursor.Query("x", wait=0.05), DONE)) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        assert text_of(client.rest()) == "done"


# The trap of one session


TRAPPED = ((Call(id="call_1", name="f", arguments="{}"),), (cursor.Trap("It is 22 degrees.", every=0.01), DONE))


def test_a_turn_that_goes_on_from_a_result_on_its_stream_is_trapped(transport: str) -> None:
    with playing(*TRAPPED) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go", tools=[tool("f")]))
        client.send(mcp_result(client.until("exec_server_message"), "22"))
        client.until("tool_call_completed")
        after = [message for message in (client.message() for _ in range(6)) if message is not None]
        assert [named(message) for message in after] == ["conversation_checkpoint_update", *5 * ["heartbeat"]]
        assert any(b"It is 22 degrees." in blob for blob in client.blobs.values())


def test_a_fresh_run_with_the_result_in_its_history_is_not(transport: str) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "call_1", "toolName": "f", "args": {}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "call_1", "toolName": "f", "result": "22"}]},
    ]
    with playing(*TRAPPED) as mock, agent(transport, mock.url) as client:
        client.send(run_request(roots=client.keep(*messages)))
        assert text_of(client.rest()) == "done"


def test_a_trap_can_be_in_any_run(transport: str) -> None:
    with playing((cursor.Trap("never", every=0.01, always=True),)) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        client.until("heartbeat")
        client.until("heartbeat")


def test_the_blob_of_a_trap_can_repeat_the_call(transport: str) -> None:
    trap = cursor.Trap("Again:", every=0.01, repeats=True)
    with playing(TRAPPED[0], (trap, DONE)) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go", tools=[tool("f")]))
        client.send(mcp_result(client.until("exec_server_message"), "22"))
        client.until("heartbeat")
        kept = next(json.loads(blob) for blob in client.blobs.values() if b"Again:" in blob)
    call = {"type": "tool-call", "toolCallId": "call_1", "toolName": "f", "args": {}}
    assert kept["content"] == [{"type": "text", "text": "Again:"}, call]


def test_a_client_that_counts_twice_is_trapped_by_its_lost_answer() -> None:
    with playing(*((TRAPPED[0]), (DONE,))) as mock, RunSSE(mock.url) as client:
        client.send(run_request("go", tools=[tool("f")]))
        asked = client.until("exec_server_message")
        client.send(mcp_result(asked, "22"))
        client.keeps = False
        last = client.until("kv_server_message").kv_server_message
        client.append(pb.AgentClientMessage(kv_client_message=client.kept(last)), 1)
        assert [named(message) for message in (client.message(), client.message()) if message] == 2 * ["heartbeat"]


def test_messages_can_be_dropped(transport: str) -> None:
    with playing((cursor.Drop(1), cursor.SetBlob("kept"), DONE)) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        client.until("heartbeat")
        lost = client.seen[-2].kv_server_message
        client.send(pb.AgentClientMessage(kv_client_message=client.kept(lost)))
        assert text_of(client.rest()) == "done"


# Late events, and ends


def test_what_comes_after_the_end_of_a_turn_is_sent_all_the_same(transport: str) -> None:
    with (
        playing((DONE, Finish(), Say(("late",)), Call(id="c", name="f", arguments="{}"), Finish())) as mock,
        agent(transport, mock.url) as client,
    ):
        client.send(run_request("go"))
        messages = client.rest()
    kinds = [named(message) for message in messages]
    assert kinds.count("turn_ended") == 2
    assert kinds.index("exec_server_message") > kinds.index("turn_ended")
    assert text_of(messages) == "donelate"


def test_a_stream_may_end_well_without_the_end_of_the_turn(transport: str) -> None:
    with playing((DONE, cursor.EndStream())) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        assert "turn_ended" not in [named(message) for message in client.rest()]
        assert client.ended() == ({"grpc-status": "0"} if transport == "grpc-web" else {})


def test_a_stream_may_be_cut_before_its_end(transport: str) -> None:
    with playing((DONE, Fail("cut"))) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        assert text_of(client.rest()) == "done"
        assert client.end is None
