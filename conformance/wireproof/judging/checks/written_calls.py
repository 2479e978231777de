"""Calls that came as text: a server that does not read the calls that its model writes passes them on as they are.

Models write a call in the form that they were trained with: between tags, behind a token, as JSON in a fence or alone.
Clients show it to their users, and run nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.judging.registry import Seen
from wireproof.wire.fields import json_of
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Collection

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.violation import Place

HINT = (
    "The call is in the text as the model wrote it: read it there and send it as tool_calls, without its text. "
    "Servers of models have a parser for it that is to be turned on."
)
"""What to do about a call that came as text."""

# The words between which, or behind which, models of several families write their calls.
_MARKS = re.compile(
    "<\uff5ctool\u2581calls?\u2581begin\uff5c>"
    r"|<\|?tool_calls?\|?>|<use_tool>|<function(?:_call)?[=>]|<invoke\b|\[TOOL_CALLS?\]|<\|python_tag\|>"
    r"|```(?:json|tool_call|tool_code|xml)?\s*(?=[\[{<])"
)
_BARE = re.compile(r"\s*(?=[\[{])")
_ARGUMENTS = frozenset({"arguments", "parameters", "args", "input", "function", "function_call"})
"""Members that a call has beside its name, or that hold both."""
_REACH = 400
"""Characters behind a mark within which the tool must be named."""
_SHOWN = 80


def written_call(text: str, names: Collection[str]) -> str:
    """The beginning of what is a call of one of these tools in a text; "" where none is."""
    for mark in _MARKS.finditer(text):
        if _names_one(text[mark.end() : mark.end() + _REACH], names):
            return text[mark.start() : mark.start() + _SHOWN]
    # Without a mark only where the text is the call and nothing else: JSON may be what the user asked for.
    bare = _BARE.match(text)
    return text[bare.end() : bare.end() + _SHOWN] if bare and _is_call(text, names) else ""


def called_in_text(exchange: Exchange) -> str:
    """The beginning of the call that stands in the text of an answer; "" where none does, or where it belongs there."""
    if exchange.dialect.spec.blocks or exchange.turn is None:
        return ""
    texts = (choice.text or "" for choice in exchange.answer.choices)
    return next(filter(None, (written_call(text, exchange.conversation.tool_names) for text in texts)), "")


def no_call(seen: str, exchange: Exchange, place: Place, hint: str = "") -> Seen:
    """A call that never came, with what stands in the text instead of it; `hint` is for where nothing does."""
    written = called_in_text(exchange)
    said = f"{seen}; it came as text: {quoted(written)}" if written else seen
    return Seen(said, place, hint=HINT if written else hint)


def _names_one(text: str, names: Collection[str]) -> bool:
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for name in names)


def _is_call(text: str, names: Collection[str]) -> bool:
    value = json_of(text)
    calls = value if isinstance(value, list) else [value]
    named = all(isinstance(one, dict) and not _ARGUMENTS.isdisjoint(one) for one in calls)
    return bool(calls) and named and _names_one(text[:_REACH], names)
