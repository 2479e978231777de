"""The methods that begin a thread, put items into its history, and leave it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from wireproof_codex.methods import goals, stored_threads
from wireproof_codex.methods.lookup import (
    NOT_LOADED,
    begin_thread,
    check_uuid,
    find_thread,
    notify_loaded,
    notify_status,
)
from wireproof_codex.notifications import messages, raw_items
from wireproof_codex.protocol.params import Refused, check_items
from wireproof_scripts.conversation import is_user, message_text
from wireproof_scripts.markers import Marker, find_marker
from wireproof_scripts.steps import Crash

if TYPE_CHECKING:
    from wireproof_codex.context import AdmittedRequest
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread


def _thread_start(request: AdmittedRequest) -> None:
    server = request.server
    death = _death(request)
    if death is not None:
        server.die(death.status)
        return
    thread = begin_thread(request, request.params)
    # From 0.105.0 to before 0.110.0.
    if server.version.messages.status_before_thread:
        notify_status(server, thread)
    request.reply(messages.thread_opened(thread, server.version))
    server.notify_client("thread/started", {"thread": messages.thread(thread, server.version)})
    notify_loaded(request, thread)


def _death(request: AdmittedRequest) -> Crash | None:
    """The crash with which a script begins that the developer text names; no other script is chosen by that text."""
    marker = find_marker(request.params.get("developerInstructions") or "")
    library = request.server.library if isinstance(marker, Marker) else None
    if not isinstance(marker, Marker) or not isinstance(library, Mapping):
        return None
    script = library.get(marker.script)
    first = next(iter(script.parts[0]), None) if script else None
    return first if isinstance(first, Crash) else None


def _thread_resume(request: AdmittedRequest) -> None:
    history = request.params.get("history")
    if history is None:
        stored_threads.resume(request)
        return
    thread, server = _new_with_history(request, history), request.server
    notify_status(server, thread)
    request.reply(messages.thread_resumed(thread, server.version, ()))
    notify_loaded(request, thread)
    server.notify(thread, *goals.goal_notification(thread))


def _new_with_history(request: AdmittedRequest, history: list[Json]) -> Thread:
    """A new thread with this history: the id that the request names is not its id."""
    named = request.params["threadId"]
    check_uuid(named, "invalid thread id")
    # Versions that gate methods (from 0.95.0 on); older ones take any id and make a new thread.
    if request.server.version.requests.gated_methods and request.server.threads.get(named) is not None:
        raise Refused(f"cannot resume thread {named} with history while it is already running")
    thread = begin_thread(request, request.params)
    thread.given_history = True
    thread.remember(_for_the_model(history))
    thread.preview = next((message_text(item) for item in history if is_user(item)), "")
    return thread


def _for_the_model(items: list[Json]) -> list[Json]:
    """Those that reach the model: system messages do not."""
    # Measured on 0.89.0 to 0.169.0, for thread/resume and thread/inject_items alike.
    return [item for item in items if item.get("role") != "system"]


def _thread_unsubscribe(request: AdmittedRequest) -> None:
    identity, server = request.params["threadId"], request.server
    check_uuid(identity, "invalid thread id")
    thread = server.threads.get(identity)
    if thread is None or not thread.subscribed:
        request.reply({"status": "notLoaded" if thread is None else "notSubscribed"})
        return
    server.threads.leave(thread)
    request.reply({"status": "unsubscribed"})
    # From 0.106.0 to before 0.125.0.
    if server.version.stored.closes_unsubscribed:
        server.drop(thread)
        server.threads.remove(thread)
        server.thread_store.put(thread)
        notify_status(server, thread, NOT_LOADED)
        server.notify_client("thread/closed", {"threadId": thread.id})


def _thread_inject_items(request: AdmittedRequest) -> None:
    thread, items = find_thread(request), request.params["items"]
    if not items:
        raise Refused("items must not be empty")
    check_items(items, request.server.version.requests.item_type)
    thread.remember(_for_the_model(items))
    request.reply({})
    for item in items if thread.raw_events else ():
        _notify_injected(request, thread, item)


_INJECTED_TURN = "auto-compact-0"  # what a real server names as the turn of items that no turn has made
_ID_PREFIXES = {"message": "msg", "function_call": "fc", "function_call_output": "fco", "reasoning": "rs"}


def _notify_injected(request: AdmittedRequest, thread: Thread, item: Json) -> None:
    kind = str(item["type"])
    identity = item.get("id") or f"{_ID_PREFIXES.get(kind, 'item')}_{request.server.uuid()}"
    extra: Json = {}
    if item.get("role") == "user" or kind == "function_call_output":
        extra["create_time"] = request.server.now
    if kind == "message":
        extra |= raw_items.UNKNOWN_KINDS
    known = {"type": item["type"], "id": identity, **item}
    passed = raw_items.passed_through(known, _INJECTED_TURN, request.server.version.messages.hidden, extra)
    completed = {"threadId": thread.id, "turnId": _INJECTED_TURN, "item": passed}
    request.server.notify(thread, "rawResponseItem/completed", completed)


METHODS: Mapping[str, Callable[[AdmittedRequest], None]] = {
    "thread/start": _thread_start,
    "thread/resume": _thread_resume,
    "thread/unsubscribe": _thread_unsubscribe,
    "thread/inject_items": _thread_inject_items,
}
