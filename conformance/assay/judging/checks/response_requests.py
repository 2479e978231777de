"""Checks of plain requests for responses: what of the input reached the backend, and what was kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay.judging.checks.answered import answered, asked
from assay.judging.checks.diff import is_object
from assay.reading.schemas import errors as schema_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.judging.checks.places import Check
    from assay.reading.exchange import Exchange


def _input(exchange: Exchange) -> str:
    """What of an input did not reach the backend, which says what it received."""
    if not asked(exchange).reflects:
        return ""
    told = _reflected(exchange)
    if not is_object(told):
        return f"the backend said a JSON object; what came is none: {told[:80]!r}"
    position = 0
    for text in asked(exchange).reflects:
        found = told.find(text, position)
        if found < 0:
            return f"{text!r} of the input did not reach the backend, or not in its place"
        position = found
    return ""


def _reflected(exchange: Exchange) -> str:
    body = json.loads(exchange.transcript.body)
    items = body.get("output") if isinstance(body, dict) else None
    parts = [part for item in items or () for part in item.get("content") or ()]
    return "".join(str(part.get("text", "")) for part in parts)


def _stored(exchange: Exchange) -> str:
    """What is wrong with what was kept: an answer that continues one knows it, a stored one is what was said."""
    request = asked(exchange)
    streamed = bool(request.json and request.json.get("stream"))
    if not exchange.transcript.ok or streamed or request.method == "DELETE":
        return ""
    body = json.loads(exchange.transcript.body)
    if request.path.endswith("/input_items"):
        return next(iter(schema_errors("response.input_items", body)), "")
    wrong = next(iter(schema_errors("response", body)), "")
    return wrong or _previous(exchange, body) or _input(exchange)


def _previous(exchange: Exchange, body: Mapping[str, Any]) -> str:
    """What is wrong with how a response names the one that it continues."""
    sent = json.loads(exchange.transcript.request_body or b"{}").get("previous_response_id")
    told = body.get("previous_response_id")
    return "" if sent in {None, told} else f"previous_response_id is {told!r}, the request set {sent!r}"


CONTENT: Mapping[str, Check] = {
    "responses.input.items": answered("responses.input.items", _input),
    "responses.previous-id": answered("responses.previous-id", _stored),
}
