"""The checks, one module per file of requirements. What the wire grammar finds by itself has no check here."""

from wireproof.judging.checks import (
    agent,
    chat_calls,
    chat_ends,
    chat_stream,
    chat_whole,
    http,
    messages,
    messages_requests,
    params,
    response_requests,
    responses,
    shapes,
    surface_parity,
    target,
    turn,
    untouched,
    xml,
)
from wireproof.judging.registry import Checks
from wireproof.wire.grammar import CHAT_STREAM_VIOLATIONS
from wireproof.wire.messages_grammar import MESSAGES_STREAM_VIOLATIONS
from wireproof.wire.responses_grammar import RESPONSES_STREAM_VIOLATIONS

CHECKS = Checks(
    target.check,
    http.check,
    params.check,
    chat_whole.check,
    chat_stream.check,
    chat_calls.check,
    chat_ends.check,
    xml.check,
    shapes.check,
    responses.check,
    response_requests.check,
    surface_parity.check,
    messages.check,
    messages_requests.check,
    turn.check,
    untouched.check,
    agent.check,
)
"""All checks of Wireproof."""
GRAMMAR = frozenset({*CHAT_STREAM_VIOLATIONS, *RESPONSES_STREAM_VIOLATIONS, *MESSAGES_STREAM_VIOLATIONS})
"""The requirements that the grammar of streams finds broken without a check."""

__all__ = ["CHECKS", "GRAMMAR"]
