"""How one turn is told: every notification that carries its ids, and the item of text that is being said.

With `double` each is told in the older family too (`legacy`).

Text is one agentMessage item until something else comes. The model's own items are told a second time, raw, on threads
that asked for it, and go into the thread's history, where the next request of the model would find them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay_codex.clock import milliseconds
from assay_codex.notifications import item_messages, legacy, messages, raw_items, turn_messages
from assay_codex.notifications.citations import Citations, without_citations
from assay_codex.notifications.counts import Counting
from assay_codex.notifications.joined_text import JoinedText
from assay_codex.threads.turn_object import turn_object
from assay_scripts.blocks import cut
from assay_scripts.conversation import as_message, message_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay_codex.context import TurnContext
    from assay_codex.threads.thread import Thread
    from assay_codex.versions.failures import Cause
    from assay_codex.versions.traits import StartStep
    from assay_scripts.nonces import State
    from assay_scripts.steps import Think, Usage

Json = dict[str, Any]


@dataclass(kw_only=True, slots=True)
class _Message:
    """An agentMessage item that is being said."""

    id: str
    phase: str | None
    started_ms: int
    citations: Citations | None
    text: JoinedText = field(default_factory=JoinedText)


class Telling(Counting):
    """Tells the turn `turn_id` of `thread`; `last_text` is its last finished agentMessage item.

    `tells_reasons`: it has words for an answer that was cut off. `asked`: the client was asked to run a tool.
    """

    tells_reasons = False

    def __init__(self, context: TurnContext, thread: Thread, turn_id: str, *, double: bool = False) -> None:
        super().__init__(context, thread, turn_id, double=double)
        self.last_text: Json | None = None
        self.asked = False
        self._message: _Message | None = None
        self._diff: str | None = None

    # What is said

    def begun(self, now: float, *, asked: bool = True) -> None:
        """The turn has begun; where its request tells that, one that was not asked for by turn/start does not."""
        begins = self._context.version.turns.start_order
        for what in begins if asked or begins[0] != "turn" else begins[1:]:
            _BEGINNINGS[what](self, now)

    def turn_started(self, now: float) -> None:
        """turn/started."""
        if not self._thread.conversation:
            started = {
                "threadId": self._thread.id,
                "turn": turn_object(self._turn_id, "inProgress", started=now),
            }
            self.notify("turn/started", started, now)

    def task_started(self, now: float) -> None:
        """The turn has begun, in the older family alone."""
        version = self._context.version
        self.older(
            legacy.task_started(self._turn_id, version.counts.context_window, version.messages.default_mode), now
        )

    def user_input(
        self, given: Sequence[Mapping[str, Any]], client_id: str | None, now: float, *, told: bool = True
    ) -> None:
        """The user's input was taken; without `told` no item tells it."""
        heard = as_message(given)
        if not self._thread.ephemeral:
            self._thread.preview = self._thread.preview or message_text(heard)
        self._thread.remember([heard])
        raw = {"type": "message", "id": f"msg_{self._context.ids.uuid(now)}", **heard}
        self.raw(raw, now, {"create_time": now, **raw_items.USER_KINDS}, kept=False)
        if not told:
            return
        content = [
            item_messages.user_content(item, detail_first=self._context.version.messages.detail_before_url)
            for item in given
        ]
        item = item_messages.user_message(self._context.ids.uuid(now), client_id, content)
        self.item(item, milliseconds(now), now)

    def item(self, item: Json, started_ms: int, now: float) -> None:
        """An item that begins and ends at once."""
        self.item_started(item, started_ms, now)
        self.item_completed(item, started_ms, now)

    def item_started(self, item: Json, started_ms: int, now: float) -> None:
        """item/started."""
        self.notify("item/started", turn_messages.item_started(item_messages.timed(item, started_ms), self.place), now)

    def item_completed(self, item: Json, started_ms: int, now: float, *, older: Json | None = None) -> Json:
        """item/completed; the item with its times."""
        timed = item_messages.timed(item, started_ms, milliseconds(now))
        self.notify("item/completed", turn_messages.item_completed(timed, self.place), now, older=older)
        return timed

    def say(self, text: str, phase: str | None, now: float, choice: int | None = None) -> None:
        """One delta of text; the first one opens the item, in this phase."""
        del choice
        if self._message is None:
            identity, started = f"msg_{self._context.ids.number():04}", milliseconds(now)
            citations = Citations() if self._context.version.messages.hides_citations else None
            self._message = _Message(id=identity, phase=phase, started_ms=started, citations=citations)
            self.item_started(item_messages.agent_message(identity, "", phase), started, now)
        self._message.text.add(text)
        told = text if self._message.citations is None else self._message.citations.take(text)
        if told or self._message.citations is None:
            self._delta(self._message, told, now)

    def _delta(self, message: _Message, text: str, now: float) -> None:
        self.notify("item/agentMessage/delta", {**self.place, "itemId": message.id, "delta": text}, now)

    def _end_text(self, now: float) -> _Message | None:
        """Nothing more comes of the open item of text, if there is one; what was held back of it is told."""
        message, self._message = self._message, None
        held = message.citations.rest() if message and message.citations else ""
        if message and held:
            self._delta(message, held, now)
        return message

    def say_whole(self, text: str, phase: str | None, now: float, choice: int | None = None) -> None:
        """Text without deltas: an item that has all of it from the start."""
        del choice
        self.stop_speaking(now)
        identity, started = f"msg_{self._context.ids.number():04}", milliseconds(now)
        citations = Citations() if self._context.version.messages.hides_citations else None
        self._message = _Message(id=identity, phase=phase, started_ms=started, citations=citations)
        self._message.text.add(text)
        told = without_citations(text) if citations else text
        self.item_started(item_messages.agent_message(identity, told, phase), started, now)
        self.stop_speaking(now)

    def stop_speaking(self, now: float) -> None:
        """Complete the open item of text, if there is one."""
        message = self._end_text(now)
        if message is None:
            return
        text = message.text.whole
        told = without_citations(text) if message.citations else text
        item = item_messages.agent_message(message.id, told, message.phase)
        self.last_text = self.item_completed(item, message.started_ms, now)
        self.raw(raw_items.message(message.id, text), now, raw_items.UNKNOWN_KINDS)

    def turn_to_call(self, now: float) -> None:
        """The model goes on to a call."""
        self.stop_speaking(now)

    def fragment(self, delta: Json | str, choice: int | None, now: float) -> None:
        """agentMessageDelta: text, or a fragment of a call, in the words of another dialect."""
        self.notify("agentMessageDelta", {**self.address, "delta": delta, **_of(choice)}, now)

    def whole(self, message: Json, choice: int | None, now: float) -> None:
        """agentMessage: a whole message, in the words of another dialect."""
        self.notify("agentMessage", {**self.address, "message": message, **_of(choice)}, now)

    @property
    def address(self) -> Json:
        """How the other dialect names the thread."""
        return {"conversationId" if self._thread.conversation else "threadId": self._thread.id}

    def break_off(self, now: float) -> None:
        """The open item of text is never completed."""
        self._end_text(now)

    def think(self, thought: Think, now: float) -> None:
        """The model's thoughts: their one summary, then themselves."""
        identity, started = f"rs_{self._context.ids.number()}", milliseconds(now)
        part = {**self.place, "itemId": identity}
        self.item_started(item_messages.reasoning(identity, []), started, now)
        self.notify("item/reasoning/summaryPartAdded", {**part, "summaryIndex": 0}, now)
        for piece in cut(thought.text, thought.pieces):
            self.notify("item/reasoning/summaryTextDelta", {**part, "delta": piece, "summaryIndex": 0}, now)
        for piece in thought.raw:
            self.notify("item/reasoning/textDelta", {**part, "delta": piece, "contentIndex": 0}, now)
        content = ["".join(thought.raw)] if thought.raw else []
        self.item_completed(item_messages.reasoning(identity, [thought.text], content), started, now)
        self.raw(raw_items.reasoning(identity, thought), now, kept=False)

    # How it ends

    def choice_over(self, choice: int, reason: str, now: float) -> None:
        """A choice is over while others go on; there are no words for that."""

    def response_over(self, usage: Usage, reason: str, now: float) -> None:
        """The model's answer is complete, for this reason; only threads with raw events hear of it at once."""
        del reason
        if self._thread.raw_events:
            identity = f"resp_{self._context.ids.number():04}"
            self.notify("rawResponse/completed", raw_items.response(self.place, identity, usage), now)

    def changed(self, diff: str, now: float) -> None:
        """The turn has changed files; that is told again after each answer of the model."""
        self._diff = diff
        self.differs(now)

    def differs(self, now: float) -> None:
        """What the turn has changed so far, if anything."""
        if self._diff is not None:
            self.notify("turn/diff/updated", {**self.place, "diff": self._diff}, now)

    def retrying(self, error: Json, now: float) -> None:
        """The model is asked again."""
        self.break_off(now)
        self.older(legacy.retrying(error), now)
        self.notify("error", {"error": error, "willRetry": True, **self.place}, now)

    def unread(self, now: float) -> None:
        """The thread has something unread; threads that are kept in memory alone do not count that."""
        if not self._thread.ephemeral:
            self._thread.first_unread = self._thread.first_unread or self._turn_id
            state = messages.read_state(self._thread, self._context.ids.uuid(now))
            self.notify("thread/readState/changed", state, now)

    def status(self, now: float) -> None:
        """The thread's status."""
        told: Json = {"threadId": self._thread.id, "status": messages.status(self._thread)}
        self.notify("thread/status/changed", told, now)

    def failed(self, cause: Cause, now: float, *, ended: bool = True) -> None:
        """Why the turn fails and, if that has `ended` it, how it leaves the thread."""
        error = turn_messages.turn_error(cause)
        self.older(legacy.error(error), now)
        if ended:
            self.status(now)
        self.notify("error", {"error": error, "willRetry": False, **self.place}, now)

    def compacted(self, warning: str, now: float) -> None:
        """The conversation was summed up, as versions say that do not leave it at the item."""
        self.notify("thread/compacted", dict(self.place), now)
        if self._context.version.compaction.warns:
            self.notify("warning", {"threadId": self._thread.id, "message": warning}, now)

    def aborted(self, reason: str, now: float) -> None:
        """The turn is interrupted, in the older family alone."""
        self.older(legacy.turn_aborted(self._turn_id, reason), now)

    def task_complete(self, now: float, *, failed: bool = False) -> None:
        """The turn is over, in the older family alone."""
        self.older(legacy.task_complete(self._turn_id, None if failed else self.last_words), now)

    def completed(self, state: State, started: float, now: float, cause: Cause | None = None) -> None:
        """turn/completed."""
        summaries = self._context.version.turns.ends_with_last_text and state == "completed"
        turn = turn_object(
            self._turn_id,
            state,
            items=[self.last_text] if summaries and self.last_text and self.last_words else [],
            error=turn_messages.turn_error(cause) if cause else None,
            started=started,
            completed=now,
        )
        self.notify("turn/completed", {"threadId": self._thread.id, "turn": turn}, now)

    @property
    def last_words(self) -> str | None:
        """The text of the last finished agentMessage item."""
        return self.last_text["text"] if self.last_text else None


_BEGINNINGS: Mapping[StartStep, Callable[[Telling, float], None]] = {
    "turn": Telling.turn_started,
    "task": Telling.task_started,
    "status": Telling.status,
}


def _of(choice: int | None) -> Json:
    return {} if choice is None else {"choice_index": choice}
