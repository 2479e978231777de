"""What is answered within a turn: every kind of exec can be refused, in the protocol's own words."""

from __future__ import annotations

from typing import Any

import pytest

from wireproof_cursor_protos.agent_pb2 import (
    AgentServerMessage,
    ExecServerMessage,
    InteractionQuery,
    KvServerMessage,
    RequestContext,
)
from wireproof_proxy.backends.cursor import replies

KINDS = [field.name for field in ExecServerMessage.DESCRIPTOR.oneofs_by_name["message"].fields]
REJECTED = {"shell_args", "shell_stream_args", "write_args", "delete_args", "read_args", "ls_args", "diagnostics_args"}
REJECTED |= {"mcp_args", "background_shell_spawn_args"}


def of_kind(kind: str, **values: Any) -> ExecServerMessage:
    exec_ = ExecServerMessage(id=7, exec_id="e7")
    getattr(exec_, kind).SetInParent()
    for name, value in values.items():
        setattr(getattr(exec_, kind), name, value)
    return exec_


@pytest.mark.parametrize("kind", KINDS)
def test_every_exec_is_refused_under_its_number_and_closed(kind: str) -> None:
    answer, close = replies.refusal(of_kind(kind), "not here")
    message = answer.exec_client_message
    assert (message.id, message.exec_id) == (7, "e7")
    assert message.WhichOneof("message") == replies.result_field(kind)
    result = getattr(message, replies.result_field(kind))
    # The others are the fields that may be absent.
    refused = result.WhichOneof(result.DESCRIPTOR.oneofs[0].name)
    assert refused in {"rejected", "error", "failure"}
    assert (refused == "rejected") or kind not in REJECTED
    assert "not here" in str(getattr(result, refused))
    assert close.exec_client_control_message.stream_close.id == 7


def test_a_refusal_says_of_what_it_is() -> None:
    [answer, _] = replies.refusal(of_kind("shell_args", command="rm", working_directory="/w"), "no")
    rejected = answer.exec_client_message.shell_result.rejected
    assert (rejected.command, rejected.working_directory, rejected.reason) == ("rm", "/w", "no")


def test_an_unknown_exec_is_thrown() -> None:
    [answer] = replies.refusal(ExecServerMessage(id=9), "no")
    throw = answer.exec_client_control_message.throw
    assert (throw.id, throw.error) == (9, "no")


def test_the_context_is_given() -> None:
    found = RequestContext(cloud_rule="x")
    answer, close = replies.context(of_kind("request_context_args"), found)
    assert answer.exec_client_message.request_context_result.success.request_context == found
    assert close.exec_client_control_message.stream_close.id == 7


def test_the_store_gives_back_what_it_was_given() -> None:
    blobs = {b"known": b"data", b"empty": b""}
    put = KvServerMessage(id=3)
    put.set_blob_args.blob_id, put.set_blob_args.blob_data = b"new", b"more"
    answer = replies.blob(put, blobs).kv_client_message
    assert (answer.id, answer.WhichOneof("message"), answer.set_blob_result.HasField("error")) == (
        3,
        "set_blob_result",
        False,
    )
    found = {}
    for id_ in (b"known", b"empty", b"new", b"unknown"):
        asked = KvServerMessage(id=4)
        asked.get_blob_args.blob_id = id_
        result = replies.blob(asked, blobs).kv_client_message.get_blob_result
        found[id_] = result.blob_data if result.HasField("blob_data") else None
    assert found == {b"known": b"data", b"empty": b"", b"new": b"more", b"unknown": None}


@pytest.mark.parametrize(
    "kind",
    [
        "web_search_request_query",
        "ask_question_interaction_query",
        "switch_mode_request_query",
        "exa_search_request_query",
        "exa_fetch_request_query",
    ],
)
def test_a_question_to_the_user_is_rejected(kind: str) -> None:
    query = InteractionQuery(id=5)
    getattr(query, kind).SetInParent()
    answer = replies.no_answer(query)
    assert answer is not None
    assert answer.interaction_response.id == 5
    assert "no one can be asked" in str(answer.interaction_response)
    assert "rejected" in str(answer.interaction_response)


def test_a_query_without_a_form_of_refusal_is_not_answered() -> None:
    query = InteractionQuery(id=5)
    query.create_plan_request_query.SetInParent()
    assert replies.no_answer(query) is None


def test_signs_of_life_and_cancellation_are_set() -> None:
    assert replies.heartbeat().WhichOneof("message") == "client_heartbeat"
    assert replies.cancel().conversation_action.WhichOneof("action") == "cancel_action"
    assert AgentServerMessage().WhichOneof("message") is None
