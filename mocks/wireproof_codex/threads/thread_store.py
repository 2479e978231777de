"""Where threads are that are not loaded. Without CODEX_HOME the last few are kept in memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from wireproof_codex.threads.thread import KEPT_LEFT_THREADS

if TYPE_CHECKING:
    from wireproof_codex.threads.thread import Thread


class MemoryThreadStore:
    """Keeps the last threads that were unloaded, as they were."""

    def __init__(self, kept: int = KEPT_LEFT_THREADS) -> None:
        self._kept = kept
        self._threads: OrderedDict[str, Thread] = OrderedDict()

    def begin(self, thread: Thread) -> None:
        """Nothing is stored of a thread that is loaded."""

    def put(self, thread: Thread) -> None:
        """Keep a thread that is no longer loaded; of too many the oldest is dropped."""
        if not thread.ephemeral:
            self._threads[thread.id] = thread
        while len(self._threads) > self._kept:
            self._threads.popitem(last=False)

    def find(self, identity: str) -> Thread | None:
        """The thread of this id."""
        return self._threads.get(identity)

    def all(self) -> list[Thread]:
        """Every thread."""
        return list(self._threads.values())

    def archive(self, thread: Thread, *, archived: bool) -> None:
        """Set the path that it would have."""
        thread.archived = archived
        thread.path = moved(thread.path or "", archived=archived)

    def delete(self, thread: Thread) -> None:
        """Remove it."""
        self._threads.pop(thread.id, None)


def moved(path: str, *, archived: bool) -> str:
    """The path of a rollout in the archive, or out of it: `<home>/sessions/YYYY/MM/DD/<name>`, `<home>/archived_…`."""
    name = path.rpartition("/")[2]
    if archived:
        return f"{path.rpartition('/sessions/')[0]}/archived_sessions/{name}"
    # The archive has no folders of days, so the day is taken from the name of the file.
    year, month, day = name.removeprefix("rollout-").split("T", 1)[0].split("-")
    return f"{path.rpartition('/archived_sessions/')[0]}/sessions/{year}/{month}/{day}/{name}"
