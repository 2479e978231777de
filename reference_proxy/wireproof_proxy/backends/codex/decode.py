"""The messages about one thread, of whatever dialect, as the events of one turn. Pure.

Until the turn's id is known (from its notification or from the response of turn/start, whichever comes first), only
notifications that name no turn are part of it, and afterwards only those with that id: injected history comes back as
raw items under another turn id, and its calls are not new ones.

Versions up to 0.114 send everything twice, as typed notifications and as `codex/event/*`. The family that comes first
counts, the other is ignored. The notifications of other backends (`story_decode`) belong to neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from wireproof_proxy.backends.codex import v1_decode as v1
from wireproof_proxy.backends.codex import v2_decode as v2
from wireproof_proxy.backends.codex.story_decode import STORY, ended
from wireproof_proxy.backends.codex.turn_decoder import CodexTurnDecoder
from wireproof_proxy.backends.untrusted_json import as_mapping, as_text
from wireproof_surfaces.events import Event, Working

if TYPE_CHECKING:
    from wireproof_proxy.backends.codex.rpc import Notice, ServerRequest

Family = Literal["typed", "event"]
Params = Mapping[str, Any]


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
        if message.method.startswith(v1.PREFIX):
            return self._event(message.method.removeprefix(v1.PREFIX), message.params)
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
        if decode := v2.ALWAYS.get(method):
            return decode(self.turn, params)
        if (decode := v2.CONTENT.get(method)) and self._is_first_family("typed"):
            return decode(self.turn, params)
        return [Working()]

    def _event(self, kind: str, params: Params) -> list[Event]:
        turn_id, msg = as_text(params.get("id")), as_mapping(params.get("msg"))
        if kind == v1.BEGIN and self.turn.turn_id in {None, turn_id}:
            self.turn.turn_id = turn_id
            self._is_first_family("event")
            return [Working()]
        if self.turn.turn_id is None or turn_id != self.turn.turn_id:
            return []
        if decode := v1.ALWAYS.get(kind):
            return decode(self.turn, msg)
        if (decode := v1.CONTENT.get(kind)) and self._is_first_family("event") and self._counts(kind):
            return decode(self.turn, msg)
        return [Working()]

    def _is_first_family(self, family: Family) -> bool:
        """Whether this family came first, as it does when none has come yet."""
        self._family = self._family or family
        return self._family == family

    def _counts(self, kind: str) -> bool:
        """Whether a type of message counts among those that repeat the same text: the first one does."""
        if kind not in v1.TEXT:
            return True
        self._delta_type = self._delta_type or kind
        return self._delta_type == kind

    def _is_own(self, params: Params) -> bool:
        """Whether a message that need not name a turn is of this one."""
        named = _turn_of(params)
        # Other backends may name no turn, and start to speak before the turn's id is known.
        return not named or self.turn.turn_id in {None, named}


def _turn_of(params: Params) -> str:
    return as_text(params.get("turnId") or as_mapping(params.get("turn")).get("id"))
