"""Exchanges made of transcripts: when they are driven, and in the same way when a recording is judged again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.model.dialect import Surface
from wireproof.model.scenario import Mode
from wireproof.reading.exchange import Exchange, read
from wireproof.reading.right_answers import right_answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.model.scenario import ConversationScenario, Form, PlainScenario
    from wireproof.model.target import Target
    from wireproof.model.transcript import Transcript
    from wireproof.wire.stream import Stream


def of_turn(
    scenario: ConversationScenario,
    number: int,
    form: Form,
    target: Target,
    transcript: Transcript,
    *,
    stream: Stream | None = None,
    earlier: Sequence[Exchange] = (),
) -> Exchange:
    """The exchange of the turn of that number, counted from 0.

    Args:
        scenario: The scenario, as it was sent.
        number: The number of the turn.
        form: In which form it was sent.
        target: What answered.
        transcript: What was recorded.
        stream: A reader that was fed the pieces as they arrived, see `wireproof.reading.exchange.read`.
        earlier: Tries of the same turn before this one.
    """
    exchange = Exchange(
        scenario=_as_sent(scenario, form, transcript),
        number=number,
        turn=scenario.turns[number],
        form=form,
        target=target,
        transcript=transcript,
        reading=read(transcript, form, stream),
        earlier=tuple(earlier),
    )
    return replace(exchange, wanted=right_answers(exchange))


def _as_sent(scenario: ConversationScenario, form: Form, transcript: Transcript) -> ConversationScenario:
    """The scenario without the wish for a usage chunk, where the target refuses `stream_options`."""
    asks = scenario.usage and form.mode is Mode.STREAM and form.dialect.spec.surface is Surface.CHAT
    unasked = asks and b'"stream_options"' not in transcript.request_body
    return replace(scenario, usage=False) if unasked else scenario


def of_request(scenario: PlainScenario, number: int, form: Form, target: Target, transcript: Transcript) -> Exchange:
    """The exchange of the plain request, or of the request of a client, of that number.

    It is not read: of a plain one status, headers and envelope are judged; what a client's says is read where it is
    judged, with those beside it.
    """
    return Exchange(
        scenario=scenario, number=number, turn=None, form=form, target=target, transcript=transcript, reading=None
    )
