from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wireproof_proxy.backends.codex.decode import Decoder
from wireproof_proxy.backends.codex.rpc import Notice, ServerRequest, decode
from wireproof_proxy.backends.codex.turn_decoder import CodexTurnDecoder
from wireproof_surfaces.events import (
    ChoiceFailed,
    ChoiceFinished,
    Event,
    FailureReason,
    TextAdded,
    TurnOver,
    UsageReported,
    Working,
)

RECORDINGS = Path(__file__).parents[2] / "recordings" / "0.89.0"
TEXTS = [TextAdded(text=piece) for piece in ("Hello", " from", " the", " stub.")]
USAGE = UsageReported(prompt=120, completion=30, cached=20, reasoning=5)
STOP = ChoiceFinished(reason="stop")


def recorded(name: str) -> list[Notice | ServerRequest]:
    """What the real server said that was no answer."""
    lines = [json.loads(line) for line in (RECORDINGS / f"{name}.jsonl").read_text().splitlines()]
    messages = [decode(json.dumps(line["msg"]).encode()) for line in lines if line["dir"] == "S->"]
    return [message for message in messages if isinstance(message, Notice | ServerRequest)]


def play(messages: list[Notice | ServerRequest], **state: Any) -> list[Event]:
    decoder = Decoder(CodexTurnDecoder(**state))
    events = [event for message in messages for event in decoder.feed(message)]
    return [event for event in events if not isinstance(event, Working | TurnOver)]


@pytest.mark.parametrize("name", ["golden_text_turn", "golden_v1_turn"])
def test_what_was_sent_twice_is_received_once(name: str) -> None:
    assert play(recorded(name)) == [*TEXTS, USAGE, STOP]


@pytest.mark.parametrize("name", ["golden_text_turn", "golden_v1_turn"])
@pytest.mark.parametrize("left_out", ["codex/event/", "item/"])
def test_either_family_is_enough(name: str, left_out: str) -> None:
    messages = [message for message in recorded(name) if not message.method.startswith(left_out)]
    if left_out == "item/":
        messages = [message for message in messages if message.method != "turn/started"]
    elif name == "golden_v1_turn":
        messages.insert(0, Notice("turn/started", {"turn": {"id": "0"}}))
    assert play(messages) == [*TEXTS, USAGE, STOP]


def test_a_failure_that_was_sent_twice_is_one() -> None:
    events = play(recorded("err_http_500"))
    assert [event for event in events if isinstance(event, ChoiceFailed)] == [ChoiceFailed(FailureReason.FAILED)]


def test_an_interrupted_turn_of_either_protocol_has_no_answer() -> None:
    assert ChoiceFailed(FailureReason.FAILED) in play(recorded("interrupt"))
    turn = [message for message in recorded("v1_text") if message.params.get("id") == "3"]
    assert play(turn)[-1] == ChoiceFailed(FailureReason.FAILED)


def test_a_fatal_error_that_names_no_turn_is_the_end() -> None:
    assert play([Notice("error", {"error": {"codexErrorInfo": "serverOverloaded"}})]) == [
        ChoiceFailed(FailureReason.OVERLOADED)
    ]
    other = Notice("error", {"turnId": "other", "error": {}})
    assert play([other], turn_id="mine") == []


def test_a_turn_that_ends_without_a_last_message_is_an_empty_answer() -> None:
    over = Notice("turn/completed", {"turn": {"id": "u", "status": "completed", "items": []}})
    assert play([over], turn_id="u") == [STOP]


def test_a_turn_without_any_other_text_has_that_of_its_summary() -> None:
    items = [{"type": "reasoning"}, {"type": "agentMessage", "id": "m", "text": "a"}]
    over = Notice("turn/completed", {"turn": {"id": "u", "status": "completed", "items": items}})
    assert play([over], turn_id="u") == [TextAdded(text="a"), STOP]
    spoken = Notice("item/agentMessage/delta", {"turnId": "u", "itemId": "m", "delta": "a"})
    assert play([spoken, over], turn_id="u") == [TextAdded(text="a"), STOP]


def test_nothing_counts_after_the_end() -> None:
    assert play(recorded("golden_text_turn") * 2) == [*TEXTS, USAGE, STOP]
