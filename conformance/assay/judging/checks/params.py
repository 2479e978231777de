"""Checks of parameters: what is refused names the field, and what real clients send is served."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.judging.checks.answered import answered
from assay.wire.chat import read_stream
from assay.wire.message import read_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.judging.checks.places import Check
    from assay.reading.exchange import Exchange


def _served(exchange: Exchange) -> str:
    """What is wrong with an answer to a real client; one of broken form is the business of other requirements."""
    streamed = "event-stream" in (exchange.transcript.header("content-type") or "")
    reading = read_stream([exchange.transcript.body]) if streamed else read_whole(exchange.transcript.body)
    if reading.answer.error is not None:
        return f"it was accepted and answered by an error: {reading.answer.error.message!r}"
    return "" if reading.violations or reading.answer.choices else "it was accepted and not answered"


PLAIN = (
    "param.model",
    "param.messages",
    "param.input",
    "param.role",
    "param.content",
    "param.tool-call-id",
    "param.n",
    "param.stream",
    "param.stream-options",
    "param.sampling",
    "param.max-tokens",
    "param.tools",
    "param.functions",
    "param.tool-choice",
    "param.parallel-tool-calls",
    "param.response-format",
    "param.proxy-headers",
    "param.unknown-ignored",
)
"""The requirements that are judged by status, code and param alone."""

CONTENT: Mapping[str, Check] = {
    **{row: answered(row) for row in PLAIN},
    "param.real-clients": answered("param.real-clients", _served),
}
