"""How the model sums a conversation up, when that fills its context or the client wants it: compaction.

The model is asked for a summary as for any answer, but only the beginning and the end of that are told, the counts, and
raw items. When the service says that even this is too long the oldest item is left out and it is asked again. In the
end the history is what the user has said, and the summary; how many tokens that is the server estimates.

A turn is preceded by it when the last answer left too little room, or interrupted when calls have been answered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay_codex.notifications import item_messages, turn_messages
from assay_codex.notifications.notifier import Telling
from assay_codex.turns.playing import Playing
from assay_codex.turns.response import Failure, Response
from assay_scripts.conversation import is_user, message_text
from assay_scripts.files.errors import ScriptError
from assay_scripts.player import perform
from assay_scripts.selection import Selection, rejected, select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay_codex.context import Desk
    from assay_codex.threads.thread import Thread
    from assay_scripts.nonces import Record, State
    from assay_scripts.steps import Call, Usage

Json = dict[str, Any]

PROMPT = "You are performing a CONTEXT CHECKPOINT COMPACTION."
"""What the model is asked; a script may have it as its `when`."""

_LEAD = "What another model made of this task so far:\n"
_CONTEXT_ITEMS = 2
"""What codex itself puts before a history: skills and the environment."""

_INSTRUCTIONS = 5949
_LEAD_LENGTH = 401
_PER_TOKEN = 4
"""As 0.169.0 was seen to estimate: so many tokens besides what was said, characters before a summary and in a token."""

_WARNING = (
    "Heads up: Long threads and multiple compactions can cause the model to be less accurate. "
    "Start a new thread when possible to keep threads small and targeted."
)


def sum_up(desk: Desk, thread: Thread, dropped: int = 0) -> Selection:
    """What the model answers when it is asked for a summary of all but so many items."""
    if isinstance(desk.library, ScriptError):
        return rejected(str(desk.library))
    return select(
        desk.library,
        desk.nonces,
        history=thread.history[max(0, dropped - _CONTEXT_ITEMS) :],
        given=[{"type": "text", "text": PROMPT}],
        tools=[],
        call_id="",
    )


class Summing(Telling):
    """Tells the model's summary: no items but raw ones, and these when it is complete."""

    def __init__(self, desk: Desk, thread: Thread, turn_id: str) -> None:
        super().__init__(desk, thread, turn_id, double=desk.version.double)
        self._raw: list[tuple[str, Json]] = []

    def notify(self, method: str, params: Json, now: float, *, older: Json | None = None) -> None:
        """Send a notification unless it is about an item."""
        if method == "rawResponseItem/completed":
            self._raw.append((method, params))
        elif not method.startswith("item/"):
            super().notify(method, params, now, older=older)

    def response_over(self, usage: Usage, reason: str, now: float) -> None:
        """The summary is complete."""
        for method, params in self._raw if self._desk.version.raw_summaries else ():
            super().notify(method, params, now)
        super().response_over(usage, reason, now)


@dataclass(kw_only=True, slots=True)
class Compaction:
    """A compaction under way: `then` is what comes after it, `response` and `telling` the turn's own."""

    casting: Selection
    record: Record
    item: Json
    started_ms: int
    then: Callable[[float], None]
    response: Response
    telling: Telling
    dropped: int = 0


class Compacting(Playing):
    """Plays a turn and its compactions; `summary`: what the model answers where the turn begins with one.

    `asked`: the turn is nothing else.
    """

    def __init__(
        self,
        desk: Desk,
        thread: Thread,
        casting: Selection,
        given: Sequence[Mapping[str, Any]],
        now: float,
        summary: Selection | None = None,
        *,
        asked: bool = False,
    ) -> None:
        self._compaction: Compaction | None = None
        record = summary.nonce.begin(summary.script, summary.first) if summary else None
        super().__init__(desk, thread, casting, given, now)
        self._summary = (casting, self._record) if asked else (summary, record)
        self._client_id: str | None = None
        self.steerable = not asked

    def begin(self, client_id: str | None, now: float) -> None:
        """Tell that the user's input was taken, after a compaction if there is to be one."""
        self._client_id = client_id
        casting, record = self._summary
        if casting is None or record is None:
            self._take(now)
        else:
            self._compact(casting, record, self._take if self.steerable else self._leave_compacted, now)

    def _take(self, now: float) -> None:
        if self._given:
            self._telling.user_input(self._given, self._client_id, now)
        if self._queued:
            self._hear_queued(now)

    def _leave_compacted(self, now: float) -> None:
        """Nothing more was asked."""
        self._telling.task_complete(now)
        self._release("completed", now)
        self._telling.completed("completed", self._started, now)
        self._leave()

    def _compact(self, casting: Selection, record: Record, then: Callable[[float], None], now: float) -> None:
        item, started = item_messages.context_compaction(self._desk.ids.uuid(now)), turn_messages.ms(now)
        self._telling.item_started(item, started, now)
        self._compaction = Compaction(
            casting=casting,
            record=record,
            item=item,
            started_ms=started,
            then=then,
            response=self._response,
            telling=self._telling,
        )
        self._telling = Summing(self._desk, self.thread, self.id)
        self._ask_for_summary(self._compaction, now)

    def _ask_for_summary(self, compaction: Compaction, now: float) -> None:
        part = compaction.casting.parts[compaction.casting.first]
        self._response = Response(part, perform(part, self, now))

    # What is otherwise meanwhile

    def _ask(self, call: Call, now: float) -> None:
        if self._compaction is None:
            super()._ask(call, now)
        else:
            self._telling.raw(self._calling.raw(call), now)

    def _go_on(self, now: float) -> None:
        limit = self._desk.version.compacts_at
        if limit is None or self.thread.context < limit:
            super()._go_on(now)
            return
        casting = sum_up(self._desk, self.thread)
        self._compact(casting, casting.nonce.begin(casting.script, casting.first), self._resume, now)

    def _resume(self, now: float) -> None:
        """The model goes on with what it knows now."""
        if self._queued:
            self._hear_queued(now)
            return
        casting = self._recast(self._casting)
        self._record.state = "completed"
        self._record = casting.nonce.begin(casting.script, casting.first)
        self._casting, self._index = casting, casting.first
        self._response = self._next_response(now)

    def _recast(self, before: Selection) -> Selection:
        if isinstance(self._desk.library, ScriptError):
            return before
        return select(
            self._desk.library,
            self._desk.nonces,
            history=self.thread.history,
            given=[],
            tools=self.thread.tools,
            call_id=f"call_{self._desk.ids.number():04}",
        )

    # How it ends

    def _finish(self, reason: str, now: float) -> None:
        compaction = self._compaction
        if compaction is None:
            super()._finish(reason, now)
            return
        self._telling.stop_speaking(now)
        self._telling.response_over(self._response.usage, reason, now)
        self._telling.usage(self._response.usage, now)
        self._forget(self._telling.last_words or "", now)
        self._end_compaction(compaction, "completed")
        self._telling.item_completed(compaction.item, compaction.started_ms, now)
        self._telling.compacted(_WARNING, now)
        compaction.then(now)

    def _forget(self, summary: str, now: float) -> None:
        """The history is what the user said, and the summary."""
        said = [item for item in self.thread.history if is_user(item)]
        lengths = [*(len(message_text(item)) for item in said), _LEAD_LENGTH + len(summary)]
        self.thread.estimated = _INSTRUCTIONS + sum(-(-length // _PER_TOKEN) for length in lengths)
        content = [{"type": "input_text", "text": f"{_LEAD}{summary}"}]
        self.thread.history = [*said, {"type": "message", "role": "user", "content": content}]
        self._telling.counts_before(now)

    def _end_compaction(self, compaction: Compaction, state: State) -> None:
        compaction.record.state = state
        self._compaction, self._telling, self._response = None, compaction.telling, compaction.response

    def _fail(self, failure: Failure, now: float) -> None:
        compaction = self._compaction
        if compaction is None:
            super()._fail(failure, now)
        elif failure.cause.fills_context and compaction.dropped < _CONTEXT_ITEMS + len(self.thread.history):
            self._telling.break_off(now)
            self._drop_one(compaction, now)
        else:
            if failure.counted:
                self._count_failed(failure, now)
            elif failure.cause.fills_context:
                self._telling.full_context(now, began=failure.cause.began)
            self._end_compaction(compaction, "failed")
            if self._given and self._desk.version.hears_all:
                self._telling.user_input(self._given, self._client_id, now)
            self._tell_failed(failure.cause, now)
            self._leave()

    def _drop_one(self, compaction: Compaction, now: float) -> None:
        """Ask again, without the oldest item."""
        before = compaction.casting
        compaction.record.state = "failed"
        compaction.dropped += 1
        casting = sum_up(self._desk, self.thread, compaction.dropped)
        if casting.script == before.script:
            casting = replace(casting, first=max(casting.first, min(before.first + 1, len(casting.parts) - 1)))
        compaction.casting, compaction.record = casting, casting.nonce.begin(casting.script, casting.first)
        self._ask_for_summary(compaction, now)

    def _free(self, state: State, now: float) -> None:
        if self._compaction is not None:
            self._compaction.record.state = state
        super()._free(state, now)
