"""The v1 methods about conversations that are stored: they are listed, resumed, forked and put away."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof_codex.legacy import codex_events
from wireproof_codex.methods.lookup import begin_thread, constant, notify_loaded
from wireproof_codex.methods.stored_threads import copy_thread, unload
from wireproof_codex.methods.thread_lists import listed, moment, page_of
from wireproof_codex.notifications import item_messages, messages
from wireproof_codex.protocol.params import Refused, check_items
from wireproof_codex.versions.forms import trimmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof_codex.context import AdmittedRequest, ServerContext
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread
    from wireproof_codex.threads.turn_history import Cost

_NONE_FOUND = "no rollout found for conversation id {id}"


# Finding a conversation


def _find(request: AdmittedRequest, path: str = "path") -> Thread | None:
    """The conversation of an id or of a file; None if the request names neither.

    Raises:
        Refused: there is no such conversation.
    """
    server, identity, file = request.server, request.params.get("conversationId"), request.params.get(path)
    if file is not None:
        thread = _by_path(server, file)
        if thread is None:
            raise Refused(f"failed to load rollout `{file}`: No such file or directory (os error 2)")
        return thread
    if identity is None:
        return None
    thread = server.threads.get(identity) or server.thread_store.find(identity)
    if thread is None or thread.archived:
        raise Refused(_NONE_FOUND.format(id=identity))
    return thread


def _by_path(server: ServerContext, path: str) -> Thread | None:
    # Loaded ones first: what is read of a file is another object, in which no turn runs.
    return next((thread for thread in [*server.threads, *server.thread_store.all()] if thread.path == path), None)


# listConversations, getConversationSummary


def _list_conversations(request: AdmittedRequest) -> None:
    providers = request.params.get("modelProviders") or [messages.PROVIDER]
    threads = listed(request.server, archived=False) if messages.PROVIDER in providers else []
    page, cursor = page_of(request, threads, request.params.get("pageSize"))
    request.reply({"items": [_summary(thread) for thread in page], "nextCursor": cursor})


def _summary(thread: Thread) -> Json:
    return {
        "conversationId": thread.id,
        "path": thread.path,
        "preview": thread.preview,
        "timestamp": moment(thread.created),
        "updatedAt": moment(thread.updated),
        "modelProvider": messages.PROVIDER,
        "cwd": thread.cwd,
        "cliVersion": thread.cli_version,
        "source": "vscode",
        "gitInfo": None,
    }


def _get_summary(request: AdmittedRequest) -> None:
    thread = _find(request, "rolloutPath")
    if thread is None:
        raise Refused("Invalid request: missing field `conversationId`")
    request.reply({"summary": _summary(thread)})


# resumeConversation, forkConversation


def _resume(request: AdmittedRequest) -> None:
    server, history = request.server, request.params.get("history")
    if history:
        check_items(history, server.version.requests.item_type)
        thread = begin_thread(request, {}, lambda new: new.remember(history))
    else:
        found = _find(request)
        if found is None:
            raise Refused("either path, conversation id or non empty history must be provided")
        thread = found
    if thread not in server.threads:
        server.threads.add(thread)
    thread.subscribed = True
    if thread.turn is None:
        # A resumed conversation numbers its turns from 0 again, and may give ids that its stored turns have.
        thread.operations = 0
        thread.turn_history.detach()
    _begin(request, thread)


def _fork(request: AdmittedRequest) -> None:
    source = _find(request)
    if source is None:
        raise Refused("either path or conversation id must be provided")
    overrides = request.params.get("overrides") or {}
    _begin(request, copy_thread(replace(request, params=overrides), source))


def _begin(request: AdmittedRequest, thread: Thread) -> None:
    """Send what the conversation begins with; its notifications wait for a listener."""
    server = request.server
    thread.conversation = True
    if not thread.listeners:
        thread.hold_notifications()
    initial = [trimmed(server.version.messages.hidden, ".msg", msg) for msg in _initial(thread)]
    resumed = {"initialMessages": initial, "rolloutPath": thread.path}
    settings = thread.settings
    about = {"model": settings.model, "reasoningEffort": settings.effort, "historyLogId": 0, "historyEntryCount": 0}
    server.notify_client("sessionConfigured", {"sessionId": thread.id, **about, **resumed})
    request.reply({"conversationId": thread.id, "model": settings.model, **resumed})
    notify_loaded(request, thread)


def _initial(thread: Thread) -> Iterator[Json]:
    """The messages of the older family about the turns, as far as they are stored."""
    before = None
    for turn, cost in zip(thread.turn_history.turns, thread.turn_history.costs, strict=True):
        items = [item for item in turn["items"] if item["type"] in codex_events.AFTER]
        for item in items:
            yield codex_events.AFTER[item["type"]](item)
            # These versions count when the model begins to answer, with the tokens so far.
            if item["type"] == "userMessage":
                yield _counts(before)
        if cost != before:
            yield _counts(cost)
        if turn["status"] == "interrupted":
            yield codex_events.turn_aborted(turn["id"], "interrupted")
        before = cost


def _counts(cost: Cost) -> Json:
    if cost is None:
        return codex_events.token_count(None)
    total, last = (item_messages.usage(counts) for counts in cost)
    return codex_events.token_count({"total": total, "last": last, "modelContextWindow": None})


# archiveConversation, and methods whose answer is constant


def _archive(request: AdmittedRequest) -> None:
    server, path = request.server, request.params["rolloutPath"]
    thread = _by_path(server, path)
    if thread is None or thread.archived:
        raise Refused(f"rollout path `{path}` must be in sessions directory")
    if thread.id != request.params["conversationId"]:
        raise Refused(f"rollout path `{path}` does not match thread id {request.params['conversationId']}")
    unload(request, thread)
    server.thread_store.archive(thread, archived=True)
    request.reply({})


_SAVED = """
    approvalPolicy sandboxMode sandboxSettings forcedChatgptWorkspaceId forcedLoginMethod model modelReasoningEffort
    modelReasoningSummary modelVerbosity tools profile profiles
"""
_CONFIG: Json = {"approvalPolicy": "never", "sandboxMode": "read-only", "model": "mock-model", "profiles": {}}

METHODS: Mapping[str, Callable[[AdmittedRequest], None]] = {
    "listConversations": _list_conversations,
    "getConversationSummary": _get_summary,
    "resumeConversation": _resume,
    "forkConversation": _fork,
    "archiveConversation": _archive,
    "userInfo": constant(allegedUserEmail=None),
    "getUserSavedConfig": constant(config={**dict.fromkeys(_SAVED.split()), **_CONFIG}),
}
