"""The updates that a turn sends, each built in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_cursor_protos import agent_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof_scripts.steps import Usage

Message = pb.AgentServerMessage

MOST_TOKENS = 200_000
"""`max_tokens` of a checkpoint."""


def _update(**update: object) -> Message:
    return Message(interaction_update=pb.InteractionUpdate(**update))  # type: ignore[arg-type]


def text(piece: str) -> Message:
    """A delta of the answer's text."""
    return _update(text_delta=pb.TextDeltaUpdate(text=piece))


def tokens(count: int) -> Message:
    """How many tokens the answer has more."""
    return _update(token_delta=pb.TokenDeltaUpdate(tokens=count))


def thought(piece: str) -> Message:
    """A delta of reasoning."""
    return _update(thinking_delta=pb.ThinkingDeltaUpdate(text=piece))


def thought_over(milliseconds: int) -> Message:
    """The end of reasoning."""
    return _update(thinking_completed=pb.ThinkingCompletedUpdate(thinking_duration_ms=milliseconds))


def heartbeat() -> Message:
    """A sign of life."""
    return _update(heartbeat=pb.HeartbeatUpdate())


def turn_ended(usage: Usage) -> Message:
    """The end of the turn, with its counts unless they are unknown."""
    if usage.unknown:
        return _update(turn_ended=pb.TurnEndedUpdate())
    counts = pb.TurnEndedUpdate(
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cached,
        cache_write_tokens=0,
        reasoning_tokens=usage.reasoning,
    )
    return _update(turn_ended=counts)


def partial_call(call_id: str, call: pb.ToolCall, model_call_id: str, arguments: str = "") -> Message:
    """A call whose arguments are not complete; `arguments` are those so far, as JSON text."""
    partial = pb.PartialToolCallUpdate(
        call_id=call_id, tool_call=call, args_text_delta=arguments, model_call_id=model_call_id
    )
    return _update(partial_tool_call=partial)


def call_started(call_id: str, call: pb.ToolCall, model_call_id: str) -> Message:
    """A call whose arguments are complete; it is an announcement, the request comes by itself."""
    started = pb.ToolCallStartedUpdate(call_id=call_id, tool_call=call, model_call_id=model_call_id)
    return _update(tool_call_started=started)


def call_completed(call_id: str, call: pb.ToolCall, model_call_id: str) -> Message:
    """A call whose result the service has."""
    completed = pb.ToolCallCompletedUpdate(call_id=call_id, tool_call=call, model_call_id=model_call_id)
    return _update(tool_call_completed=completed)


def checkpoint(usage: Usage, *, roots: Sequence[bytes]) -> Message:
    """The state of the conversation, by the names of its blobs, with its tokens unless they are unknown."""
    return state(0 if usage.unknown else usage.input + usage.output, MOST_TOKENS, roots=roots)


def state(used: int, most: int, *, roots: Sequence[bytes], pending: Sequence[str] = ()) -> Message:
    """The state of the conversation with counts of tokens, of which none is sent if none was used."""
    structure = pb.ConversationStateStructure(root_prompt_messages_json=roots, pending_tool_calls=pending)
    if used:
        structure.token_details.CopyFrom(pb.ConversationTokenDetails(used_tokens=used, max_tokens=most))
    return Message(conversation_checkpoint_update=structure)


def aborted(number: int) -> Message:
    """A request to the client that is no longer wanted."""
    abort = pb.ExecServerAbort(id=number)
    return Message(exec_server_control_message=pb.ExecServerControlMessage(abort=abort))
