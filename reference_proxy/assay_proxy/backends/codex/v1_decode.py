"""What the older family of notifications means: `codex/event/<type>`, told up to 0.114 of every thread. Pure.

Its params are {id: the turn's id, msg: {type, …}, conversationId}. One delta of text is told in two types; the first
one that is heard in a turn is listened to, the other is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from assay_proxy.backends.codex.v2_decode import raw_item
from assay_proxy.backends.untrusted_json import as_mapping, as_text
from assay_proxy.events import Cause, Event

if TYPE_CHECKING:
    from assay_proxy.backends.codex.turn_decoder import TurnDecoder

PREFIX = "codex/event/"
BEGIN = "task_started"
TEXT = frozenset({"agent_message_content_delta", "agent_message_delta"})

Params = Mapping[str, Any]


def _delta(turn: TurnDecoder, msg: Params) -> list[Event]:
    return turn.text(as_text(msg.get("delta")))


def _message(turn: TurnDecoder, msg: Params) -> list[Event]:
    return turn.message(as_text(msg.get("message")))


def _token_count(turn: TurnDecoder, msg: Params) -> list[Event]:
    used = turn.usage(as_mapping(msg.get("info")).get("total_token_usage"))
    # As in the other family: told at the end of a response, and with calls that wait, of the only one.
    return [*turn.counted(used), *turn.response_over()] if used and turn.calls.any else turn.counted(used)


def _stream_error(turn: TurnDecoder, _msg: Params) -> list[Event]:
    return turn.retried()


def _error(turn: TurnDecoder, msg: Params) -> list[Event]:
    return turn.failed(msg)


def _complete(turn: TurnDecoder, msg: Params) -> list[Event]:
    return turn.complete(as_text(msg.get("last_agent_message")))


def _aborted(turn: TurnDecoder, _msg: Params) -> list[Event]:
    turn.over = True
    return [turn.failure(Cause.FAILED)]


CONTENT: Mapping[str, Callable[[TurnDecoder, Params], list[Event]]] = {
    "agent_message_content_delta": _delta,
    "agent_message_delta": _delta,
    "agent_message": _message,
    "raw_response_item": raw_item,
    "token_count": _token_count,
}
"""What is also told in the family of v2."""

ALWAYS: Mapping[str, Callable[[TurnDecoder, Params], list[Event]]] = {
    "stream_error": _stream_error,
    "error": _error,
    "task_complete": _complete,
    "turn_aborted": _aborted,
}
"""The ends: whichever family tells of one first is right."""
