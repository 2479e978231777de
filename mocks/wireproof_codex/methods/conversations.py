"""The v1 methods: conversations, which are threads whose notifications wait for a listener.

They wait in a queue, which the first listener gets. Several listeners of a conversation share one queue: each event is
sent once, whatever their number.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from wireproof_codex.methods.lookup import begin_thread, check_uuid, find_thread, notify_loaded
from wireproof_codex.methods.turns import check_input, interrupt, start_turn
from wireproof_codex.notifications import messages
from wireproof_codex.protocol.params import Refused
from wireproof_codex.threads.thread import KEPT_THREADS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.context import AdmittedRequest
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread


_conversation = partial(find_thread, name="conversationId", wrong="Invalid request", kind="conversation")


def _new_conversation(request: AdmittedRequest) -> None:
    thread = begin_thread(request, request.params)
    thread.conversation = True
    thread.hold_notifications()
    request.reply(messages.conversation_opened(thread))
    notify_loaded(request, thread)


def _add_listener(request: AdmittedRequest) -> None:
    thread, server = _conversation(request), request.server
    subscription = server.uuid()
    _keep(server.listeners, subscription, thread)
    thread.raw_events = thread.raw_events or bool(request.params.get("experimentalRawEvents"))
    request.reply({"subscriptionId": subscription})
    # After the answer: what happened before was queued, and nothing of it is lost (0.89.0).
    for method, params in thread.release_notifications():
        server.notify(thread, method, params)


def _keep(listeners: dict[str, Thread], subscription: str, thread: Thread) -> None:
    """Keep a listener; the oldest of very many can no longer be removed."""
    listeners[subscription] = thread
    thread.listeners += 1
    if len(listeners) > KEPT_THREADS:
        del listeners[next(iter(listeners))]


def _remove_listener(request: AdmittedRequest) -> None:
    subscription, listeners = request.params["subscriptionId"], request.server.listeners
    check_uuid(subscription, "Invalid request: UUID parsing failed")
    thread = listeners.pop(subscription, None)
    if thread is None:
        raise Refused(f"subscription not found: {subscription}")
    thread.listeners -= 1
    # A thread/start thread has its client as listener; a conversation without one queues again.
    if thread.conversation and not thread.listeners:
        thread.hold_notifications()
    request.reply({})


def _send(request: AdmittedRequest) -> None:
    thread = _conversation(request)
    given = [_INPUT[item["type"]](item["data"]) for item in request.params["items"]]
    check_input(request, given)
    overrides = {name: value for name, value in request.params.items() if name not in _UNPLAYED}
    # v1 answers without the id of the turn, which only the events name.
    start_turn(replace(request, params=overrides), thread, given, lambda _: request.reply({}))


# v1 spells a sandbox differently from turn/start, and the mock has none; v1 does not know modes.
_UNPLAYED = frozenset({"sandboxPolicy", "collaborationMode"})


# An item of v1 input as turn/start takes it, by its type.
_INPUT: Mapping[str, Callable[[Json], Json]] = {
    "text": lambda data: {"type": "text", **data},
    "image": lambda data: {"type": "image", "url": data["image_url"]},  # v1 spells this one as the Responses API does
    "localImage": lambda data: {"type": "localImage", **data},
}


def _interrupt(request: AdmittedRequest) -> None:
    interrupt(request, _conversation(request), {"abortReason": "interrupted"})


def _user_agent(request: AdmittedRequest) -> None:
    request.reply({"userAgent": request.server.user_agent})


METHODS: Mapping[str, Callable[[AdmittedRequest], None]] = {
    "newConversation": _new_conversation,
    "addConversationListener": _add_listener,
    "removeConversationListener": _remove_listener,
    "sendUserMessage": _send,
    "sendUserTurn": _send,
    "interruptConversation": _interrupt,
    "getUserAgent": _user_agent,
}
