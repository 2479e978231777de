"""The service without its sockets: requests in, replies out. Which part of which script a request is answered with.

The script is chosen as in the mock, by the marker in the input, else by a user's text, else it is the default answer. A
request that brings results continues its turn; any other begins one.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from assay_mocks.codex.casting import Casting, cast
from assay_mocks.codex.default_answer import default_answer
from assay_mocks.codex.nonces import Nonces
from assay_mocks.upstream.failing import Refusal, refusal
from assay_mocks.upstream.playable import why_not
from assay_mocks.upstream.reply import Reply
from assay_mocks.upstream.request import Asked, UnreadableError, read
from assay_mocks.upstream.writing import Writer

if TYPE_CHECKING:
    from assay_mocks.codex.nonces import Record
    from assay_mocks.script import Library, Step


class Service:
    """Plays the scripts of a library. Times are epoch seconds. One thread at a time may use it and its replies."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._nonces = Nonces()
        self._numbers = itertools.count(1)

    def answer(self, body: bytes, now: float) -> Reply | Refusal:
        """The reply to a request with this body, or the HTTP error that it deserves."""
        try:
            asked = read(body)
        except UnreadableError as error:
            return refusal(400, str(error), type="invalid_request_error")
        casting = cast(
            self._library,
            self._nonces,
            history=asked.items,
            given=[],
            tools=asked.tools,
            call_id=f"call_{next(self._numbers):04}",
        )
        if casting.trouble is not None:
            return refusal(404, casting.trouble.message, type="invalid_request_error", code="script_not_found")
        why = why_not(casting.parts, casting.told)
        if why:
            message = f"the script {casting.script} cannot be played by the model's service: {why}"
            return refusal(501, message, type="unplayable_script", code="unplayable_script")
        return self._reply(asked, casting, now)

    def _reply(self, asked: Asked, casting: Casting, now: float) -> Reply:
        writer = Writer(asked.model, now, self._number)
        return Reply(self._part(asked, casting), asked, writer, casting.nonce, _record(asked, casting))

    def _part(self, asked: Asked, casting: Casting) -> tuple[Step, ...]:
        if casting.first < len(casting.parts):
            return casting.parts[casting.first]
        return default_answer(asked.items, asked.tools, f"call_{self._number():04}")

    def _number(self) -> int:
        return next(self._numbers)


def _record(asked: Asked, casting: Casting) -> Record:
    """The turn that a request belongs to."""
    turns = reversed(casting.nonce.turns)
    begun = next((turn for turn in turns if turn.script == casting.script), None) if asked.continues else None
    if begun is None:
        return casting.nonce.begin(casting.script, casting.first)
    begun.part, begun.state = casting.first, "running"
    return begun
