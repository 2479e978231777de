"""Notifications of one turn, in both families where they are told twice, and the model's own items told raw."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from assay_codex.notifications import legacy, raw_items
from assay_codex.threads.turn_history import HEARD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay_codex.context import TurnContext
    from assay_codex.threads.thread import Thread

Json = dict[str, Any]

_KEPT_FOR_REPEATS = 64


class Notifying:
    """Sends the notifications of the turn `turn_id` of `thread`."""

    def __init__(self, context: TurnContext, thread: Thread, turn_id: str, *, double: bool = False) -> None:
        self.place: Json = {"threadId": thread.id, "turnId": turn_id}
        self._double = double
        self._told: deque[tuple[str, Json]] = deque(maxlen=_KEPT_FOR_REPEATS)
        self._context = context
        self._thread = thread
        self._turn_id = turn_id

    def notify(self, method: str, params: Json, now: float, *, older: Json | None = None) -> None:
        """Send a notification, in both families if the turn is told twice; `older`: what that family alone knows."""
        version = self._context.version
        known = {**params, **(older or {})}
        before, after = (
            legacy.twins(method, known, empty_texts=version.messages.empty_legacy_texts) if self._double else ((), ())
        )
        for msg in before:
            self.older(msg, now)
        if method in HEARD:
            self._thread.hear(method, params)
        if params.get("item", {}).get("type") not in version.messages.unsent_items:
            self._tell(method, params, now)
        for msg in after:
            self.older(msg, now)

    def older(self, msg: Json, now: float) -> None:
        """Tell a message of the older family, if the turn is told twice."""
        if self._double:
            self._tell(*legacy.notification(self._turn_id, self._thread.id, msg), now)

    def _tell(self, method: str, params: Json, now: float) -> None:
        self._told.append((method, params))
        self._context.notify(self._thread, method, params, now)

    def repeat(self, last: int, now: float) -> None:
        """Send the last so many notifications again."""
        for method, params in list(self._told)[-last:]:
            self._context.notify(self._thread, method, params, now)

    def raw(self, item: Json, now: float, extra: Mapping[str, Any] | None = None, *, kept: bool = True) -> None:
        """Put an item of the model's into the history and tell it raw."""
        if kept:
            self._thread.remember([item])
        if self._thread.raw_events:
            passed = raw_items.told(item, self._turn_id, self._context.version.messages.hidden, extra)
            self.notify("rawResponseItem/completed", {**self.place, "item": passed}, now)
