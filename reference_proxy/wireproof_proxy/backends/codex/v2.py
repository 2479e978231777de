"""One turn, v2: a fresh thread, its history, the turn, and the end of both.

    thread/start → [thread/inject_items] → turn/start → notifications → turn/interrupt → thread/unsubscribe
    thread/resume → turn/start → …                                                     → thread/archive

A thread is resumed with its history where none can be injected. Such a thread leaves something on the disk, as all did
before 0.90.0, and is archived. The thread is listened to before the turn starts, since its first notifications may come
before the response of turn/start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_proxy.backends.codex import v2_encode as encode
from wireproof_proxy.backends.codex.rpc import ErrorReply
from wireproof_proxy.backends.codex.turn import CodexTurn, id_in

if TYPE_CHECKING:
    from wireproof_proxy.backends.codex.rpc import ResultReply
    from wireproof_surfaces.surfaces.json_text import Json


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
            return "thread/resume", encode.thread_resume(self._conversation, config)
        return "thread/start", encode.thread_start(self._conversation, config)

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
                items = encode.inject_items(thread_id, self._conversation.history)
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
        self._go("turn/start", encode.turn_start(thread_id, self._conversation), self._on_turn)

    def _on_turn(self, answer: ResultReply | ErrorReply) -> None:
        with self._lock:
            if isinstance(answer, ErrorReply):
                self._running = False
                self._refused(answer)
                return
            self._state.turn_id = id_in(answer, "turn", "id") or self._state.turn_id
            if self._closed:
                self._wind_up()

    def _wind_up(self) -> None:
        if self._thread_id is None or self._interrupted:
            return
        running = self._running and not self._state.over
        # 0.169.0 refuses to interrupt without the turn's id; it comes soon, and calls this again.
        if running and self._state.turn_id is None:
            return
        self._interrupted = True
        if running:
            ids = {"threadId": self._thread_id, "turnId": self._state.turn_id}
            self._link.request("turn/interrupt", ids, self._release)
        else:
            self._release()

    def _release(self, answer: ResultReply | ErrorReply | None = None) -> None:
        del answer
        if self._thread_id:
            self._link.forget(self._thread_id)
            kept = self._resumes or not self._link.abilities.ephemeral
            method = "thread/archive" if kept else "thread/unsubscribe"
            # Whatever the answer is: versions before 0.106 do not know thread/unsubscribe.
            self._link.request(method, {"threadId": self._thread_id}, lambda _: None)
