"""The messages about one thread, of whatever dialect, as the events of one turn. Pure.

Until the turn's id is known (from its notification or from the response of turn/start, whichever comes first), only
notifications that name no turn are part of it, and afterwards only those with that id: injected history comes back as
raw items under another turn id, and its calls are not new ones.

Versions up to 0.114 send everything twice, as typed notifications and as `codex/event/<type>`, whose params are
{id: the turn's id, msg: {type, …}, conversationId}. The family that comes first counts, the other is ignored; so is, of
the two types in which that family sends one delta of text, the second. The notifications of other backends
(`story_decode`) belong to neither.

Calls come twice, as a raw item with the model's own characters and as a request to run the tool with parsed JSON: what
comes first under a call id counts, and the raw item does come first. `rawResponse/completed` means that no more calls
follow, and so does the count of tokens, where that is sent before the calls are answered. In code mode the tool runs
later than that, so then the first request to run it ends the calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from wireproof_proxy.backends.codex.story_decode import STORY, ended
from wireproof_proxy.backends.codex.turn_decoder import CodexTurnDecoder
from wireproof_proxy.backends.untrusted_json import as_mapping, as_text
from wireproof_surfaces.events import CallsEnded, Event, FailureReason, Working

if TYPE_CHECKING:
    from wireproof_proxy.backends.codex.rpc import Notice, ServerRequest

Family = Literal["typed", "event"]
Params = Mapping[str, Any]
_Read = Callable[[CodexTurnDecoder, Params], list[Event]]

_EVENT = "codex/event/"
_EVENT_TEXT = frozenset({"codex/event/agent_message_content_delta", "codex/event/agent_message_delta"})


def _item_completed(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    item = as_mapping(params.get("item"))
    if item.get("type") != "agentMessage":
        return [Working()]
    return turn.message(as_text(item.get("text")), as_text(item.get("id")))


def _raw_item(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    """An item in the model's own characters; only a call of a tool that was offered is a call for the client."""
    item = as_mapping(params.get("item"))
    # The calls of Codex's own tools come as raw items too.
    if item.get("type") != "function_call" or as_text(item.get("name")) not in turn.tools:
        return [Working()]
    return turn.native(as_text(item.get("call_id")), as_text(item.get("name")), as_text(item.get("arguments")))


def _tool_call(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    # Parsed by the server, so the model's own characters are in the raw item only (chat.whole.arguments-verbatim).
    arguments = json.dumps(params.get("arguments"), ensure_ascii=False, separators=(",", ":"))
    events = turn.native(as_text(params.get("callId")), as_text(params.get("tool")), arguments)
    return [*events, CallsEnded(choice=turn.choice)] if turn.responded else events


def _raw_response(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    return [*turn.summed(turn.usage(params.get("usage"))), *turn.response_over()]


def _token_usage(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    # The thread is this turn's own, so its total is the turn's; `last` is zero in an answer that was cut off.
    counted = turn.counted(turn.usage(as_mapping(params.get("tokenUsage")).get("total")))
    # Sent at the end of a response, which is the only one when its calls still wait.
    return [*counted, *turn.response_over()] if turn.calls.any else counted


def _error(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    # Codex asks its model again, and repeats the message under a new id.
    if params.get("willRetry"):
        return turn.retried()
    return turn.failed(as_mapping(params.get("error")))


def _completed(turn: CodexTurnDecoder, params: Params) -> list[Event]:
    ended = as_mapping(params.get("turn"))
    # failed, or interrupted: neither is an answer.
    if ended.get("status") != "completed":
        return turn.failed(as_mapping(ended.get("error")))
    items = ended.get("items")
    messages = [as_mapping(item) for item in items] if isinstance(items, list) else []
    last: Params = next((item for item in reversed(messages) if item.get("type") == "agentMessage"), {})
    return turn.complete(as_text(last.get("text")), as_text(last.get("id")))


def _token_count(turn: CodexTurnDecoder, msg: Params) -> list[Event]:
    used = turn.usage(as_mapping(msg.get("info")).get("total_token_usage"))
    # As in the other family.
    return [*turn.counted(used), *turn.response_over()] if used and turn.calls.any else turn.counted(used)


def _aborted(turn: CodexTurnDecoder, _msg: Params) -> list[Event]:
    # An interrupted turn has no answer, and nothing here says more of it.
    turn.over = True
    return [turn.failure(FailureReason.FAILED)]


_CONTENT: Mapping[str, _Read] = {
    "item/agentMessage/delta": lambda turn, params: turn.text(
        as_text(params.get("delta")), as_text(params.get("itemId"))
    ),
    "item/completed": _item_completed,
    "rawResponseItem/completed": _raw_item,
    "thread/tokenUsage/updated": _token_usage,
    **dict.fromkeys(_EVENT_TEXT, lambda turn, msg: turn.text(as_text(msg.get("delta")))),
    "codex/event/agent_message": lambda turn, msg: turn.message(as_text(msg.get("message"))),
    "codex/event/raw_response_item": _raw_item,
    "codex/event/token_count": _token_count,
}
"""Content, which an older server sends in both families: the family that came first counts."""
_ONCE: Mapping[str, _Read] = {
    "rawResponse/completed": _raw_response,
    "item/tool/call": _tool_call,
    "error": _error,
    "turn/completed": _completed,
    "codex/event/stream_error": lambda turn, _msg: turn.retried(),
    "codex/event/error": lambda turn, msg: turn.failed(msg),
    "codex/event/task_complete": lambda turn, msg: turn.complete(as_text(msg.get("last_agent_message"))),
    "codex/event/turn_aborted": _aborted,
}
"""What is sent once, or ends the turn and so counts once, in whichever family it comes first."""


@dataclass
class Decoder:
    """Reads the messages of one turn, whose state is `turn`."""

    turn: CodexTurnDecoder = field(default_factory=CodexTurnDecoder)
    _family: Family | None = None
    _delta_type: str | None = None

    def feed(self, message: Notice | ServerRequest) -> list[Event]:
        """The events that a message about the turn's thread means."""
        # Late notifications leave no trace (chat.stream.nothing-after-finish).
        if self.turn.over:
            return []
        if message.method.startswith(_EVENT):
            return self._event(message.method, message.params)
        if story := STORY.get(message.method):
            return list(story(self.turn, message.params)) if self._is_own(message.params) else []
        return self._typed(message)

    def answered(self, result: Params) -> list[Event]:
        """The events that the answer to the request that began the turn means: it may hold the finish reason."""
        return [] if self.turn.over else ended(self.turn, result)

    def _typed(self, message: Notice | ServerRequest) -> list[Event]:
        method, params = message.method, message.params
        # 0.89 to 0.99 count turns from "0" in every thread, so an id means something only within its thread.
        if method == "turn/started" and self.turn.turn_id in {None, _turn_of(params)}:
            self.turn.turn_id = _turn_of(params)
            # The turn's beginning decides: a family that comes later repeats what the first one says.
            self._is_first_family("typed")
            return [Working()]
        # `Link` hands an error that names no thread to every listener; it names no turn either.
        fatal = method == "error" and not _turn_of(params)
        if not fatal and (self.turn.turn_id is None or _turn_of(params) != self.turn.turn_id):
            return []
        return self._read("typed", method, params)

    def _event(self, method: str, params: Params) -> list[Event]:
        turn_id, msg = as_text(params.get("id")), as_mapping(params.get("msg"))
        if method == "codex/event/task_started" and self.turn.turn_id in {None, turn_id}:
            self.turn.turn_id = turn_id
            self._is_first_family("event")
            return [Working()]
        if self.turn.turn_id is None or turn_id != self.turn.turn_id:
            return []
        if method in _EVENT_TEXT:
            self._delta_type = self._delta_type or method
            if self._delta_type != method:
                return [Working()]
        return self._read("event", method, msg)

    def _read(self, family: Family, method: str, params: Params) -> list[Event]:
        read = _CONTENT.get(method)
        if read is not None:
            return read(self.turn, params) if self._is_first_family(family) else [Working()]
        read = _ONCE.get(method)
        return [Working()] if read is None else read(self.turn, params)

    def _is_first_family(self, family: Family) -> bool:
        """Whether this family came first, as it does when none has come yet."""
        self._family = self._family or family
        return self._family == family

    def _is_own(self, params: Params) -> bool:
        """Whether a message that need not name a turn is of this one."""
        named = _turn_of(params)
        # Other backends may name no turn, and start to speak before the turn's id is known.
        return not named or self.turn.turn_id in {None, named}


def _turn_of(params: Params) -> str:
    return as_text(params.get("turnId") or as_mapping(params.get("turn")).get("id"))
