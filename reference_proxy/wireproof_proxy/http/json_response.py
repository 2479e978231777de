"""Responses with JSON bodies, and their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_proxy.http.plain_flask import PlainResponse
from wireproof_surfaces.random_ids import random_hex
from wireproof_surfaces.surfaces.json_text import encoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flask import Response


JSON = "application/json"


def request_id() -> str:
    """A new value for `x-request-id`."""
    return f"req_{random_hex(16)}"


def json_response(payload: Mapping[str, Any], status: int = 200) -> Response:
    """A response whose body is the payload."""
    return json_bytes(encoded(payload), status)


def json_bytes(body: bytes, status: int = 200) -> Response:
    """A response whose body is JSON already."""
    return PlainResponse(body, status=status, content_type=JSON)
