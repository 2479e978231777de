"""The checks, by the requirement that each one judges. What the wire grammar judges by itself has no check here."""

from collections.abc import Mapping

from assay.judging.checks import chat_stream, chat_whole, http, params, response_requests, responses, shapes, turn, xml
from assay.judging.checks.places import Check
from assay.wire.chat import CHAT_STREAM_VIOLATIONS

FORM: Mapping[str, Check] = {**chat_stream.FORM, **chat_whole.FORM, **responses.FORM}
"""They hold whatever the backend said."""
CONTENT: Mapping[str, Check] = {
    **chat_stream.CONTENT,
    **chat_whole.CONTENT,
    **xml.CONTENT,
    **shapes.CONTENT,
    **http.CONTENT,
    **params.CONTENT,
    **responses.CONTENT,
    **response_requests.CONTENT,
}
"""They ask what was said, and mean nothing where the form is broken."""
SENSE: Mapping[str, Check] = {**chat_stream.SENSE, **responses.SENSE, **turn.SENSE}
"""They ask what the backend told, and mean nothing where the content is wrong."""
ERRORS: Mapping[str, Check] = http.ERRORS
"""They look at every answer that is an error."""
TOGETHER = http.TOGETHER
"""They look at all exchanges of a scenario together."""
INVARIANT: frozenset[str] = (
    frozenset(CHAT_STREAM_VIOLATIONS)
    | responses.VIOLATIONS
    | FORM.keys()
    | ERRORS.keys()
    | chat_whole.INVARIANT
    | chat_stream.INVARIANT
) - (chat_stream.SCRIPTED | responses.SCRIPTED)
"""What can be judged without knowing the right answer."""

__all__ = ["CONTENT", "ERRORS", "FORM", "INVARIANT", "SENSE", "TOGETHER", "Check"]
