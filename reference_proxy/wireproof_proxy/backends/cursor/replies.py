"""What the proxy answers to the service within a turn. Pure.

Every exec ends with one result and one `stream_close`, under the exec's own number. A result whose kind is not set
would count as none, or as a success, so a refusal is spelled out: `rejected` where the result has it, else `error`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_cursor_protos.agent_pb2 import (
    AgentClientMessage,
    ExecClientMessage,
    InteractionResponse,
    KvClientMessage,
)

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from wireproof_cursor_protos import agent_pb2

_REFUSALS = ("rejected", "error", "failure")
"""The kinds of a result that refuse, the best one first."""
_REASONS = ("reason", "error")


def closed(result: ExecClientMessage) -> list[AgentClientMessage]:
    """A result, and the end of its exec."""
    return [
        AgentClientMessage(exec_client_message=result),
        AgentClientMessage(exec_client_control_message={"stream_close": {"id": result.id}}),
    ]


def result_field(kind: str) -> str:
    """The field of a result for an exec of this kind."""
    # A shell stream is answered by pieces of the same name, of which a refusal is one.
    return "shell_stream" if kind == "shell_stream_args" else kind.removesuffix("_args") + "_result"


def result_of(exec_: agent_pb2.ExecServerMessage, result: Message) -> ExecClientMessage:
    """A result under the exec's number."""
    message = ExecClientMessage(id=exec_.id, exec_id=exec_.exec_id)
    getattr(message, result_field(exec_.WhichOneof("message") or "")).CopyFrom(result)
    return message


def refusal(exec_: agent_pb2.ExecServerMessage, reason: str) -> list[AgentClientMessage]:
    """The answers that refuse an exec; one of a kind that is not known ends by an exception."""
    kind = exec_.WhichOneof("message")
    if kind is None:
        return [AgentClientMessage(exec_client_control_message={"throw": {"id": exec_.id, "error": reason}})]
    message = ExecClientMessage(id=exec_.id, exec_id=exec_.exec_id)
    result = getattr(message, result_field(kind))
    known = result.DESCRIPTOR.fields_by_name
    refused = getattr(result, next(name for name in _REFUSALS if name in known))
    # Even where no field of it is known, it is the refusal that is set.
    refused.SetInParent()
    _fill(refused, getattr(exec_, kind), reason)
    return closed(message)


def _fill(refused: Message, args: Message, reason: str) -> None:
    """Give a refusal its reason, and what it has in common with the args: path, command, URL."""
    for name in refused.DESCRIPTOR.fields_by_name:
        if name in _REASONS:
            setattr(refused, name, reason)
        elif name in args.DESCRIPTOR.fields_by_name:
            setattr(refused, name, getattr(args, name))


def context(exec_: agent_pb2.ExecServerMessage, found: agent_pb2.RequestContext) -> list[AgentClientMessage]:
    """The answers to a request for the context."""
    success = {"success": {"request_context": found}}
    return closed(ExecClientMessage(id=exec_.id, exec_id=exec_.exec_id, request_context_result=success))


def blob(asked: agent_pb2.KvServerMessage, blobs: dict[bytes, bytes]) -> AgentClientMessage:
    """The answer of the store, which is the turn's own: the service keeps there what it will ask for again."""
    message = KvClientMessage(id=asked.id)
    if asked.WhichOneof("message") == "set_blob_args":
        blobs[asked.set_blob_args.blob_id] = asked.set_blob_args.blob_data
        message.set_blob_result.SetInParent()
    else:
        message.get_blob_result.SetInParent()
        found = blobs.get(asked.get_blob_args.blob_id)
        # Without data: the blob is not known. Empty data would be an empty blob.
        if found is not None:
            message.get_blob_result.blob_data = found
    return AgentClientMessage(kv_client_message=message)


def no_answer(query: agent_pb2.InteractionQuery) -> AgentClientMessage | None:
    """The refusal of a question to the user, since there is none; None for one that has no answer here."""
    kind = query.WhichOneof("query")
    response = InteractionResponse(id=query.id)
    name = _RESPONSES.get(kind or "")
    if name is None:
        return None
    answer = getattr(response, name)
    rejected = answer.result.rejected if name.startswith("ask_question") else answer.rejected
    rejected.reason = "no one can be asked"
    return AgentClientMessage(interaction_response=response)


_RESPONSES = {
    "web_search_request_query": "web_search_request_response",
    "ask_question_interaction_query": "ask_question_interaction_response",
    "switch_mode_request_query": "switch_mode_request_response",
    "exa_search_request_query": "exa_search_request_response",
    "exa_fetch_request_query": "exa_fetch_request_response",
}


def cancel() -> AgentClientMessage:
    """The turn is of no use any more."""
    return AgentClientMessage(conversation_action={"cancel_action": {}})


def heartbeat() -> AgentClientMessage:
    """A sign of life."""
    return AgentClientMessage(client_heartbeat={})
