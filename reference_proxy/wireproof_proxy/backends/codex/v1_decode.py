"""What the older family of notifications means: `codex/event/<type>`, sent for every thread up to 0.114. Pure.

Its params are {id: the turn's id, msg: {type, …}, conversationId}. One delta of text is sent in two types; the type
that comes first in a turn counts, the other is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from wireproof_proxy.backends.codex.v2_decode import raw_item
from wireproof_proxy.backends.untrusted_json import as_mapping, as_text
from wireproof_surfaces.events import Event, FailureReason

if TYPE_CHECKING:
    from wireproof_proxy.backends.codex.turn_decoder import CodexTurnDecoder

PREFIX = "codex/event/"
BEGIN = "task_started"
TEXT = frozenset({"agent_message_content_delta", "agent_message_delta"})

Params = Mapping[str, Any]


def _delta(turn: CodexTurnDecoder, msg: Params) -> list[Event]:
    return turn.text(as_text(msg.get("delta")))


def _message(turn: CodexTurnDecoder, msg: Params) -> list[Event]:
    return turn.message(as_text(msg.get("message")))


def _token_count(turn: CodexTurnDecoder, msg: Params) -> list[Event]:
    used = turn.usage(as_mapping(msg.get("info")).get("total_token_usage"))
    # As in the other family: sent at the end of a response, which is the only one when its calls still wait.
    return [*turn.counted(used), *turn.response_over()] if used and turn.calls.any else turn.counted(used)


def _stream_error(turn: CodexTurnDecoder, _msg: Params) -> list[Event]:
    return turn.retried()


def _error(turn: CodexTurnDecoder, msg: Params) -> list[Event]:
    return turn.failed(msg)


def _complete(turn: CodexTurnDecoder, msg: Params) -> list[Event]:
    return turn.complete(as_text(msg.get("last_agent_message")))


# An interrupted turn has no answer, and nothing here says more of it.
def _aborted(turn: CodexTurnDecoder, _msg: Params) -> list[Event]:
    turn.over = True
    return [turn.failure(FailureReason.FAILED)]


CONTENT: Mapping[str, Callable[[CodexTurnDecoder, Params], list[Event]]] = {
    "agent_message_content_delta": _delta,
    "agent_message_delta": _delta,
    "agent_message": _message,
    "raw_response_item": raw_item,
    "token_count": _token_count,
}
"""Content, which the v2 family repeats: the family that came first counts."""

ALWAYS: Mapping[str, Callable[[CodexTurnDecoder, Params], list[Event]]] = {
    "stream_error": _stream_error,
    "error": _error,
    "task_complete": _complete,
    "turn_aborted": _aborted,
}
"""The ends, which count in whichever family they come first."""
