"""Where threads are that are not loaded. Without CODEX_HOME the last few are kept in memory.

Otherwise they are stored below it, where the real server does, for the processes that come after this one. A thread is
a file `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, in `archived_sessions` when it is archived. Lines are added,
never changed. Each line is {"type", "payload"}:

    session_meta     how the thread was started; the first line
    response_item    one more item of its history
    token_count      {"total", "last"}: tokens; last is null before the first answer
    turn/started, item/completed, turn/completed, thread/readState/changed
                     params of these notifications of its turns
    settings, cwd, name, goal, git
                     what was changed
    rolled_back      {"turns"}: how many turns were removed from its end
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wireproof_codex.protocol.params import INTERNAL, Refused
from wireproof_codex.threads.thread import KEPT_LEFT_THREADS, Thread
from wireproof_codex.threads.thread_settings import ThreadSettings
from wireproof_codex.threads.turn_history import RECORDED
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Log

_FOLDERS = {"sessions": "*/*/*/rollout-*{}.jsonl", "archived_sessions": "rollout-*{}.jsonl"}
_KEPT = ("id", "created", "cwd", "originator", "developer", "base", "tools", "environments", "conversation")
# The files of the mock have a form of their own, which a real codex that lives there could not read.
_LOGIN = "auth.json"


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


class DamagedError(Exception):
    """A file cannot be read as a thread; the text says where and why."""


class FileThreadStore:
    """Keeps threads below `home`, unless that has a login: then it belongs to a real codex.

    `log` writes a line to stderr: why nothing is stored, once.
    """

    def __init__(self, home: str, log: Callable[[str], None]) -> None:
        self._home = Path(home)
        self._stderr = log
        self._stores = not (self._home / _LOGIN).exists()
        if not self._stores:
            log(f"threads are not stored: {self._home} has a login, so it is that of a real codex")

    def begin(self, thread: Thread) -> None:
        """Store the thread from now on; its file is written with its first entry."""
        thread.log = self._log(thread)
        # A fork, or a thread that begins with a history: later processes must find that, too.
        if thread.turn_history.turns or thread.history:
            self._copy(thread)

    def _copy(self, thread: Thread) -> None:
        # Set back to each turn in its order: a reader gives a turn the tokens that stand before its end.
        total, last = thread.total, thread.last
        for item in thread.history:
            thread.store("response_item", item)
        for turn, cost in zip(thread.turn_history.turns, thread.turn_history.costs, strict=True):
            thread.store("turn/started", {"threadId": thread.id, "turn": {**turn, "items": []}})
            for item in turn["items"]:
                thread.store("item/completed", {"threadId": thread.id, "turnId": turn["id"], "item": item})
            thread.recount(*cost or (Usage(input=0, output=0), None))
            thread.store("turn/completed", {"threadId": thread.id, "turn": {**turn, "items": []}})
        thread.recount(total, last)

    def _log(self, thread: Thread, end: int | None = None) -> Log | None:
        return partial(self._write, thread, end) if self._stores else None

    def _write(self, thread: Thread, end: int | None, kind: str, payload: object) -> None:
        """Add a line; a new file begins with its session_meta.

        `end`: what follows this offset is half a line that a killed process left, to be cut off; None: nothing is.
        """
        path = Path(thread.path or "")
        lines = [] if path.exists() else [("session_meta", _meta(thread))]
        text = "".join(json.dumps({"type": name, "payload": it}) + "\n" for name, it in [*lines, (kind, payload)])
        thread.log = self._log(thread)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                if end is not None:
                    file.truncate(end)
                file.write(text)
        # No place to write is no reason to end: the threads stay in memory.
        except OSError as error:
            thread.log = None
            if self._stores:
                self._stores = False
                self._stderr(f"threads are not stored: {error}")

    def put(self, thread: Thread) -> None:
        """Nothing: the file has everything."""

    def find(self, identity: str) -> Thread | None:
        """The thread of this id.

        Raises:
            Refused: its file is damaged.
        """
        for path in self._paths(f"-{identity}"):
            try:
                return self._read(path)
            except DamagedError as error:
                raise Refused(f"failed to load rollout {error}", INTERNAL) from error
        return None

    def all(self) -> list[Thread]:
        """Every thread whose file can be read."""
        return [thread for path in self._paths("") if (thread := self._readable(path)) is not None]

    def _readable(self, path: Path) -> Thread | None:
        try:
            return self._read(path)
        except DamagedError as error:
            self._stderr(f"a rollout is passed over: {error}")
            return None

    def archive(self, thread: Thread, *, archived: bool) -> None:
        """Move its file."""
        # A thread without an entry has no file yet: then its path alone changes.
        old, new = Path(thread.path or ""), Path(moved(thread.path or "", archived=archived))
        if old.exists():
            new.parent.mkdir(parents=True, exist_ok=True)
            old.rename(new)
        thread.archived, thread.path = archived, str(new)
        thread.log = self._log(thread)

    def delete(self, thread: Thread) -> None:
        """Remove its file."""
        # First, or a late entry would write the file again.
        thread.log = None
        Path(thread.path or "").unlink(missing_ok=True)

    def _paths(self, ending: str) -> Iterator[Path]:
        for folder, pattern in _FOLDERS.items():
            # Folders list their files in no order; the names begin with the time.
            yield from sorted((self._home / folder).glob(pattern.format(ending)))

    def _read(self, path: Path) -> Thread:
        try:
            data = path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]  # a process that was killed may have left half a line
            thread = _from_lines(whole.decode().split("\n")[:-1], str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise DamagedError(f"`{path}`: {error}") from error
        # The process that ran them is gone, and its numbers for turns may be given again.
        thread.turn_history.detach()
        thread.preview = thread.preview or thread.turn_history.preview
        thread.first_unread = ((thread.turn_history.read_state or {}).get("firstUnread") or {}).get("turnId")
        # A turn that was cut off with its process has no end.
        thread.updated = max([thread.created, *(turn["completedAt"] or 0 for turn in thread.turn_history.turns)])
        thread.archived = path.parent.name == "archived_sessions"
        thread.log = self._log(thread, len(whole))
        return thread


def _meta(thread: Thread) -> Json:
    return {
        **{name: getattr(thread, name) for name in _KEPT},
        "cli_version": thread.cli_version,
        "forked_from_id": thread.forked_from,
        "preview": thread.preview,
        "settings": asdict(thread.settings),
    }


def _from_lines(lines: Sequence[str], path: str) -> Thread:
    thread: Thread | None = None
    for number, line in enumerate(lines, 1):
        try:
            entry = parse_json(line)
            kind, payload = entry["type"], entry["payload"]
            if thread is None:
                thread = _from_meta(kind, payload, path)
            elif kind in RECORDED:
                thread.record(kind, payload)
            else:
                _READERS[kind](thread, payload)
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedError(f"`{path}`: line {number} is not what it must be: {error!r}") from error
    if thread is None:
        raise DamagedError(f"`{path}`: it is empty")
    return thread


def _from_meta(kind: str, meta: Json, path: str) -> Thread:
    if kind != "session_meta":
        raise ValueError(f"expected session_meta, found {kind}")
    return Thread(
        **{name: meta[name] for name in _KEPT},
        path=path,
        settings=ThreadSettings(**meta["settings"]),
        raw_events=False,
        cli_version=meta["cli_version"],
        forked_from=meta["forked_from_id"],
        preview=meta["preview"],
        updated=meta["created"],
    )


_READERS: Mapping[str, Callable[[Thread, Any], None]] = {
    "response_item": lambda thread, item: thread.remember([item]),
    "token_count": lambda thread, it: thread.recount(Usage(**it["total"]), Usage(**it["last"]) if it["last"] else None),
    "settings": lambda thread, settings: setattr(thread, "settings", ThreadSettings(**settings)),
    "cwd": Thread.move,
    "name": lambda thread, name: thread.annotate("name", name),
    "goal": lambda thread, goal: thread.annotate("goal", goal),
    "git": lambda thread, git: thread.annotate("git", git),
    "rolled_back": lambda thread, gone: thread.roll_back(**gone),
}
