"""The methods about stored threads: read, resume, fork, archive, delete, name, roll back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof_codex.legacy import codex_events
from wireproof_codex.methods.goals import goal_notification
from wireproof_codex.methods.lookup import (
    NONE_FOUND,
    NOT_LOADED,
    begin_thread,
    find_stored,
    find_thread,
    notify_loaded,
    notify_status,
)
from wireproof_codex.methods.paging import turns_page
from wireproof_codex.methods.thread_lists import listed
from wireproof_codex.notifications import item_messages, messages
from wireproof_codex.notifications.counts import CountSender
from wireproof_codex.notifications.sender import NotificationSender
from wireproof_codex.protocol.params import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.context import AdmittedRequest, ServerContext
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread

_NONE_ARCHIVED = "no archived rollout found for thread id {id}"
_PAGED = "use `excludeTurns: true`, then page with `thread/turns/list` and `thread/items/list`."
_PAGED_READ = "omit `includeTurns` or set it to `false`, then page with `thread/turns/list` and `thread/items/list`."
_UNPAGED_FORK = "ephemeral paginated thread/fork requires `excludeTurns: true`"
_PARENT = "cannot delete thread {id}: forked history still references it"


# Finding a thread


def _find_unarchived(request: AdmittedRequest) -> Thread:
    thread = find_stored(request)
    if thread.archived or not _is_stored(request.server, thread):
        raise Refused(NONE_FOUND.format(id=thread.id))
    return thread


def _is_stored(server: ServerContext, thread: Thread) -> bool:
    # From 0.99.0 to before 0.160.0 a thread has no file before its first turn.
    return not thread.ephemeral and bool(thread.turn_history.turns or server.version.stored.before_first_turn)


def _no_pages(request: AdmittedRequest, instead: str) -> None:
    """Send that the turns should be asked for in pages."""
    if request.server.version.stored.paged:
        summary = f"Full-history hydration is deprecated for paginated threads; {instead}"
        request.server.notify_client("deprecationNotice", {"summary": summary, "details": None})


# thread/read, thread/resume


def _thread_read(request: AdmittedRequest) -> None:
    server = request.server
    version = server.version
    thread = find_stored(request, version.stored.unread_error)
    # Before 0.105.0 an archived thread could not be read.
    if thread.archived and not version.stored.reads_archived:
        raise Refused(version.stored.unread_error.format(id=thread.id))
    turns: list[Json] = []
    if request.params.get("includeTurns"):
        _check_turns(request, thread)
        _no_pages(request, _PAGED_READ)
        turns = thread.turn_history.as_sent_by(version)
    read: Json = {"thread": messages.thread(thread, version, turns, loaded=thread in server.threads)}
    # Read states need experimentalApi, in notifications and here.
    request.reply({**read, "readState": thread.turn_history.read_state} if server.experimental else read)


def _check_turns(request: AdmittedRequest, thread: Thread) -> None:
    if thread.ephemeral:
        raise Refused("ephemeral threads do not support includeTurns")
    no_turns = request.server.version.stored.no_turns_error
    if no_turns is not None and not thread.turn_history.turns:
        raise Refused(no_turns[1].format(id=thread.id), no_turns[0])


def resume(request: AdmittedRequest) -> None:
    """thread/resume, without a history."""
    server = request.server
    version, exclude = server.version, request.params.get("excludeTurns")
    thread = find_stored(request)
    counts = thread in server.threads or version.stored.counts_new_forks or not thread.forked_from
    _load(request, thread)
    turns = [] if exclude else thread.turn_history.as_sent_by(version)
    # Where the version does not know the parameter it is not checked either, and may be anything.
    known = "initialTurnsPage" in version.requests.params.fields("thread/resume")
    first = request.params.get("initialTurnsPage") if known else None
    page = None if first is None else turns_page(server, thread, first)
    request.reply(messages.thread_resumed(thread, version, turns, page))
    if turns and counts:
        _notify_counts(request, thread, turns)
    # The last of all, also where there is no goal: then it says "cleared".
    server.notify(thread, *goal_notification(thread))


def _load(request: AdmittedRequest, thread: Thread) -> None:
    server, version = request.server, request.server.version
    loaded = thread in server.threads
    if thread.archived and version.stored.archived_error is not None:
        raise Refused(version.stored.archived_error.format(id=thread.id))
    if not _is_stored(server, thread):
        raise Refused(NONE_FOUND.format(id=thread.id))
    if not request.params.get("excludeTurns"):
        _no_pages(request, _PAGED)
    thread.subscribed = True
    if not loaded:
        server.threads.add(thread)
        while server.ids.number() < thread.turn_history.numbers:
            pass  # skip the ids that its items have
    # Before 0.105.0 an idle thread was loaded again, and numbered its turns from 0.
    if not loaded or (version.stored.reloads_on_resume and thread.turn is None):
        thread.operations, thread.failed = 0, False
        thread.folder = thread.cwd
        thread.turn_history.detach()
        notify_loaded(request, thread)
    if not loaded:
        notify_status(server, thread)


def _notify_counts(request: AdmittedRequest, thread: Thread, turns: list[Json]) -> None:
    """Send what the thread has used so far."""
    version = request.server.version
    if version.stored.resends_counts and thread.last is not None:
        total, last = item_messages.usage(thread.total), item_messages.usage(thread.last)
        place = {"threadId": thread.id, "turnId": turns[-1]["id"]}
        counts = item_messages.token_usage(place, total, last, version.counts.context_window)
        request.server.notify_client("thread/tokenUsage/updated", counts)


# thread/fork


def _thread_fork(request: AdmittedRequest) -> None:
    server, params = request.server, request.params
    version, exclude = server.version, params.get("excludeTurns")
    source = _find_unarchived(request)
    if version.stored.paged and params.get("ephemeral") and not exclude:
        raise Refused(_UNPAGED_FORK)
    if not exclude:
        _no_pages(request, _PAGED)
    thread = copy_thread(request, source)
    turns = [] if exclude else source.turn_history.as_sent_by(version)
    notify_loaded(request, thread)
    # From 0.105.0 to before 0.110.0.
    if version.messages.status_before_thread:
        notify_status(server, thread)
    request.reply(messages.thread_opened(thread, version, turns))
    if turns:
        _notify_counts(request, thread, turns)
    shown = messages.thread(thread, version, turns if version.stored.fork_starts_with_turns else ())
    server.notify_client("thread/started", {"thread": shown})


# What a fork takes from its source alone, whatever thread/fork names.
_KEPT = frozenset({"dynamicTools", "environments"})


def copy_thread(request: AdmittedRequest, source: Thread) -> Thread:
    """A copy of a thread as it is now, with the settings that the request names."""
    params = {name: value for name, value in request.params.items() if value is not None and name not in _KEPT}
    if not request.server.version.stored.ephemeral_forks:  # before 0.118.0 it was ignored
        params.pop("ephemeral", None)
    given = {
        "cwd": source.folder,
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
        thread.history, thread.turn_history = list(source.history), source.turn_history.copy()
        thread.total, thread.last = source.total, source.last
        thread.preview = source.preview if request.server.version.stored.forks_previews else ""
        thread.forked_from = source.id

    return begin_thread(request, given, fill)


# thread/archive, thread/unarchive, thread/delete, thread/name/set


def unload(request: AdmittedRequest, thread: Thread) -> None:
    """Unload a thread: stop its turn, keep it in the store, and send that it is not loaded any more."""
    server = request.server
    if thread not in server.threads:
        return
    if thread.turn is not None:
        thread.turn.interrupt()
    server.drop(thread)
    server.threads.remove(thread)
    server.thread_store.put(thread)
    # From 0.92.0 on, as long as there is the older family.
    if server.version.messages.legacy_events and server.version.stored.legacy_shutdown:
        ended = codex_events.notification(server.turn_id(thread), thread.id, {"type": "shutdown_complete"})
        server.notify(thread, *ended)
    notify_status(server, thread, NOT_LOADED)


def _thread_archive(request: AdmittedRequest) -> None:
    thread, server = _find_unarchived(request), request.server
    unload(request, thread)
    server.thread_store.archive(thread, archived=True)
    request.reply({})
    server.notify_client("thread/archived", {"threadId": thread.id})


def _thread_unarchive(request: AdmittedRequest) -> None:
    thread, server = find_stored(request, _NONE_ARCHIVED), request.server
    if not thread.archived:
        raise Refused(_NONE_ARCHIVED.format(id=thread.id))
    server.thread_store.archive(thread, archived=False)
    request.reply({"thread": messages.thread(thread, server.version, loaded=thread in server.threads)})
    server.notify_client("thread/unarchived", {"threadId": thread.id})


def _thread_delete(request: AdmittedRequest) -> None:
    thread, server = find_stored(request), request.server
    if thread.ephemeral:
        raise Refused(f"thread is not persisted and cannot be deleted: {thread.id}")
    unload(request, thread)
    forks = [it for it in listed(server, archived=False) if it.forked_from == thread.id]
    # From 0.160.0 on, because a fork refers to the history of its parent, as the error says.
    if server.version.stored.paged and forks:
        raise Refused(_PARENT.format(id=thread.id))
    server.thread_store.delete(thread)
    request.reply({})
    server.notify_client("thread/deleted", {"threadId": thread.id})


def _thread_name_set(request: AdmittedRequest) -> None:
    server, name = request.server, request.params["name"].strip()
    if not name:
        raise Refused("thread name must not be empty")
    thread = find_stored(request, server.version.stored.unnamed_error)
    if thread.ephemeral:
        raise Refused(f"ephemeral thread does not support metadata updates: {thread.id}")
    thread.annotate("name", name)
    request.reply({})
    if server.version.messages.legacy_events:
        msg = {"type": "thread_name_updated", "thread_id": thread.id, "thread_name": name}
        server.notify(thread, *codex_events.notification(server.turn_id(thread), thread.id, msg))
    server.notify_client("thread/name/updated", {"threadId": thread.id, "threadName": name})


# thread/rollback

_LEAVING = "thread/rollback is deprecated and will be removed soon"


def _thread_rollback(request: AdmittedRequest) -> None:
    server, turns = request.server, request.params["numTurns"]
    if server.version.stored.deprecates_rollback:  # from 0.150.0 on, until 0.160.0 removed it
        server.notify_client("deprecationNotice", {"summary": _LEAVING, "details": None})
    if not turns:
        raise Refused("numTurns must be >= 1")
    thread = find_thread(request)
    if thread.turn is not None:
        raise Refused("wireproof-codex does not play thread/rollback while a turn runs")
    thread.roll_back(turns)
    sender = NotificationSender(
        server, thread, server.turn_id(thread), both_families=server.version.messages.legacy_events
    )
    CountSender(sender).rolled_back(turns)
    turns_left = thread.turn_history.as_sent_by(server.version)
    request.reply({"thread": messages.thread(thread, server.version, turns_left)})


METHODS: Mapping[str, Callable[[AdmittedRequest], None]] = {
    "thread/read": _thread_read,
    "thread/fork": _thread_fork,
    "thread/archive": _thread_archive,
    "thread/unarchive": _thread_unarchive,
    "thread/delete": _thread_delete,
    "thread/name/set": _thread_name_set,
    "thread/rollback": _thread_rollback,
}
