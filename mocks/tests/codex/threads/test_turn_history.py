from __future__ import annotations

from typing import Any

from wireproof_codex.threads.turn_history import KEPT_TURNS, TurnHistory, turn_object
from wireproof_codex.versions.version import VERSIONS


def _item(turn: str, identity: str, kind: str = "agentMessage", **more: Any) -> dict[str, Any]:
    return {"turnId": turn, "item": {"type": kind, "id": identity, **more}}


def test_only_the_last_turns_are_kept() -> None:
    past = TurnHistory()
    for number in range(KEPT_TURNS + 2):
        past.record("turn/started", {"turn": turn_object(str(number), "inProgress", started=1.0)})
    assert [turn["id"] for turn in (past.turns[0], past.turns[-1])] == ["2", str(KEPT_TURNS + 1)]
    assert len(past.costs) == KEPT_TURNS


def test_an_item_whose_end_is_sent_twice_is_kept_once() -> None:
    past = TurnHistory()
    for status in ("declined", "failed"):
        past.record("item/completed", _item("0", "call", "commandExecution", status=status))
    assert [item["status"] for item in past.turns[0]["items"]] == ["failed"]


def test_a_turn_of_another_process_is_another_turn() -> None:
    past = TurnHistory()
    for _ in range(2):
        past.record("item/completed", _item("0", "msg_1"))
        past.detach()
    assert [len(turn["items"]) for turn in past.turns] == [1, 1]


def test_older_versions_find_the_items_of_talk_alone() -> None:
    past = TurnHistory()
    past.record("item/completed", _item("0", "call", "dynamicToolCall"))
    past.record("item/completed", _item("0", "msg_7"))
    [turn] = past.as_sent_by(VERSIONS["0.150.0"])
    assert turn["items"] == [{"type": "agentMessage", "id": "item-1"}]
    [turn] = past.as_sent_by(VERSIONS["0.160.0"])
    assert [item["id"] for item in turn["items"]] == ["call", "msg_7"]
    assert past.numbers == 7


def test_the_first_text_of_the_user_is_the_preview() -> None:
    past = TurnHistory()
    assert past.preview == ""
    content = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    past.record("item/completed", _item("0", "x", "userMessage", content=content))
    assert past.preview == "a\nb"
