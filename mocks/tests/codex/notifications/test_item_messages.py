from __future__ import annotations

from wireproof_codex.notifications.item_messages import estimated, tool_call, usage, user_content
from wireproof_scripts.steps import Usage


def test_a_total_is_input_and_output() -> None:
    counts = usage(Usage(input=10, output=5, cached=4, reasoning=3))
    assert (counts["totalTokens"], counts["cachedInputTokens"], counts["reasoningOutputTokens"]) == (15, 4, 3)
    assert estimated(1000)["totalTokens"] == 1000


def test_a_call_is_in_progress_until_it_has_an_outcome() -> None:
    assert tool_call("c", "f", {})["status"] == "inProgress"
    assert tool_call("c", "f", {}, {"status": "failed"})["status"] == "failed"


def test_every_kind_of_input_is_sent_back() -> None:
    assert user_content({"type": "text", "text": "a"}) == {"type": "text", "text": "a", "text_elements": []}
    assert user_content({"type": "image", "url": "data:"}) == {"type": "image", "url": "data:", "detail": None}
    assert list(user_content({"type": "image", "url": "data:"}, detail_first=True)) == ["type", "detail", "url"]
    assert user_content({"type": "image", "fileId": "f"}) == {"type": "image", "fileId": "f"}
    assert user_content({"type": "localImage", "path": "p"}) == {"type": "localImage", "detail": None, "path": "p"}
    assert user_content({"type": "mention", "name": "n", "path": "p"}) == {"type": "mention", "name": "n", "path": "p"}
