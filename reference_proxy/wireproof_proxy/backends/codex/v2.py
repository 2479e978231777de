"""One turn, v2: a fresh thread, its history, the turn, and the end of both.

    thread/start → [thread/inject_items] → turn/start → notifications → turn/interrupt → thread/unsubscribe
    thread/resume → turn/start → …                                                     → thread/archive

The developer text and the tools belong to the thread; the history is injected as the Responses items that the model
will see; the input starts the turn. `baseInstructions` is never sent: it is the backend's own.

A thread is resumed with its history where none can be injected. Such a thread leaves something on the disk, as all did
before 0.90.0, and is archived. The thread is listened to before the turn starts, since its first notifications may come
before the response of turn/start.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wireproof_proxy.backends.codex.rpc import ErrorReply
from wireproof_proxy.backends.codex.turn import HARMLESS, CodexTurn, id_in, what_is_set
from wireproof_surfaces.conversation import FilePart, ImagePart, Message, TextPart, ToolResult
from wireproof_surfaces.surfaces.input_items import input_item

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof_proxy.backends.codex.rpc import ResultReply
    from wireproof_surfaces.conversation import Conversation, Item, Part, Tool
    from wireproof_surfaces.surfaces.json_text import Json


INITIALIZE: Json = {
    "clientInfo": {"name": "wireproof-proxy", "title": "Wireproof reference proxy", "version": "0.1.0"},
    # 0.169.0 refuses `dynamicTools`, `environments` and `experimentalRawEvents` without it; 0.89.0 ignores it.
    "capabilities": {"experimentalApi": True},
}

THREAD: Json = {
    "ephemeral": True,  # from 0.90.0 on; ignored before
    "environments": [],  # no folder of this machine is the model's
    **HARMLESS,
    "experimentalRawEvents": True,  # the model's own characters are in the raw items alone
}

RESUMED: Json = {"threadId": "00000000-0000-0000-0000-000000000000", **HARMLESS}
"""A thread that is resumed with a history is a new one: the id must be there, and names none."""


def thread_start(conversation: Conversation, config: Mapping[str, Any]) -> Json:
    """Params of thread/start; `config` overrides what codex is configured with."""
    params = {**THREAD, **_settings(conversation, config)}
    if not conversation.tools_in_text:
        params["dynamicTools"] = [_tool(tool) for tool in conversation.tools]
    return params


def thread_resume(conversation: Conversation, config: Mapping[str, Any]) -> Json:
    """Params of thread/resume for a new thread with the conversation's history; `config` as in `thread_start`."""
    history = [_item(item) for item in conversation.history]
    return {**RESUMED, "history": history, **_settings(conversation, config)}


def _settings(conversation: Conversation, config: Mapping[str, Any]) -> Json:
    return {**({"config": dict(config)} if config else {}), **what_is_set(conversation)}


def inject_items(thread_id: str, history: Sequence[Item]) -> Json:
    """Params of thread/inject_items."""
    return {"threadId": thread_id, "items": [_item(item) for item in history]}


def turn_start(thread_id: str, conversation: Conversation) -> Json:
    """Params of turn/start."""
    params: Json = {"threadId": thread_id, "input": [_input(part) for part in conversation.input]}
    if conversation.schema is not None:
        # Codex asks its model for it, and does not check the answer.
        params["outputSchema"] = conversation.schema
    return params


def _tool(tool: Tool) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.parameters,
    }


def _item(item: Item) -> Json:
    match item:
        # From a history Codex drops what the system says, without a word.
        case Message(role="system"):
            return input_item(replace(item, role="developer"))
        case ToolResult(failed=True):
            return input_item(replace(item, output=item.labelled_output))
        case _:
            return input_item(item)


def _input(part: Part) -> Json:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            return {"type": "image", "url": part.url}
        case FilePart():
            raise AssertionError("files are refused where requests are read")


class CodexV2(CodexTurn):
    """A turn on a thread of its own."""

    @property
    def _resumes(self) -> bool:
        return bool(self._conversation.history) and self._link.abilities.history == "resumed"

    def _begin(self) -> None:
        method, params = self._beginning()
        self._link.request(method, params, self._on_thread)

    def _beginning(self) -> tuple[str, Json]:
        config = self._link.abilities.config
        if self._resumes:
            return "thread/resume", thread_resume(self._conversation, config)
        return "thread/start", thread_start(self._conversation, config)

    def _on_thread(self, answer: ResultReply | ErrorReply) -> None:
        with self._lock:
            thread_id = id_in(answer, "thread", "id")
            if not thread_id:
                self._refused(answer)
                return
            # Before the turn starts: in 6 of 155 turns of 0.169.0 `turn/started` came before turn/start's response.
            self._met(thread_id)
            if self._closed:
                self._wind_up()
            elif self._conversation.history and not self._resumes:
                items = inject_items(thread_id, self._conversation.history)
                self._link.request("thread/inject_items", items, self._on_injected)
            else:
                self._start(thread_id)

    def _on_injected(self, answer: ResultReply | ErrorReply) -> None:
        with self._lock:
            if isinstance(answer, ErrorReply):
                self._refused(answer)
            elif not self._closed and self._thread_id:
                self._start(self._thread_id)

    def _start(self, thread_id: str) -> None:
        self._go("turn/start", turn_start(thread_id, self._conversation), self._on_turn)

    def _on_turn(self, answer: ResultReply | ErrorReply) -> None:
        with self._lock:
            if isinstance(answer, ErrorReply):
                self._running = False
                self._refused(answer)
                return
            self._state.turn_id = id_in(answer, "turn", "id") or self._state.turn_id
            if self._closed:
                self._wind_up()

    def _interruption(self, thread_id: str) -> tuple[str, Json] | None:
        # 0.169.0 refuses to interrupt without the turn's id; it comes soon.
        turn_id = self._state.turn_id
        return None if turn_id is None else ("turn/interrupt", {"threadId": thread_id, "turnId": turn_id})

    def _endings(self, thread_id: str) -> Iterator[tuple[str, Json]]:
        kept = self._resumes or not self._link.abilities.ephemeral
        # Whatever the answer is: versions before 0.106 do not know thread/unsubscribe.
        yield "thread/archive" if kept else "thread/unsubscribe", {"threadId": thread_id}
