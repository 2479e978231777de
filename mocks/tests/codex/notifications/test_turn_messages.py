from __future__ import annotations

from wireproof_codex.notifications.messages import turn_error
from wireproof_codex.threads.turn_history import turn_object
from wireproof_codex.versions.version import NEWEST


def test_a_turn_lasts_from_its_start_to_its_end() -> None:
    turn = turn_object("t", "completed", items=[{"type": "agentMessage"}], started=10.25, completed=12.5)
    assert (turn["startedAt"], turn["completedAt"], turn["durationMs"], turn["itemsView"]) == (10, 12, 2250, "summary")
    turn = turn_object("t", "inProgress")
    assert (turn["startedAt"], turn["durationMs"], turn["itemsView"]) == (None, None, "notLoaded")


def test_an_error_is_sent_with_its_cause() -> None:
    assert turn_error(NEWEST.failures.causes["http-500"])["codexErrorInfo"] == "internalServerError"
