"""The service's messages as events. Messages of public captures, decoded, are the examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from wireproof_cursor_protos.agent_pb2 import AgentServerMessage, RequestContext
from wireproof_proxy.backends.cursor.turn_decoder import CursorTurnDecoder
from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    CallsEnded,
    ChoiceFailed,
    ChoiceFinished,
    Event,
    FailureReason,
    TextAdded,
    TurnOver,
    UsageReported,
    Working,
)

READ = Tool(name="read", description="", parameters={})
READ_EXEC = {"exec_server_message": {"id": 1, "read_args": {"path": "a.txt", "tool_call_id": "c1"}, "exec_id": "e1"}}


def decoder(*tools: Tool, **values: Any) -> CursorTurnDecoder:
    given: dict[str, Any] = {"context": RequestContext(), "blobs": {}, "seed": "s", **values}
    return CursorTurnDecoder(tools={tool.name: tool for tool in tools}, **given)


def message(found: dict[str, Any]) -> AgentServerMessage:
    return ParseDict(found, AgentServerMessage())


def update(**values: Any) -> AgentServerMessage:
    return message({"interaction_update": values})


def events(state: CursorTurnDecoder, *messages: AgentServerMessage) -> list[Event]:
    return [event for one in messages for event in state.feed(one).events]


def test_text_is_text_and_reasoning_is_work() -> None:
    found = events(
        decoder(),
        update(thinking_delta={"text": "hmm"}),
        update(text_delta={"text": "Hello"}),
        update(token_delta={"tokens": 1}),
        update(turn_ended={}),
    )
    assert found == [Working(), TextAdded(text="Hello"), Working(), ChoiceFinished(reason="stop"), TurnOver()]


def test_the_end_of_the_turn_counts_tokens() -> None:
    ended = {"input_tokens": 11, "output_tokens": 7, "cache_read_tokens": 4, "reasoning_tokens": 3}
    [usage, *_] = events(decoder(), update(turn_ended=ended))
    assert usage == UsageReported(prompt=11, completion=7, cached=4, reasoning=3)


def test_half_a_count_is_none() -> None:
    assert events(decoder(), update(turn_ended={"output_tokens": 7})) == [ChoiceFinished(reason="stop"), TurnOver()]


@pytest.mark.parametrize(
    "idle",
    [
        {"interaction_update": {"heartbeat": {}}},
        {"conversation_checkpoint_update": {"token_details": {"used_tokens": 42}}},
        {"kv_server_message": {"id": 1, "set_blob_args": {"blob_id": "AA==", "blob_data": "AA=="}}},
        {},
    ],
)
def test_signs_of_life_are_no_progress(idle: dict[str, Any]) -> None:
    assert events(decoder(), message(idle)) == []


def test_an_exec_is_a_call_where_tools_are_declared() -> None:
    state = decoder(READ)
    announced = update(tool_call_started={"call_id": "c1", "tool_call": {"read_tool_call": {}}})
    assert events(state, announced) == [Working()]
    assert (state.calls_wait, state.calls_due) == (False, True)
    reaction = state.feed(message(READ_EXEC))
    assert reaction.events == (
        CallBegan(id="c1", name="read"),
        ArgumentsAdded(id="c1", text='{"filePath": "a.txt"}'),
        CallClosed(id="c1"),
    )
    # The client answers it, in another request.
    assert (reaction.replies, reaction.run) == ((), None)
    assert (state.calls_wait, state.calls_due) == (True, False)
    assert state.calls_ended() == [CallsEnded(), TurnOver()]
    assert not state.calls_wait


def test_calls_have_ids_of_their_own_whatever_the_service_gives() -> None:
    state = decoder(READ)
    odd = {"exec_server_message": {"id": 4, "read_args": {"path": "b", "tool_call_id": "call_abc\nfc_xyz"}}}
    nameless = {"exec_server_message": {"id": 2, "read_args": {"path": "b"}}}
    opened = list(events(state, *map(message, (READ_EXEC, READ_EXEC, nameless, nameless, odd))))
    ids = [event.id for event in opened if isinstance(event, CallBegan)]
    assert ids[0] == "c1"
    assert len(set(ids)) == 5
    # A client may refuse an id with a line break.
    assert all(id_.replace("_", "").isalnum() for id_ in ids)


def test_an_exec_is_run_here_where_no_tools_are_declared() -> None:
    reaction = decoder().feed(message(READ_EXEC))
    assert reaction.run == message(READ_EXEC).exec_server_message
    assert reaction.events == (Working(),)


def test_an_exec_that_no_tool_runs_is_refused_and_the_turn_goes_on() -> None:
    state = decoder(READ)
    reaction = state.feed(message({"exec_server_message": {"id": 3, "delete_args": {"path": "a"}}}))
    assert reaction.replies[0].exec_client_message.delete_result.rejected.path == "a"
    assert not state.calls_wait


def test_the_context_is_answered_with_tools_and_without() -> None:
    asked = message({"exec_server_message": {"id": 1, "request_context_args": {}, "exec_id": "ctx"}})
    for state in (decoder(), decoder(READ)):
        assert len(state.feed(asked).replies) == 2


def test_after_the_end_only_the_store_answers() -> None:
    state = decoder(READ)
    state.feed(update(turn_ended={}))
    assert state.feed(update(text_delta={"text": "late"})).events == ()
    assert state.feed(message(READ_EXEC)).events == ()
    put = {"kv_server_message": {"id": 1, "set_blob_args": {"blob_id": "AA==", "blob_data": "AA=="}}}
    assert len(state.feed(message(put)).replies) == 1


def test_a_failure_is_of_one_choice_where_there_are_several() -> None:
    assert decoder().failure(FailureReason.FAILED) == ChoiceFailed(FailureReason.FAILED, None)
    assert decoder(choice=1, choices=2).failure(FailureReason.FAILED) == ChoiceFailed(FailureReason.FAILED, 1)


CAPTURES = json.loads((Path(__file__).parent / "captures.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_is_read_as_it_ended(name: str) -> None:
    capture = CAPTURES[name]
    tools = [Tool(name=one, description="", parameters={}) for one in capture["tools"]]
    found = events(decoder(*tools), *map(message, capture["messages"]))
    text = "".join(event.text for event in found if isinstance(event, TextAdded))
    calls = [event.name for event in found if isinstance(event, CallBegan)]
    spelled = [event.text for event in found if isinstance(event, ArgumentsAdded)]
    assert {"text": text, "calls": calls, "arguments": list(map(json.loads, spelled))} == capture["ends"]
