"""What an answer of the model is made of, sent piece by piece: text, and calls in whatever shapes they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_codex.notifications.answer import AnswerText
from wireproof_codex.notifications.story import send_delta, send_message
from wireproof_scripts import call_shapes
from wireproof_scripts.blocks import is_structured_call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_codex.notifications.notifier import Notifier
    from wireproof_codex.turns.calls import CallRunner
    from wireproof_codex.turns.parts import Shared
    from wireproof_codex.turns.response import Response
    from wireproof_scripts.steps import Call


class AnswerPieces:
    """Sends the text and the calls of a turn's answers; which answer and to where is said each time."""

    def __init__(self, shared: Shared, calls: CallRunner) -> None:
        self.any = False
        """Whether anything was sent."""
        self._thread = shared.thread
        self._calls = calls
        self._phase: str | None = None
        # One at a time: the turn does nothing else while its call has pieces left.
        self._call: tuple[Call, Iterator[call_shapes.CallOutput]] | None = None

    def write(
        self,
        response: Response,
        notifier: Notifier,
        text: str,
        choice: int | None = None,
        *,
        whole: bool = False,
        phase: str | None = None,
    ) -> None:
        """Send a piece of text; where another phase is named than the open message has, in a new one."""
        if phase and phase != self._phase:
            notifier.answer.complete()
        self._phase = phase
        self.any = True
        # An empty piece leaves the line where it was.
        response.last_character = text[-1:] or response.last_character
        # The text before a call is commentary; versions before 0.105.0 have no phases (`versions.names`).
        said = phase or ("commentary" if response.calls_to_come else None)
        notifier.answer.write(AnswerText(text=text, phase=said, choice=choice, whole=whole))

    def begin_call(self, response: Response, call: Call) -> None:
        """Begin a call, of which `call_piece` sends one piece at a time."""
        # The shapes of the story count calls within their choice: it is the `index` of a fragment in `tool_calls`.
        number = response.calls[call.choice or 0]
        response.calls[call.choice or 0] += 1
        self._call = call, call_shapes.in_shapes(call, number)
        if is_structured_call(call):
            response.calls_to_come -= 1
            # A native call goes into the history when the client is asked to run it (`CallRunner.ask`); the other
            # shapes have only this place.
            if "native" not in call.shapes:
                self._thread.remember([self._calls.raw(call)])

    def drop_call(self) -> None:
        """Send no more of the call that was begun."""
        self._call = None

    def call_piece(self, response: Response, notifier: Notifier) -> Call | bool:
        """Send the next piece of the call; False if there is none, the call if the client is to run it."""
        call, pieces = self._call or (None, iter(()))
        piece = next(pieces, None)
        if call is None or piece is None:
            self._call = None
            return False
        self.any = True
        match piece:
            case call_shapes.ShapeText(text, own_line):
                # A block counts only at the start of a line (responses.sentinel.own-line).
                breaks = own_line and response.last_character != "\n"
                self.write(response, notifier, f"\n{text}" if breaks else text, call.choice)
            case call_shapes.ShapeFragment(delta):
                notifier.answer.before_call()
                send_delta(notifier.sender, delta, call.choice)
            case call_shapes.Whole(message):
                notifier.answer.before_call()
                send_message(notifier.sender, message, call.choice)
            case call_shapes.Native():
                return call  # asking for it is the turn's affair
        return True
