"""Removes the last turns of a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_scripts.conversation import is_user

if TYPE_CHECKING:
    from wireproof_codex.threads.thread import Thread


def roll_back(thread: Thread, turns: int) -> None:
    """Remove the last turns, with what they put into the history."""
    # Messages, not turns: queued input makes several of a turn, `input: []` none.
    users = thread.turn_history.drop(turns)
    begun = [at for at, item in enumerate(thread.history) if is_user(item)][-users:]
    if users and begun:  # `[-0:]` is the whole list
        del thread.history[begun[0] :]
    thread.store("rolled_back", {"turns": turns})
