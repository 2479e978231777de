"""The error in an answer that is no success, in the form of the surface that was asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.model.dialect import Surface
from wireproof.wire.message import read_error
from wireproof.wire.messages_whole import read_message_error

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.events import Failed
    from wireproof.wire.message import ReadError


def error_in(exchange: Exchange) -> ReadError:
    """The error of an answer, None if it has none at all; and at most one violation of its envelope."""
    transcript = exchange.transcript
    kind = transcript.header("content-type")
    if exchange.dialect.spec.surface is Surface.MESSAGES:
        return read_message_error(transcript.body, kind, transcript.status or 0)
    return read_error(transcript.body, kind)


def names(failed: Failed, field: str, surface: Surface) -> bool:
    """Whether an error names a field of its request, or a place inside it; header names are the same in any case."""
    # Its errors have no member for it: most messages begin with the path, others speak of the field.
    if surface is Surface.MESSAGES and in_words(failed.message, field):
        return True
    param = failed.param or ""
    # `messages` is also named by `messages[0].role`, as OpenAI does.
    return param.lower() == field.lower() or param.startswith((f"{field}.", f"{field}["))


def in_words(message: str, field: str) -> bool:
    """Whether a message has the name of a field as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(field)}(?![\w-])", message) is not None
