"""How the model's answer is sent: as items of the app-server, or in the dialect of older proxies' backends (`story`).

`ItemAnswer` and `StoryAnswer` take what the model does, piece by piece, and send the notifications of their dialect. In
the app-server's own dialect text is one agentMessage item until something else comes:

    item/started → item/agentMessage/delta … → item/completed

Newer servers keep citations in it from their client, `<oai-mem-citation>…</oai-mem-citation>`. A text that comes in
pieces is held back where it may be the beginning of one: "a <" is sent as "a ", and "<" with the next piece. A citation
that is never closed hides all that follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_codex.notifications import item_messages, raw_items

if TYPE_CHECKING:
    from wireproof_codex.notifications.counts import CountSender
    from wireproof_codex.notifications.sender import NotificationSender
    from wireproof_codex.protocol.json_object import Json
    from wireproof_scripts.steps import TextDelta, Usage


_OPENS = "<oai-mem-citation>"
_CLOSES = "</oai-mem-citation>"


class JoinedText:
    """A text that comes in pieces and is sent whole in the end.

    It is kept as bytes: a long answer of many pieces takes no more than its length.
    """

    def __init__(self) -> None:
        self._text = bytearray()

    def add(self, piece: str) -> None:
        """Append a piece, which may begin or end with half of a character."""
        # A script may cut between the UTF-16 halves of a character; strict UTF-8 knows no such half.
        self._text += piece.encode("utf-8", "surrogatepass")

    @property
    def whole(self) -> str:
        """The text with its halves of characters put together."""
        # UTF-16 joins two halves that stand side by side, and replaces one that stays alone.
        text = self._text.decode("utf-8", "surrogatepass")
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Citations:
    """Takes the citations out of one text."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def take(self, piece: str) -> str:
        """What can be sent of the text after this piece."""
        sent, rest = "", self._held + piece
        while True:
            mark = _CLOSES if self._inside else _OPENS
            before, found, after = rest.partition(mark)
            if not found:
                break
            sent += "" if self._inside else before
            self._inside, rest = not self._inside, after
        self._held = _begun(rest, mark)
        return sent if self._inside else sent + rest.removesuffix(self._held)

    def rest(self) -> str:
        """What was held back, when nothing more comes."""
        held, self._held = self._held, ""
        return "" if self._inside else held  # an open citation hides its rest


def without_citations(text: str) -> str:
    """The text as it is sent."""
    citations = Citations()
    return citations.take(text) + citations.rest()


def _begun(text: str, mark: str) -> str:
    """The longest end of the text with which the mark begins."""
    if mark[0] not in text:
        return ""
    # Without the whole length: a whole mark was found before.
    lengths = range(min(len(text), len(mark) - 1), 0, -1)
    return next((mark[:length] for length in lengths if text.endswith(mark[:length])), "")


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
    """Whether it can report that an answer was cut off; otherwise the turn fails with that."""

    def __init__(self, sender: NotificationSender, counts: CountSender) -> None:
        self.last_item: Json | None = None
        """The last completed agentMessage item."""
        self._sender = sender
        self._counts = counts
        self._message: _Message | None = None

    def write(self, piece: TextDelta) -> None:
        """Send a delta; the first one opens the item, in its phase."""
        if piece.whole:
            self._write_whole(piece)
            return
        message = self._message
        if message is None:
            message = self._open(piece)
            self._sender.item_started(self._item(message, ""), message.started_ms)
        message.text.add(piece.text)
        shown = piece.text if message.citations is None else message.citations.take(piece.text)
        # Nothing is shown of a piece that may belong to a citation; where none are cut out an empty piece is a delta,
        # too.
        if shown or message.citations is None:
            self._delta(message, shown)

    def _write_whole(self, piece: TextDelta) -> None:
        """Send an item that has all of its text from the start."""
        self.complete()
        message = self._open(piece)
        message.text.add(piece.text)
        # A model without deltas: item/started has the full text already, and no delta follows (0.169.0).
        shown = self._item(message, self._shown(message, piece.text))
        self._sender.item_started(shown, message.started_ms)
        self.complete()

    def _open(self, piece: TextDelta) -> _Message:
        context = self._sender.context
        self._message = _Message(
            id=f"msg_{context.ids.number():04}",
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
        # From 0.150.0 on turn/completed repeats it.
        self.last_item = self._sender.item_completed(item, message.started_ms)
        # The raw item is the model's own: citations stay in it.
        self._sender.raw(raw_items.message(message.id, text), raw_items.UNKNOWN_KINDS)

    def break_off(self) -> None:
        """Send no item/completed of the open item."""
        self._close()

    def end_choice(self, choice: int, reason: str) -> None:
        """Nothing: the app-server has no choices."""

    def end(self, usage: Usage, reason: str, *, called: bool) -> None:
        """Send rawResponse/completed; the app-server has no reasons.

        `called`: the client was asked to run a tool in this turn.
        """
        del reason, called
        self._sender.raw_response(usage)

    def count(self, used: Usage, *, failed: bool = False) -> None:
        """Send thread/tokenUsage/updated and the rate limits; `failed`: the answer broke off."""
        self._counts.response(used, failed=failed)
