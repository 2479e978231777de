"""Texts that a model was to repeat exactly: damage is known by its kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import REPLACEMENT
from wireproof.judging.checks.live_counts import STOPPED
from wireproof.judging.checks.live_said import asked_texts, place_in, refuses, sent_in, strings, thinks
from wireproof.judging.checks.places import reading_of
from wireproof.judging.checks.written_calls import HINT, called_in_text
from wireproof.judging.registry import Seen
from wireproof.model.asks import AskSay
from wireproof.wire.events import Text
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.model.asks import Asks
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.calls import Choice

FEW = 5
"""Tokens that an answer may count and yet say nothing: those that end it, and others that no client is shown."""

# What ends a message, a turn or a text in the templates of ChatML, Llama, Gemma, Mistral, DeepSeek and Phi.
_TOKEN = re.compile(
    r"<\|(?:im_(?:start|end)|e(?:ot|om)_id|end(?:oftext|_of_text)?|(?:start|end)_header_id)\|>|<(?:start|end)_of_turn>"
    # In the middle of a text it may close what is struck through in HTML.
    r"|</s>(?=\s*\Z)|<\uff5cend\u2581of\u2581sentence\uff5c>"
)


def torn(exchange: Exchange) -> Iterable[Seen]:
    """No replacement characters: no prompt has one, and no model writes one."""
    for text in strings(exchange):
        if REPLACEMENT in text:
            at = text.index(REPLACEMENT)
            seen = f"a replacement character (U+FFFD) stands in {quoted(text[max(0, at - 10) : at + 10])}"
            yield Seen(seen, place_in(exchange))
            return


def text(exchange: Exchange) -> Iterable[Seen]:
    """What was said is not misread, sent twice, lost, continued behind a stop, or raw, as the model wrote it."""
    stop = exchange.turn.body.get("stop", ()) if exchange.turn else ()
    for choice in exchange.answer.choices:
        got = choice.text or ""
        if (seen := next((one for one in stop if one in got), None)) is not None:
            yield Seen(f"the text goes on to the stop sequence {quoted(seen)}: {quoted(got)}", place_in(exchange))
        elif begun := _begun(stop, exchange.asks, got):
            seen = f"the text ends with {quoted(begun)}, the beginning of its stop sequence: {quoted(got)}"
            yield Seen(seen, place_in(exchange))
        elif (token := _TOKEN.search(got)) and token[0] not in sent_in(exchange):
            seen = quoted(got[max(0, token.start() - 20) : token.end() + 20])
            yield Seen(f"the text has a token of the model's chat template: {seen}", place_in(exchange))
        elif choice.calls and (written := called_in_text(exchange)):
            seen = f"a call came, and what the model wrote to make it came as text, too: {quoted(written)}"
            yield Seen(seen, place_in(exchange), hint=HINT)
        elif not exchange.wanted and _misread(asked_texts(exchange.asks), got):
            yield Seen(f"UTF-8 was read as another encoding: {quoted(got, 60)}", place_in(exchange))
        elif (
            not exchange.wanted and isinstance(exchange.asks, AskSay) and _doubled(exchange, choice, exchange.asks.text)
        ):
            yield Seen(f"each piece of the text came twice: {quoted(got)}", place_in(exchange))
        elif not got and not choice.calls and choice.finish == STOPPED and _was_said(exchange):
            seen = "the usage counts the tokens of an answer, and it has no text"
            yield Seen(seen, place_in(exchange), counts=True)


def _begun(stop: Iterable[str], asks: Asks | None, got: str) -> str:
    """The part of a stop sequence with which a text ends that should end before it; "" where it does not."""
    if not isinstance(asks, AskSay) or not got.startswith(asks.text):
        return ""
    rest = got.removeprefix(asks.text).strip()
    return rest if len(rest) > 1 and any(one.startswith(rest) for one in stop) else ""


def _was_said(exchange: Exchange) -> bool:
    """Whether the counts show that the model said something that a client should see."""
    got = exchange.answer.usage
    if got is None or thinks(exchange) or refuses(exchange):
        return False
    return got.completion - (got.reasoning or 0) >= FEW


def _misread(asked: Iterable[str], got: str) -> bool:
    """Whether a text has what UTF-8 becomes when it is read as Latin-1 or Windows-1252."""
    marks = {
        one.encode().decode(encoding, errors="ignore")
        for whole in asked
        for one in re.findall(r"[^\x00-\x7f]", whole)
        for encoding in ("latin-1", "cp1252")
    }
    return any(len(mark) > 1 and mark in got for mark in marks)


def _doubled(exchange: Exchange, choice: Choice, asked: str) -> bool:
    """Whether the text would be right with every second piece of it left out."""
    pieces = [
        event.text for event in reading_of(exchange).events if isinstance(event, Text) and event.choice == choice.index
    ]
    twice = len(pieces) > 1 and pieces[::2] == pieces[1::2] and "".join(pieces[::2]).strip() == asked.strip()
    return twice or (choice.text or "").strip() == asked.strip() * 2
