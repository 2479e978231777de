"""Sends the notifications of one turn: in both families where the version has both, and the model's own items raw."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from wireproof_codex.legacy import codex_events
from wireproof_codex.notifications import raw_items
from wireproof_codex.threads.turn_history import RECORDED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.context import ServerContext
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread
    from wireproof_scripts.steps import Usage

_KEPT_FOR_REPEATS = 64  # a script repeats a few; a flood of deltas must not stay in memory


class NotificationSender:
    """Sends the notifications of the turn `turn_id` of `thread`.

    `both_families`: each is sent in the older family, too. `nested`: what notifications of the story's dialect
    say stands inside `msg`. `admits`: which notifications are sent, None for all.
    """

    def __init__(
        self,
        context: ServerContext,
        thread: Thread,
        turn_id: str,
        *,
        both_families: bool = False,
        nested: bool = False,
        admits: Callable[[str, Json], bool] | None = None,
    ) -> None:
        self.context = context
        self.thread = thread
        self.turn_id = turn_id
        self.place: Json = {"threadId": thread.id, "turnId": turn_id}
        """What most notifications of a turn begin with."""
        self.nested = nested
        self._both_families = both_families
        self._admits = admits
        self._sent: deque[tuple[str, Json]] = deque(maxlen=_KEPT_FOR_REPEATS)

    def notify(self, method: str, params: Json, *, legacy_extra: Json | None = None) -> None:
        """Send a notification, and what the older family has for it. `legacy_extra`: params for that family alone."""
        if self._admits is None or self._admits(method, params):
            self.notify_always(method, params, legacy_extra=legacy_extra)

    def notify_always(self, method: str, params: Json, *, legacy_extra: Json | None = None) -> None:
        """`notify`, also for what is not admitted."""
        version = self.context.version
        known = {**params, **(legacy_extra or {})}
        empty_texts, both = version.messages.empty_legacy_texts, self._both_families
        before, after = codex_events.twins(method, known, empty_texts=empty_texts) if both else ((), ())
        for msg in before:
            self.legacy(msg)
        # Also what the version does not send: a stored turn has the item, and `as_sent_by` leaves out what is unknown.
        if method in RECORDED:
            self.thread.record(method, params)
        if params.get("item", {}).get("type") not in version.messages.unsent_items:
            self._send(method, params)
        for msg in after:
            self.legacy(msg)

    def legacy(self, msg: Json) -> None:
        """Send a message of the older family alone, if the turn is sent in both."""
        if self._both_families:
            self._send(*codex_events.notification(self.turn_id, self.thread.id, msg))

    def _send(self, method: str, params: Json) -> None:
        self._sent.append((method, params))
        self.context.notify(self.thread, method, params)

    def repeat(self, last: int) -> None:
        """Send the last notifications again, `last` of them."""
        # Not by `_send`: what is repeated is not kept for another repeat, nor stored twice.
        for method, params in list(self._sent)[-last:]:
            self.context.notify(self.thread, method, params)

    def item_started(self, item: Json, started_ms: int) -> None:
        """Send item/started."""
        timed = {**item, "startedAtMs": started_ms, "completedAtMs": None}
        self.notify("item/started", {"item": timed, **self.place, "startedAtMs": started_ms})

    def item_completed(self, item: Json, started_ms: int, *, legacy_extra: Json | None = None) -> Json:
        """Send item/completed; the item with its times. `legacy_extra`: what the older family knows besides."""
        now_ms = self.context.now_ms
        timed = {**item, "startedAtMs": started_ms, "completedAtMs": now_ms}
        params = {"item": timed, **self.place, "contentTokenCount": None, "completedAtMs": now_ms}
        self.notify("item/completed", params, legacy_extra=legacy_extra)
        return timed

    def raw_response(self, usage: Usage) -> None:
        """Send rawResponse/completed if the thread wants raw events."""
        if self.thread.raw_events:
            identity, metadata = f"resp_{self.context.ids.number():04}", self.context.version.counts.raw_metadata
            completed = raw_items.response(self.place, identity, usage, metadata=metadata)
            self.notify("rawResponse/completed", completed)

    def raw(self, item: Json, extra: Mapping[str, Any] | None = None, *, kept: bool = True) -> None:
        """Send an item of the model raw if the thread wants that; `kept`: it goes into the history, too."""
        if kept:
            self.thread.remember([item])
        if self.thread.raw_events:
            passed = raw_items.passed_through(item, self.turn_id, self.context.version.messages.hidden, extra)
            self.notify("rawResponseItem/completed", {**self.place, "item": passed})
