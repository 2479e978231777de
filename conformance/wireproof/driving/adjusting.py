"""What a live endpoint refuses of the requests so far, so that the next ones do without it.

Found by refusals alone: a target is asked for everything once. What it has taken once it is not spared later: such a
refusal is about something else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wireproof.model.asks import AskCount
from wireproof.model.dialect import Surface
from wireproof.model.target import Adjustment, Backend
from wireproof.reading.asked import LIMITS, as_json, limit_of
from wireproof.reading.capabilities import surface_of
from wireproof.requests.adjusted import DISPENSABLE, OTHER_NAME, adjusted
from wireproof.requests.plain import UnseenError
from wireproof.wire.message import read_error

if TYPE_CHECKING:
    from wireproof.model.transcript import Transcript
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.events import Failed

REFUSALS = frozenset({400, 404, 422, 501})
"""Statuses of a plain refusal of what a request asks for."""


@dataclass(kw_only=True)
class Adjusting:
    """What the requests of a run do without; all its exchanges share one."""

    found: dict[str, Adjustment] = field(default_factory=dict)
    """Member of a request → what is sent instead, and why."""
    _taken: set[str] = field(default_factory=set)
    """The members that an answer came to."""

    def written(self, body: bytes, url: str) -> bytes:
        """The body as the target takes it at a URL, as far as that is known."""
        # Messages have names of their own: what chat refuses, a limit above all, this surface demands.
        return body if Surface.MESSAGES.endpoint in url else adjusted(body, self.found)

    def examine(self, exchange: Exchange) -> bool:
        """Whether to send the turn again, since the target refuses a member that it can do without.

        Raises:
            UnseenError: the turn is about an answer's limit, and the target takes none.
        """
        if exchange.target.backend is not Backend.LIVE or surface_of(exchange) is Surface.MESSAGES:
            return False
        members = _members(exchange)
        if not exchange.transcript.ok:
            return self._learn(exchange.transcript, members)
        self._taken |= members
        dropped = next((self.found[one] for one in LIMITS if one in self.found and not self.found[one].instead), None)
        if dropped and isinstance(exchange.asks, AskCount) and limit_of(exchange.transcript.request_body) is None:
            raise UnseenError(f"the target takes no limit of tokens: {dropped.message}", [exchange])
        return False

    def _learn(self, answer: Transcript, members: set[str]) -> bool:
        """Whether an answer refuses one of these members of its request, which is kept then."""
        refused = refusal(answer)
        name = refused and next((one for one in sorted(members - self._taken) if names(refused, one)), None)
        if not refused or not name:
            return False
        # Where both names of a limit are refused, there is none.
        other = OTHER_NAME.get(name, "")
        if other in self.found:
            self.found[other] = replace(self.found[other], instead="")
            other = ""
        said = " ".join(refused.message.split())
        self.found[name] = Adjustment(instead=other, status=answer.status or 0, message=said)
        return True


def _members(exchange: Exchange) -> set[str]:
    """The members of a request that it can do without."""
    body = as_json(exchange.transcript.request_body.decode(errors="replace"))
    # Without a cap of its own, a scenario that sets a limit is about that limit's name.
    own = frozenset(exchange.conversation.body) & {*LIMITS}
    return {name for name in body or () if name in DISPENSABLE and name not in own}


def refusal(transcript: Transcript) -> Failed | None:
    """The error of a plain refusal, whatever its envelope lacks; None where it is none."""
    if transcript.status not in REFUSALS:
        return None
    return read_error(transcript.body, transcript.header("content-type"))[0]


def names(failed: Failed, field: str) -> bool:
    """Whether a refusal names a field of the request."""
    return (failed.param or "").startswith(field) or re.search(rf"\b{re.escape(field)}\b", failed.message) is not None
