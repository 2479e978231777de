"""The service without its sockets: requests in, replies out. Which part of which script a request is answered with.

The script is chosen as in the mock, by the marker in the input, else by a user's text, else it is the default answer. A
request that brings results continues the turn of its thread, if there is one; any other begins a turn.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import TYPE_CHECKING

from assay_mocks.upstream.failing import Refusal, refusal
from assay_mocks.upstream.playable import why_not
from assay_mocks.upstream.reply import Reply
from assay_mocks.upstream.request import Asked, UnreadableError, read
from assay_mocks.upstream.writing import Writer
from assay_scripts.default_answer import default_answer
from assay_scripts.nonces import KEPT_NONCES, Nonces
from assay_scripts.selection import Casting, cast

if TYPE_CHECKING:
    from assay_scripts.nonces import Record
    from assay_scripts.steps import Library, Step


class Service:
    """Plays the scripts of a library. Times are epoch seconds. One thread at a time may use it and its replies."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._nonces = Nonces()
        self._numbers = itertools.count(1)
        self._turns: OrderedDict[tuple[str, str], Record] = OrderedDict()  # by thread and script

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
        return Reply(self._part(asked, casting), asked, writer, casting.nonce, self._record(asked, casting))

    def _part(self, asked: Asked, casting: Casting) -> tuple[Step, ...]:
        if casting.first < len(casting.parts):
            return casting.parts[casting.first]
        return default_answer(asked.items, asked.tools, f"call_{self._number():04}")

    def _record(self, asked: Asked, casting: Casting) -> Record:
        """The turn that a request belongs to."""
        key = asked.thread, casting.script
        record = self._turns.pop(key, None) if asked.continues else None
        if record is None:
            record = casting.nonce.begin(casting.script, casting.first)
        record.part, record.state = casting.first, "running"
        self._turns[key] = record
        if len(self._turns) > KEPT_NONCES:
            self._turns.popitem(last=False)
        return record

    def _number(self) -> int:
        return next(self._numbers)
