"""How the model's answer is sent: as items of the app-server, or in the dialect of older proxies' backends (`story`).

An `AnswerWriter` takes what the model does, piece by piece, and sends the notifications of its dialect. In the
app-server's own dialect text is one agentMessage item until something else comes:

    item/started → item/agentMessage/delta … → item/completed
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from wireproof_codex.notifications import item_messages, raw_items
from wireproof_codex.notifications.citations import Citations, without_citations
from wireproof_codex.notifications.joined_text import JoinedText

if TYPE_CHECKING:
    from wireproof_codex.notifications.counts import CountSender
    from wireproof_codex.notifications.sender import NotificationSender
    from wireproof_codex.protocol.json_object import Json
    from wireproof_scripts.steps import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerText:
    """A piece of the model's text."""

    text: str
    phase: str | None = None
    """The phase of the item that the piece opens: "commentary" before a call."""
    choice: int | None = None
    """The choice that the piece names, in dialects that have choices."""
    whole: bool = False
    """True for a text that is sent without deltas, with its item or message alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerEnd:
    """The end of the model's answer."""

    usage: Usage
    reason: str
    called: bool
    """Whether the client was asked to run a tool in this turn."""


class AnswerWriter(Protocol):
    """Sends the model's answers of one turn in a dialect."""

    reports_reasons: bool
    """Whether it can report that an answer was cut off; otherwise the turn fails with that."""
    last_item: Json | None
    """The last completed agentMessage item."""

    def write(self, piece: AnswerText) -> None:
        """Send a piece of text."""

    def before_call(self) -> None:
        """Send what comes before a call."""

    def complete(self) -> None:
        """Complete the text that is open, if any."""

    def break_off(self) -> None:
        """Leave the text that is open without its end."""

    def end_choice(self, choice: int, reason: str) -> None:
        """Send that a choice is over while others go on."""

    def end(self, end: AnswerEnd) -> None:
        """Send that the answer is complete."""

    def count(self, used: Usage, *, failed: bool = False) -> None:
        """Send the tokens of the answer; `failed`: it broke off."""


def _identity(sender: NotificationSender) -> str:
    return f"msg_{sender.context.ids.number():04}"


@dataclass(kw_only=True, slots=True)
class _Message:
    """An agentMessage item that has no end yet."""

    id: str
    phase: str | None
    started_ms: int
    citations: Citations | None
    text: JoinedText = field(default_factory=JoinedText)


class ItemAnswer:
    """Sends answers as items of the app-server."""

    reports_reasons = False

    def __init__(self, sender: NotificationSender, counts: CountSender) -> None:
        self.last_item: Json | None = None
        self._sender = sender
        self._counts = counts
        self._message: _Message | None = None

    def write(self, piece: AnswerText) -> None:
        """Send a delta; the first one opens the item, in its phase."""
        if piece.whole:
            self._write_whole(piece)
            return
        message = self._message
        if message is None:
            message = self._open(piece)
            self._sender.notify(*item_messages.started(self._item(message, ""), message.started_ms, self._sender.place))
        message.text.add(piece.text)
        shown = piece.text if message.citations is None else message.citations.take(piece.text)
        # Nothing is shown of a piece that may belong to a citation; where none are cut out an empty piece is a delta,
        # too.
        if shown or message.citations is None:
            self._delta(message, shown)

    def _write_whole(self, piece: AnswerText) -> None:
        """Send an item that has all of its text from the start."""
        self.complete()
        message = self._open(piece)
        message.text.add(piece.text)
        # A model without deltas: item/started has the full text already, and no delta follows (0.169.0).
        shown = self._item(message, self._shown(message, piece.text))
        self._sender.notify(*item_messages.started(shown, message.started_ms, self._sender.place))
        self.complete()

    def _open(self, piece: AnswerText) -> _Message:
        context = self._sender.context
        self._message = _Message(
            id=_identity(self._sender),
            phase=piece.phase,
            started_ms=context.now_ms,
            citations=Citations() if context.version.messages.hides_citations else None,
        )
        return self._message

    def _item(self, message: _Message, text: str) -> Json:
        return item_messages.agent_message(message.id, text, message.phase)

    def _shown(self, message: _Message, text: str) -> str:
        return without_citations(text) if message.citations else text

    def _delta(self, message: _Message, text: str) -> None:
        # One delta for one of the model's, neither merged nor split: 300 of 300 of a real server.
        delta = {**self._sender.place, "itemId": message.id, "delta": text}
        self._sender.notify("item/agentMessage/delta", delta)

    def _close(self) -> _Message | None:
        """Take the open item, after the rest of its text that may have become a citation."""
        message, self._message = self._message, None
        held = message.citations.rest() if message and message.citations else ""
        if message and held:
            self._delta(message, held)
        return message

    def before_call(self) -> None:
        """Complete the text: a call is an item of its own."""
        self.complete()

    def complete(self) -> None:
        """Send item/completed of the open item."""
        message = self._close()
        if message is None:
            return
        text = message.text.whole
        item = self._item(message, self._shown(message, text))
        timed = item_messages.timed(item, message.started_ms, self._sender.context.now_ms)
        self._sender.notify(*item_messages.completed(timed, self._sender.place))
        self.last_item = timed  # from 0.150.0 on turn/completed repeats it
        # The raw item is the model's own: citations stay in it.
        self._sender.raw(raw_items.message(message.id, text), raw_items.UNKNOWN_KINDS)

    def break_off(self) -> None:
        """Send no item/completed of the open item."""
        self._close()

    def end_choice(self, choice: int, reason: str) -> None:
        """Nothing: the app-server has no choices."""

    def end(self, end: AnswerEnd) -> None:
        """Send rawResponse/completed, to threads with raw events alone."""
        if self._sender.thread.raw_events:
            self._sender.notify(*raw_response(self._sender, end.usage))

    def count(self, used: Usage, *, failed: bool = False) -> None:
        """Send thread/tokenUsage/updated and the rate limits."""
        self._counts.response(used, failed=failed)


def raw_response(sender: NotificationSender, usage: Usage) -> tuple[str, Json]:
    """Method and params of rawResponse/completed."""
    return "rawResponse/completed", raw_items.response(
        sender.place,
        f"resp_{sender.context.ids.number():04}",
        usage,
        metadata=sender.context.version.counts.raw_metadata,
    )
