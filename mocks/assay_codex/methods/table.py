"""What the app-server does on each request that the mock plays: one function a method, found by a table.

A function takes the request, its parameters checked, tells what is to be told around the answer, and answers once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from assay_codex.methods import conversations, goals, listing, lists, paging, stored, stored_conversations, turns
from assay_codex.methods.asked import Asked
from assay_codex.methods.asking import check_uuid, find_thread, load_thread, tell_loaded
from assay_codex.methods.handshake import initialize
from assay_codex.notifications import messages, raw_items
from assay_codex.protocol.params import Refused, check_items
from assay_scripts.conversation import is_user, message_text
from assay_scripts.markers import Marker, find_marker
from assay_scripts.steps import Crash

if TYPE_CHECKING:
    from assay_codex.threads.thread import Thread

Json = dict[str, Any]
Method = Callable[[Asked], None]


# Threads


def _thread_start(asked: Asked) -> None:
    server = asked.server
    death = _death(asked)
    if death is not None:
        server.die(death.status)
        return
    thread = load_thread(asked)
    if server.version.messages.status_before_thread:
        told = {"threadId": thread.id, "status": messages.status(thread)}
        server.tell_all("thread/status/changed", told, asked.now)
    asked.reply(messages.thread_opened(thread, server.version))
    server.tell_all("thread/started", {"thread": messages.thread(thread, server.version)}, asked.now)
    tell_loaded(asked, thread)


def _death(asked: Asked) -> Crash | None:
    """The crash with which a script begins that the developer text asks for: elsewhere that text chooses none."""
    marker = find_marker(asked.params.get("developerInstructions") or "")
    library = asked.server.library if isinstance(marker, Marker) else None
    if not isinstance(marker, Marker) or not isinstance(library, Mapping):
        return None
    script = library.get(marker.script)
    first = next(iter(script.parts[0]), None) if script else None
    return first if isinstance(first, Crash) else None


def _thread_resume(asked: Asked) -> None:
    history = asked.params.get("history")
    if history is None:
        stored.resume(asked)
        return
    thread, server = _new_with_history(asked, history), asked.server
    server.tell_all("thread/status/changed", {"threadId": thread.id, "status": messages.status(thread)}, asked.now)
    asked.reply(messages.thread_resumed(thread, server.version, ()))
    tell_loaded(asked, thread)
    server.tell(thread, *goals.goal_told(thread), asked.now)


def _new_with_history(asked: Asked, history: list[Json]) -> Thread:
    """A thread of its own that begins with this history; the id that was named is not its id."""
    named = asked.params["threadId"]
    check_uuid(named, "invalid thread id")
    if asked.server.version.requests.gated_methods and asked.server.threads.get(named) is not None:
        raise Refused(f"cannot resume thread {named} with history while it is already running")
    check_items(history)
    thread = load_thread(asked)
    thread.remember(_heard(history))
    thread.preview = next((message_text(item) for item in history if is_user(item)), "")
    return thread


def _heard(items: list[Json]) -> list[Json]:
    """Those that the model will hear: what the system says is not among them."""
    return [item for item in items if item.get("role") != "system"]


def _thread_unsubscribe(asked: Asked) -> None:
    thread, server = find_thread(asked), asked.server
    server.unsubscribe(thread)
    asked.reply({"status": "unsubscribed"})
    if server.version.stored.closes_unsubscribed and not thread.subscribed:
        server.drop(thread)
        server.threads.remove(thread)
        server.shelf.put(thread)
        gone = {"threadId": thread.id, "status": {"type": "notLoaded"}}
        server.tell_all("thread/status/changed", gone, asked.now)
        server.tell_all("thread/closed", {"threadId": thread.id}, asked.now)


def _thread_inject_items(asked: Asked) -> None:
    thread, items = find_thread(asked), asked.params["items"]
    check_items(items)
    thread.remember(_heard(items))
    asked.reply({})
    for item in items if thread.raw_events else ():
        _tell_injected(asked, thread, item)


_INJECTED_TURN = "auto-compact-0"
_ID_PREFIXES = {"message": "msg", "function_call": "fc", "function_call_output": "fco", "reasoning": "rs"}


def _tell_injected(asked: Asked, thread: Thread, item: Json) -> None:
    kind = str(item["type"])
    identity = item.get("id") or f"{_ID_PREFIXES.get(kind, 'item')}_{asked.server.ids.uuid(asked.now)}"
    extra: Json = {}
    if item.get("role") == "user" or kind == "function_call_output":
        extra["create_time"] = asked.now
    if kind == "message":
        extra |= raw_items.UNKNOWN_KINDS
    known = {"type": item["type"], "id": identity, **item}
    passed = raw_items.told(known, _INJECTED_TURN, asked.server.version.messages.hidden, extra)
    told = {"threadId": thread.id, "turnId": _INJECTED_TURN, "item": passed}
    asked.server.tell(thread, "rawResponseItem/completed", told, asked.now)


METHODS: Mapping[str, Method] = {
    "initialize": initialize,
    "thread/start": _thread_start,
    "thread/resume": _thread_resume,
    "thread/unsubscribe": _thread_unsubscribe,
    "thread/inject_items": _thread_inject_items,
    **turns.METHODS,
    **conversations.METHODS,
    **stored.METHODS,
    **listing.METHODS,
    **paging.METHODS,
    **goals.METHODS,
    **lists.METHODS,
    **stored_conversations.METHODS,
}
