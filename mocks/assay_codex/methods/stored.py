"""The methods about threads that are stored: they are found, copied, put away and brought back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay_codex.methods.asking import begin_thread, find_thread, tell_loaded
from assay_codex.methods.finding import NONE_FOUND, find_stored
from assay_codex.methods.goals import goal_told
from assay_codex.methods.listing import is_loaded, listed
from assay_codex.methods.paging import turns_page
from assay_codex.notifications import item_messages, legacy, messages
from assay_codex.notifications.counting import Counting
from assay_codex.protocol.params import Refused
from assay_codex.threads.rollback import roll_back

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay_codex.context import Host
    from assay_codex.methods.asked import Asked
    from assay_codex.threads.thread import Thread

Json = dict[str, Any]

_NONE_ARCHIVED = "no archived rollout found for thread id {id}"
_PAGED = "use `excludeTurns: true`, then page with `thread/turns/list` and `thread/items/list`."
_PAGED_READ = "omit `includeTurns` or set it to `false`, then page with `thread/turns/list` and `thread/items/list`."
_UNPAGED_FORK = "ephemeral paginated thread/fork requires `excludeTurns: true`"
_PARENT = "cannot delete thread {id}: forked history still references it"


# What they find


def _find_unarchived(asked: Asked) -> Thread:
    thread = find_stored(asked)
    if thread.archived or not _is_stored(asked.server, thread):
        raise Refused(NONE_FOUND.format(id=thread.id))
    return thread


def _is_stored(server: Host, thread: Thread) -> bool:
    return not thread.ephemeral and bool(thread.past.turns or server.version.stored.before_first_turn)


def _no_pages(asked: Asked, instead: str) -> None:
    """Say that the turns are better asked for in pages."""
    if asked.server.version.stored.paged:
        summary = f"Full-history hydration is deprecated for paginated threads; {instead}"
        asked.server.tell_client("deprecationNotice", {"summary": summary, "details": None}, asked.now)


# thread/read, thread/resume


def _thread_read(asked: Asked) -> None:
    server = asked.server
    version = server.version
    thread = find_stored(asked, version.stored.unread_error)
    if thread.archived and not version.stored.reads_archived:
        raise Refused(version.stored.unread_error.format(id=thread.id))
    turns: list[Json] = []
    if asked.params.get("includeTurns"):
        _check_turns(asked, thread)
        _no_pages(asked, _PAGED_READ)
        turns = thread.past.told(version)
    told: Json = {"thread": messages.thread(thread, version, turns, loaded=is_loaded(server, thread))}
    asked.reply({**told, "readState": thread.past.read_state} if server.experimental else told)


def _check_turns(asked: Asked, thread: Thread) -> None:
    if thread.ephemeral:
        raise Refused("ephemeral threads do not support includeTurns")
    no_turns = asked.server.version.stored.no_turns_error
    if no_turns is not None and not thread.past.turns:
        raise Refused(no_turns[1].format(id=thread.id), no_turns[0])


def resume(asked: Asked) -> None:
    """thread/resume, without a history."""
    server = asked.server
    version, exclude = server.version, asked.params.get("excludeTurns")
    thread = find_stored(asked)
    counts = is_loaded(server, thread) or version.stored.counts_new_forks or not thread.forked
    _load(asked, thread)
    turns = [] if exclude else thread.past.told(version)
    first = asked.params.get("initialTurnsPage")
    page = None if first is None else turns_page(server, thread, first)
    asked.reply(messages.thread_resumed(thread, version, turns, page))
    if turns and counts:
        _tell_counts(asked, thread, turns)
    server.tell(thread, *goal_told(thread), asked.now)


def _load(asked: Asked, thread: Thread) -> None:
    server, version = asked.server, asked.server.version
    loaded = is_loaded(server, thread)
    if thread.archived or not _is_stored(server, thread):
        raise Refused((version.stored.archived_error if thread.archived else NONE_FOUND).format(id=thread.id))
    if not asked.params.get("excludeTurns"):
        _no_pages(asked, _PAGED)
    server.subscribe(thread)
    if not loaded:
        server.threads.add(thread)
        while server.ids.number() < thread.past.numbers:
            pass  # ids of items that it has are not given again
    if not loaded or (version.stored.reloads_on_resume and thread.turn is None):
        thread.operations, thread.failed = 0, False
        thread.past.leave()
        tell_loaded(asked, thread)
    if not loaded:
        told = {"threadId": thread.id, "status": messages.status(thread)}
        server.tell_all("thread/status/changed", told, asked.now)


def _tell_counts(asked: Asked, thread: Thread, turns: list[Json]) -> None:
    """What the thread has cost so far."""
    version = asked.server.version
    if version.stored.resends_counts and thread.last is not None:
        total, last = item_messages.usage(thread.total), item_messages.usage(thread.last)
        place = {"threadId": thread.id, "turnId": turns[-1]["id"]}
        counts = item_messages.token_usage(place, total, last, version.counts.context_window)
        asked.server.tell_client("thread/tokenUsage/updated", counts, asked.now)


# thread/fork


def _thread_fork(asked: Asked) -> None:
    server, params = asked.server, asked.params
    version, exclude = server.version, params.get("excludeTurns")
    source = _find_unarchived(asked)
    if version.stored.paged and params.get("ephemeral") and not exclude:
        raise Refused(_UNPAGED_FORK)
    if not exclude:
        _no_pages(asked, _PAGED)
    thread = copy_thread(asked, source)
    turns = [] if exclude else source.past.told(version)
    tell_loaded(asked, thread)
    if version.messages.status_before_thread:
        told = {"threadId": thread.id, "status": messages.status(thread)}
        server.tell_all("thread/status/changed", told, asked.now)
    asked.reply(messages.thread_opened(thread, version, turns))
    if turns:
        _tell_counts(asked, thread, turns)
    shown = messages.thread(thread, version, turns if version.stored.fork_starts_with_turns else ())
    server.tell_all("thread/started", {"thread": shown}, asked.now)


# What a fork takes from its source alone, whatever thread/fork names.
_KEPT = frozenset({"dynamicTools", "environments"})


def copy_thread(asked: Asked, source: Thread) -> Thread:
    """A thread that goes on from where the other one is, with what the request names changed."""
    params = {name: value for name, value in asked.params.items() if value is not None and name not in _KEPT}
    if not asked.server.version.stored.ephemeral_forks:
        params.pop("ephemeral", None)
    given = {
        "cwd": source.cwd,
        "developerInstructions": source.developer,
        "baseInstructions": source.base,
        "dynamicTools": source.tools,
        "environments": source.environments,
        **params,
    }
    named: Json = {name: params[name] for name in ("model", "approvalPolicy") if name in params}

    def fill(thread: Thread) -> None:
        sandbox = thread.settings.sandbox if "sandbox" in params else source.settings.sandbox
        thread.settings = replace(source.settings, sandbox=sandbox)
        thread.settings.override(named)
        thread.history, thread.past = list(source.history), source.past.copy()
        thread.total, thread.last = source.total, source.last
        thread.preview, thread.forked = source.preview, source.id

    return begin_thread(asked, given, fill)


# thread/archive, thread/unarchive, thread/delete, thread/name/set


def unload(asked: Asked, thread: Thread) -> None:
    """Stop what plays in it, and tell that it is not loaded any more."""
    server = asked.server
    if not is_loaded(server, thread):
        return
    server.drop(thread)
    server.threads.remove(thread)
    if server.version.messages.legacy_events and server.version.stored.legacy_shutdown:
        ended = legacy.notification(server.turn_id(thread, asked.now), thread.id, {"type": "shutdown_complete"})
        server.tell(thread, *ended, asked.now)
    gone = {"threadId": thread.id, "status": {"type": "notLoaded"}}
    server.tell_all("thread/status/changed", gone, asked.now)


def _thread_archive(asked: Asked) -> None:
    thread, server = _find_unarchived(asked), asked.server
    unload(asked, thread)
    server.shelf.put(thread)
    server.shelf.archive(thread, archived=True)
    asked.reply({})
    server.tell_all("thread/archived", {"threadId": thread.id}, asked.now)


def _thread_unarchive(asked: Asked) -> None:
    thread, server = find_stored(asked, _NONE_ARCHIVED), asked.server
    if not thread.archived:
        raise Refused(_NONE_ARCHIVED.format(id=thread.id))
    server.shelf.archive(thread, archived=False)
    asked.reply({"thread": messages.thread(thread, server.version, loaded=False)})
    server.tell_all("thread/unarchived", {"threadId": thread.id}, asked.now)


def _thread_delete(asked: Asked) -> None:
    thread, server = find_stored(asked), asked.server
    if thread.ephemeral:
        raise Refused(f"thread is not persisted and cannot be deleted: {thread.id}")
    unload(asked, thread)
    server.shelf.put(thread)
    forks = [it for it in listed(server, archived=False) if it.forked == thread.id]
    if server.version.stored.keeps_parents and forks:
        raise Refused(_PARENT.format(id=thread.id))
    server.shelf.delete(thread)
    asked.reply({})
    server.tell_all("thread/deleted", {"threadId": thread.id}, asked.now)


def _thread_name_set(asked: Asked) -> None:
    server, name = asked.server, asked.params["name"].strip()
    if not name:
        raise Refused("thread name must not be empty")
    thread = find_stored(asked, server.version.stored.unnamed_error)
    if thread.ephemeral:
        raise Refused(f"ephemeral thread does not support metadata updates: {thread.id}")
    thread.note("name", name)
    asked.reply({})
    if server.version.messages.legacy_events:
        msg = {"type": "thread_name_updated", "thread_id": thread.id, "thread_name": name}
        server.tell(thread, *legacy.notification(server.turn_id(thread, asked.now), thread.id, msg), asked.now)
    server.tell_all("thread/name/updated", {"threadId": thread.id, "threadName": name}, asked.now)


# thread/rollback

_LEAVING = "thread/rollback is deprecated and will be removed soon"


def _thread_rollback(asked: Asked) -> None:
    server, turns = asked.server, asked.params["numTurns"]
    if server.version.stored.deprecates_rollback:
        server.tell_client("deprecationNotice", {"summary": _LEAVING, "details": None}, asked.now)
    if not turns:
        raise Refused("numTurns must be >= 1")
    thread = find_thread(asked)
    if thread.turn is not None:
        raise Refused("assay-codex does not play thread/rollback while a turn runs")
    roll_back(thread, turns)
    Counting(
        server, thread, server.turn_id(thread, asked.now), double=server.version.messages.legacy_events
    ).rolled_back(turns, asked.now)
    turns_left = thread.past.told(server.version)
    asked.reply({"thread": messages.thread(thread, server.version, turns_left)})


METHODS: Mapping[str, Callable[[Asked], None]] = {
    "thread/read": _thread_read,
    "thread/fork": _thread_fork,
    "thread/archive": _thread_archive,
    "thread/unarchive": _thread_unarchive,
    "thread/delete": _thread_delete,
    "thread/name/set": _thread_name_set,
    "thread/rollback": _thread_rollback,
}
